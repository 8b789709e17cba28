// From samples to the model: what is kept, what is left out, what it says of itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "imported/model.hpp"
#include "machine/machine_file.hpp"

namespace foretrace::imported {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// t = 2 us + 1 ns/B, and from 8 KiB on 5 us + 0.5 ns/B; powers of two, three repetitions.
Measurements message() {
  Measurements all;
  for (int launch = 1; launch <= 3; ++launch)
    for (std::uint64_t bytes = 1; bytes <= 1 << 20; bytes *= 2) {
      const auto d = static_cast<double>(bytes);
      const double seconds = (bytes < 8192 ? 2e-6 + 1e-9 * d : 15e-6 + 0.5e-9 * d);
      all.add("recv", 2, bytes, launch, seconds * (1 + 0.002 * launch));
    }
  all.methods["recv"] = "half";
  all.resolution = 1e-8;
  return all;
}

TEST(ForeignModel, SaysWhoseFiguresTheyAre) {
  const ImportedModel imported =
      fit_measurements(message(), {"m", "a source", "CC0", "2020-01-02", "some MPI"});
  const machine::MachineModel again =
      machine::parse_machine(machine::format_machine(imported.model), "m.toml");
  EXPECT_EQ(again.kind, "derived");
  EXPECT_EQ(again.licence, "CC0");
  EXPECT_EQ(again.source, "a source");
  const machine::Function& recv = *again.find("recv");
  EXPECT_EQ(recv.method, "half");
  ASSERT_TRUE(recv.held_out);
}

// A broadcast among 64 ranks cannot be over before one message has come.
TEST(ForeignModel, LeavesOutWhatIsQuickerThanAMessage) {
  Measurements all = message();
  for (std::uint64_t bytes = 1; bytes <= 1 << 20; bytes *= 2) {
    all.add("bcast", 64, bytes, 1, 1e-6);
    all.add("allreduce", 64, bytes, 1, 1e-3);
  }
  const ImportedModel imported = fit_measurements(all, {});
  EXPECT_FALSE(imported.model.find("bcast"));
  EXPECT_TRUE(imported.model.find("allreduce"));
  EXPECT_THAT(imported.notes, ElementsAre(HasSubstr("bcast: left out")));
}

TEST(ForeignModel, NothingIsAnError) {
  EXPECT_THROW(fit_measurements({}, {}), Error);
}

// Powers of two of a library that takes another way for every third of them, and other ways with
// other numbers of ranks, as OSU's collectives: what was measured is what the model says.
TEST(ForeignModel, MeasuredTimesAreMet) {
  Measurements all;
  const auto seconds = [](int p, std::uint64_t d) {
    constexpr double kWays[] = {1.5, 0.8, 1.3, 0.7, 1.6, 1.0, 1.4, 0.6, 1.1};
    const auto way = static_cast<std::size_t>(std::log2(d)) / 3 + (p == 64 ? 0 : p == 128 ? 1 : 2);
    return 1e-6 * kWays[way] * p * (1 + 0.003 * static_cast<double>(d));
  };
  for (const int p : {64, 128, 256})
    for (std::uint64_t d = 1; d <= 1 << 20; d *= 2) all.add("alltoall", p, d, 1, seconds(p, d));
  const machine::MachineModel model = fit_measurements(all, {}).model;
  for (const int p : {64, 128, 256})
    for (std::uint64_t d = 1; d <= 1 << 20; d *= 2)
      EXPECT_NEAR(
          evaluate_seconds(model, *model.find("alltoall"), p, Bytes(d), machine::Bound::avg) /
              seconds(p, d),
          1, 0.001)
          << p << " ranks, " << d << " bytes";
}

// One table has no repetitions: its errors are those of the sizes that were left out.
TEST(ForeignModel, OneTableHasAnInterval) {
  Measurements all;
  for (std::uint64_t bytes = 1; bytes <= 1 << 16; bytes *= 2)
    all.add("allreduce", 64, bytes, 1,
            (1e-5 + 1e-9 * static_cast<double>(bytes)) * (bytes % 3 == 2 ? 1.1 : 1));
  const ImportedModel imported = fit_measurements(all, {});
  const machine::Function& function = *imported.model.find("allreduce");
  for (const machine::Regime& regime : function.regimes) {
    ASSERT_TRUE(regime.equation.interval);
    EXPECT_LT(regime.equation.interval->low, 1);
  }
}

}  // namespace
}  // namespace foretrace::imported
