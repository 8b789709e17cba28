// The file of a profile (.fprof): a head, then chunks of counters
// (call_counters.hpp), each of one rank and one kind.
//
// While the program runs each rank maps its chunks, so that whatever was
// counted survives the process. A table that has grown is a new chunk; the old
// one is void. When all is done the file is written once more, without gaps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/call_counters.hpp"
#include "trace/run_file.hpp"

namespace foretrace::trace {

struct CountersInfo {
  int ranks = 0;
  bool complete = false;               // all ranks came to MPI_Finalize
  std::string program;                 // the command line
  std::string mpi;                     // the MPI library
  std::vector<std::string> functions;  // by SiteRecord::function
};

struct RankCounters {
  RankRecord rank;
  std::vector<ObjectRecord> objects;
  std::vector<SiteRecord> sites;
  std::vector<SizeRecord> sizes;
  std::vector<CommRecord> comms;
  std::vector<PeerRecord> peers;
  std::vector<WaitRecord> waits;
  int error = 0;  // errno of the first write that failed: something was not counted; 0: none
};

struct CallCounters {
  CountersInfo info;
  std::vector<RankCounters> ranks;  // by world rank; state none: left nothing
};

// Creates the file of a run that begins. Throws Error, also where another run holds what
// it got here.
RunFile create_counters_file(const std::string& path, const CountersInfo& info);

// Files that are older than a kind have no such chunks.
enum class ChunkKind : std::uint32_t { rank = 1, objects, sites, sizes, comms, peers, waits };

// A rank's side of the file while the program runs.
class CountersWriter {
 public:
  CountersWriter() = default;
  // Throws Error.
  CountersWriter(const std::string& path, int rank);
  ~CountersWriter();
  CountersWriter(CountersWriter&& other) noexcept;
  CountersWriter& operator=(CountersWriter&& other) noexcept;

  // Appends room for `count` records of `bytes` each, all zero, mapped until
  // the process ends; nullptr: there is none.
  void* append(ChunkKind kind, std::uint32_t count, std::uint32_t bytes) noexcept;
  // Once the chunk holds what readers may see; `before` (or nullptr) is void.
  static void publish(void* records, void* before) noexcept;
  int error() const { return error_; }  // errno of what failed first; 0: nothing
  void close() noexcept;

 private:
  void* map_new(ChunkKind kind, std::uint32_t count, std::uint32_t bytes) noexcept;

  int fd_ = -1;
  char* first_ = nullptr;  // the rank's first chunk, which says that a write failed
  std::uint32_t rank_ = 0;
  int error_ = 0;
};

// Whether the file begins as a profile does.
bool begins_as_counters(const std::string& path);

// Throws Error if it is no profile or damaged.
CallCounters parse_counters(std::string_view bytes, const std::string& name);
CallCounters read_counters(const std::string& path);

// Writes counters without gaps to `path`, as a whole or not at all. Throws
// Error.
void write_counters(const CallCounters& counters, const std::string& path);

}  // namespace foretrace::trace
