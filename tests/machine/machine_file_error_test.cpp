// What is wrong with a machine file, and in which line: one row each.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "machine/machine_file.hpp"

namespace foretrace::machine {
namespace {

struct Fault {
  std::string text;
  int line;
  std::string says;  // part of the message
};

// Lines 1 and 2 of every text below that adds to it.
const std::string kHead = "[machine]\nname = \"m\"\n";
// Lines 3 to 5, so that a regime's keys begin in line 6.
const std::string kRegime = kHead + "[[function]]\nname = \"send\"\n[[function.regime]]\n";

void expect_faults(const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.text);
    try {
      parse_machine(fault.text, "m.toml");
      ADD_FAILURE() << "was accepted";
    } catch (const Error& error) {
      const std::string what = error.what();
      EXPECT_EQ(what.substr(0, what.find(' ')), "m.toml:" + std::to_string(fault.line) + ":")
          << what;
      EXPECT_NE(what.find(fault.says), std::string::npos) << what;
      EXPECT_EQ(what.find('\n'), std::string::npos) << "more than one line: " << what;
    }
  }
}

TEST(MachineFileError, UnknownKey) {
  expect_faults({
      {kHead + "rank = 3\n", 3, "unknown key 'rank'; known here: name, ranks"},
      {"machnie = 1\n" + kHead, 1, "unknown key 'machnie'"},
      {kHead + "[compute]\n\nsteps = 1e-6\n", 5, "unknown key 'steps'; known here: step"},
      {kHead + "[loggps]\nL = 1e-6\no = 1e-6\n", 5, "[loggps]: unknown key 'o'; here the"},
      {kHead + "[path.node.loggps]\nL = 1e-6\nos = 1e-6\n", 5,
       "[path.node.loggps]: unknown key 'os'; here the overheads are called o_s (of a send) and "
       "o_r"},
      {kHead + "[[path.node.loggps.regime]]\nbytes = [0]\nor = 1e-6\n", 5,
       "[[path.node.loggps.regime]]: unknown key 'or'; here"},
      {kHead + "[path.node.hop]\nL = 1e-6\n", 4, "[path.node.hop]: unknown key 'L'"},
      {kHead + "[[path.node.function]]\nL = 1e-6\n", 4, "[[path.node.function]]: unknown key 'L'"},
      {kHead + "[[function]]\nname = \"send\"\nclas = \"local\"\n", 5, "unknown key 'clas'"},
      {kHead + "[collectives]\nsync = true\n", 4, "unknown key 'sync'"},
      {kHead + "[collectives]\nsynchronise = 1\n", 4, "'synchronise' must be true or false"},
      {kHead + "[collectives]\ncount = \"max\"\n", 4, "'count' must be \"own\" or \"largest\""},
      {kRegime + "byte = [0]\n", 6, "unknown key 'byte'; known here: bytes, c"},
      {kRegime + "c = 1\n[function.regime.x]\n", 7, "unknown key 'x'"},
  });
}

TEST(MachineFileError, Patterns) {
  const std::string pattern = kHead + "[[pattern]]\nname = \"exchange_ring\"\n";  // lines 3, 4
  expect_faults({
      {kHead + "[reduction]\nsum_dbl = 1e-10\n", 4,
       "unknown reduction 'sum_dbl'; known here: sum_double, "},
      {kHead + "[reduction]\nbit_double = 1e-10\n", 4, "unknown reduction 'bit_double'"},
      {kHead + "[reduction]\nsum_double = -1\n", 4, "'sum_double' must be a time, 0 or more"},
      {kHead + "[reduction]\nsum_double = \"fast\"\n", 4, "'sum_double' must be a time"},
      {kHead + "[reduction]\nsum_float = 1e-10\n", 3, "needs 'sum_double'"},
      {kHead + "reduction = 1e-10\n", 3, "unknown key 'reduction'"},
      {kHead + "[launches]\ncomputation = [1]\n", 3, "'calls' must be a list of numbers"},
      {kHead + "[launches]\ncalls = [1]\n", 3, "'computation' must be a list of numbers"},
      {kHead + "[launches]\ncalls = [1, 2]\ncomputation = [1]\n", 5, "must be equally long"},
      {kHead + "[launches]\ncalls = [0]\ncomputation = [1]\n", 4, "all above 0"},
      {kHead + "[pattern]\n", 3, "'pattern' must be an array"},
      {kHead + "[[pattern]]\nranks = 4\n", 3, "'name' must say which pattern"},
      {pattern + "bytes = [1]\nseconds = [1.0]\n", 3, "'ranks' must be a whole number, 2 or more"},
      {pattern + "ranks = 1\n", 5, "'ranks' must be a whole number, 2 or more"},
      {pattern + "ranks = 2.5\n", 5, "'ranks' must be a whole number, 2 or more"},
      {pattern + "ranks = 4\nbytes = []\n", 6, "'bytes' must be a list of numbers"},
      {pattern + "ranks = 4\nbytes = [1]\n", 3, "'seconds' must be a list of numbers"},
      {pattern + "ranks = 4\nbytes = [1, 2]\nseconds = [1.0]\n", 7, "must be equally long"},
      {pattern + "ranks = 4\nbytes = [-1]\nseconds = [1.0]\n", 6,
       "must be a whole number of bytes"},
      {pattern + "ranks = 4\nbytes = [1]\nseconds = [-1.0]\n", 7, "must be a time, 0 or more"},
  });
}

