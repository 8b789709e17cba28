// Processes that a rank starts (MPI_Comm_spawn): what it asks for, and what they
// must know.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace foretrace::live {

// One program of several that are started together.
struct Application {
  int count = 0;                   // of processes
  std::vector<std::string> words;  // the program's path first
  std::string directory;           // to run in; empty: the simulator's
};

struct SpawnRequest {
  std::vector<Application> applications;
  std::vector<std::int32_t> parents;  // world ranks
};

// As bytes, for the memory that simulator and ranks share.
std::vector<char> to_bytes(const SpawnRequest& request);
SpawnRequest spawn_request(std::span<const char> bytes);

// In shared memory, for all processes of one call: behind it the ranks of the
// children, the number of the application of each, and the ranks of the parents.
struct Birth {
  std::atomic<std::uint32_t> readers{0};  // children that have not read it
  std::uint32_t world = 0;                // context of the children's MPI_COMM_WORLD
  std::uint32_t together = 0;             // of the inter-communicator with the parents
  std::int32_t children = 0;
  std::int32_t parents = 0;

  std::int32_t* ranks() { return reinterpret_cast<std::int32_t*>(this + 1); }
  std::int32_t* applications() { return ranks() + children; }
  std::int32_t* parent_ranks() { return applications() + children; }
};

}  // namespace foretrace::live
