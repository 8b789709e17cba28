#include <algorithm>
#include <cstring>
#include <new>

#include "live_impl.hpp"
#include "mpi/collective/gathered.hpp"
#include "mpi/comm/contexts.hpp"
#include "mpi/core/block.hpp"
#include "mpi/core/line.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/onesided/lock.hpp"
#include "mpi/onesided/state.hpp"

namespace foretrace::mpi {
namespace {

// What a member's mutex is part of; of the first member: the window's.
struct Control {
  std::uint32_t mutex = 0;     // first: see SharedMutex
  std::uint64_t segments = 0;  // shared windows: place of all members' memory
};
constexpr std::uint64_t kControlBytes = 64;
static_assert(sizeof(Control) <= kControlBytes);
constexpr std::uint64_t kAllMemory = ~std::uint64_t{0};

int check_comm(Comm* comm) {
  if (!comm) return raise(comm, MPI_ERR_COMM, "null or freed communicator");
  if (comm->is_inter())
    return raise(comm, MPI_ERR_COMM, "an inter-communicator, expected an intra-communicator");
  return MPI_SUCCESS;
}

int check_shape(Comm* comm, MPI_Aint size, int disp_unit) {
  if (const int error = check_comm(comm)) return error;
  if (size < 0) return raise(comm, MPI_ERR_SIZE, "window of " + std::to_string(size) + " bytes");
  if (disp_unit <= 0)
    return raise(comm, MPI_ERR_DISP,
                 "displacement unit " + std::to_string(disp_unit) + ", expected at least 1");
  return MPI_SUCCESS;
}

// One collective makes a window: every member says what it exposes; the first
// makes the window's context and lock numbers for all.
Win* make_window(Comm& comm, int flavor, Exposure mine, int disp_unit, Info* info) {
  // Members see each other's memory, in the order of virtual time.
  line.stop_running_ahead();
  Win* win = new Win;
  win->flavor = flavor;
  win->disp_unit = disp_unit;
  win->errhandler = retain<Errhandler>(get(MPI_ERRORS_ARE_FATAL));
  win->info = retain(info);
  win->state = std::make_unique<WinState>();
  WinState& state = *win->state;

  state.mutex = mine.mutex = allocate_shared(kControlBytes);
  new (address_of(state.mutex)) Control;
  mine.disp_unit = disp_unit;
  if (comm.rank == 0) {
    mine.context = define_context(comm.group->members);
    mine.locks = new_lock_numbers(static_cast<std::uint64_t>(comm.size()));
  }
  Block contribution(sizeof mine);
  std::memcpy(contribution.data(), &mine, sizeof mine);
  state.exposures = collective({.comm = &comm}, std::move(contribution));

  const Exposure first = state.exposure(0);
  state.locks = first.locks;
  win->comm = new Comm;
  win->comm->context = win->comm->together = first.context;
  win->comm->group = retain(comm.group);
  win->comm->rank = comm.rank;
  return win;
}

bool wants_gaps(Info* info) {
  const std::string* value = info ? info->find("alloc_shared_noncontig") : nullptr;
  return value && *value == "true";
}

// All members' memory in one block, which whoever comes first allocates.
void lay_out_segments(Win& win, bool gaps) {
  WinState& state = *win.state;
  const auto members = static_cast<std::size_t>(win.comm->size());
  state.offsets =
      state.exposures.common((members + 1) * sizeof(std::uint64_t), [&](std::byte* out) {
        std::uint64_t offset = 0;
        for (std::size_t member = 0; member <= members; ++member) {
          std::memcpy(out + member * sizeof offset, &offset, sizeof offset);
          if (member < members) offset += state.exposure(static_cast<int>(member)).bytes;
          if (gaps) offset = (offset + 4095) / 4096 * 4096;
        }
      });
  const std::uint64_t bytes = std::max<std::uint64_t>(state.offset(members), 1);
  Control& control = *reinterpret_cast<Control*>(address_of(state.exposure(0).mutex));
  const SharedMutex hold(state.exposure(0).mutex);
  if (control.segments == 0) control.segments = allocate_shared(bytes);
  state.segments = control.segments;
}

// Members on other nodes of the simulated machine have no memory in common there.
int check_one_node(Comm* comm) {
  const int here = node_of(world_rank());
  for (const int member : comm->group->members)
    if (node_of(member) != here)
      return raise(comm, MPI_ERR_RMA_SHARED,
                   "world ranks " + std::to_string(world_rank()) + " and " +
                       std::to_string(member) +
                       " are placed on different nodes; MPI_Comm_split_type says who shares one");
  return MPI_SUCCESS;
}

int check_regular(Win* win, const char* what) {
  if (!win) return raise(win, MPI_ERR_WIN, "null or freed window");
  const WinState& state = *win->state;
  if (state.started || state.posted || !state.locked.empty() || state.locked_all)
    return raise(win, MPI_ERR_RMA_SYNC, std::string(what) + " while an epoch is open");
  return MPI_SUCCESS;
}

}  // namespace

Win::Win() : Object(ObjectKind::win) {}

Win::~Win() {
  release(errhandler);
  release(info);
  release(comm);
}

std::uint64_t WinState::offset(std::size_t member) const {
  std::uint64_t value = 0;
  std::memcpy(&value, offsets.data() + member * sizeof value, sizeof value);
  return value;
}

Exposure WinState::exposure(int target) const {
  Exposure exposure;
  std::memcpy(&exposure, exposures.of(target).data(), sizeof exposure);
  if (segments) exposure.base = segments + offset(static_cast<std::size_t>(target));
  return exposure;
}

namespace impl {

int Win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm handle,
               MPI_Win* win) {
  Comm* comm = get(handle);
  if (const int error = check_shape(comm, size, disp_unit)) return error;
  if (!base && size > 0) return raise(comm, MPI_ERR_BASE, "null base of a window with memory");
  open_own_memory();
  Win* made = make_window(*comm, MPI_WIN_FLAVOR_CREATE,
                          {.base = reinterpret_cast<std::uintptr_t>(base),
                           .bytes = static_cast<std::uint64_t>(size),
                           .reach = Reach::process},
                          disp_unit, get(info));
  made->base = base;
  made->bytes = size;
  *win = handle_of(made);
  return MPI_SUCCESS;
}

int Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm handle, void* baseptr,
                 MPI_Win* win) {
  Comm* comm = get(handle);
  if (const int error = check_shape(comm, size, disp_unit)) return error;
  const auto bytes = std::max<std::uint64_t>(static_cast<std::uint64_t>(size), 1);
  const std::uint64_t place = allocate_shared(bytes);
  Win* made =
      make_window(*comm, MPI_WIN_FLAVOR_ALLOCATE,
                  {.base = place, .bytes = static_cast<std::uint64_t>(size)}, disp_unit, get(info));
  made->state->memory = place;
  made->base = address_of(place);
  made->bytes = size;
  *static_cast<void**>(baseptr) = made->base;
  *win = handle_of(made);
  return MPI_SUCCESS;
}

int Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm handle, void* baseptr,
                        MPI_Win* win) {
  Comm* comm = get(handle);
  if (const int error = check_shape(comm, size, disp_unit)) return error;
  if (const int error = check_one_node(comm)) return error;
  Win* made = make_window(*comm, MPI_WIN_FLAVOR_SHARED, {.bytes = static_cast<std::uint64_t>(size)},
                          disp_unit, get(info));
  lay_out_segments(*made, wants_gaps(get(info)));
  made->base = address_of(made->state->exposure(comm->rank).base);
  made->bytes = size;
  *static_cast<void**>(baseptr) = made->base;
  *win = handle_of(made);
  return MPI_SUCCESS;
}

int Win_create_dynamic(MPI_Info info, MPI_Comm handle, MPI_Win* win) {
  Comm* comm = get(handle);
  if (const int error = check_comm(comm)) return error;
  open_own_memory();
  Win* made = make_window(*comm, MPI_WIN_FLAVOR_DYNAMIC,
                          {.bytes = kAllMemory, .reach = Reach::process}, 1, get(info));
  *win = handle_of(made);
  return MPI_SUCCESS;
}

int Win_shared_query(MPI_Win handle, int rank, MPI_Aint* size, int* disp_unit, void* baseptr) {
  Win* win = get(handle);
  if (!win) return raise(win, MPI_ERR_WIN, "null or freed window");
  if (win->flavor != MPI_WIN_FLAVOR_SHARED)
    return raise(win, MPI_ERR_RMA_FLAVOR, "a window that MPI_Win_allocate_shared did not make");
  const int members = win->comm->size();
  if (rank != MPI_PROC_NULL && (rank < 0 || rank >= members))
    return raise(win, MPI_ERR_RANK,
                 "rank " + std::to_string(rank) + ", expected 0 to " + std::to_string(members - 1));
  Exposure found;
  if (rank == MPI_PROC_NULL) {  // the lowest rank that has memory
    found.bytes = 0;
    for (int member = 0; member < members && found.bytes == 0; ++member)
      found = win->state->exposure(member);
  } else {
    found = win->state->exposure(rank);
  }
  *size = static_cast<MPI_Aint>(found.bytes);
  *disp_unit = found.disp_unit;
  *static_cast<void**>(baseptr) = found.bytes == 0 ? nullptr : address_of(found.base);
  return MPI_SUCCESS;
}