TEST(MachineFileError, WrongTypeOfAString) {
  expect_faults({
      {"[machine]\nname = 3\n", 2, "'name' must be a string"},
      {kHead + "source = true\n", 3, "'source' must be a string"},
      {kHead + "date = 1996-07-05\n", 3, "'date' must be a string"},
      {kHead + "mpi_library = []\n", 3, "'mpi_library' must be a string"},
      {kHead + "time_unit = 1\n", 3, "'time_unit' must be a string"},
      {kHead + "[[function]]\nname = 1.5\n", 4, "'name' must be a string"},
      {kHead + "[[function]]\nname = \"send\"\nclass = 1\n", 5, "'class' must be a string"},
      {kRegime + "s = 1\nf = 2\n", 7, "'f' must be a string"},
      {kRegime + "k = 1\ng = [\"d\"]\n", 7, "'g' must be a string"},
  });
}

TEST(MachineFileError, Measurement) {
  const std::string head = kHead + "[measurement]\n";  // line 3
  expect_faults({
      {head, 3, "'valid' must be there, and true or false"},
      {head + "valid = 0\n", 4, "'valid' must be there, and true or false"},
      {head + "valid = false\n", 4, "what is not valid needs 'reasons'"},
      {head + "valid = false\nreasons = []\n", 4, "what is not valid needs 'reasons'"},
      {head + "valid = false\nreasons = \"busy\"\n", 5, "'reasons' must be an array"},
      {head + "valid = false\nreasons = [\"busy\",\n1]\n", 6, "'reasons' must be texts"},
      {head + "valid = false\nreasons = [\"\"]\n", 5, "'reasons' must be texts"},
      {head + "valid = true\nreasons = [\"busy\"]\n", 5, "a valid measurement has no 'reasons'"},
      {head + "valid = true\nreason = []\n", 5, "unknown key 'reason'; known here: valid, reasons"},
  });
}

TEST(MachineFileError, WrongTypeOfANumber) {
  expect_faults({
      {kHead + "ranks = \"8\"\n", 3, "'ranks'"},
      {kHead + "ranks = 2.5\n", 3, "'ranks'"},
      {kHead + "ranks = 1e300\n", 3, "'ranks'"},
      {kHead + "ranks = 5000000000\n", 3, "'ranks'"},
      {kHead + "timer_resolution = \"1 ns\"\n", 3, "'timer_resolution' must be a finite number"},
      {kHead + "element_bytes = 1.5\n", 3, "'element_bytes' must be a whole number"},
      {kHead + "element_bytes = \"8\"\n", 3, "'element_bytes' must be a whole number"},
      {kHead + "[compute]\nstep = \"1e-6\"\n", 4, "'step' must be a time, 0 or more"},
      {kHead + "[loggps]\nL = [1e-6, 0]\n", 4, "'L' must be a finite number"},
      {kHead + "[loggps]\nS = 1.5\n", 4, "'S' must be a whole number"},
      {kRegime + "c = \"1\"\n", 6, "'c' must be a finite number"},
      {kRegime + "c = true\n", 6, "'c' must be a finite number"},
      {kRegime + "c = [1]\n", 6, "'c' must be VALUE or [VALUE, ERROR]"},
      {kRegime + "c = [1, 2, 3]\n", 6, "'c' must be VALUE or [VALUE, ERROR]"},
      {kRegime + "c = [1, \"2\"]\n", 6, "'c' must be a finite number"},
      {kRegime + "q = \"good\"\n", 6, "'q' must be a finite number"},
      {kRegime + "residual = {}\n", 6, "'residual' must be a finite number"},
  });
}

