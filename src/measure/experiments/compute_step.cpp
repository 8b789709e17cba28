#include "measure/experiments/compute_step.hpp"

#include <array>
#include <cstddef>

#include "measure/experiments/clock.hpp"

namespace foretrace::measure {
namespace {

constexpr std::size_t kElements = 1024;
constexpr int kPasses = 50;

// One step at a time: the empty statement keeps the compiler from doing
// several in one vector instruction, which it cannot do in the loops that
// programs annotate with steps.
void steps(std::array<double, kElements>& values) {
  for (int pass = 0; pass < kPasses; ++pass)
    for (double& value : values) {
      value = value * 0.999 + 0.5;
      asm volatile("" : : : "memory");
    }
}

}  // namespace

std::vector<ComputeBlock> time_compute_steps(int blocks) {
  std::array<double, kElements> values{};
  steps(values);
  std::vector<ComputeBlock> result;
  for (int i = 0; i < blocks; ++i) {
    const long before = context_switches();
    const auto begin = now_ns();
    steps(values);
    const auto end = now_ns();
    result.push_back({static_cast<double>(end - begin) * 1e-9 / (kElements * kPasses),
                      context_switches() == before});
  }
  return result;
}

}  // namespace foretrace::measure
