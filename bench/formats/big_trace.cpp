// big_trace FILE RANKS STEPS: a trace of a halo exchange, as large as wanted, for measuring
// conversions: in each step a rank posts two receives and two sends, waits for them, and takes
// part in a collective. Times by the wall clock, with some noise.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "trace/new_trace.hpp"

namespace {

using namespace foretrace;
using trace::EventKind;

class Rank {
 public:
  Rank(trace::TraceWriter& writer, int rank, int ranks) : writer_(writer) {
    for (const char* name :
         {"MPI_Init", "MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce", "MPI_Finalize"})
      writer_.define_name(name);
    std::vector<WorldRank> world;
    for (int r = 0; r < ranks; ++r) world.push_back(WorldRank(r));
    writer_.define_comm(0, world);
    left_ = WorldRank((rank + ranks - 1) % ranks);
    right_ = WorldRank((rank + 1) % ranks);
    noise_ += static_cast<std::uint64_t>(rank);
    put(EventKind::init, 0, 0);
  }

  void step() {
    const std::uint64_t first = request_ + 1;
    for (const WorldRank peer : {left_, right_}) {
      trace::Event& event = start(EventKind::irecv, 1);
      event.recv = {peer, 1, Bytes(8192), false, false};
      event.request = ++request_;
      end(300);
    }
    for (const WorldRank peer : {left_, right_}) {
      trace::Event& event = start(EventKind::isend, 2);
      event.send = {peer, 1, Bytes(8192), false, false};
      event.request = ++request_;
      end(900);
    }
    trace::Event& wait = start(EventKind::complete, 3);
    wait.completions = {{first, left_, 1, Bytes(8192), false},
                        {first + 1, right_, 1, Bytes(8192), false},
                        {first + 2, WorldRank(), 0, Bytes(), false},
                        {first + 3, WorldRank(), 0, Bytes(), false}};
    end(9000);
    trace::Event& sum = start(EventKind::collective, 4);
    sum.collective = machine::Cost::allreduce;
    sum.bytes = Bytes(8);
    end(7000);
  }

  void finish() { put(EventKind::finalize, 5, 100); }

 private:
  std::int64_t noise(std::int64_t most) {
    noise_ ^= noise_ << 13;
    noise_ ^= noise_ >> 7;
    noise_ ^= noise_ << 17;
    return static_cast<std::int64_t>(noise_ % static_cast<std::uint64_t>(most));
  }
  trace::Event& start(EventKind kind, trace::NameId name) {
    event_ = {};
    event_.kind = kind;
    event_.name = name;
    event_.compute = Time::ns(noise(5000));
    event_.enter = now_ += event_.compute;
    return event_;
  }
  void end(std::int64_t ns) {
    event_.leave = now_ += Time::ns(ns / 2 + noise(ns));
    writer_.write(event_);
  }
  void put(EventKind kind, trace::NameId name, std::int64_t ns) {
    start(kind, name);
    end(ns == 0 ? 1 : ns);
  }

  trace::TraceWriter& writer_;
  trace::Event event_;
  WorldRank left_, right_;
  Time now_;
  std::uint64_t request_ = 0;
  std::uint64_t noise_ = 88172645463325252u;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: big_trace FILE RANKS STEPS\n");
    return 2;
  }
  const int ranks = std::atoi(argv[2]);
  const int steps = std::atoi(argv[3]);
  trace::TraceInfo info;
  info.ranks = ranks;
  info.clock = trace::Clock::wall;
  info.program = "big_trace";
  trace::NewTrace to(argv[1], info);
  for (int r = 0; r < ranks; ++r) {
    Rank rank(to.start(WorldRank(r)), r, ranks);
    for (int i = 0; i < steps; ++i) rank.step();
    rank.finish();
  }
  to.finish(true);
  return 0;
}