TEST(MachineFileError, WrongTypeOfATable) {
  expect_faults({
      {"machine = 1\n", 1, "'machine' must be a table"},
      {"loggps = 1\n" + kHead, 1, "'loggps' must be a table"},
      {"compute = []\n" + kHead, 1, "'compute' must be a table"},
      {"function = 1\n" + kHead, 1, "'function' must be an array"},
      {kHead + "[function]\nname = \"send\"\n", 3, "'function' must be an array"},
      {"function = [1]\n" + kHead, 1, "'function' must be an array of tables"},
      {kHead + "[[function]]\nname = \"send\"\nregime = 1\n", 5, "'regime' must be an array"},
      {kHead + "[[function]]\nname = \"send\"\nregime = [1]\n", 5, "'regime' must be a table"},
  });
}

TEST(MachineFileError, NotFinite) {
  expect_faults({
      {kHead + "timer_resolution = nan\n", 3, "must be a finite number"},
      {kHead + "ranks = inf\n", 3, "'ranks'"},
      {kHead + "[compute]\nstep = inf\n", 4, "must be a finite number"},
      {kHead + "[loggps]\nG = -inf\n", 4, "must be a finite number"},
      {kRegime + "c = nan\n", 6, "must be a finite number"},
      {kRegime + "c = [1, inf]\n", 6, "must be a finite number"},
      {kRegime + "f = \"p\"\ns = [-inf, 1]\n", 7, "must be a finite number"},
      {kRegime + "q = +nan\n", 6, "must be a finite number"},
      {kRegime + "c = 1e999\n", 6, ""},
  });
}

TEST(MachineFileError, Negative) {
  expect_faults({
      {kHead + "ranks = -1\n", 3, "'ranks' must not be negative"},
      {kHead + "timer_resolution = -1e-9\n", 3, "must not be negative"},
      {kHead + "other_state_share = 1.1\n", 3, "must not be above 1"},
      {kHead + "element_bytes = -8\n", 3, "0 or more"},
      {kHead + "element_bytes = 0\n", 3, "'element_bytes' must be 1 or more"},
      {kHead + "[compute]\nstep = -1\n", 4, "'step' must be a time, 0 or more"},
      {kHead + "[loggps]\no_s = -1e-6\n", 4, "'o_s' must not be negative"},
      {kHead + "[loggps]\nS = -1\n", 4, "0 or more"},
      {kRegime + "c = [1, -1]\n", 6, "the error of 'c' must not be negative"},
      {kRegime + "bytes = [-1]\n", 6, "0 or more"},
      {kRegime + "residual = -0.1\n", 6, "'residual' must not be negative"},
      {kRegime + "q = -0.1\n", 6, "'q'"},
  });
}

// Q is a probability.
TEST(MachineFileError, QAboveOne) {
  expect_faults({{kRegime + "c = 1\nq = 2\n", 7, "'q'"}});
}

TEST(MachineFileError, RangeOfBytes) {
  expect_faults({
      {kRegime + "bytes = 3\n", 6, "'bytes' must be an array"},
      {kRegime + "bytes = []\n", 6, "'bytes' must be [FROM, TO]"},
      {kRegime + "bytes = [0, 1, 2]\n", 6, "'bytes' must be [FROM, TO]"},
      {kRegime + "bytes = [0.5]\n", 6, "whole number of bytes"},
      {kRegime + "bytes = [0, \"1k\"]\n", 6, "whole number of bytes"},
      {kRegime + "bytes = [5, 4]\n", 6, "'bytes' ends before it begins"},
  });
}

TEST(MachineFileError, RegimesThatDoNotFollowEachOther) {
  const auto two = [](const std::string& first, const std::string& second) {
    return kRegime + "bytes = " + first + "\n[[function.regime]]\nbytes = " + second + "\n";
  };
  const std::string says = "the regimes of 'send' must follow each other";
  expect_faults({
      {two("[0, 10]", "[12]"), 7, says},
      {two("[0, 10]", "[10]"), 7, says},
      {two("[0, 10]", "[0, 10]"), 7, says},
      {two("[11]", "[0, 10]"), 7, says},
      {two("[0]", "[11]"), 7, says},
      {kHead + "[[function]]\nname = \"send\"\n", 3, "needs at least one [[function.regime]]"},
      {kHead + "[[function]]\nname = \"send\"\nregime = []\n", 3, "needs at least one"},
  });
}

