// Experiments: what is called, by whom, and which spans of it are the data
// sheet's functions. The definitions are those of Howell's thesis section 3.3,
// figures 3.3 and 3.4 and the notes of appendix B; docs/measure.md tells them
// to users.
//
// An experiment knows nothing of repetitions, starts and statistics: runner
// does all that.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "measure/buffer_pool.hpp"
#include "measure/group.hpp"

namespace foretrace::measure {

// A span of one rank's time, in readings of now_ns().
struct Span {
  std::int64_t begin = INT64_MIN;
  std::int64_t end = INT64_MIN;

  bool measured() const { return end != INT64_MIN; }
};

struct Experiment {
  std::vector<std::string> functions;
  // Before each start, off the record: asks for the next buffers. With warm ones
  // that writes into what will be sent: data that nobody has touched since they
  // were last sent lie in the receiver's cache already, and a transfer of 100 kB
  // then takes a third of what it takes a program that computes what it sends.
  std::function<void()> prepare;
  // Makes the calls, the first of them at once, and fills in one span per
  // function where this rank measures it. `entry` is the clock's last reading
  // before the start; `delay` (ns) is how long "surely arrived" takes.
  std::function<void(std::int64_t entry, std::int64_t delay, Span* spans)> repeat;
  bool delayed = false;  // uses `delay`: every repetition takes that much longer
};

// The experiments keep a reference to `buffers`.
//
// Point-to-point, on a group of two.
std::vector<Experiment> point_to_point_experiments(const Group& pair, std::uint64_t bytes,
                                                   Buffers& buffers);
// Collectives with data. `bytes` is the count given in the call times the size
// of an element; the reductions (sums of doubles) are there only where it is a
// multiple of 8.
std::vector<Experiment> collective_experiments(const Group& group, std::uint64_t bytes,
                                               Buffers& buffers);
// What depends on the number of ranks alone.
std::vector<Experiment> barrier_experiments(const Group& group, Buffers& buffers);

}  // namespace foretrace::measure
