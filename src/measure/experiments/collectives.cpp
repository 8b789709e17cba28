#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

#include "measure/experiments/clock.hpp"
#include "measure/experiments/collective_calls.hpp"
#include "measure/experiments/experiments.hpp"

namespace foretrace::measure {
namespace {

// All ranks make the call and all measure it; the root's own time is a function
// of its own.
Experiment blocking(const CollectiveCall& c, bool root, Buffers& buffers) {
  std::vector<std::string> functions{c.name};
  if (c.rooted) functions.push_back(c.name + "_root");
  const bool alone = c.rooted && root;
  return {functions, [c, &buffers] { buffers.next(c.sent, c.received); },
          [c, alone](std::int64_t entry, std::int64_t, Span* spans) {
            c.call();
            spans[0] = {entry, now_ns()};
            if (alone) spans[1] = spans[0];
          }};
}

Experiment post_and_wait(const CollectiveCall& c, Buffers& buffers) {
  return {{"i" + c.name + "1", "i" + c.name + "2"},
          [c, &buffers] { buffers.next(c.sent, c.received); },
          [c](std::int64_t entry, std::int64_t, Span* spans) {
            MPI_Request request;
            c.post(&request);
            const std::int64_t posted = now_ns();
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            spans[0] = {entry, posted};
            spans[1] = {posted, now_ns()};
          }};
}

// As for messages: until the last look that found it not yet complete.
Experiment post_and_poll(const CollectiveCall& c, Buffers& buffers) {
  return {{"i" + c.name + "overlap"},
          [c, &buffers] { buffers.next(c.sent, c.received); },
          [c](std::int64_t, std::int64_t, Span* spans) {
            MPI_Request request;
            c.post(&request);
            const std::int64_t posted = now_ns();
            std::int64_t asked = posted;
            for (int done = 0; !done;) {
              asked = now_ns();
              MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            }
            spans[0] = {posted, asked};
          }};
}

std::vector<Experiment> blocking_forms(const std::vector<CollectiveCall>& calls, const Group& group,
                                       Buffers& buffers) {
  std::vector<Experiment> all;
  for (const CollectiveCall& call : calls) all.push_back(blocking(call, group.rank == 0, buffers));
  return all;
}

void add_nonblocking_forms(const std::vector<CollectiveCall>& calls, Buffers& buffers,
                           std::vector<Experiment>& all) {
  for (const CollectiveCall& call : calls) {
    all.push_back(post_and_wait(call, buffers));
    all.push_back(post_and_poll(call, buffers));
  }
}

// A call that creates a communicator, which is then freed: off the record, unless there is a second
// function.
template <class Call>
Experiment creation(std::vector<std::string> functions, Call call) {
  const bool frees = functions.size() > 1;
  return {std::move(functions), [] {},
          [call, frees](std::int64_t entry, std::int64_t, Span* spans) {
            MPI_Comm created = call();
            const std::int64_t done = now_ns();
            spans[0] = {entry, done};
            MPI_Comm_free(&created);
            if (frees) spans[1] = {done, now_ns()};
          }};
}

}  // namespace

std::vector<Experiment> collective_experiments(const Group& group, std::uint64_t bytes,
                                               Buffers& buffers) {
  return blocking_forms(usual_calls(group, bytes, buffers), group, buffers);
}

std::vector<Experiment> other_collective_experiments(const Group& group, std::uint64_t bytes,
                                                     Buffers& buffers) {
  return blocking_forms(other_calls(group, bytes, buffers), group, buffers);
}

std::vector<Experiment> nonblocking_experiments(const Group& group, std::uint64_t bytes,
                                                Buffers& buffers) {
  std::vector<Experiment> all;
  add_nonblocking_forms(usual_calls(group, bytes, buffers), buffers, all);
  add_nonblocking_forms(other_calls(group, bytes, buffers), buffers, all);
  return all;
}

std::vector<Experiment> block_experiments(const Group& group, std::uint64_t bytes,
                                          Buffers& buffers) {
  const auto least = sizeof(double) * static_cast<std::uint64_t>(group.size);
  if (bytes == 0 || bytes % least != 0) return {};
  const std::vector<CollectiveCall> calls{reduce_scatter_block_call(group, bytes, buffers)};
  std::vector<Experiment> all = blocking_forms(calls, group, buffers);
  add_nonblocking_forms(calls, buffers, all);
  return all;
}

std::vector<Experiment> barrier_experiments(const Group& group, Buffers& buffers) {
  const MPI_Comm comm = group.comm;
  const int half = group.rank % 2;
  const std::vector<CollectiveCall> calls{barrier_call(group)};
  std::vector<Experiment> all = blocking_forms(calls, group, buffers);
  add_nonblocking_forms(calls, buffers, all);
  all.push_back(creation({"comm_dup", "comm_free"}, [=] {
    MPI_Comm created;
    MPI_Comm_dup(comm, &created);
    return created;
  }));
  all.push_back(creation({"comm_split"}, [=] {
    MPI_Comm created;
    MPI_Comm_split(comm, half, 0, &created);
    return created;
  }));
  return all;
}

}  // namespace foretrace::measure
