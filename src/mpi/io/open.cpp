#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "live_impl.hpp"
#include "mpi/collective/gathered.hpp"
#include "mpi/comm/contexts.hpp"
#include "mpi/core/block.hpp"
#include "mpi/io/state.hpp"
#include "mpi/onesided/mutex.hpp"

namespace foretrace::mpi {
namespace {

constexpr int kAccess = MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR;
constexpr std::uint64_t kSharedBytes = 64;
static_assert(sizeof(SharedFile) <= kSharedBytes);

// What each member tells the others when a file is opened.
struct Opening {
  std::int64_t amode = 0;
  std::int64_t error = 0;    // the first member: error number of its open
  std::uint64_t shared = 0;  // the first member: place of the SharedFile
  std::int64_t begin = 0;    // the first member: where all pointers stand
  ContextId context = 0;     // the first member: the file's
};

int check_amode(int amode) {
  const int access = amode & kAccess;
  constexpr int kAll = kAccess | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE |
                       MPI_MODE_UNIQUE_OPEN | MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND;
  const char* wrong = nullptr;
  if (access != MPI_MODE_RDONLY && access != MPI_MODE_WRONLY && access != MPI_MODE_RDWR)
    wrong = "access mode, expected one of MPI_MODE_RDONLY, MPI_MODE_WRONLY, MPI_MODE_RDWR";
  else if (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)))
    wrong = "MPI_MODE_RDONLY with MPI_MODE_CREATE or MPI_MODE_EXCL";
  else if (access == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL))
    wrong = "MPI_MODE_RDWR with MPI_MODE_SEQUENTIAL";
  else if (amode & ~kAll)
    wrong = "an unknown access mode";
  return wrong ? raise(static_cast<File*>(nullptr), MPI_ERR_AMODE, wrong) : MPI_SUCCESS;
}

// Programs written for ROMIO name the file system before the path.
std::string path_of(const char* name) {
  for (const char* prefix : {"ufs:", "nfs:", "xfs:", "testfs:", "gpfs:", "lustre:", "panfs:"})
    if (std::strncmp(name, prefix, std::strlen(prefix)) == 0) return name + std::strlen(prefix);
  return name;
}

int flags_of(int amode, bool creates) {
  int flags = O_CLOEXEC;
  if (amode & MPI_MODE_RDONLY) flags |= O_RDONLY;
  if (amode & MPI_MODE_WRONLY) flags |= O_WRONLY;
  if (amode & MPI_MODE_RDWR) flags |= O_RDWR;
  if (creates && (amode & MPI_MODE_CREATE)) flags |= O_CREAT;
  if (creates && (amode & MPI_MODE_CREATE) && (amode & MPI_MODE_EXCL)) flags |= O_EXCL;
  return flags;
}

Opening opening_of(const Gathered& gathered, int place) {
  Opening opening;
  std::memcpy(&opening, gathered.of(place).data(), sizeof opening);
  return opening;
}

std::uint64_t new_shared_file(std::int64_t begin) {
  const std::uint64_t place = allocate_shared(kSharedBytes);
  (new (address_of(place)) SharedFile)->position = begin;
  return place;
}

std::int64_t size_of(int descriptor) {
  struct stat about {};
  return ::fstat(descriptor, &about) == 0 ? about.st_size : 0;
}

int no_file(int number, const std::string& path) {
  return raise(static_cast<File*>(nullptr), file_error_class(number),
               path + ": " + system_message(number));
}

// A file that all members could open.
File* make_file(const Comm& comm, const Opening& first, int descriptor, std::string path, int amode,
                Info* info) {
  File* file = new File;
  file->comm = new Comm;
  file->comm->context = file->comm->together = first.context;
  file->comm->group = retain(comm.group);
  file->comm->rank = comm.rank;
  file->errhandler = retain(default_file_errhandler());
  file->info = new Info;
  if (info) file->info->entries = info->entries;
  file->state = std::make_unique<FileState>();
  FileState& state = *file->state;
  state.descriptor = descriptor;
  state.path = std::move(path);
  state.amode = amode;
  state.shared = first.shared;
  state.position = first.begin;
  set_view(state.view, 0, get(MPI_BYTE), get(MPI_BYTE));
  return file;
}

}  // namespace

File::File() : Object(ObjectKind::file) {}

File::~File() {
  state.reset();
  release(errhandler);
  release(info);
  release(comm);
}

FileState::~FileState() {
  if (descriptor >= 0) ::close(descriptor);
  release(view.etype);
  release(view.filetype);
}

int file_error_class(int number) {
  switch (number) {
    case ENOENT:
      return MPI_ERR_NO_SUCH_FILE;
    case EEXIST:
      return MPI_ERR_FILE_EXISTS;
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
      return MPI_ERR_BAD_FILE;
    case ENOSPC:
      return MPI_ERR_NO_SPACE;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    case ETXTBSY:
      return MPI_ERR_FILE_IN_USE;
    default:
      return MPI_ERR_IO;
  }
}