TEST(MachineFileError, CoefficientWithoutItsForm) {
  expect_faults({
      {kRegime + "s = 1\n", 6, "'s' needs 'f'"},
      {kRegime + "c = 1\nk = [1, 0]\n", 7, "'k' needs 'g'"},
      {kRegime + "s = 1\nf = \"log p\"\n", 7, R"(f must be "p", "ln p" or "p^2")"},
      {kRegime + "k = 1\ng = \"p^2\"\n", 7, R"(g must be "d", "p d", "ln p d" or "p^2 d")"},
  });
}

TEST(MachineFileError, Terms) {
  const std::string baseline = kRegime + "c = 1\n[[function.baseline]]\n";
  expect_faults({
      {kRegime + "terms = 1\n", 6, "'terms' must be a table"},
      {kRegime + "terms = {}\n", 6, "'terms' needs a term"},
      {kRegime + "terms = { \"log2 p\" = 1 }\n", 6,
       "cannot multiply 'log2 p'; known: \"1\", \"p\""},
      {kRegime + "terms = { d = [1] }\n", 6, "'d' must be VALUE or [VALUE, ERROR]"},
      {kRegime + "terms = { d = [1, -1] }\n", 6, "the error of 'd' must not be negative"},
      {kRegime + "terms = { d = nan }\n", 6, "must be a finite number"},
      {kRegime + "terms = { d = 1 }\nc = 1\n", 7, "'c' and 'terms' exclude each other"},
      {kRegime + "c = 1\nother_terms = { d = 1 }\n", 7, "'other_terms' needs 'terms'"},
      {baseline + "terms = { d = 1 }\n", 7, "has no 'terms'"},
      {baseline + "bytes = [0]\n[[function.baseline]]\nbytes = [0]\n", 9,
       "the baselines of 'send' must follow each other"},
  });
}

TEST(MachineFileError, IntervalOfPrediction) {
  expect_faults({
      {kRegime + "interval = 1\n", 6, "'interval' must be an array"},
      {kRegime + "interval = [1]\n", 6, "'interval' must be [LOW, HIGH]"},
      {kRegime + "interval = [1.1, 1.2]\n", 6, "LOW from 0 to 1, HIGH 1 or more"},
      {kRegime + "interval = [0.9, 0.99]\n", 6, "LOW from 0 to 1, HIGH 1 or more"},
      {kRegime + "interval = [-0.1, 1]\n", 6, "LOW from 0 to 1, HIGH 1 or more"},
      {kRegime + "interval = [0.9, 1.1]\ncoverage = 95\n", 7, "must not be above 1"},
      {kRegime + "coverage = 0.95\n", 6, "'coverage' needs 'interval'"},
      {kRegime + "other_state = 0\n", 6,
       "'other_state' is a multiple of the time and must be above 0"},
      {kRegime + "degrees_of_freedom = 1.5\n", 6, "'degrees_of_freedom'"},
      {kRegime + "degrees_of_freedom = 4294967296\n", 6, "too large"},
      {kRegime + "chi_squared = -1\n", 6, "'chi_squared' must not be negative"},
  });
}

TEST(MachineFileError, WhatWasMeasured) {
  const std::string function = kHead + "[[function]]\nname = \"send\"\n";
  expect_faults({
      {function + "measured_ranks = [2]\n", 5, "need each other"},
      {function + "measured_bytes = [0, 1]\n", 5, "need each other"},
      {function + "measured_bytes = [0, 1]\nmeasured_ranks = []\n", 6, "at least one number"},
      {function + "measured_bytes = [0, 1]\nmeasured_ranks = [0]\n", 6, "1 or more"},
      {function + "measured_bytes = [0, 1]\nmeasured_ranks = [4, 2]\n", 6, "ascending"},
      {function + "measured_bytes = [0, 1]\nmeasured_ranks = [2.5]\n", 6, "whole numbers"},
      {function + "measured_bytes = [0]\nmeasured_ranks = [2]\n", 5, "must be [FROM, TO]"},
      {function + "measured_bytes = [2, 1]\nmeasured_ranks = [2]\n", 5, "ends before"},
      {function + "held_out = 0.1\n", 5, "'held_out' must be an array"},
      {function + "held_out = [0.1]\n", 5, "'held_out' must be [MEAN, MAX]"},
      {function + "baseline_held_out = [-0.1, 1]\n", 5, "'baseline_held_out' must not be negative"},
      {function + "extrapolation_error = -1\n", 5, "'extrapolation_error' must not be negative"},
  });
}

