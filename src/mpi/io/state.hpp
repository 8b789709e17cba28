// An open file: its view, its pointers, and how data moves between it and memory.
//
// Files are files of this machine; data moves when a function is called, so that what
// does not block is done at once. What it takes in virtual time the simulator finds out,
// which hears of all bytes. Collective functions do what a barrier does: nobody leaves before all
// have entered, and so all see what the others wrote before. (MPI asks for less; but a program may
// rely on it after MPI_File_sync.)
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mpi/collective/gathered.hpp"
#include "mpi/core/block.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/io/file.hpp"

namespace foretrace::mpi {

// Which part of the file a process sees: from `displacement` on, one filetype after
// the other. What shows through them is the stream; positions in it count etypes.
struct View {
  struct Run {
    MPI_Aint at = 0;  // from the filetype's beginning
    std::uint64_t length = 0;
    std::uint64_t before = 0;  // bytes of the stream before it, in this filetype
  };
  MPI_Offset displacement = 0;
  Datatype* etype = nullptr;  // one reference each
  Datatype* filetype = nullptr;
  std::string representation = "native";
  std::vector<Run> runs;   // of a filetype
  bool has_holes = false;  // false: one run, and filetypes join

  std::uint64_t etype_bytes() const { return static_cast<std::uint64_t>(etype->size); }
  // Where in the file byte `stream` of the stream is.
  MPI_Offset place_of(std::uint64_t stream) const;
  // Bytes of the stream that lie before `end` in the file.
  std::uint64_t stream_before(MPI_Offset end) const;
  // visit(place in the file, length) for `bytes` bytes of the stream from `stream`
  // on, until it returns false.
  void for_each_piece(std::uint64_t stream, std::uint64_t bytes,
                      const std::function<bool(MPI_Offset, std::uint64_t)>& visit) const;
};

// The data representation whose numbers are big-endian; others leave them as they are.
inline constexpr const char* kExternal = "external32";
// Whether it has elements of the size that they have in memory (long has not).
bool keeps_sizes(MPI_Count count, const Datatype& type);

// What the processes of a file share.
struct SharedFile {
  std::uint32_t mutex = 0;    // first: see SharedMutex
  std::uint64_t meeting = 0;  // whose once() was done last, and its result
  std::int64_t result = 0;
  std::atomic<std::int64_t> position{0};  // shared pointer, in etypes
  std::atomic<int> closed{0};             // by so many members
};

struct FileState {
  ~FileState();

  int descriptor = -1;
  std::string path;
  int amode = 0;
  View view;
  MPI_Offset position = 0;   // individual pointer, in etypes
  std::uint64_t shared = 0;  // place of the SharedFile
  bool atomic = false;
  std::uint64_t meetings = 0;  // collectives on the file so far
  // A split collective that began: what its end returns.
  struct Split {
    std::string name;
    std::uint64_t bytes = 0;
  };
  std::optional<Split> split;

  SharedFile& together() const { return *reinterpret_cast<SharedFile*>(address_of(shared)); }
};

// MPI's class for the system's error number.
int file_error_class(int number);
std::string system_message(int number);

// Enters a collective of the file; see above.
Gathered meet(File& file, Block contribution = Block(), std::uint64_t bytes = 0);
// After meet(): does something that one process does for all; returns in all of them
// what it returned.
std::int64_t once(File& file, const std::function<std::int64_t()>& action);
// Raises MPI_ERR_NOT_SAME unless the value is the first member's.
int check_same(File* file, const Gathered& gathered, std::int64_t value, const char* what);
Block contribution_of(std::int64_t value);

void set_view(View& view, MPI_Offset displacement, Datatype* etype, Datatype* filetype);

// Moves packed bytes; how many, and the system's error number.
struct Moved {
  std::uint64_t bytes = 0;
  int error = 0;
};
Moved read_stream(const FileState& state, std::uint64_t stream, std::byte* out,
                  std::uint64_t bytes);
Moved write_stream(const FileState& state, std::uint64_t stream, const std::byte* in,
                   std::uint64_t bytes);

}  // namespace foretrace::mpi
