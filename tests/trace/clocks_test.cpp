// Clock drift: the formula, and the reader that applies it.
#include "trace/clocks.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "samples.hpp"
#include "scratch.hpp"

namespace foretrace::trace {
namespace {

Time us(std::int64_t n) {
  return Time::ns(n * 1000);
}

TEST(ClockDrift, IsSpreadEvenly) {
  const ClockDrift drift{us(-100), us(900), us(50)};  // 50 us in 1000 us
  EXPECT_EQ(drift.straightened(us(-100)), us(-100));
  EXPECT_EQ(drift.straightened(us(900)), us(950));
  EXPECT_EQ(drift.straightened(us(300)), us(320));
  EXPECT_EQ(drift.straightened(us(1900)), us(2000)) << "goes on beyond the second measurement";
  EXPECT_EQ(drift.straightened(Time()), us(5));
}

TEST(ClockDrift, RoundsDownSoThatOrderStays) {
  const ClockDrift drift{Time(), Time::ps(3), Time::ps(-1)};
  EXPECT_EQ(drift.straightened(Time::ps(1)), Time::ps(0));  // 1 - 1/3
  EXPECT_EQ(drift.straightened(Time::ps(2)), Time::ps(1));  // 2 - 2/3
  EXPECT_EQ(drift.straightened(Time::ps(3)), Time::ps(2));
  EXPECT_EQ(ClockDrift().straightened(us(7)), us(7));
}

class ClockFile : public ScratchFolder {
 protected:
  // Two ranks with an event each from 100 to 200 us.
  void write(const Clocks& at_start, const Clocks& at_end) {
    TraceInfo info = sample_info(2, Clock::wall);
    info.clocks = at_start;
    create_trace_file(path("a.part"), info);
    for (int rank = 0; rank < 2; ++rank) {
      TraceWriter writer(path("a.part"), WorldRank(rank), Clock::wall);
      Event event;
      event.name = writer.define_name("MPI_Barrier");
      event.enter = us(100);
      event.leave = us(200);
      writer.write(event);
    }
    seal_trace_file(path("a.part"), path("a.ftr"), at_end);
  }
};

TEST_F(ClockFile, EachRankHasItsOwnDrift) {
  write({2, us(3), {}}, {2, us(4), {{us(-100), us(900), us(0)}, {us(-100), us(900), us(-10)}}});
  const Trace trace = read_trace(path("a.ftr"));
  EXPECT_TRUE(trace.damage.empty());
  EXPECT_EQ(trace.info.clocks, (Clocks{2, us(4), {}}));
  EXPECT_EQ(trace.ranks[0][0].enter, us(100));
  EXPECT_EQ(trace.ranks[1][0].enter, us(98));  // 200 of 1000 us: 2 of 10
  EXPECT_EQ(trace.ranks[1][0].leave, us(197));
  // Written again it has straight times, and is not straightened twice.
  write_trace(trace, path("b.ftr"));
  const Trace again = read_trace(path("b.ftr"));
  EXPECT_EQ(again.info.clocks, trace.info.clocks);
  EXPECT_EQ(again.ranks, trace.ranks);
}

// A run that was killed has what was measured at its start.
TEST_F(ClockFile, WithoutASecondMeasurementTheTimesStay) {
  write({2, us(3), {}}, {});
  const Trace trace = read_trace(path("a.ftr"));
  EXPECT_EQ(trace.info.clocks, (Clocks{2, us(3), {}}));
  EXPECT_EQ(trace.ranks[1][0].enter, us(100));
}

TEST_F(ClockFile, ImpossibleDriftIsRefused) {
  const ClockDrift good{us(0), us(900), us(1)};
  for (const ClockDrift bad : {ClockDrift{us(0), us(0), us(1)}, ClockDrift{us(0), us(10), us(10)},
                               ClockDrift{us(0), us(10), us(-10)}, ClockDrift{us(9), us(1), us(1)},
                               ClockDrift{us(0), Time::ps(INT64_MAX), us(1)}}) {
    write({2, us(3), {}}, {2, us(4), {good, bad}});
    EXPECT_THROW(TraceReader(path("a.ftr")), Error);
  }
  write({2, us(3), {}}, {2, us(4), {good}});
  EXPECT_THROW(TraceReader(path("a.ftr")), Error) << "one drift for two ranks";
}

}  // namespace
}  // namespace foretrace::trace