std::string system_message(int number) {
  char text[256] = "";
  return strerror_r(number, text, sizeof text);
}

Gathered meet(File& file, Block contribution, std::uint64_t bytes) {
  ++file.state->meetings;
  return collective({.comm = file.comm, .bytes = bytes}, std::move(contribution));
}

std::int64_t once(File& file, const std::function<std::int64_t()>& action) {
  // Nobody needs the last meeting's result any more: all have come to this one.
  SharedFile& shared = file.state->together();
  const SharedMutex hold(file.state->shared);
  if (shared.meeting != file.state->meetings) {
    shared.result = action();
    shared.meeting = file.state->meetings;
  }
  return shared.result;
}

Block contribution_of(std::int64_t value) {
  Block block(sizeof value);
  std::memcpy(block.data(), &value, sizeof value);
  return block;
}

int check_same(File* file, const Gathered& gathered, std::int64_t value, const char* what) {
  std::int64_t first = 0;
  std::memcpy(&first, gathered.of(0).data(), sizeof first);
  if (first == value) return MPI_SUCCESS;
  return raise(
      file, MPI_ERR_NOT_SAME,
      std::string(what) + " " + std::to_string(value) + ", rank 0 says " + std::to_string(first));
}

namespace impl {

int File_open(MPI_Comm handle, const char* filename, int amode, MPI_Info info, MPI_File* file) {
  Comm* comm = get(handle);
  File* const nowhere = nullptr;
  if (!comm) return raise(nowhere, MPI_ERR_COMM, "null or freed communicator");
  if (comm->is_inter())
    return raise(nowhere, MPI_ERR_COMM, "an inter-communicator, expected an intra-communicator");
  if (!filename) return raise(nowhere, MPI_ERR_ARG, "null file name");
  if (const int error = check_amode(amode)) return error;
  *file = MPI_FILE_NULL;
  std::string path = path_of(filename);

  // The first member makes the file, if it is to be made; then the others open it.
  Opening mine{.amode = amode};
  int descriptor = -1;
  if (comm->rank == 0) {
    descriptor = ::open(path.c_str(), flags_of(amode, true), 0666);
    if (descriptor < 0) mine.error = errno;
    // Before anybody can have written.
    if (amode & MPI_MODE_APPEND) mine.begin = size_of(descriptor);
    mine.shared = new_shared_file(mine.begin);
    mine.context = define_context(comm->group->members);
  }
  Block contribution(sizeof mine);
  std::memcpy(contribution.data(), &mine, sizeof mine);
  const Gathered gathered = collective({.comm = comm}, std::move(contribution));
  const Opening first = opening_of(gathered, 0);
  if (first.error != 0) {
    if (comm->rank == 0) free_shared(first.shared);
    return no_file(static_cast<int>(first.error), path);
  }
  // All of them fail if one does.
  for (int member = 0; member < comm->size(); ++member)
    if (opening_of(gathered, member).amode != first.amode) {
      if (descriptor >= 0) ::close(descriptor);
      if (comm->rank == 0) free_shared(first.shared);
      return raise(nowhere, MPI_ERR_NOT_SAME, "access modes differ");
    }
  if (comm->rank != 0) descriptor = ::open(path.c_str(), flags_of(amode, false));
  if (descriptor < 0) return no_file(errno, path);
  File* made = make_file(*comm, first, descriptor, std::move(path), amode, get(info));
  *file = handle_of(made);
  return MPI_SUCCESS;
}

int File_close(MPI_File* handle) {
  File* file = get(*handle);
  if (!file) return raise(file, MPI_ERR_FILE, "null or closed file");
  FileState& state = *file->state;
  if (state.split) return raise(file, MPI_ERR_IO, "the file is closed during " + state.split->name);
  int error = 0;
  // Those that have not opened it yet look for its name; the last one here has all behind it.
  const bool is_last = ++state.together().closed == file->comm->size();
  if (is_last && (state.amode & MPI_MODE_DELETE_ON_CLOSE) && ::unlink(state.path.c_str()) != 0)
    error = errno;
  meet(*file);
  if (file->comm->rank == 0) free_shared(state.shared);
  if (error != 0 && error != ENOENT)
    return raise(file, file_error_class(error), state.path + ": " + system_message(error));
  release(file);
  *handle = MPI_FILE_NULL;
  return MPI_SUCCESS;
}

int File_delete(const char* filename, MPI_Info) {
  if (!filename) return raise(static_cast<File*>(nullptr), MPI_ERR_ARG, "null file name");
  const std::string path = path_of(filename);
  return ::unlink(path.c_str()) == 0 ? MPI_SUCCESS : no_file(errno, path);
}

}  // namespace impl
}  // namespace foretrace::mpi
