// The fourteen models in models/ against what Howell's thesis says of them (section 4.3): its
// figures are lost in the text that there is, its sentences are not. Speed-up is T(1) / T(p).
#include <gmock/gmock.h>

#include <filesystem>

#include "formulas/sweep.hpp"
#include "machine/machine_file.hpp"

namespace {

using namespace foretrace;
using formulas::Values;

const std::string kSource = FORETRACE_SOURCE_DIR;

const machine::MachineModel& t3d() {
  static const auto model = machine::read_machine_file(kSource + "/machines/cray-t3d.toml");
  return model;
}
const machine::MachineModel& workstations() {
  static const auto model = machine::read_machine_file(kSource + "/machines/sparc-ethernet.toml");
  return model;
}

formulas::Evaluation run(const std::string& name, const machine::MachineModel& machine,
                         const Values& at) {
  return evaluate(formulas::read_model_file(kSource + "/models/" + name + ".model"), &machine, at);
}

double speedup(const std::string& name, const machine::MachineModel& machine, double p,
               Values at = {}) {
  at["p"] = 1;
  const double one = run(name, machine, at).total.avg;
  at["p"] = p;
  return one / run(name, machine, at).total.avg;
}

double phase(const formulas::Evaluation& result, const std::string& name) {
  for (const formulas::Phase& each : result.phases)
    if (each.name == name) return each.time.avg;
  ADD_FAILURE() << "no phase " << name;
  return 0;
}

TEST(Papers, AllFourteenModelsHoldOnBothMachines) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSource + "/models")) {
    const std::string name = entry.path().stem();
    ++count;
    for (const machine::MachineModel* machine : {&t3d(), &workstations()}) {
      const auto result = run(name, *machine, {{"p", 4}});
      EXPECT_LT(result.total.min, result.total.avg) << name;  // the range of compute steps
      EXPECT_LE(result.total.avg, result.total.max) << name;
      double sum = 0;
      for (const formulas::Phase& each : result.phases) sum += each.time.avg;
      EXPECT_NEAR(sum, result.total.avg, 1e-12 * sum) << name;
    }
  }
  EXPECT_EQ(count, 14);
}

// Section 5.4.5, printed: on the T3D with 1 us a step, an iteration on 32 processors takes 1300 us,
// 255 of them communication (20 %); on 2 processors 16900 us (1.5 %).
TEST(Papers, LifeHasThePrintedTimes) {
  const Values one{{"p", 32}, {"d", 128}, {"nlifeiters", 1}, {"c", 1e-6}};
  const auto on_32 = run("life", t3d(), one);
  // 2 (30 + 0.09 x 128) + 2 (30 + 0.4 x 128) us.
  EXPECT_NEAR(phase(on_32, "exchange"), 245.44e-6, 1e-12);
  EXPECT_NEAR(phase(on_32, "exchange"), 255e-6, 0.05 * 255e-6);
  EXPECT_NEAR(phase(on_32, "exchange") + phase(on_32, "compute"), 1300e-6, 0.03 * 1300e-6);
  const auto on_2 = run("life", t3d(), {{"p", 2}, {"d", 128}, {"nlifeiters", 1}, {"c", 1e-6}});
  const double iteration = phase(on_2, "exchange") + phase(on_2, "compute");
  EXPECT_NEAR(iteration, 16900e-6, 0.03 * 16900e-6);
  EXPECT_NEAR(phase(on_2, "exchange") / iteration, 0.015, 0.001);
  // 20 iterations take 26 ms, ten times slower processors 213 ms.
  const auto phase_20 =
      run("life", t3d(), {{"p", 32}, {"d", 128}, {"nlifeiters", 20}, {"c", 1e-6}});
  EXPECT_NEAR(phase(phase_20, "exchange") + phase(phase_20, "compute"), 26e-3, 0.04 * 26e-3);
  const auto slower = run("life", t3d(), {{"p", 32}, {"d", 128}, {"nlifeiters", 20}, {"c", 1e-5}});
  EXPECT_NEAR(slower.total.avg, 213e-3, 0.03 * 213e-3);
}

// Section 4.3.1: on the workstations eight are best, and sixteen yield no more; small sizes slow
// down.
TEST(Papers, MandelIsBestOnEightWorkstations) {
  const Values at{{"c", 0.1e-6}};
  const double eight = speedup("mandel", workstations(), 8, at);
  EXPECT_GT(eight, speedup("mandel", workstations(), 4, at));
  EXPECT_LT(speedup("mandel", workstations(), 16, at), eight);
  EXPECT_LT(speedup("mandel", workstations(), 8, {{"c", 0.1e-6}, {"d", 20}}), 1);
}

// Section 4.3.2: slower above four workstations, and from two on for the least size.
TEST(Papers, RandmatSlowsDownAboveFourWorkstations) {
  const double four = speedup("randmat", workstations(), 4);
  EXPECT_GT(four, speedup("randmat", workstations(), 2));
  EXPECT_LT(speedup("randmat", workstations(), 8), four);
  EXPECT_LT(speedup("randmat", workstations(), 2, {{"d", 20}}), 1);
}

// Section 4.3.3: at most two on eight workstations.
TEST(Papers, HalfHasNoMoreThanTwo) {
  for (const double p : {2.0, 4.0, 8.0}) EXPECT_LT(speedup("half", workstations(), p), 2) << p;
}

// Sections 4.3.4 to 4.3.14: what slows down on the workstations.
TEST(Papers, SlowDownOnWorkstations) {
  for (const char* name : {"thresh", "elastic", "invperc", "product", "sor", "norm", "vecdiff"})
    EXPECT_LT(speedup(name, workstations(), 8), 1) << name;
  // "This is expected even with perfect distribution."
  EXPECT_LT(speedup("winnow", workstations(), 8, {{"unevenness", 0}}), 1);
  // Life: no speed-up, dominated by communication (with the faster step).
  EXPECT_LT(speedup("life", workstations(), 8, {{"c", 0.1e-6}, {"d", 100}}), 1.3);
}

// Section 4.3.6: the shape of outer's speed-up on the T3D is the same from 0.05 to 0.5 us.
TEST(Papers, OuterKeepsItsShape) {
  const double fast = speedup("outer", t3d(), 8, {{"c", 0.05e-6}});
  const double slow = speedup("outer", t3d(), 8, {{"c", 0.5e-6}});
  EXPECT_GT(fast, 0.85 * slow);
  EXPECT_LT(fast, slow);
}

// Section 4.3.13: with all cells on one rank no speed-up, with 10 % unevenness less than with none.
TEST(Papers, WinnowDependsOnUnevenness) {
  const double even = speedup("winnow", t3d(), 16, {{"unevenness", 0}});
  const double uneven = speedup("winnow", t3d(), 16, {{"unevenness", 0.1}});
  EXPECT_LT(uneven, even);
  EXPECT_LT(speedup("winnow", t3d(), 16, {{"unevenness", 1}}), 1.05);
}

// Section 4.3.14: the computation and the reduction take equally long at the crossover, which
// lies where c 2.5 d / p is the time of the allreduce.
TEST(Papers, VecdiffCrossesOver) {
  const double p = 8;
  const double reduction = phase(run("vecdiff", t3d(), {{"p", p}}), "globalmax");
  const double crossover = reduction * p / (2.5 * 0.5e-6);
  const auto there = run("vecdiff", t3d(), {{"p", p}, {"d", crossover}});
  EXPECT_NEAR(phase(there, "localmax"), reduction, 1e-12);
}

}  // namespace
