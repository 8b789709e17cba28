// How events are told in few bytes: what a loop costs, what becomes of a program
// whose every call is different, and which call a rank was in.
#include <gtest/gtest.h>

#include "samples.hpp"
#include "scratch.hpp"

namespace foretrace::trace {
namespace {

class Shapes : public ScratchFolder {
 protected:
  void write(const std::vector<Event>& events, Clock clock) {
    create_trace_file(path("a.part"), sample_info(2, clock));
    TraceWriter writer(path("a.part"), WorldRank(0), clock);
    define(writer, 2);
    for (const Event& event : events) writer.write(event);
    writer.close();
    seal_trace_file(path("a.part"), path("a.ftr"));
  }
};

// Each time around: irecv, isend, complete both. 300 ns of computation before
// each (2 bytes: 600 in the low 14 bits), one byte for the shape.
TEST_F(Shapes, ALoopTakesThreeBytesForEachCall) {
  std::vector<Event> events;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    Event event;
    event.compute = Time::ns(300);
    event.kind = EventKind::irecv;
    event.request = 2 * i + 1;
    event.recv.peer = event.send.peer = WorldRank(1);
    events.push_back(event);
    event.kind = EventKind::isend;
    event.recv = Endpoint();
    event.request = 2 * i + 2;
    events.push_back(event);
    event.kind = EventKind::complete;
    event.send = Endpoint();
    event.request = 0;
    event.completions = {{2 * i + 1, WorldRank(1), 7, Bytes(8), false},
                         {2 * i + 2, {}, 0, {}, false}};
    events.push_back(event);
  }
  events[1].send.peer = WorldRank(1);
  write(events, Clock::cpu);
  const std::size_t whole = read_bytes(path("a.ftr")).size();
  events.resize(1500);
  write(events, Clock::cpu);
  EXPECT_EQ(whole - read_bytes(path("a.ftr")).size(), 1500u * 3);
}

// A call that takes the same time again and again costs the byte of its shape.
TEST_F(Shapes, DurationsThatRepeatAreNotRepeated) {
  std::vector<Event> events(2000);
  Time now;
  for (Event& event : events) {
    event.enter = now;
    event.leave = now += Time::ps(30'000'001);
  }
  write(events, Clock::virtual_);
  const std::size_t whole = read_bytes(path("a.ftr")).size();
  events.resize(1000);
  write(events, Clock::virtual_);
  EXPECT_EQ(whole - read_bytes(path("a.ftr")).size(), 1000u);
}

// Durations that are all different must not become shapes of their own: 5 bytes
// for a time (10^9 ps take 31 bits with the unit's; none is a whole ns), one for the shape.
TEST_F(Shapes, DurationsThatDifferAreTimes) {
  std::vector<Event> events(2000);
  Time now;
  std::int64_t n = 0;
  for (Event& event : events) {
    event.enter = now;
    event.leave = now += Time::ps(1'000'000'001 + 14 * ++n);
  }
  write(events, Clock::virtual_);
  const std::size_t whole = read_bytes(path("a.ftr")).size();
  events.resize(1000);
  write(events, Clock::virtual_);
  EXPECT_EQ(whole - read_bytes(path("a.ftr")).size(), 1000u * 6);
}

// 2,000 kinds of calls in turn: far more than a rank keeps.
TEST_F(Shapes, MoreShapesThanPlaces) {
  for (const std::int32_t kinds : {511, 512, 513, 2000}) {
    std::vector<Event> events;
    for (std::int32_t i = 0; i < 6000; ++i) {
      Event event;
      event.kind = EventKind::send;
      event.send.peer = WorldRank(1);
      event.send.tag = i % 3 == 0 ? i % kinds : 5;
      event.compute = event.enter = event.leave = Time();
      events.push_back(event);
    }
    write(events, Clock::cpu);
    TraceReader reader(path("a.ftr"));
    EXPECT_EQ(read_all(reader, 0), events) << kinds;
    EXPECT_TRUE(reader.damage().empty());
  }
}

// More completions than a shape names: the event stands for itself, again and again.
TEST_F(Shapes, ManyCompletions) {
  std::vector<Event> events(3);
  for (Event& event : events) {
    event.kind = EventKind::complete;
    for (std::uint64_t i = 0; i < 100'000; ++i)
      event.completions.push_back({i + 1, WorldRank(1), 3, Bytes(i), false});
  }
  events[1].completions.resize(16);
  events[2].completions.resize(17);
  write(events, Clock::cpu);
  TraceReader reader(path("a.ftr"));
  EXPECT_EQ(read_all(reader, 0), events);
}

class OpenCall : public Shapes {
 protected:
  // The call that a reader finds open now; "": none.
  std::string open_call() {
    TraceReader reader(path("a.part"));
    read_all(reader, 0);
    const std::string* name = reader.open_call(WorldRank(0));
    return name ? *name : "";
  }
};

TEST_F(OpenCall, IsTheOneBegunAndNotEnded) {
  create_trace_file(path("a.part"), sample_info(2, Clock::cpu));
  TraceWriter writer(path("a.part"), WorldRank(0), Clock::cpu);
  EXPECT_EQ(open_call(), "");
  writer.define_name("MPI_Send");
  const NameId recv = writer.define_name("MPI_Recv");
  EXPECT_EQ(open_call(), "");
  writer.enter(recv);
  EXPECT_EQ(open_call(), "MPI_Recv");
  // Blocks that fill up in the meantime do not hide it.
  for (int i = 0; i < 10; ++i) {
    writer.define_name(std::string(3000, 'n'));
    EXPECT_EQ(open_call(), "MPI_Recv");
  }
  seal_trace_file(path("a.part"), path("a.ftr"));
  TraceReader sealed(path("a.ftr"));
  read_all(sealed, 0);
  ASSERT_NE(sealed.open_call(WorldRank(0)), nullptr);
  EXPECT_EQ(*sealed.open_call(WorldRank(0)), "MPI_Recv");
}

TEST_F(OpenCall, HasItsPlace) {
  create_trace_file(path("a.part"), sample_info(2, Clock::cpu));
  TraceWriter writer(path("a.part"), WorldRank(0), Clock::cpu);
  const NameId recv = writer.define_name("MPI_Recv");
  const Site site{"/usr/bin/halo", 0x11e9};
  writer.define_site({"/usr/lib/other.so", 1});
  writer.enter(recv, writer.define_site(site));
  const auto open_site = [](const std::string& trace) {
    TraceReader reader(trace);
    read_all(reader, 0);
    const Site* found = reader.open_site(WorldRank(0));
    return found ? *found : Site();
  };
  EXPECT_EQ(open_site(path("a.part")), site);
  seal_trace_file(path("a.part"), path("a.ftr"));
  EXPECT_EQ(open_site(path("a.ftr")), site);
  create_trace_file(path("b.part"), sample_info(2, Clock::cpu));
  TraceWriter without(path("b.part"), WorldRank(0), Clock::cpu);
  without.enter(without.define_name("MPI_Recv"));
  EXPECT_EQ(open_site(path("b.part")), Site());
}

TEST_F(OpenCall, EndsWithItsEvent) {
  create_trace_file(path("a.part"), sample_info(2, Clock::cpu));
  TraceWriter writer(path("a.part"), WorldRank(0), Clock::cpu);
  Event event;
  event.name = writer.define_name("MPI_Barrier");
  writer.enter(event.name);
  writer.write(event);
  EXPECT_EQ(open_call(), "");
}

}  // namespace
}  // namespace foretrace::trace
