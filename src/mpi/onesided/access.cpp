#include <algorithm>
#include <cstring>
#include <functional>
#include <initializer_list>

#include "live_impl.hpp"
#include "mpi/core/line.hpp"
#include "mpi/datatype/basic.hpp"
#include "mpi/onesided/pending.hpp"
#include "mpi/onesided/polling.hpp"
#include "mpi/onesided/state.hpp"
#include "mpi/p2p/request.hpp"

namespace foretrace::mpi {
namespace {

using machine::OneSided;

// The arguments that all operations have.
struct Side {
  const void* buffer = nullptr;
  MPI_Count count = 0;
  Datatype* type = nullptr;

  std::uint64_t bytes() const { return packed_bytes(count, *type); }
};
struct Target {
  Win* win = nullptr;
  int rank = MPI_PROC_NULL;
  MPI_Aint displacement = 0;
  MPI_Count count = 0;
  Datatype* type = nullptr;

  std::uint64_t bytes() const { return packed_bytes(count, *type); }
  Remote remote() const {
    return {*win, rank, static_cast<std::uint64_t>(displacement), count, *type};
  }
};

Target target_of(MPI_Win win, int rank, MPI_Aint displacement, MPI_Count count, MPI_Datatype type) {
  return {.win = get(win),
          .rank = rank,
          .displacement = displacement,
          .count = count,
          .type = get(type)};
}

int check_elements(Win* win, MPI_Count count, const Datatype* type, const char* whose) {
  if (count < 0)
    return raise(win, MPI_ERR_COUNT, std::string(whose) + " count " + std::to_string(count));
  if (!type) return raise(win, MPI_ERR_TYPE, std::string(whose) + " datatype is null or freed");
  if (!type->committed)
    return raise(win, MPI_ERR_TYPE, std::string(whose) + " datatype is not committed");
  return MPI_SUCCESS;
}

int check_side(Win* win, const Side& side, const char* whose) {
  if (const int error = check_elements(win, side.count, side.type, whose)) return error;
  if (!side.buffer && side.bytes() > 0 && side.type->true_lb >= 0 && side.type->dense)
    return raise(win, MPI_ERR_BUFFER, std::string(whose) + " buffer is null");
  return MPI_SUCCESS;
}

// Whether the elements lie in the memory that the target exposes.
int check_range(const Target& target) {
  Win* win = target.win;
  if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC) return MPI_SUCCESS;
  if (target.displacement < 0)
    return raise(win, MPI_ERR_DISP, "displacement " + std::to_string(target.displacement));
  if (target.bytes() == 0) return MPI_SUCCESS;
  const Exposure exposure = win->state->exposure(target.rank);
  const Datatype& type = *target.type;
  const MPI_Count last = (target.count - 1) * type.extent;
  const MPI_Count begin = target.displacement * static_cast<MPI_Count>(exposure.disp_unit);
  const MPI_Count low = begin + type.true_lb + std::min<MPI_Count>(last, 0);
  const MPI_Count high = begin + type.true_lb + type.true_extent + std::max<MPI_Count>(last, 0);
  if (low >= 0 && high <= static_cast<MPI_Count>(exposure.bytes)) return MPI_SUCCESS;
  return raise(win, MPI_ERR_RMA_RANGE,
               "bytes " + std::to_string(low) + " to " + std::to_string(high) + " of rank " +
                   std::to_string(target.rank) + "'s window of " + std::to_string(exposure.bytes) +
                   " bytes");
}

// Opens what the operation needs. `requested`: it returns a request.
int open_target(const Target& target, bool requested) {
  Win* win = target.win;
  if (!win) return raise(win, MPI_ERR_WIN, "null or freed window");
  const int members = win->comm->size();
  if (target.rank != MPI_PROC_NULL && (target.rank < 0 || target.rank >= members))
    return raise(
        win, MPI_ERR_RANK,
        "target " + std::to_string(target.rank) + ", expected 0 to " + std::to_string(members - 1));
  if (const int error = check_elements(win, target.count, target.type, "target")) return error;
  if (target.rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (const int error = check_range(target)) return error;
  if (!line.aside([&] { return reach_target(*win, target.rank, requested); }))
    return raise(win, MPI_ERR_RMA_SYNC,
                 "no access epoch for rank " + std::to_string(target.rank) +
                     (requested ? " of MPI_Win_lock or MPI_Win_lock_all" : ""));
  return MPI_SUCCESS;
}

int no_memory(const Target& target) {
  return raise(target.win, MPI_ERR_RMA_RANGE,
               "rank " + std::to_string(target.rank) + " has no memory there");
}

int too_long(const Target& target, std::uint64_t bytes, std::uint64_t room) {
  return raise(target.win, MPI_ERR_TRUNCATE,
               std::to_string(bytes) + " bytes for a buffer of " + std::to_string(room));
}

// Tells the simulator, which knows when it is over. `request`: gets the number of the one that it
// makes; nullptr: it makes none.
void note_access(const Target& target, OneSided what, std::uint64_t bytes, std::uint64_t* request) {
  Record record = one_sided_record(*target.win, what, target.rank);
  record.bytes = bytes;
  if (request) record.request = *request = line.new_serial();
  line.post(record);
  target.win->state->accessed.insert(target.rank);
}

void note_look(const Target& target, const std::byte* data, std::uint64_t bytes) {
  polling.look({target.win, target.rank, target.displacement},
               std::string_view(reinterpret_cast<const char*>(data), bytes));
}

// An access of so many bytes, whose data `move` moves, now or later; it uses `types`, and the
// target's. `request` as note_access() has it.
int carry_out(const Target& target, OneSided what, std::uint64_t bytes, std::uint64_t* request,
              std::initializer_list<Datatype*> types, const std::function<int()>& move) {
  const bool combines = what != OneSided::put && what != OneSided::get;
  Win& win = *target.win;
  const bool has_turn = !may_meet_others(win, target.rank, combines);
  if (has_turn || request) {
    // One with a request may end before the next call that is about the window.
    if (!has_turn) take_turn();
    if (const int error = move()) return error;
  } else {
    put_off(win, move, types);
  }
  note_access(target, what, bytes, request);
  return MPI_SUCCESS;
}

// A buffer's data packed; the buffer itself where it is that already.
class Packed {
 public:
  explicit Packed(const Side& side) : data_(static_cast<const std::byte*>(side.buffer)) {
    if (side.type->dense) return;
    copy_.resize(side.bytes());
    pack(side.buffer, side.count, *side.type, copy_.data());
    data_ = copy_.data();
  }
  const std::byte* data() const { return data_; }

 private:
  const std::byte* data_;
  std::vector<std::byte> copy_;
};

int put(const Side& origin, const Target& target, std::uint64_t* request) {
  if (const int error = open_target(target, request != nullptr)) return error;
  if (const int error = check_side(target.win, origin, "origin")) return error;
  if (target.rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (origin.bytes() > target.bytes()) return too_long(target, origin.bytes(), target.bytes());
  if (origin.bytes() == 0) return MPI_SUCCESS;
  polling.write();
  return carry_out(target, OneSided::put, target.bytes(), request, {origin.type, target.type}, [=] {
    const Packed packed(origin);
    return target.remote().write(packed.data(), origin.bytes()) ? MPI_SUCCESS : no_memory(target);
  });
}

int get_data(const Side& origin, const Target& target, std::uint64_t* request) {
  if (const int error = open_target(target, request != nullptr)) return error;
  if (const int error = check_side(target.win, origin, "origin")) return error;
  if (target.rank == MPI_PROC_NULL) return MPI_SUCCESS;
  const std::uint64_t bytes = target.bytes();
  if (bytes > origin.bytes()) return too_long(target, bytes, origin.bytes());
  if (bytes == 0) return MPI_SUCCESS;
  return carry_out(target, OneSided::get, bytes, request, {origin.type, target.type}, [=] {
    auto* buffer = static_cast<std::byte*>(const_cast<void*>(origin.buffer));
    std::vector<std::byte> packed;
    if (!origin.type->dense) packed.resize(bytes);
    std::byte* data = origin.type->dense ? buffer : packed.data();
    if (!target.remote().read(data, bytes)) return no_memory(target);
    note_look(target, data, bytes);
    if (!origin.type->dense) unpack(data, bytes, buffer, origin.count, *origin.type);
    return MPI_SUCCESS;
  });
}

// in and inout are packed elements of a predefined type.
void combine_packed(const Op& op, const std::byte* in, std::byte* inout, std::uint64_t bytes,
                    Datatype& basic) {
  const auto count = static_cast<MPI_Count>(bytes / static_cast<std::uint64_t>(basic.size));
  if (basic.dense) {
    combine(op, in, inout, count, basic);
    return;
  }
  // Pairs with padding.
  const auto room = static_cast<std::size_t>(count * basic.extent);
  std::vector<std::byte> left(room), right(room);
  unpack(in, bytes, left.data(), count, basic);
  unpack(inout, bytes, right.data(), count, basic);
  combine(op, left.data(), right.data(), count, basic);
  pack(right.data(), count, basic, inout);
}

// What accumulating operations check of op and types; `basic` is the type of
// the elements, nullptr for operations that do not look at them.
int check_op(const Target& target, const Side* origin, Op* op, Datatype*& basic) {
  Win* win = target.win;
  if (!op) return raise(win, MPI_ERR_OP, "null or freed operation");
  if (op->function || op->foreign)
    return raise(win, MPI_ERR_OP, "an operation of the program's own");
  if (op == get<Op>(MPI_REPLACE) || op == get<Op>(MPI_NO_OP)) return MPI_SUCCESS;
  // A type without elements has no basic one.
  if (target.bytes() == 0) return MPI_SUCCESS;
  basic = basic_type(*target.type);
  if (!basic)
    return raise(win, MPI_ERR_TYPE, "target datatype has several basic types, expected one");
  if (origin && origin->bytes() > 0 && basic_type(*origin->type) != basic)
    return raise(win, MPI_ERR_TYPE, "origin and target datatypes have different basic types");
  if (!fits(*op, *basic)) return raise(win, MPI_ERR_OP, "not defined for the datatype");
  return MPI_SUCCESS;
}

// target = origin op target; what was there before goes to `before`, packed.
// Atomic against all others of this window and target.
bool combine_into(const Target& target, const std::byte* in, std::uint64_t bytes, const Op& op,
                  Datatype* basic, std::byte* before, std::uint64_t before_bytes) {
  const Remote remote = target.remote();
  const SharedMutex hold(target.win->state->exposure(target.rank).mutex);
  if (before && !remote.read(before, before_bytes)) return false;
  if (&op == get<Op>(MPI_NO_OP) || bytes == 0) return true;
  if (!basic) return remote.write(in, bytes);
  if (std::byte* place = remote.in_place(); place && basic->dense) {
    combine_packed(op, in, place, bytes, *basic);
    return true;
  }
  std::vector<std::byte> result(bytes);
  if (!remote.read(result.data(), bytes)) return false;
  combine_packed(op, in, result.data(), bytes, *basic);
  return remote.write(result.data(), bytes);
}

int accumulate(const Side& origin, const Target& target, Op* op, std::uint64_t* request) {
  if (const int error = open_target(target, request != nullptr)) return error;
  if (const int error = check_side(target.win, origin, "origin")) return error;
  Datatype* basic = nullptr;
  if (const int error = check_op(target, &origin, op, basic)) return error;
  if (op == get<Op>(MPI_NO_OP))
    return raise(target.win, MPI_ERR_OP, "MPI_NO_OP, which only operations that get may use");
  if (target.rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (origin.bytes() > target.bytes()) return too_long(target, origin.bytes(), target.bytes());
  if (origin.bytes() == 0) return MPI_SUCCESS;
  polling.write();
  const auto types = {origin.type, target.type, basic};
  return carry_out(target, OneSided::accumulate, target.bytes(), request, types, [=] {
    const Packed packed(origin);
    return combine_into(target, packed.data(), origin.bytes(), *op, basic, nullptr, 0)
               ? MPI_SUCCESS
               : no_memory(target);
  });
}

int get_accumulate(const Side& origin, const Side& result, const Target& target, Op* op,
                   std::uint64_t* request, OneSided what = OneSided::get_accumulate) {
  if (const int error = open_target(target, request != nullptr)) return error;
  // Of MPI_NO_OP the origin's arguments mean nothing.
  const bool reads_only = op == get<Op>(MPI_NO_OP);
  if (!reads_only)
    if (const int error = check_side(target.win, origin, "origin")) return error;
  if (const int error = check_side(target.win, result, "result")) return error;
  Datatype* basic = nullptr;
  if (const int error = check_op(target, reads_only ? nullptr : &origin, op, basic)) return error;
  if (target.rank == MPI_PROC_NULL) return MPI_SUCCESS;
  const std::uint64_t bytes = target.bytes();
  if (bytes > result.bytes()) return too_long(target, bytes, result.bytes());
  if (!reads_only && origin.bytes() > bytes) return too_long(target, origin.bytes(), bytes);
  if (bytes == 0) return MPI_SUCCESS;
  const Side in = reads_only ? Side{nullptr, 0, get(MPI_BYTE)} : origin;
  const auto types = {in.type, result.type, target.type, basic};
  return carry_out(target, what, bytes, request, types, [=] {
    std::vector<std::byte> before(bytes);
    const Packed packed(in);
    if (!combine_into(target, packed.data(), in.bytes(), *op, basic, before.data(), bytes))
      return no_memory(target);
    note_look(target, before.data(), bytes);
    unpack(before.data(), bytes, const_cast<void*>(result.buffer), result.count, *result.type);
    return MPI_SUCCESS;
  });
}

constexpr std::size_t kMostCompared = 16;  // bytes

// What MPI_Compare_and_swap takes: numbers with a point have several forms of one value.
bool is_comparable(Scalar scalar) {
  return scalar < Scalar::float16 || scalar > Scalar::two_complex_float64;
}

// What an operation made that returns a request, if it went well: one that the simulator ends.
int with_request(int error, std::uint64_t number, MPI_Win win, MPI_Request* request) {
  if (error) return error;
  polling.pass_turn(*get<Win>(win));
  MPI_Status status{};
  status.MPI_SOURCE = MPI_ANY_SOURCE;
  status.MPI_TAG = MPI_ANY_TAG;
  status.MPI_ERROR = MPI_SUCCESS;
  set_status_bytes(status, 0, false);
  Request* made = done_request(status);
  made->serial = number;
  *request = handle_of(made);
  return MPI_SUCCESS;
}

}  // namespace

namespace impl {

int Put(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint displacement,
        int target_count, MPI_Datatype target_type, MPI_Win win) {
  return put({origin, count, get(type)},
             target_of(win, rank, displacement, target_count, target_type), nullptr);
}

int Get(void* origin, int count, MPI_Datatype type, int rank, MPI_Aint displacement,
        int target_count, MPI_Datatype target_type, MPI_Win win) {
  return get_data({origin, count, get(type)},
                  target_of(win, rank, displacement, target_count, target_type), nullptr);
}

int Accumulate(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint displacement,
               int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
  return accumulate({origin, count, get(type)},
                    target_of(win, rank, displacement, target_count, target_type), get(op),
                    nullptr);
}

int Get_accumulate(const void* origin, int count, MPI_Datatype type, void* result, int result_count,
                   MPI_Datatype result_type, int rank, MPI_Aint displacement, int target_count,
                   MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
  return get_accumulate({origin, count, get(type)}, {result, result_count, get(result_type)},
                        target_of(win, rank, displacement, target_count, target_type), get(op),
                        nullptr);
}

int Rput(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint displacement,
         int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request* request) {
  std::uint64_t number = 0;
  const int error = put({origin, count, get(type)},
                        target_of(win, rank, displacement, target_count, target_type), &number);
  return with_request(error, number, win, request);
}

int Rget(void* origin, int count, MPI_Datatype type, int rank, MPI_Aint displacement,
         int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request* request) {
  std::uint64_t number = 0;
  const int error =
      get_data({origin, count, get(type)},
               target_of(win, rank, displacement, target_count, target_type), &number);
  return with_request(error, number, win, request);
}

int Raccumulate(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint displacement,
                int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                MPI_Request* request) {
  std::uint64_t number = 0;
  const int error =
      accumulate({origin, count, get(type)},
                 target_of(win, rank, displacement, target_count, target_type), get(op), &number);
  return with_request(error, number, win, request);
}

int Rget_accumulate(const void* origin, int count, MPI_Datatype type, void* result,
                    int result_count, MPI_Datatype result_type, int rank, MPI_Aint displacement,
                    int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                    MPI_Request* request) {
  std::uint64_t number = 0;
  const int error = get_accumulate(
      {origin, count, get(type)}, {result, result_count, get(result_type)},
      target_of(win, rank, displacement, target_count, target_type), get(op), &number);
  return with_request(error, number, win, request);
}

int Fetch_and_op(const void* origin, void* result, MPI_Datatype type, int rank,
                 MPI_Aint displacement, MPI_Op op, MPI_Win win) {
  Datatype* element = get(type);
  if (element && !element->predefined)
    return raise(get<Win>(win), MPI_ERR_TYPE, "a derived datatype, expected a predefined one");
  return get_accumulate({origin, 1, element}, {result, 1, element},
                        target_of(win, rank, displacement, 1, type), get(op), nullptr,
                        OneSided::fetch_and_op);
}

int Compare_and_swap(const void* origin, const void* compare, void* result, MPI_Datatype type,
                     int rank, MPI_Aint displacement, MPI_Win handle) {
  const Target target = target_of(handle, rank, displacement, 1, type);
  if (const int error = open_target(target, false)) return error;
  Win* win = target.win;
  const Datatype& element = *target.type;
  if (!element.predefined || !element.dense || element.size > MPI_Count{kMostCompared} ||
      !is_comparable(element.basic->value))
    return raise(win, MPI_ERR_TYPE, "expected a predefined integer, logical or byte");
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  const auto bytes = static_cast<std::uint64_t>(element.size);
  if (!origin || !compare || !result) return raise(win, MPI_ERR_BUFFER, "a null buffer");
  return carry_out(target, OneSided::compare_and_swap, bytes, nullptr, {target.type}, [=] {
    std::byte before[kMostCompared];
    const Remote remote = target.remote();
    {
      const SharedMutex hold(target.win->state->exposure(rank).mutex);
      if (!remote.read(before, bytes)) return no_memory(target);
      if (std::memcmp(before, compare, bytes) == 0 &&
          !remote.write(static_cast<const std::byte*>(origin), bytes))
        return no_memory(target);
    }
    note_look(target, before, bytes);
    std::memcpy(result, before, bytes);
    return MPI_SUCCESS;
  });
}

}  // namespace impl
}  // namespace foretrace::mpi
