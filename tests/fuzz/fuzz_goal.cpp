// parse_goal on mutated text programs. What is accepted must be walkable: every
// rank begins and ends, its requests are posted before they are waited for, and
// the engine ends with a result or an Error.
#include <set>
#include <stdexcept>
#include <string_view>

#include "base/error.hpp"
#include "driver.hpp"
#include "machine/machine_file.hpp"
#include "sim/engine.hpp"
#include "sim/sink.hpp"
#include "sim/text/goal_parser.hpp"
#include "sim/text/goal_source.hpp"

namespace {

using namespace foretrace;

class GoalTarget {
 public:
  static constexpr const char* kName = "goal";

  GoalTarget()
      : model_(machine::parse_machine(
            fuzz::read_bytes(FORETRACE_SOURCE_DIR "/machines/cray-t3d.toml"), "t3d.toml")) {}

  static std::vector<std::string> seeds() {
    return {
        "num_ranks 2\n\nrank 0 {\nl1: calc 100 cpu 0\nl2: send 8b to 1 tag 0 cpu 0 nic 0\n"
        "l3: recv 8b from 1 tag 0\nl2 requires l1\nl3 irequires l2\n}\n\n"
        "rank 1 {\nl1: recv 8b from 0 tag 0 // first\nl2: send 8b to 0\nl2 requires l1\n}\n",
        "num_ranks 4\ngroup row[i = 0..1] { 2*i..2*i+1 }\ngroup even { 0..size-1 step 2 }\n"
        "rank all {\nrepeat 3 as k {\nsend (8*k)KiB to (me+1)%size tag k\n"
        "recv 0b from (me-1)%size tag k\nwait\ncalc 1.5us\n}\nphase \"end\" {\n"
        "barrier on row[me/2]\nbcast 8b root 1 on even if me%2==0\n}\n}\n",
        "num_ranks 3\nrank 0 {\na: recv 1b from 1\nb: recv 1b from 2\ns: send 2b to 1 requires a\n"
        "t: send 2b to 2 requires b\nu: calc 5 requires t\n}\n"
        "rank 1..2 {\nr: send 1b to 0\nrecv 2b from 0 requires r\n}\n",
        "num_ranks 5\nrank 0 { recv 8b from any; recv 8b from -1 tag any\nrecv 1b from 3 }\n"
        "rank 1, 2..3 step 1 { send 8b to 0 if me<3 || me^2; send 1b to 0 if me==3 }\n"};
  }
  static std::vector<std::string> words() {
    return {"rank ",
            "num_ranks 3\n",
            "group g { 0 1 }\n",
            "{",
            "}",
            "\n",
            ";",
            "a: ",
            "a requires b\n",
            "send ",
            "recv ",
            "calc ",
            "repeat 2",
            " as k {",
            "phase \"x\" {",
            "wait",
            "barrier\n",
            " on g",
            " root 1",
            " tag any",
            " any",
            "size",
            "me",
            "0..3",
            " step 2",
            "(",
            ")",
            "%",
            "<<62",
            "==",
            "&&",
            "!",
            "-",
            "8b",
            "1e300",
            "9223372036854775807",
            "/*",
            "*/",
            "//",
            "\"",
            " if 0",
            " if me",
            " irequires a, b",
            "4294967295",
            "[k]",
            "\xff"};
  }

  // Whether the program was accepted.
  bool run(const std::string& text) {
    try {
      sim::GoalProgram program = sim::parse_goal(text, "fuzz.goal");
      if (program.ranks > 64) return true;
      sim::GoalSource source(std::move(program));
      for (int r = 0; r < source.ranks(); ++r) walk(source, WorldRank(r));
    } catch (const Error& error) {
      if (!std::string_view(error.what()).starts_with("fuzz.goal:"))
        throw std::runtime_error(std::string("an error without its place: ") + error.what());
      return false;
    }
    simulate(text);
    return true;
  }

 private:
  static constexpr int kMostOperations = 20000;

  // Waits complete their last request first.
  void walk(sim::GoalSource& source, WorldRank rank) {
    std::set<std::uint64_t> open;
    sim::Operation operation;
    bool finalized = false;
    for (int n = 0; source.next(rank, operation); ++n) {
      if (n == kMostOperations) return;
      if ((n == 0) != (operation.kind == trace::EventKind::init) || finalized)
        throw std::runtime_error(
            "MPI_Init is not the first operation, or MPI_Finalize not the last");
      finalized = operation.kind == trace::EventKind::finalize;
      if (operation.compute < Time()) throw std::runtime_error("computation below 0");
      if (operation.request != 0 && !open.insert(operation.request).second)
        throw std::runtime_error("a request is posted twice");
      if (operation.kind == trace::EventKind::complete) complete(source, rank, operation, open);
    }
    if (!finalized || !open.empty()) throw std::runtime_error("a rank does not end as it should");
  }
  void complete(sim::GoalSource& source, WorldRank rank, const sim::Operation& operation,
                std::set<std::uint64_t>& open) {
    if (operation.completions.empty()) throw std::runtime_error("a wait for nothing");
    if (operation.completing != sim::Completing::all && !source.races())
      throw std::runtime_error("a wait for some, but nothing races");
    std::vector<trace::Completion> done(operation.completions.begin(), operation.completions.end());
    if (operation.completing != sim::Completing::all) done = {done.back()};
    for (const trace::Completion& completion : done)
      if (open.erase(completion.request) == 0)
        throw std::runtime_error("a wait for a request that is not open");
    if (source.reactive()) source.completed(rank, operation, {}, {{}, 0, done, {}, false});
  }

  // Programs of a size that a case can afford.
  void simulate(const std::string& text) {
    sim::GoalSource source(sim::parse_goal(text, "fuzz.goal"));
    for (const sim::GoalInstruction& instruction : source.program().instructions)
      if (instruction.kind == sim::GoalKind::repeat &&
          (instruction.has(sim::GoalInstruction::amount_varies) || instruction.amount > 30))
        return;
    try {
      sim::NullSink sink;
      const machine::Timing timing(model_, machine::Bound::avg);
      sim::simulate(source, timing, {}, sink);
    } catch (const Error&) {
    }
  }

  machine::MachineModel model_;
};

}  // namespace

FORETRACE_FUZZ_MAIN(GoalTarget)
