// Machines that are known, sampled with noise over several launches, are found
// again: the thesis's Cray T3D, and one that is LogGPS.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "machine/machine_file.hpp"
#include "measure/fit/fit.hpp"
#include "synthetic.hpp"

namespace foretrace::measure {
namespace {

using machine::Bound;
using machine::DataForm;
using machine::Function;
using machine::MachineModel;
using machine::StartupForm;

MachineModel t3d() {
  return machine::read_machine_file(FORETRACE_SOURCE_DIR "/machines/cray-t3d.toml");
}

const std::vector<std::uint64_t> kSyntheticSizes = sizes_to(1 << 20);

SampleSet sampled(const MachineModel& machine, const std::vector<std::string>& functions,
                  double deviation) {
  SampleSet set;
  Noise noise(1996);
  for (const std::string& name : functions) {
    const Function& function = *machine.find(name);
    Sampling how;
    how.between_launches = how.within_launch = deviation;
    if (function.function_class != "point-to-point") how.ranks = {2, 3, 4, 6, 8, 16, 32, 64};
    how.sizes =
        function.function_class == "barrier" ? std::vector<std::uint64_t>{0} : kSyntheticSizes;
    sample(set, name, how, noise, [&](int p, std::uint64_t d) {
      return evaluate_seconds(machine, function, p, Bytes(d), Bound::avg);
    });
  }
  return set;
}

class SyntheticT3D : public testing::Test {
 protected:
  static const std::vector<std::string>& names() {
    static const std::vector<std::string> all{"send",   "recv",      "alltoall", "gather",
                                              "reduce", "allreduce", "bcast",    "barrier"};
    return all;
  }
  static const FitOutcome& outcome() {
    static const FitOutcome fitted = fit_model(sampled(t3d(), names(), 0.01));
    return fitted;
  }
  static const Function& fitted(const std::string& name) { return *outcome().model.find(name); }
};

// The papers' forms of the thesis's tables, small and large.
TEST_F(SyntheticT3D, BaselineHasTheThesissForms) {
  const MachineModel machine = t3d();
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    const Function& truth = *machine.find(name);
    for (const machine::Regime& regime : fitted(name).baseline) {
      // At this size: a regime of the truth that holds all of the found one.
      const machine::Regime& real = regime_for(truth, regime.from);
      SCOPED_TRACE("from " + std::to_string(regime.from.count));
      if (real.equation.startup.value != 0) {
        EXPECT_EQ(name_of(regime.equation.startup_form), name_of(real.equation.startup_form));
      }
      if (real.equation.data.value != 0) {
        EXPECT_EQ(name_of(regime.equation.data_form), name_of(real.equation.data_form));
      }
      ASSERT_TRUE(regime.q && regime.chi_squared && regime.degrees_of_freedom);
      EXPECT_GT(*regime.degrees_of_freedom, 0);
    }
  }
}

TEST_F(SyntheticT3D, RegimesEndWhereTheThesissDo) {
  for (const char* name : {"recv", "alltoall", "gather", "allreduce", "bcast"}) {
    SCOPED_TRACE(name);
    const auto& regimes = fitted(name).regimes;
    EXPECT_TRUE(std::ranges::any_of(
        regimes, [](const machine::Regime& regime) { return regime.to == Bytes(256); }));
    EXPECT_LE(regimes.size(), 3u);
  }
  EXPECT_EQ(fitted("barrier").regimes.size(), 1u);
}

TEST_F(SyntheticT3D, TimesAreTheThesiss) {
  const MachineModel machine = t3d();
  for (const std::string& name : names())
    for (const int p : {2, 5, 8, 48})
      for (const std::uint64_t d :
           {std::uint64_t{100}, std::uint64_t{3000}, std::uint64_t{700001}}) {
        const Bytes bytes(name == "barrier" ? 0 : d);
        const double truth = evaluate_seconds(machine, *machine.find(name), p, bytes, Bound::avg);
        const double found = evaluate_seconds(outcome().model, fitted(name), p, bytes, Bound::avg);
        EXPECT_NEAR(found / truth, 1, 0.04) << name << " p=" << p << " d=" << d;
      }
}

TEST_F(SyntheticT3D, TheFileSaysWhatWasMeasuredAndHowFarItErrs) {
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    const Function& function = fitted(name);
    const bool pair = function.function_class == "point-to-point";
    ASSERT_TRUE(function.measured);
    EXPECT_EQ(function.measured->ranks.size(), pair ? 1u : 8u);
    EXPECT_EQ(function.measured->to, Bytes(name == "barrier" ? 0 : 1 << 20));
    EXPECT_EQ(function.extrapolation_error.has_value(), !pair);
    if (!pair) {
      EXPECT_LT(*function.extrapolation_error, 0.15);
    }
    EXPECT_EQ(function.held_out.has_value(), name != "barrier");
    if (name == "barrier") continue;
    EXPECT_LT(function.held_out->mean, 0.02);
    EXPECT_LT(function.held_out->max, 0.1);
    ASSERT_TRUE(function.baseline_held_out);
    for (const machine::Regime& regime : function.regimes) {
      ASSERT_TRUE(regime.equation.interval);
      EXPECT_EQ(regime.equation.interval->coverage, 0.95);
      EXPECT_LT(regime.equation.interval->low, 0.99);
      EXPECT_GT(regime.equation.interval->high, 1.01);
      EXPECT_LT(regime.equation.interval->high, 1.2);
    }
  }
}