int Win_attach(MPI_Win handle, void* base, MPI_Aint size) {
  Win* win = get(handle);
  if (!win) return raise(win, MPI_ERR_WIN, "null or freed window");
  if (win->flavor != MPI_WIN_FLAVOR_DYNAMIC)
    return raise(win, MPI_ERR_RMA_FLAVOR, "a window that MPI_Win_create_dynamic did not make");
  if (size < 0) return raise(win, MPI_ERR_SIZE, std::to_string(size) + " bytes");
  if (size == 0) return MPI_SUCCESS;
  if (!base) return raise(win, MPI_ERR_BASE, "null address");
  const auto first = reinterpret_cast<std::uintptr_t>(base);
  auto& attached = win->state->attached;
  const auto next = attached.lower_bound(first);
  const bool meets_next =
      next != attached.end() && next->first < first + static_cast<std::uintptr_t>(size);
  const bool meets_previous =
      next != attached.begin() && std::prev(next)->first + std::prev(next)->second > first;
  if (meets_next || meets_previous)
    return raise(win, MPI_ERR_RMA_ATTACH, "the memory overlaps memory that is attached");
  attached[first] = static_cast<std::uint64_t>(size);
  return MPI_SUCCESS;
}

int Win_detach(MPI_Win handle, const void* base) {
  Win* win = get(handle);
  if (!win) return raise(win, MPI_ERR_WIN, "null or freed window");
  if (win->flavor != MPI_WIN_FLAVOR_DYNAMIC)
    return raise(win, MPI_ERR_RMA_FLAVOR, "a window that MPI_Win_create_dynamic did not make");
  if (base && win->state->attached.erase(reinterpret_cast<std::uintptr_t>(base)) == 0)
    return raise(win, MPI_ERR_BASE, "memory that is not attached");
  return MPI_SUCCESS;
}

int Win_free(MPI_Win* handle) {
  Win* win = get(*handle);
  if (const int error = check_regular(win, "the window is freed")) return error;
  if (const int error = delete_attributes(*win)) return error;
  // Nobody's memory goes before all have come here.
  collective({.comm = win->comm}, Block());
  WinState& state = *win->state;
  if (state.memory) free_shared(state.memory);
  if (state.segments && win->comm->rank == 0) free_shared(state.segments);
  free_shared(state.mutex);
  state.exposures = Gathered();
  release(win);
  *handle = MPI_WIN_NULL;
  return MPI_SUCCESS;
}

}  // namespace impl
}  // namespace foretrace::mpi
