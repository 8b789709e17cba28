// Experiments: what is called, by whom, and which spans of it are the data
// sheet's functions. The definitions are those of Howell's thesis section 3.3,
// figures 3.3 and 3.4 and the notes of appendix B; docs/measure.md tells them
// to users, functions.hpp lists the names.
//
// An experiment knows nothing of repetitions, starts and statistics: runner
// does all that. MPI objects that it needs are made in its first prepare() and
// freed when it dies; both are collective over its group, so all members
// prepare and destroy experiments in the same order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "measure/core/buffer_pool.hpp"
#include "measure/experiments/group.hpp"

namespace foretrace::measure {

// A span of one rank's time, in readings of now_ns().
struct Span {
  std::int64_t begin = INT64_MIN;
  std::int64_t end = INT64_MIN;

  bool measured() const { return end != INT64_MIN; }
};

struct Experiment {
  std::vector<std::string> functions;
  // Before each start, off the record, by all members: asks for the next
  // buffers. With warm ones that writes into what will be sent: data that nobody
  // has touched since they were last sent lie in the receiver's cache already,
  // and a transfer of 100 kB then takes a third of what it takes a program that
  // computes what it sends.
  std::function<void()> prepare;
  // Makes the calls, the first of them at once, and fills in one span per
  // function where this rank measures it. `entry` is the clock's last reading
  // before the start; `delay` (ns) is how long "surely arrived" takes.
  std::function<void(std::int64_t entry, std::int64_t delay, Span* spans)> repeat;
  bool delayed = false;  // uses `delay`: every repetition takes that much longer
  int calls = 1;         // in each span: the function's time is that of one
  // Where this rank's data arrive, if not in Buffers::recv() (for tests).
  std::function<const char*()> received = nullptr;
};

// The experiments keep a reference to `buffers`. `bytes` is the message size; what
// it counts is said in functions.hpp. Those that need whole doubles are left out
// where it is no multiple of 8.

// Between two, rank 0 sending; on a group of two.
std::vector<Experiment> point_to_point_experiments(const Group& pair, std::uint64_t bytes,
                                                   Buffers& buffers);
// Other modes of sending, persistent requests.
std::vector<Experiment> send_mode_experiments(const Group& pair, std::uint64_t bytes,
                                              Buffers& buffers);
// A long row of messages, for LogGPS's gap.
std::vector<Experiment> row_experiments(const Group& pair, std::uint64_t bytes, Buffers& buffers);
// Writing again what was sent; none between two nodes, nor with cold buffers. `bytes`: that a rank
// gives. Messages, and collectives of two.
std::vector<Experiment> rewriting_experiments(const Group& pair, std::uint64_t bytes,
                                              Buffers& buffers);
std::vector<Experiment> collective_rewriting_experiments(const Group& pair, std::uint64_t bytes,
                                                         Buffers& buffers);
// Data that does not lie together.
std::vector<Experiment> pieces_experiments(const Group& pair, std::uint64_t bytes,
                                           Buffers& buffers);
// put, get, accumulate; the target is in MPI.
std::vector<Experiment> one_sided_experiments(const Group& pair, std::uint64_t bytes,
                                              Buffers& buffers);

// Many messages at the same time.
std::vector<Experiment> contention_experiments(const Group& group, std::uint64_t bytes,
                                               Buffers& buffers);
// The collectives that most programs use.
std::vector<Experiment> collective_experiments(const Group& group, std::uint64_t bytes,
                                               Buffers& buffers);
// The others that move data.
std::vector<Experiment> other_collective_experiments(const Group& group, std::uint64_t bytes,
                                                     Buffers& buffers);
// The non-blocking forms of all these.
std::vector<Experiment> nonblocking_experiments(const Group& group, std::uint64_t bytes,
                                                Buffers& buffers);
// MPI_Reduce_scatter_block and its non-blocking form: none where `bytes`, of the
// whole vector, are no whole doubles for each member.
std::vector<Experiment> block_experiments(const Group& group, std::uint64_t bytes,
                                          Buffers& buffers);
// Both halves of the group at once, each on a communicator of its own; none for
// fewer than four.
std::vector<Experiment> halves_experiments(const Group& group, std::uint64_t bytes,
                                           Buffers& buffers);
// What depends on the number of ranks alone.
std::vector<Experiment> barrier_experiments(const Group& group, Buffers& buffers);
std::vector<Experiment> barrier_halves_experiments(const Group& group, Buffers& buffers);
std::vector<Experiment> fence_experiments(const Group& group);
// What a rank does by itself: making and freeing datatypes, operations and groups.
std::vector<Experiment> local_experiments(const Group& group);

// On the file `path`, which is there and holds `bytes` for each member (scratch_file.hpp).
std::vector<Experiment> file_experiments(const Group& group, std::uint64_t bytes, Buffers& buffers,
                                         const std::string& path);
std::vector<Experiment> file_opening_experiments(const Group& group, const std::string& path);

}  // namespace foretrace::measure