// A library whose tree is padded to the next power of two where the ranks are none.
TEST(SyntheticRanks, ThreeSixAndTwelveHaveTermsOfTheirOwn) {
  SampleSet set;
  Noise noise(612);
  Sampling how;
  how.ranks = {2, 3, 4, 6, 8, 12, 16};
  how.sizes = kSyntheticSizes;
  const auto seconds = [](int p, std::uint64_t d) {
    const double steps = std::ceil(std::log2(p));
    const bool power = (p & (p - 1)) == 0;
    return (power ? 2e-6 : 3e-6) * steps + static_cast<double>(d) * (power ? 1e-9 : 1.5e-9) * steps;
  };
  sample(set, "bcast", how, noise, seconds);
  const FitOutcome outcome = fit_model(set);
  const Function& bcast = *outcome.model.find("bcast");
  for (const machine::Regime& regime : bcast.regimes)
    EXPECT_FALSE(regime.equation.other_terms.empty()) << regime.from.count;
  for (const int p : {3, 6, 12, 2, 4, 16, 24, 32})
    for (const std::uint64_t d : {100, 3000, 700001}) {
      const double found = evaluate_seconds(outcome.model, bcast, p, Bytes(d), Bound::avg);
      EXPECT_NEAR(found / seconds(p, d), 1, 0.05) << "p=" << p << " d=" << d;
    }
}

TEST_F(SyntheticT3D, ModelReadsBack) {
  const std::string text = machine::format_machine(outcome().model);
  EXPECT_EQ(machine::format_machine(machine::parse_machine(text, "m.toml")), text);
}

// What a LogGPS machine's functions take (docs/networks.md, endpoints), both sides
// entering at the same time.
struct LogGPSMachine {
  double L = 2e-6, o_s = 0.6e-6, o_r = 0.9e-6, g = 1.5e-6, G = 0.4e-9;
  std::uint64_t S = 8192;

  double rest(std::uint64_t d) const { return static_cast<double>(d - 1) * G; }
  bool waits(std::uint64_t d) const { return d >= S; }
  double send(std::uint64_t d) const { return waits(d) ? 2 * o_s + 2 * L + rest(d) : o_s; }
  double recv(std::uint64_t d) const {
    return (waits(d) ? 2 * o_s + 3 * L : o_s + L) + rest(d) + o_r;
  }
  double recvmin(std::uint64_t d) const { return waits(d) ? o_s + 2 * L + rest(d) + o_r : o_r; }
};

SampleSet sampled(const LogGPSMachine& m, const Sampling& how) {
  SampleSet set;
  set.info["sync_threshold"] = std::to_string(m.S);
  set.info["timer_overhead"] = "1e-9";
  Noise noise(2003);
  const auto add = [&](const char* name, auto seconds) {
    sample(set, name, how, noise, [&](int, std::uint64_t d) { return seconds(d); });
  };
  add("send", [&](std::uint64_t d) { return m.send(d); });
  add("recv", [&](std::uint64_t d) { return m.recv(d); });
  add("recvmin", [&](std::uint64_t d) { return m.recvmin(d); });
  add("isend1", [&](std::uint64_t) { return m.o_s; });
  add("gap", [&](std::uint64_t d) { return m.g + m.rest(d); });
  add("isend2", [&](std::uint64_t d) { return 3 * m.o_s + m.rest(d); });
  add("isendoverlap", [&](std::uint64_t d) { return 0.75 * (4 * m.o_s + m.rest(d)); });
  add("irecv1", [&](std::uint64_t) { return m.o_r; });
  add("irecv2", [&](std::uint64_t d) { return m.recv(d); });
  add("irecvoverlap", [&](std::uint64_t d) { return 0.25 * (m.o_r + m.recv(d)); });
  add("pingpong", [&](std::uint64_t d) { return 2 * (3e-6 + 0.5e-9 * static_cast<double>(d)); });
  return set;
}

