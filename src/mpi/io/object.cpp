// Files: size, group, hints, view, pointers, consistency.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "live_impl.hpp"
#include "mpi/collective/gathered.hpp"
#include "mpi/core/line.hpp"
#include "mpi/io/state.hpp"

namespace foretrace::mpi {
namespace {

int check_file(File* file) {
  return file ? MPI_SUCCESS : raise(file, MPI_ERR_FILE, "null or closed file");
}

int check_individual(File* file) {
  if (const int error = check_file(file)) return error;
  if (file->state->amode & MPI_MODE_SEQUENTIAL)
    return raise(
        file, MPI_ERR_UNSUPPORTED_OPERATION,
        "the file was opened with MPI_MODE_SEQUENTIAL: only its shared pointer may be used");
  return MPI_SUCCESS;
}

int failed(File* file, std::int64_t number) {
  return raise(file, file_error_class(static_cast<int>(number)),
               file->state->path + ": " + system_message(static_cast<int>(number)));
}

MPI_Offset size_of(const FileState& state) {
  struct stat about {};
  return ::fstat(state.descriptor, &about) == 0 ? about.st_size : 0;
}

// Where a pointer goes; negative: nowhere.
MPI_Offset target_of(const FileState& state, MPI_Offset current, MPI_Offset offset, int whence) {
  if (whence == MPI_SEEK_CUR) return current + offset;
  if (whence == MPI_SEEK_SET) return offset;
  const std::uint64_t unit = std::max<std::uint64_t>(state.view.etype_bytes(), 1);
  const std::uint64_t bytes = state.view.stream_before(size_of(state));
  return static_cast<MPI_Offset>((bytes + unit - 1) / unit) + offset;
}

int check_whence(File* file, int whence) {
  if (whence == MPI_SEEK_SET || whence == MPI_SEEK_CUR || whence == MPI_SEEK_END)
    return MPI_SUCCESS;
  return raise(file, MPI_ERR_ARG, "whence " + std::to_string(whence));
}

// What MPI asks of etypes and filetypes (MPI 3.1, 13.3).
bool is_in_order(const Datatype& type, bool writes) {
  bool good = true;
  MPI_Aint begin = 0, end = 0;  // of the run before
  for_each_run(1, type, [&](MPI_Aint at, std::uint64_t length) {
    if (length == 0) return;
    good = good && at >= (writes ? end : begin);
    begin = at;
    end = at + static_cast<MPI_Aint>(length);
  });
  return good;
}

int check_view(File* file, MPI_Offset displacement, const Datatype* etype, const Datatype* filetype,
               const char* representation) {
  if (!etype || !etype->committed)
    return raise(file, MPI_ERR_TYPE, "etype is null, freed or not committed");
  if (!filetype || !filetype->committed)
    return raise(file, MPI_ERR_TYPE, "filetype is null, freed or not committed");
  if (!representation) return raise(file, MPI_ERR_ARG, "null data representation");
  const bool current = displacement == MPI_DISPLACEMENT_CURRENT;
  const bool sequential = (file->state->amode & MPI_MODE_SEQUENTIAL) != 0;
  if (current ? !sequential : displacement < 0)
    return raise(file, MPI_ERR_ARG, "displacement " + std::to_string(displacement));
  if (etype->size == 0 || filetype->size % etype->size != 0)
    return raise(file, MPI_ERR_ARG,
                 "filetype of " + std::to_string(filetype->size) +
                     " bytes is not made of etypes of " + std::to_string(etype->size));
  if (std::strcmp(representation, kExternal) == 0) {
    if (!keeps_sizes(1, *etype) || !keeps_sizes(1, *filetype))
      return raise(file, MPI_ERR_UNSUPPORTED_DATAREP,
                   "external32, of types that have another size there");
  } else if (std::strcmp(representation, "native") != 0 &&
             std::strcmp(representation, "internal") != 0) {
    return raise(file, MPI_ERR_UNSUPPORTED_DATAREP, representation);
  }
  const bool writes = (file->state->amode & MPI_MODE_RDONLY) == 0;
  if (!is_in_order(*etype, writes) || !is_in_order(*filetype, writes))
    return raise(file, MPI_ERR_IO,
                 "displacements in etype and filetype must rise from 0, and parts to write to "
                 "must not overlap");
  return MPI_SUCCESS;
}

// All members name the same size; one of them does it: change(descriptor) returns an
// error of the system, or 0.
template <class Change>
int resize(MPI_File handle, MPI_Offset size, Change change) {
  File* file = get(handle);
  if (const int error = check_file(file)) return error;
  if (size < 0) return raise(file, MPI_ERR_ARG, "size " + std::to_string(size));
  const Gathered gathered = meet(*file, contribution_of(size));
  if (const int error = check_same(file, gathered, size, "size")) return error;
  const std::int64_t number =
      once(*file, [&]() -> std::int64_t { return change(file->state->descriptor); });
  return number == 0 ? MPI_SUCCESS : failed(file, number);
}

}  // namespace

namespace impl {

int File_set_size(MPI_File file, MPI_Offset size) {
  return resize(file, size,
                [size](int descriptor) { return ::ftruncate(descriptor, size) == 0 ? 0 : errno; });
}

int File_preallocate(MPI_File file, MPI_Offset size) {
  return resize(file, size, [size](int descriptor) {
    return size == 0 ? 0 : ::posix_fallocate(descriptor, 0, size);
  });
}

int File_get_size(MPI_File handle, MPI_Offset* size) {
  File* file = get(handle);
  if (const int error = check_file(file)) return error;
  *size = size_of(*file->state);
  return MPI_SUCCESS;
}

int File_get_group(MPI_File handle, MPI_Group* group) {
  File* file = get(handle);
  if (const int error = check_file(file)) return error;
  *group = handle_of(retain(file->comm->group));
  return MPI_SUCCESS;
}

int File_get_amode(MPI_File handle, int* amode) {
  File* file = get(handle);
  if (const int error = check_file(file)) return error;
  *amode = file->state->amode;
  return MPI_SUCCESS;
}

int File_set_info(MPI_File handle, MPI_Info info) {
  File* file = get(handle);
  if (const int error = check_file(file)) return error;
  if (Info* wanted = get(info))
    for (const auto& [key, value] : wanted->entries) {
      auto& entries = file->info->entries;
      const auto same = [&key = key](const auto& entry) { return entry.first == key; };
      const auto found = std::find_if(entries.begin(), entries.end(), same);
      if (found != entries.end())
        found->second = value;
      else
        entries.emplace_back(key, value);
    }
  meet(*file);
  return MPI_SUCCESS;
}

int File_get_info(MPI_File handle, MPI_Info* info) {
  File* file = get(handle);
  if (const int error = check_file(file)) return error;
  Info* used = new Info;
  used->entries = file->info->entries;
  *info = handle_of(used);
  return MPI_SUCCESS;
}

int File_set_view(MPI_File handle, MPI_Offset displacement, MPI_Datatype etype_handle,
                  MPI_Datatype filetype_handle, const char* representation, MPI_Info) {
  File* file = get(handle);
  if (const int error = check_file(file)) return error;
  Datatype *etype = get(etype_handle), *filetype = get(filetype_handle);
  if (const int error = check_view(file, displacement, etype, filetype, representation))
    return error;
  FileState& state = *file->state;
  const Gathered gathered = meet(*file, contribution_of(etype->size));
  if (const int error = check_same(file, gathered, etype->size, "etype's size")) return error;
  const std::int64_t current = once(*file, [&] {
    return state.view.place_of(static_cast<std::uint64_t>(state.together().position.exchange(0)) *
                               state.view.etype_bytes());
  });
  set_view(state.view, displacement == MPI_DISPLACEMENT_CURRENT ? current : displacement, etype,
           filetype);
  state.view.representation = representation;
  state.position = 0;
  return MPI_SUCCESS;
}

int File_get_view(MPI_File handle, MPI_Offset* displacement, MPI_Datatype* etype,
                  MPI_Datatype* filetype, char* representation) {
  File* file = get(handle);
  if (const int error = check_file(file)) return error;
  const View& view = file->state->view;
  *displacement = view.displacement;
  *etype = handle_of(retain(view.etype));
  *filetype = handle_of(retain(view.filetype));
  std::memcpy(representation, view.representation.c_str(), view.representation.size() + 1);
  return MPI_SUCCESS;
}

int File_seek(MPI_File handle, MPI_Offset offset, int whence) {
  File* file = get(handle);
  if (const int error = check_individual(file)) return error;
  if (const int error = check_whence(file, whence)) return error;
  FileState& state = *file->state;
  const MPI_Offset target = target_of(state, state.position, offset, whence);
  if (target < 0) return raise(file, MPI_ERR_ARG, "position " + std::to_string(target));
  state.position = target;
  return MPI_SUCCESS;
}

int File_get_position(MPI_File handle, MPI_Offset* offset) {
  File* file = get(handle);
  if (const int error = check_individual(file)) return error;
  *offset = file->state->position;
  return MPI_SUCCESS;
}

int File_seek_shared(MPI_File handle, MPI_Offset offset, int whence) {
  File* file = get(handle);
  if (const int error = check_file(file)) return error;
  if (const int error = check_whence(file, whence)) return error;
  const Gathered gathered = meet(*file, contribution_of(offset));
  if (const int error = check_same(file, gathered, offset, "offset")) return error;
  FileState& state = *file->state;
  const std::int64_t target = once(*file, [&]() -> std::int64_t {
    auto& position = state.together().position;
    const MPI_Offset to = target_of(state, position, offset, whence);
    if (to >= 0) position = to;
    return to;
  });
  return target >= 0 ? MPI_SUCCESS : raise(file, MPI_ERR_ARG, "position " + std::to_string(target));
}

int File_get_position_shared(MPI_File handle, MPI_Offset* offset) {
  File* file = get(handle);
  if (const int error = check_file(file)) return error;
  line.take_turn();
  *offset = file->state->together().position;
  return MPI_SUCCESS;
}

int File_get_byte_offset(MPI_File handle, MPI_Offset offset, MPI_Offset* place) {
  File* file = get(handle);
  if (const int error = check_individual(file)) return error;
  if (offset < 0) return raise(file, MPI_ERR_ARG, "offset " + std::to_string(offset));
  const View& view = file->state->view;
  *place = view.place_of(static_cast<std::uint64_t>(offset) * view.etype_bytes());
  return MPI_SUCCESS;
}

int File_get_type_extent(MPI_File handle, MPI_Datatype type, MPI_Aint* extent) {
  File* file = get(handle);
  if (const int error = check_file(file)) return error;
  Datatype* object = get(type);
  if (!object) return raise(file, MPI_ERR_TYPE, "null or freed datatype");
  *extent = static_cast<MPI_Aint>(object->extent);
  return MPI_SUCCESS;
}

int File_set_atomicity(MPI_File handle, int flag) {
  File* file = get(handle);
  if (const int error = check_file(file)) return error;
  const Gathered gathered = meet(*file, contribution_of(flag != 0));
  if (const int error = check_same(file, gathered, flag != 0, "flag")) return error;
  file->state->atomic = flag != 0;
  return MPI_SUCCESS;
}

int File_get_atomicity(MPI_File handle, int* flag) {
  File* file = get(handle);
  if (const int error = check_file(file)) return error;
  *flag = file->state->atomic;
  return MPI_SUCCESS;
}

int File_sync(MPI_File handle) {
  File* file = get(handle);
  if (const int error = check_file(file)) return error;
  meet(*file);
  const std::int64_t number = once(*file, [&]() -> std::int64_t {
    return ::fsync(file->state->descriptor) == 0 || errno == EINVAL ? 0 : errno;
  });
  return number == 0 ? MPI_SUCCESS : failed(file, number);
}

int Register_datarep(const char* name, MPI_Datarep_conversion_function*,
                     MPI_Datarep_conversion_function*, MPI_Datarep_extent_function*, void*) {
  File* const nowhere = nullptr;
  if (!name) return raise(nowhere, MPI_ERR_ARG, "null data representation");
  for (const char* own : {"native", "internal", "external32"})
    if (std::strcmp(name, own) == 0) return raise(nowhere, MPI_ERR_DUP_DATAREP, name);
  return raise(nowhere, MPI_ERR_UNSUPPORTED_DATAREP,
               std::string(name) + ": data representations of the program's own");
}

#if MPI_VERSION >= 4
int Register_datarep_c(const char* name, MPI_Datarep_conversion_function_c*,
                       MPI_Datarep_conversion_function_c*, MPI_Datarep_extent_function*, void*) {
  return Register_datarep(name, nullptr, nullptr, nullptr, nullptr);
}
#endif

}  // namespace impl
}  // namespace foretrace::mpi
