// Mutual exclusion of ranks in real time, for what takes no virtual time: an
// accumulating operation on a window, an access to a file in atomic mode.
#pragma once

#include <cstdint>

namespace foretrace::mpi {

// Holds the mutex at `place` in the shared memory: a 32-bit word, 0 at first. Its
// holder must not wait for the simulator.
class SharedMutex {
 public:
  explicit SharedMutex(std::uint64_t place);
  ~SharedMutex();
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

 private:
  std::uint32_t& word_;
};

}  // namespace foretrace::mpi