void expect_parameter(const std::optional<machine::Parameter>& found, double truth,
                      const char* name) {
  SCOPED_TRACE(name);
  ASSERT_TRUE(found);
  ASSERT_TRUE(found->separable);
  EXPECT_NEAR(found->value, truth, std::max(4 * found->error, 1e-9 * truth));
  EXPECT_NEAR(found->value, truth, 0.1 * truth);
}

TEST(SyntheticLogGPS, ParametersAreFoundInBothRegimes) {
  const LogGPSMachine m;
  Sampling how;
  how.sizes = kSyntheticSizes;
  const MachineModel model = fit_model(sampled(m, how)).model;
  ASSERT_EQ(model.loggps_regimes.size(), 2u);
  EXPECT_EQ(model.loggps_regimes[0].to, Bytes(m.S - 1));
  EXPECT_EQ(model.loggps_regimes[1].from, Bytes(m.S));
  for (const machine::LogGPSRegime& regime : model.loggps_regimes) {
    expect_parameter(regime.latency, m.L, "L");
    expect_parameter(regime.overhead_send, m.o_s, "o_s");
    expect_parameter(regime.overhead_recv, m.o_r, "o_r");
    expect_parameter(regime.gap_per_byte, m.G, "G");
    ASSERT_TRUE(regime.overlap_send && regime.overlap_recv);
    EXPECT_NEAR(*regime.overlap_send, 0.75, 0.02);
    EXPECT_NEAR(*regime.overlap_recv, 0.25, 0.02);
  }
  expect_parameter(model.loggps_regimes[0].gap, m.g, "g");
  ASSERT_TRUE(model.loggps.gap);
  EXPECT_EQ(*model.loggps.gap, model.loggps_regimes[0].gap->value);
  EXPECT_EQ(model.loggps.sync_threshold, Bytes(m.S));
  ASSERT_TRUE(model.hop);
  expect_parameter(model.hop->startup, 3e-6, "i");
  expect_parameter(model.hop->per_byte, 0.5e-9, "t");
}

// The copy of a message is both in the send and in the receive: together they take
// more than the message needs, and no latency is left.
TEST(SyntheticLogGPS, LatencyBelowZeroIsNotSeparable) {
  SampleSet set;
  Noise noise(7);
  Sampling how;
  how.sizes = kSyntheticSizes;
  sample(set, "send", how, noise, [](int, std::uint64_t) { return 1.0e-6; });
  sample(set, "recvmin", how, noise, [](int, std::uint64_t) { return 0.8e-6; });
  sample(set, "recv", how, noise,
         [](int, std::uint64_t d) { return 1.2e-6 + 1e-10 * static_cast<double>(d); });
  // A row of sends goes no faster than its sender: what the gap is cannot be seen.
  sample(set, "gap", how, noise, [](int, std::uint64_t) { return 1.0e-6; });
  const MachineModel model = fit_model(set).model;
  ASSERT_EQ(model.loggps_regimes.size(), 1u);
  const machine::LogGPSRegime& regime = model.loggps_regimes[0];
  ASSERT_TRUE(regime.latency);
  EXPECT_FALSE(regime.latency->separable);
  ASSERT_TRUE(regime.gap);
  EXPECT_FALSE(regime.gap->separable);
  EXPECT_FALSE(model.loggps.gap);
  expect_parameter(regime.overhead_send, 1.0e-6, "o_s");
  expect_parameter(regime.overhead_recv, 0.8e-6, "o_r");
  expect_parameter(regime.gap_per_byte, 1e-10, "G");
  EXPECT_FALSE(regime.overlap_send);
  EXPECT_FALSE(model.hop);
}

}  // namespace
}  // namespace foretrace::measure
