// Reading and writing files, in all forms.
#include <cstring>

#include "live_impl.hpp"
#include "mpi/collective/gathered.hpp"
#include "mpi/core/block.hpp"
#include "mpi/core/line.hpp"
#include "mpi/datatype/external.hpp"
#include "mpi/io/state.hpp"
#include "mpi/p2p/request.hpp"

namespace foretrace::mpi {
namespace {

enum class Pointer : std::uint8_t { given, own, shared, ordered };

// One access: what moves, and from where on.
struct Access {
  File* file = nullptr;
  bool writes = false;
  void* buffer = nullptr;
  MPI_Count count = 0;
  Datatype* type = nullptr;
  Pointer pointer = Pointer::own;
  MPI_Offset offset = 0;    // given, in etypes
  bool collective = false;  // meets the others
};

Access reading(MPI_File file, void* buffer, MPI_Count count, MPI_Datatype type) {
  return {.file = get(file), .buffer = buffer, .count = count, .type = get(type)};
}

Access writing(MPI_File file, const void* buffer, MPI_Count count, MPI_Datatype type) {
  return {.file = get(file),
          .writes = true,
          .buffer = const_cast<void*>(buffer),
          .count = count,
          .type = get(type)};
}

Access at(Access access, MPI_Offset offset) {
  access.pointer = Pointer::given;
  access.offset = offset;
  return access;
}

Access by(Pointer pointer, Access access) {
  access.pointer = pointer;
  return access;
}

Access together(Access access) {
  access.collective = true;
  return access;
}

int check(const Access& access) {
  File* file = access.file;
  if (!file) return raise(file, MPI_ERR_FILE, "null or closed file");
  const FileState& state = *file->state;
  if (access.count < 0) return raise(file, MPI_ERR_COUNT, "count " + std::to_string(access.count));
  if (!access.type) return raise(file, MPI_ERR_TYPE, "null or freed datatype");
  if (!access.type->committed) return raise(file, MPI_ERR_TYPE, "datatype is not committed");
  const std::uint64_t bytes = packed_bytes(access.count, *access.type);
  if (!access.buffer && bytes > 0 && access.type->dense)
    return raise(file, MPI_ERR_BUFFER, "null buffer");
  if (access.writes && (state.amode & MPI_MODE_RDONLY))
    return raise(file, MPI_ERR_READ_ONLY, "write to a file opened with MPI_MODE_RDONLY");
  if (!access.writes && (state.amode & MPI_MODE_WRONLY))
    return raise(file, MPI_ERR_ACCESS, "read of a file opened with MPI_MODE_WRONLY");
  const bool shared = access.pointer == Pointer::shared || access.pointer == Pointer::ordered;
  if ((state.amode & MPI_MODE_SEQUENTIAL) && !shared)
    return raise(
        file, MPI_ERR_UNSUPPORTED_OPERATION,
        "the file was opened with MPI_MODE_SEQUENTIAL: only its shared pointer may be used");
  if (access.pointer == Pointer::given && access.offset < 0)
    return raise(file, MPI_ERR_ARG, "offset " + std::to_string(access.offset));
  if (state.view.representation == kExternal && !keeps_sizes(access.count, *access.type))
    return raise(file, MPI_ERR_CONVERSION, "a datatype that has another size in external32");
  if (bytes % state.view.etype_bytes() != 0)
    return raise(file, MPI_ERR_IO,
                 std::to_string(bytes) + " bytes are not whole etypes of " +
                     std::to_string(state.view.etype_bytes()));
  return MPI_SUCCESS;
}

// Moves the data from or to etype `position` of the stream.
Moved move(const Access& access, MPI_Offset position) {
  const FileState& state = *access.file->state;
  const std::uint64_t bytes = packed_bytes(access.count, *access.type);
  const std::uint64_t stream = static_cast<std::uint64_t>(position) * state.view.etype_bytes();
  auto* data = static_cast<std::byte*>(access.buffer);
  std::vector<std::byte> packed;
  const bool external = state.view.representation == kExternal;
  const bool as_it_is = access.type->dense && !external;
  if (!as_it_is) {
    packed.resize(bytes);
    data = packed.data();
  }
  if (access.writes) {
    if (external)
      pack_external(access.buffer, access.count, *access.type, data);
    else if (!as_it_is)
      pack(access.buffer, access.count, *access.type, data);
    return write_stream(state, stream, data, bytes);
  }
  const Moved moved = read_stream(state, stream, data, bytes);
  if (external)
    unpack_external(data, moved.bytes, access.buffer, access.count, *access.type);
  else if (!as_it_is)
    unpack(data, moved.bytes, access.buffer, access.count, *access.type);
  return moved;
}

// Where the ordered access of this member begins: behind those of the members
// before it. The shared pointer moves on by all of them.
MPI_Offset ordered_position(const Access& access, std::int64_t etypes) {
  File& file = *access.file;
  const Gathered gathered = meet(file, contribution_of(etypes));
  const auto etypes_of = [&](int member) {
    std::int64_t value = 0;
    std::memcpy(&value, gathered.of(member).data(), sizeof value);
    return value;
  };
  MPI_Offset position = once(file, [&] {
    std::int64_t total = 0;
    for (int member = 0; member < file.comm->size(); ++member) total += etypes_of(member);
    return file.state->together().position.fetch_add(total);
  });
  for (int member = 0; member < file.comm->rank; ++member) position += etypes_of(member);
  return position;
}

// Of one that nobody else takes part in: what it takes is the simulator's affair.
void note_access(const File& file, std::uint64_t bytes) {
  Record record = line.record(trace::EventKind::call);
  record.comm = file.comm->context;
  record.bytes = bytes;
  line.post(record);
}

// The whole access; `bytes` that moved. Collective writes meet the others
// when the data is in the file, reads before they look at it. Ordered ones meet before, to
// know their places, and after.
int perform(const Access& access, std::uint64_t& bytes) {
  bytes = 0;
  if (const int error = check(access)) return error;
  FileState& state = *access.file->state;
  const std::uint64_t own = packed_bytes(access.count, *access.type);
  const auto etypes = static_cast<std::int64_t>(own / state.view.etype_bytes());
  MPI_Offset position = access.offset;
  if (access.pointer == Pointer::own) {
    position = state.position;
    state.position += etypes;
  } else if (access.pointer == Pointer::shared) {
    line.meet_others();
    line.take_turn();  // who comes first there has the next part
    position = state.together().position.fetch_add(etypes);
  } else if (access.pointer == Pointer::ordered) {
    position = ordered_position(access, etypes);
  }
  if (access.collective && !access.writes) meet(*access.file, Block(), own);
  const Moved moved = move(access, position);
  const bool ordered = access.pointer == Pointer::ordered;
  if (ordered || (access.collective && access.writes)) meet(*access.file, Block(), own);
  if (!access.collective && !ordered && own > 0 && moved.error == 0) note_access(*access.file, own);
  bytes = moved.bytes;
  if (moved.error == 0) return MPI_SUCCESS;
  return raise(access.file, file_error_class(moved.error),
               state.path + ": " + system_message(moved.error));
}

void say(MPI_Status* status, std::uint64_t bytes) {
  if (!is_ignored(status)) set_status_bytes(*status, bytes, false);
}

int finish(const Access& access, MPI_Status* status) {
  std::uint64_t bytes = 0;
  const int error = perform(access, bytes);
  if (access.file) say(status, bytes);
  return error;
}

// The request of an access that is done.
int finish(const Access& access, MPI_Request* request) {
  std::uint64_t bytes = 0;
  if (const int error = perform(access, bytes)) return error;
  MPI_Status status{};
  status.MPI_SOURCE = MPI_ANY_SOURCE;
  status.MPI_TAG = MPI_ANY_TAG;
  status.MPI_ERROR = MPI_SUCCESS;
  say(&status, bytes);
  *request = handle_of(done_request(status));
  return MPI_SUCCESS;
}

// A split collective does its work when it begins.
int begin(const Access& access, const char* name) {
  if (access.file && access.file->state->split)
    return raise(access.file, MPI_ERR_IO,
                 std::string(name) + " begins during " + access.file->state->split->name);
  std::uint64_t bytes = 0;
  if (const int error = perform(access, bytes)) return error;
  access.file->state->split = FileState::Split{.name = name, .bytes = bytes};
  return MPI_SUCCESS;
}

int end(MPI_File handle, const char* name, MPI_Status* status) {
  File* file = get(handle);
  if (!file) return raise(file, MPI_ERR_FILE, "null or closed file");
  std::optional<FileState::Split>& split = file->state->split;
  if (!split || split->name != name)
    return raise(file, MPI_ERR_IO, std::string(name) + " ends without having begun");
  say(status, split->bytes);
  split.reset();
  return MPI_SUCCESS;
}

}  // namespace

namespace impl {

// --- explicit offsets ---------------------------------------------------------------

int File_read_at(MPI_File file, MPI_Offset offset, void* buffer, int count, MPI_Datatype type,
                 MPI_Status* status) {
  return finish(at(reading(file, buffer, count, type), offset), status);
}

int File_write_at(MPI_File file, MPI_Offset offset, const void* buffer, int count,
                  MPI_Datatype type, MPI_Status* status) {
  return finish(at(writing(file, buffer, count, type), offset), status);
}

int File_read_at_all(MPI_File file, MPI_Offset offset, void* buffer, int count, MPI_Datatype type,
                     MPI_Status* status) {
  return finish(together(at(reading(file, buffer, count, type), offset)), status);
}

int File_write_at_all(MPI_File file, MPI_Offset offset, const void* buffer, int count,
                      MPI_Datatype type, MPI_Status* status) {
  return finish(together(at(writing(file, buffer, count, type), offset)), status);
}

int File_iread_at(MPI_File file, MPI_Offset offset, void* buffer, int count, MPI_Datatype type,
                  MPI_Request* request) {
  return finish(at(reading(file, buffer, count, type), offset), request);
}

int File_iwrite_at(MPI_File file, MPI_Offset offset, const void* buffer, int count,
                   MPI_Datatype type, MPI_Request* request) {
  return finish(at(writing(file, buffer, count, type), offset), request);
}

// Non-blocking collective ones wait for nobody: nothing of them depends on the others.

int File_iread_at_all(MPI_File file, MPI_Offset offset, void* buffer, int count, MPI_Datatype type,
                      MPI_Request* request) {
  return finish(at(reading(file, buffer, count, type), offset), request);
}

int File_iwrite_at_all(MPI_File file, MPI_Offset offset, const void* buffer, int count,
                       MPI_Datatype type, MPI_Request* request) {
  return finish(at(writing(file, buffer, count, type), offset), request);
}

int File_read_at_all_begin(MPI_File file, MPI_Offset offset, void* buffer, int count,
                           MPI_Datatype type) {
  return begin(together(at(reading(file, buffer, count, type), offset)), "read_at_all");
}

int File_read_at_all_end(MPI_File file, void*, MPI_Status* status) {
  return end(file, "read_at_all", status);
}

int File_write_at_all_begin(MPI_File file, MPI_Offset offset, const void* buffer, int count,
                            MPI_Datatype type) {
  return begin(together(at(writing(file, buffer, count, type), offset)), "write_at_all");
}

int File_write_at_all_end(MPI_File file, const void*, MPI_Status* status) {
  return end(file, "write_at_all", status);
}

// --- individual pointers --------------------------------------------------------------

int File_read(MPI_File file, void* buffer, int count, MPI_Datatype type, MPI_Status* status) {
  return finish(reading(file, buffer, count, type), status);
}

int File_write(MPI_File file, const void* buffer, int count, MPI_Datatype type,
               MPI_Status* status) {
  return finish(writing(file, buffer, count, type), status);
}

int File_read_all(MPI_File file, void* buffer, int count, MPI_Datatype type, MPI_Status* status) {
  return finish(together(reading(file, buffer, count, type)), status);
}

int File_write_all(MPI_File file, const void* buffer, int count, MPI_Datatype type,
                   MPI_Status* status) {
  return finish(together(writing(file, buffer, count, type)), status);
}

int File_iread(MPI_File file, void* buffer, int count, MPI_Datatype type, MPI_Request* request) {
  return finish(reading(file, buffer, count, type), request);
}

int File_iwrite(MPI_File file, const void* buffer, int count, MPI_Datatype type,
                MPI_Request* request) {
  return finish(writing(file, buffer, count, type), request);
}

int File_iread_all(MPI_File file, void* buffer, int count, MPI_Datatype type,
                   MPI_Request* request) {
  return finish(reading(file, buffer, count, type), request);
}

int File_iwrite_all(MPI_File file, const void* buffer, int count, MPI_Datatype type,
                    MPI_Request* request) {
  return finish(writing(file, buffer, count, type), request);
}

int File_read_all_begin(MPI_File file, void* buffer, int count, MPI_Datatype type) {
  return begin(together(reading(file, buffer, count, type)), "read_all");
}

int File_read_all_end(MPI_File file, void*, MPI_Status* status) {
  return end(file, "read_all", status);
}

int File_write_all_begin(MPI_File file, const void* buffer, int count, MPI_Datatype type) {
  return begin(together(writing(file, buffer, count, type)), "write_all");
}

int File_write_all_end(MPI_File file, const void*, MPI_Status* status) {
  return end(file, "write_all", status);
}

// --- the shared pointer ----------------------------------------------------------------

int File_read_shared(MPI_File file, void* buffer, int count, MPI_Datatype type,
                     MPI_Status* status) {
  return finish(by(Pointer::shared, reading(file, buffer, count, type)), status);
}

int File_write_shared(MPI_File file, const void* buffer, int count, MPI_Datatype type,
                      MPI_Status* status) {
  return finish(by(Pointer::shared, writing(file, buffer, count, type)), status);
}

int File_iread_shared(MPI_File file, void* buffer, int count, MPI_Datatype type,
                      MPI_Request* request) {
  return finish(by(Pointer::shared, reading(file, buffer, count, type)), request);
}

int File_iwrite_shared(MPI_File file, const void* buffer, int count, MPI_Datatype type,
                       MPI_Request* request) {
  return finish(by(Pointer::shared, writing(file, buffer, count, type)), request);
}

int File_read_ordered(MPI_File file, void* buffer, int count, MPI_Datatype type,
                      MPI_Status* status) {
  return finish(by(Pointer::ordered, reading(file, buffer, count, type)), status);
}

int File_write_ordered(MPI_File file, const void* buffer, int count, MPI_Datatype type,
                       MPI_Status* status) {
  return finish(by(Pointer::ordered, writing(file, buffer, count, type)), status);
}

int File_read_ordered_begin(MPI_File file, void* buffer, int count, MPI_Datatype type) {
  return begin(by(Pointer::ordered, reading(file, buffer, count, type)), "read_ordered");
}

int File_read_ordered_end(MPI_File file, void*, MPI_Status* status) {
  return end(file, "read_ordered", status);
}

int File_write_ordered_begin(MPI_File file, const void* buffer, int count, MPI_Datatype type) {
  return begin(by(Pointer::ordered, writing(file, buffer, count, type)), "write_ordered");
}

int File_write_ordered_end(MPI_File file, const void*, MPI_Status* status) {
  return end(file, "write_ordered", status);
}

}  // namespace impl
}  // namespace foretrace::mpi
