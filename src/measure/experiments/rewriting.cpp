// What it takes longer to write data again that other ranks have read: where they have read them
// out of the sender's memory, their lines come back from other caches.
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "base/sent_data.hpp"
#include "measure/core/functions.hpp"
#include "measure/experiments/clock.hpp"
#include "measure/experiments/collective_calls.hpp"
#include "measure/experiments/experiments.hpp"
#include "measure/experiments/pair.hpp"

namespace foretrace::measure {
namespace {

// Until it is done: processors go on while they still write.
std::int64_t after_writing(Buffers& buffers, std::uint64_t bytes) {
  buffers.write(bytes);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return now_ns();
}

// `sent`: bytes that this rank gives; `gives`: it is whom the others have read from, and measures.
Experiment after(const std::string& name, std::function<void()> call, std::uint64_t sent,
                 std::uint64_t received, bool gives, MPI_Comm comm, Buffers& buffers) {
  return {{std::string(kRewritePrefix) + name},
          [sent, received, &buffers] { buffers.next(sent, received); },
          [=, &buffers](std::int64_t, std::int64_t, Span* spans) {
            call();
            MPI_Barrier(comm);
            const std::int64_t begin = now_ns();
            const std::int64_t written = after_writing(buffers, sent);
            const std::int64_t usual = after_writing(buffers, sent) - written;
            if (gives) spans[0] = {std::min(begin + usual, written), written};
          }};
}

bool is_followed(const Group& group, std::uint64_t bytes, const Buffers& buffers) {
  return bytes >= SentData::kLeast && buffers.choice() == BufferChoice::warm && share_a_node(group);
}

}  // namespace

std::vector<Experiment> rewriting_experiments(const Group& group, std::uint64_t bytes,
                                              Buffers& buffers) {
  if (!is_followed(group, bytes, buffers)) return {};
  const Pair pair = pair_of(group, bytes, buffers);
  const auto exchange = [pair] {
    MPI_Sendrecv(pair.out(), pair.count, MPI_CHAR, pair.peer, Pair::kTag, pair.in(), pair.count,
                 MPI_CHAR, pair.peer, Pair::kTag, pair.comm, MPI_STATUS_IGNORE);
  };
  return {after("send", exchange, bytes, bytes, pair.sender, group.comm, buffers)};
}

std::vector<Experiment> collective_rewriting_experiments(const Group& group, std::uint64_t bytes,
                                                         Buffers& buffers) {
  if (!is_followed(group, bytes, buffers)) return {};
  std::vector<Experiment> all;
  // In parts: so many bytes for all together.
  const auto part = bytes / static_cast<std::uint64_t>(group.size);
  for (const bool in_parts : {false, true})
    for (const CollectiveCall& c : usual_calls(group, in_parts ? part : bytes, buffers)) {
      const bool has_parts = c.name == "scatter" || c.name == "alltoall";
      const bool combines = c.name == "reduce" || c.name == "allreduce";
      if (combines || has_parts != in_parts) continue;
      // The root of a gather gives itself what it has.
      const int giver = c.name == "gather" ? group.size - 1 : 0;
      all.push_back(
          after(c.name, c.call, c.sent, c.received, group.rank == giver, group.comm, buffers));
    }
  return all;
}

}  // namespace foretrace::measure