TEST(MachineFileError, LogGPSOfRegimes) {
  const std::string regime = kHead + "[[loggps.regime]]\n";
  expect_faults({
      {kHead + "[loggps]\nregime = 1\n", 4, "'regime' must be an array"},
      {kHead + "[loggps]\nregime = [1]\n", 4, "'regime' must be a table"},
      {regime + "S = 1\n", 4, "unknown key 'S'; known here: bytes, L"},
      {regime + "L = \"unknown\"\n", 4, "VALUE, [VALUE, ERROR] or \"not separable\""},
      {regime + "L = -1\n", 4, "'L' must not be negative"},
      {regime + "L = [1, 2, 3]\n", 4, "VALUE, [VALUE, ERROR]"},
      {regime + "overlap_send = 1.5\n", 4, "a share of 0 to 1"},
      {regime + "bytes = [0]\n[[loggps.regime]]\nbytes = [1]\n", 5, "must follow each other"},
      {kHead + "[hop]\ni = 1\n", 3, "needs 'i' and 't'"},
      {kHead + "[hop]\nx = 1\n", 4, "unknown key 'x'; known here: i, t"},
  });
}

TEST(MachineFileError, Functions) {
  expect_faults({
      {kHead + "[[function]]\nname = \"send\"\nclass = \"colective\"\n", 5,
       "'class' must be \"point-to-point\", \"one-sided\", \"collective\""},
      {kHead + "[[function]]\nclass = \"local\"\n", 3, "needs a 'name'"},
      {kRegime + "c = 1\n[[function]]\nname = \"send\"\n[[function.regime]]\nc = 2\n", 7,
       "'send' is there twice"},
  });
}

TEST(MachineFileError, Compute) {
  const std::string compute = "[machine]\n[compute]\n";
  const std::string kernel = compute + "[[compute.kernel]]\n";
  expect_faults({
      {compute + "block = \"1.2 parsecs\"\n", 3, "'block' must be a time, 0 or more"},
      {compute + "block = -1\n", 3, "'block' must be a time, 0 or more"},
      {compute + "instruction = true\n", 3, "'instruction' must be a time, 0 or more"},
      {compute + "kernel = 3\n", 3, "'kernel' must be an array"},
      {kernel + "name = \"sqrt\"\n", 3, "needs a 'name' and a 'time' above 0"},
      {kernel + "name = \"sqrt\"\ntime = 0\n", 3, "needs a 'name' and a 'time' above 0"},
      {kernel + "name = \"a\"\nranks = [1, 2]\ntime = [1]\n", 5,
       "'ranks' and 'time' must be lists of the same length"},
      {kernel + "name = \"a\"\nranks = []\ntime = []\n", 5, "must be lists of the same length"},
      {kernel + "name = \"a\"\nranks = [1]\ntime = 1\n", 6, "'time' must be an array"},
      {kernel + "name = \"a\"\nranks = [2, 2]\ntime = [1, 1]\n", 5,
       "'ranks' must be whole numbers from 1 on, each above the one before"},
      {kernel + "name = \"a\"\nranks = [0]\ntime = [1]\n", 5, "whole numbers from 1 on"},
      {kernel + "name = \"a\"\nranks = [1]\ntime = [0]\n", 6, "'time' must be above 0"},
      {kernel + "name = \"a\"\ntime = 1\n[[compute.kernel]]\nname = \"a\"\ntime = 1\n", 6,
       "'a' is there twice"},
  });
}

TEST(MachineFileError, TimeUnit) {
  expect_faults({{kHead + "time_unit = \"min\"\n", 3, R"(must be "s", "ms", "us" or "ns")"},
                 {kHead + "time_unit = \"\"\n", 3, R"(must be "s", "ms", "us" or "ns")"}});
}

TEST(MachineFileError, NoMachineTable) {
  expect_faults({{"", 1, "it has no [machine] table"},
                 {"[compute]\nstep = 1\n", 1, "it has no [machine] table"}});
}

TEST(MachineFileError, TomlSyntax) {
  expect_faults({
      {kHead + "ranks = \n", 3, ""},
      {kHead + "ranks 8\n", 3, ""},
      {kHead + "name = \"again\"\n", 3, ""},
      {kHead + "source = \"open\nnext = 1\n", 3, ""},
      {kHead + "[compute\nstep = 1\n", 3, ""},
      {kHead + "[machine]\n", 3, ""},
      {kHead + "[)\n", 3, ""},
      {kHead + "source = \"\xff\"\n", 3, ""},
      {std::string("[machine]\n\0", 11), 2, ""},
  });
}

// A hundred thousand brackets must be an error, not the end of the stack.
TEST(MachineFileError, DeepNesting) {
  EXPECT_THROW(parse_machine(kHead + "x = " + std::string(100000, '['), "m.toml"), Error);
}

}  // namespace
}  // namespace foretrace::machine
