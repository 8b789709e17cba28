// KernelSampler: executions of a kernel that need not be made, since the first
// ones tell what they take (foretrace.h, FORETRACE_KERNEL_RUNS; --sample N).
//
// It decides and remembers; what a kernel took is told by the library in the
// program's process. Knows no MPI.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace foretrace::compute {

// What was computed: CPU time, and steps as they are announced or counted.
struct Work {
  Time cpu;
  double steps = 0;

  Work& operator+=(const Work& other) {
    cpu += other.cpu;
    steps += other.steps;
    return *this;
  }
};

class KernelSampler {
 public:
  // Executions of each kernel that are made; 0: all of them.
  explicit KernelSampler(int samples = 0) : samples_(samples) {}
  bool samples() const { return samples_ > 0; }

  // A kernel comes. `so_far` is what the rank computed since its last call, `calls`
  // how many it has made. Runs: it is to be made, and end() will be called.
  // Otherwise `work` is what it would have been.
  struct Answer {
    bool runs = true;
    Work work;
  };
  Answer begin(std::string_view name, double key, const Work& so_far, std::uint64_t calls);
  void end(std::string_view name, const Work& so_far, std::uint64_t calls);

  // Executions that were left out, by kernel.
  std::vector<std::pair<std::string, std::uint64_t>> left_out() const;
  // Kernels that make calls: nothing of them is left out.
  std::vector<std::string> refused() const;
  // Both in words, for the end of rank 0's run; empty: nothing was sampled.
  std::string summary() const;

 private:
  struct Kernel {
    std::vector<Work> taken;
    std::size_t next = 0;  // of `taken`, to be given out
    std::uint64_t left_out = 0;
    bool makes_calls = false;
  };
  struct Open {
    std::string_view name;  // of the map's key
    Kernel* kernel = nullptr;
    Work begin;
    std::uint64_t calls = 0;
  };

  int samples_;
  std::map<std::pair<std::string, double>, Kernel, std::less<>> kernels_;
  std::vector<Open> open_;
};

}  // namespace foretrace::compute
