// parse_ti on mutated time-independent traces. What is accepted must be
// walkable, and the engine ends with a result or an Error.
#include <set>
#include <stdexcept>
#include <string_view>

#include "base/error.hpp"
#include "driver.hpp"
#include "machine/machine_file.hpp"
#include "sim/engine.hpp"
#include "sim/sink.hpp"
#include "sim/text/ti_source.hpp"

namespace {

using namespace foretrace;

class TiTarget {
 public:
  static constexpr const char* kName = "ti";

  TiTarget()
      : model_(machine::parse_machine(
            fuzz::read_bytes(FORETRACE_SOURCE_DIR "/machines/cray-t3d.toml"), "t3d.toml")) {}

  static std::vector<std::string> seeds() {
    return {
        "0 init\n0 compute 0.32654\n0 send 1 5 10 0\n0 isend 1 6 3 1\n0 wait 0 1 6\n"
        "0 Ssend 1 7 10 1\n0 sendRecv 4 1 4 1 5 5\n0 barrier\n0 bcast 10 1 0 \n0 finalize\n"
        "1 init\n1 recv 0 5 10 0\n1 irecv -333 6 3 1\n1 wait -333 1 6\n1 irecv 0 -444 10 1\n"
        "1 test 0 1 -444\n1 waitall 1\n1 sendRecv 4 0 4 0 5 5\n1 barrier\n1 bcast 10 1 0 \n"
        "1 finalize\n",
        "0 init 1\n1 init 1\n0 reduce 10 1e3 1 0 \n1 reduce 10 0 1 0 \n0 allreduce 10 0 0 \n"
        "1 allreduce 10 0 0\n0 alltoall 10 10 0 0\n1 alltoall 10 10 0 0\n"
        "0 alltoallv 8 4 4 8 4 4 1 1\n1 alltoallv 8 4 4 8 4 4 1 1\n0 gatherv 1 1 2 0 1 1\n"
        "1 gatherv 2 0 0 0 1 1\n0 reducescatter 1 2 0 1\n1 reducescatter 1 2 0 1\n0 scan 5 0 1 \n"
        "1 scan 5 0 1\n0 sleep 0.5\n",
        "0 irecv 1 0 8\n0 irecv 1 1 8\n0 waitAny 2\n0 waitany 2\n1 send 0 0 8\n1 send 0 1 8\n"};
  }
  static std::vector<std::string> words() {
    return {"0 ",
            "1 ",
            "\n",
            "0 send 1 0 8\n",
            "1 recv 0 0 8\n",
            "0 isend 1 0 8\n",
            "irecv",
            "wait",
            "test",
            "waitall 1",
            "waitsome",
            "testany",
            "-333",
            "-444",
            "-666",
            " -1",
            "1e300",
            "nan",
            "inf",
            "4e18",
            "99999999",
            "#",
            "\t",
            "\r",
            "gather",
            "scatterv",
            "allgatherv",
            "exscan",
            "\xff",
            "0 comm_size 2\n",
            "location a 1",
            "2 init\n"};
  }

  // Whether the trace was accepted.
  bool run(const std::string& text) {
    sim::TiTrace trace;
    try {
      trace = sim::parse_ti(text, "fuzz.txt", {});
    } catch (const Error& error) {
      if (!std::string_view(error.what()).starts_with("fuzz.txt:"))
        throw std::runtime_error(std::string("an error without its place: ") + error.what());
      return false;
    }
    if (trace.ranks.size() > 64) return true;
    sim::TiSource source(std::move(trace));
    for (int r = 0; r < source.ranks(); ++r) walk(source, WorldRank(r));
    source.rewind();
    try {
      sim::NullSink sink;
      const machine::Timing timing(model_, machine::Bound::avg);
      sim::simulate(source, timing, {}, sink);
    } catch (const Error&) {
    }
    return true;
  }

 private:
  // A test completes its first request, any other wait all.
  static void walk(sim::TiSource& source, WorldRank rank) {
    std::set<std::uint64_t> open;
    sim::Operation operation;
    trace::EventKind last = trace::EventKind::init;
    while (source.next(rank, operation)) {
      last = operation.kind;
      if (operation.request != 0) open.insert(operation.request);
      if (operation.kind != trace::EventKind::complete) continue;
      auto done = operation.completions;
      if (operation.completing != sim::Completing::all) done = done.first(1);
      for (const trace::Completion& completion : done)
        if (open.erase(completion.request) == 0)
          throw std::runtime_error("a wait for a request that is not open");
      if (source.reactive()) source.completed(rank, operation, {}, {{}, 0, done, {}, false});
    }
    if (last != trace::EventKind::finalize || !open.empty())
      throw std::runtime_error("a rank does not end as it should");
  }

  machine::MachineModel model_;
};

}  // namespace

FORETRACE_FUZZ_MAIN(TiTarget)
