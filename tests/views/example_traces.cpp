#include "example_traces.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "../analysis/trace_builder.hpp"

namespace foretrace::test {
namespace {

using machine::Cost;

// A repeatable number in [0, limit): the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2654435769u + 1) {}
  std::int64_t below(std::int64_t limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state_ >> 33) % static_cast<std::uint64_t>(limit));
  }

 private:
  std::uint64_t state_;
};

// All ranks leave a collective that all wait for together, `cost` after the
// last has come.
void all_for_all(TraceBuilder& b, int ranks, std::string_view name, Cost which, std::uint64_t bytes,
                 const std::vector<Time>& compute, Time cost) {
  Time latest;
  for (int r = 0; r < ranks; ++r)
    latest = std::max(latest, b.now(r) + compute[static_cast<std::size_t>(r)]);
  for (int r = 0; r < ranks; ++r) {
    const Time before = compute[static_cast<std::size_t>(r)];
    const Time wait = latest - (b.now(r) + before);
    b.collective(r, name, which, bytes, before, wait + cost, wait);
  }
}

}  // namespace

trace::Trace mandel_trace() {
  constexpr int kRanks = 8;
  constexpr std::array<std::int64_t, kRanks> kWork{90, 180, 330, 560, 590, 340, 170, 80};  // ms
  TraceBuilder b(kRanks);
  b.trace().info.program = "mandel 160 160";
  b.trace().info.machine = "sparc5-ethernet";
  b.trace().info.options = "bound=avg compute=annotated";
  for (int r = 0; r < kRanks; ++r) b.init(r), b.phase_begin(r, "start");
  all_for_all(b, kRanks, "MPI_Barrier", Cost::barrier, 0, std::vector<Time>(kRanks, us(200)),
              us(72000));
  for (int r = 0; r < kRanks; ++r) {
    b.phase_end(r, "start");
    b.phase_begin(r, "compute");
  }
  for (int r = 0; r < kRanks; ++r) {
    const auto work = us(kWork[static_cast<std::size_t>(r)] * 1000);
    b.phase_begin(r, "rows");
    b.phase_end(r, "rows", work);
    b.phase_end(r, "compute");
    b.phase_begin(r, "collect");
  }
  // Everybody sends a block to rank 0, which takes them in rank order.
  Time root = b.now(0);
  for (int r = 1; r < kRanks; ++r) {
    const Time sent = b.now(r);
    b.send(r, 0, 9, 12800, us(100), us(5200));
    const Time least = root + us(3500);
    const Time come = sent + us(100) + us(8000);
    const Time leave = std::max(least, come);
    b.recv(0, r, 9, 12800, Time(), leave - root, leave - least);
    root = leave;
  }
  std::vector<Time> rest(kRanks, us(500));
  all_for_all(b, kRanks, "MPI_Allreduce", Cost::allreduce, 8, rest, us(9000));
  for (int r = 0; r < kRanks; ++r) {
    b.phase_end(r, "collect");
    b.finalize(r, us(300));
  }
  return b.trace();
}

trace::Trace halo_trace(int ranks, int events) {
  TraceBuilder b(ranks);
  b.trace().info.program = "halo --steps many";
  b.trace().info.machine = "example";
  Random random(7);
  for (int r = 0; r < ranks; ++r) b.init(r), b.phase_begin(r, "iterate");
  const int steps = std::max(1, events / 5);
  std::vector<std::vector<Time>> sent(static_cast<std::size_t>(ranks), std::vector<Time>(2));
  for (int step = 0; step < steps; ++step) {
    const auto request = static_cast<std::uint64_t>(step) * 4;
    for (int r = 0; r < ranks; ++r) {
      const int left = (r + ranks - 1) % ranks;
      const int right = (r + 1) % ranks;
      const Time work = Time::ns(20000 + random.below(15000) + (r == ranks / 3 ? 9000 : 0));
      b.irecv(r, request + 1, left, 1, 8192, work, Time::ns(300));
      b.irecv(r, request + 2, right, 2, 8192, Time(), Time::ns(300));
      sent[static_cast<std::size_t>(r)][0] = b.now(r);
      b.isend(r, request + 3, right, 1, 8192, Time(), Time::ns(800));
      sent[static_cast<std::size_t>(r)][1] = b.now(r);
      b.isend(r, request + 4, left, 2, 8192, Time(), Time::ns(800));
    }
    for (int r = 0; r < ranks; ++r) {
      const int left = (r + ranks - 1) % ranks;
      const int right = (r + 1) % ranks;
      const Time enter = b.now(r) + Time::ns(500);
      const Time come = std::max(sent[static_cast<std::size_t>(left)][0],
                                 sent[static_cast<std::size_t>(right)][1]) +
                        Time::ns(6000);
      const Time wait = std::max(Time(), come - enter);
      trace::Event& done = b.add(r, trace::EventKind::complete, "MPI_Waitall", Time::ns(500),
                                 wait + Time::ns(700), wait);
      done.completions = {{request + 1, WorldRank(left), 1, Bytes(8192), false},
                          {request + 2, WorldRank(right), 2, Bytes(8192), false},
                          {request + 3, WorldRank(), 0, Bytes(0), false},
                          {request + 4, WorldRank(), 0, Bytes(0), false}};
    }
    if (step % 16 == 15) {
      b.mark(0, "residual", 1.0 / (step + 1));
      all_for_all(b, ranks, "MPI_Allreduce", Cost::allreduce, 8,
                  std::vector<Time>(static_cast<std::size_t>(ranks), Time::ns(1000)),
                  Time::ns(9000));
    }
  }
  for (int r = 0; r < ranks; ++r) b.phase_end(r, "iterate"), b.finalize(r, us(5));
  return b.trace();
}

trace::Trace wide_trace(int ranks) {
  TraceBuilder b(ranks);
  b.trace().info.program = "wide";
  b.trace().info.machine = "example";
  Random random(3);
  for (int r = 0; r < ranks; ++r) b.init(r);
  for (int step = 0; step < 4; ++step) {
    std::vector<Time> compute;
    for (int r = 0; r < ranks; ++r) {
      const bool late = (step == 1 && r == ranks / 7) || (step == 3 && r == ranks / 4 * 3);
      compute.push_back(us(late ? 300 : 100 + random.below(8)));
    }
    all_for_all(b, ranks, "MPI_Barrier", Cost::barrier, 0, compute, us(20));
  }
  for (int r = 0; r < ranks; ++r) b.finalize(r, us(1));
  return b.trace();
}

}  // namespace foretrace::test
