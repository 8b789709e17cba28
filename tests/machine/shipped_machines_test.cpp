// The machines of Howell's thesis as they are shipped, against the printed equations.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>

#include "machine/machine_file.hpp"

namespace foretrace::machine {
namespace {

constexpr double kUs = 1e-6;
constexpr double kTolerance = 1e-9;  // seconds

using Formula = std::function<double(double p, double d)>;
using Formulas = std::map<std::string, Formula>;

MachineModel shipped(const std::string& name) {
  return read_machine_file(FORETRACE_SOURCE_DIR "/machines/" + name + ".toml");
}

double lg(double p) {
  return std::log(p);
}

void expect_formulas(const MachineModel& model, const Formulas& formulas,
                     std::initializer_list<int> elements) {
  for (const auto& [name, formula] : formulas) {
    const Function* function = model.find(name);
    ASSERT_TRUE(function) << name;
    for (const int p : {1, 2, 8, 64, 128, 1000})
      for (const int d : elements) {
        const Bytes bytes(static_cast<std::uint64_t>(d) * model.element.count);
        EXPECT_NEAR(evaluate_seconds(model, *function, p, bytes, Bound::avg), formula(p, d) * kUs,
                    kTolerance)
            << name << " p=" << p << " d=" << d;
      }
  }
}

// Howell's thesis, appendix B, "large messages".
const Formulas kT3dLarge{
    {"send", [](double, double d) { return 30 + 0.09 * d; }},
    {"ssend", [](double, double d) { return 100 + 0.1 * d; }},
    {"rsend", [](double, double d) { return 30 + 0.09 * d; }},
    {"isend1", [](double, double d) { return 30 + 0.09 * d; }},
    {"isend2", [](double, double d) { return 10 + 0.001 * d; }},
    {"isendoverlap", [](double, double d) { return 3 + 0.0002 * d; }},
    {"recv", [](double, double d) { return 60 + 0.5 * d; }},
    {"recvmin", [](double, double d) { return 30 + 0.4 * d; }},
    {"irecv1", [](double, double) { return 40; }},
    {"irecv2", [](double, double d) { return 5 + 0.5 * d; }},
    {"irecvoverlap", [](double, double d) { return 0.5 + 0.005 * d; }},
    {"sendrecv", [](double, double d) { return 90 + 0.6 * d; }},
    {"pingpong", [](double, double d) { return 100 + d; }},
    {"alltoall", [](double p, double d) { return 40 * p + 0.3 * p * d; }},
    {"allsend", [](double p, double d) { return 40 + 0.1 * p + 0.1 * d; }},
    {"gather", [](double p, double d) { return 200 * lg(p) + 0.0009 * p * p * d; }},
    {"allgather", [](double p, double d) { return 40 * p + 0.3 * p * d; }},
    {"reduce", [](double p, double d) { return 300 + 2 * p + 0.6 * lg(p) * d; }},
    {"allreduce", [](double p, double d) { return 300 + 6 * p + lg(p) * d; }},
    {"bcast", [](double p, double d) { return 100 + 2 * p + 0.2 * lg(p) * d; }},
    {"barrier", [](double p, double) { return 10 + 8 * lg(p); }},
};

// The same, "small messages": up to 32 elements.
const Formulas kT3dSmall{
    {"send", [](double, double) { return 30; }},
    {"ssend", [](double, double d) { return 80 + 0.5 * d; }},
    {"rsend", [](double, double d) { return 30 + 0.1 * d; }},
    {"isend1", [](double, double d) { return 30 + 0.2 * d; }},
    {"isend2", [](double, double) { return 10; }},
    {"isendoverlap", [](double, double) { return 3; }},
    {"recv", [](double, double d) { return 60 + 0.7 * d; }},
    {"recvmin", [](double, double d) { return 30 + 0.9 * d; }},
    {"irecv1", [](double, double) { return 30; }},
    {"irecv2", [](double, double) { return 40; }},
    {"irecvoverlap", [](double, double d) { return 0.6 + 0.02 * d; }},
    {"sendrecv", [](double, double d) { return 90 + d; }},
    {"pingpong", [](double, double d) { return 100 + d; }},
    {"alltoall", [](double p, double d) { return 40 + 50 * p + 2 * d; }},
    {"allsend", [](double p, double d) { return 40 + 0.05 * p + 0.09 * d; }},
    {"gather", [](double p, double d) { return 70 + 10 * p + 0.7 * d; }},
    {"allgather", [](double p, double d) { return 40 + 40 * p + d; }},
    {"reduce", [](double p, double d) { return 300 + 3 * p + 2 * d; }},
    {"allreduce", [](double p, double d) { return 300 + 6 * p + 2 * lg(p) * d; }},
    {"bcast", [](double p, double d) { return 200 + 2 * p + 0.6 * d; }},
    {"barrier", [](double p, double) { return 10 + 8 * lg(p); }},
};

// Howell's thesis, section 4.2; recv and the rest are not printed.
const Formulas kSparc{
    {"alltoall", [](double p, double d) { return 2000 + 4000 * p * p + 2 * p * p * d; }},
    {"send", [](double, double d) { return 2000 + d; }},
    {"allsend", [](double, double d) { return 2000 + d; }},
    {"gather", [](double p, double d) { return 30000 * lg(p) + 4 * lg(p) * d; }},
    {"allgather", [](double p, double d) { return 8000 * p + 4 * p * p * d; }},
    {"reduce", [](double p, double d) { return 20000 * lg(p) + 6 * lg(p) * d; }},
    {"allreduce", [](double p, double d) { return 10000 + 500 * p * p + 2 * d * p * p; }},
    {"bcast", [](double p, double d) { return 2000 + 700 * p * p + p * d; }},
    {"barrier", [](double p, double) { return 9000 * p; }},
};

TEST(ShippedMachines, CrayT3dLarge) {
  expect_formulas(shipped("cray-t3d"), kT3dLarge, {33, 100, 2000, 8192, 1000000});
}

TEST(ShippedMachines, CrayT3dSmall) {
  expect_formulas(shipped("cray-t3d"), kT3dSmall, {0, 1, 31, 32});
}

TEST(ShippedMachines, Sparc) {
  expect_formulas(shipped("sparc-ethernet"), kSparc, {0, 1, 100, 8192, 1000000});
}

// Nothing in the files that the papers do not print.
TEST(ShippedMachines, HoldNoOtherFunctions) {
  for (const auto& [name, function] : shipped("cray-t3d").functions)
    EXPECT_TRUE(kT3dLarge.contains(name)) << name;
  for (const auto& [name, function] : shipped("sparc-ethernet").functions)
    EXPECT_TRUE(kSparc.contains(name)) << name;
}

// The regimes meet at 256 bytes = 32 elements of 8 bytes; a byte more is large:
// ssend 80 + 0.5 * 32 = 96 and 100 + 0.1 * 257/8 = 103.2125.
TEST(ShippedMachines, T3dChangesRegimeAfter256Bytes) {
  const MachineModel model = shipped("cray-t3d");
  const Function& ssend = *model.find("ssend");
  EXPECT_NEAR(evaluate_seconds(model, ssend, 2, Bytes(256), Bound::avg), 96e-6, 1e-15);
  EXPECT_NEAR(evaluate_seconds(model, ssend, 2, Bytes(257), Bound::avg), 103.2125e-6, 1e-15);
}

TEST(ShippedMachines, SayWhatTheyAre) {
  const MachineModel t3d = shipped("cray-t3d");
  EXPECT_EQ(t3d.ranks, 128);
  EXPECT_EQ(t3d.element, Bytes(8));
  EXPECT_EQ(t3d.timer_resolution, 6.6e-9);
  EXPECT_FALSE(t3d.loggps.sync_threshold);
  const MachineModel sparc = shipped("sparc-ethernet");
  EXPECT_EQ(sparc.ranks, 8);
  EXPECT_EQ(sparc.element, Bytes(4));
  // The 72 ms in which the Mandelbrot time line of Howell's thesis, 5.4.1, begins.
  EXPECT_DOUBLE_EQ(evaluate_seconds(sparc, *sparc.find("barrier"), 8, Bytes(0), Bound::avg), 72e-3);
}

}  // namespace
}  // namespace foretrace::machine
