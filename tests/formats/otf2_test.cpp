// OTF2 archives: what goes out comes back, and what others wrote becomes our operations.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "formats/formats.hpp"
#include "samples.hpp"
#include "scratch.hpp"
#include "trace/trace.hpp"

namespace foretrace::formats {

using namespace trace;

namespace {

class Otf2 : public ScratchFolder {
 protected:
  // The trace by way of an archive.
  Trace there_and_back(const std::string& trace) {
    TraceReader reader(trace);
    EXPECT_EQ(write_otf2(reader, path("x.otf2")), Notes());
    EXPECT_EQ(read_otf2(path("x.otf2"), path("again.ftr")), Notes());
    return read_trace(path("again.ftr"));
  }

  // Events that follow each other as a program's do; names and communicators as they come.
  static void expect_same(const Trace& a, const Trace& b) {
    ASSERT_EQ(a.ranks.size(), b.ranks.size());
    EXPECT_EQ(a.info.clock, b.info.clock);
    EXPECT_EQ(a.info.program, b.info.program);
    EXPECT_EQ(a.sealed, b.sealed);
    for (std::size_t r = 0; r < a.ranks.size(); ++r) {
      ASSERT_EQ(a.ranks[r].size(), b.ranks[r].size()) << "rank " << r;
      for (std::size_t i = 0; i < a.ranks[r].size(); ++i) {
        Event x = a.ranks[r][i];
        Event y = b.ranks[r][i];
        const std::string where =
            "rank " + std::to_string(r) + " event " + std::to_string(i) + " " + a.names[x.name];
        EXPECT_EQ(a.names[x.name], b.names[y.name]) << where;
        if (uses_comm(x)) {
          EXPECT_EQ(a.comms[x.comm].key, b.comms[y.comm].key) << where;
          EXPECT_EQ(a.comms[x.comm].members, b.comms[y.comm].members) << where;
        }
        EXPECT_EQ(x.site == 0, y.site == 0) << where;
        if (x.site != 0 && y.site != 0) {
          EXPECT_EQ(a.sites[x.site - 1], b.sites[y.site - 1]) << where;
        }
        x.name = y.name = 0;
        x.comm = y.comm = 0;
        x.site = y.site = 0;
        EXPECT_TRUE(x == y) << where;
      }
    }
  }
};

// One event of each kind and form that a program's run can have.
std::vector<Event> program() {
  std::vector<Event> events;
  const auto add = [&](EventKind kind) -> Event& {
    events.emplace_back().kind = kind;
    return events.back();
  };
  add(EventKind::init);
  add(EventKind::phase_begin).steps = 2.5;
  add(EventKind::send).send = {WorldRank(1), 5, Bytes(800), false, false};
  events.back().mode = machine::SendMode::synchronous;
  add(EventKind::send).mode = machine::SendMode::ready;
  add(EventKind::recv).recv = {WorldRank(2), -7, Bytes(9), true, true};
  add(EventKind::recv);
  add(EventKind::sendrecv).send = {WorldRank(1), 5, Bytes(80), false, false};
  events.back().recv = {WorldRank(0), 6, Bytes(70), false, true};
  add(EventKind::sendrecv).send = {WorldRank(1), 5, Bytes(80), false, false};
  add(EventKind::sendrecv).recv = {WorldRank(1), 5, Bytes(80), true, false};
  add(EventKind::sendrecv);
  add(EventKind::isend).send = {WorldRank(2), 1, Bytes(1), false, false};
  events.back().request = 3;
  add(EventKind::isend).request = 4;
  events.back().count = 0;
  add(EventKind::irecv).recv = {WorldRank(), 0, Bytes(100), true, true};
  events.back().request = 5;
  add(EventKind::irecv).recv = {WorldRank(1), 3, Bytes(100), false, false};
  events.back().request = 6;
  events.back().taken = 9;
  add(EventKind::probe).recv = {WorldRank(1), 3, Bytes(20), true, false};
  events.back().request = 7;
  add(EventKind::icollective).collective = machine::Cost::gather;
  events.back().request = 8;
  events.back().bytes = Bytes(12);
  events.back().root = LocalRank(1);
  Event& all = add(EventKind::complete);
  all.completions = {{5, WorldRank(2), 8, Bytes(33), false},
                     {3, WorldRank(), 0, Bytes(), false},
                     {4, WorldRank(), 0, Bytes(), false},
                     {8, WorldRank(), 0, Bytes(), false},
                     {6, WorldRank(), 0, Bytes(), true}};
  all.count = 0;
  for (int cost = static_cast<int>(machine::Cost::barrier);
       cost <= static_cast<int>(machine::Cost::comm_dup); ++cost)
    for (const int root : {-1, 0, 2}) {
      add(EventKind::collective).collective = static_cast<machine::Cost>(cost);
      events.back().bytes = Bytes(24);
      events.back().root = LocalRank(root);
    }
  add(EventKind::call).count = 7;
  add(EventKind::call).bytes = Bytes(99);
  events.back().send.peer = WorldRank(2);
  add(EventKind::mark).value = -1.5;
  add(EventKind::phase_end);
  add(EventKind::finalize);
  add(EventKind::aborted).code = -3;
  return events;
}

void set_times(std::vector<Event>& events, Clock clock) {
  Time now;
  std::int64_t n = 0;
  for (Event& event : events) {
    ++n;
    event.compute = Time::ps(n * 1'000'003);
    event.enter = event.leave = now += event.compute;
    if (clock == Clock::cpu) continue;
    const bool moment = event.kind == EventKind::phase_begin ||
                        event.kind == EventKind::phase_end || event.kind == EventKind::mark;
    event.enter = event.leave = now += Time::ps(n % 3);
    if (moment) continue;
    event.leave = now += Time::ps(n * 77'777);
    event.wait = Time::ps(n % 4);
  }
}

TEST_F(Otf2, EventsComeBackAsTheyWere) {
  for (const Clock clock : {Clock::cpu, Clock::wall, Clock::virtual_}) {
    constexpr int kRanks = 3;
    create_trace_file(path("a.part"), sample_info(kRanks, clock));
    for (int r = 0; r < kRanks; ++r) {
      TraceWriter writer(path("a.part"), WorldRank(r), clock);
      for (const char* name : {"MPI_Call", "solve", "MPI_Recv"}) writer.define_name(name);
      const WorldRank world[] = {WorldRank(0), WorldRank(1), WorldRank(2)};
      const WorldRank turned[] = {WorldRank(2), WorldRank(0), WorldRank(1)};
      writer.define_comm(0, world);
      writer.define_comm(77, turned);
      writer.define_site({"/usr/bin/halo", 4711});
      std::vector<Event> events = program();
      set_times(events, clock);
      for (std::size_t i = 0; i < events.size(); ++i) {
        events[i].name = static_cast<NameId>(i % 3);
        if (uses_comm(events[i])) events[i].comm = static_cast<CommId>(r % 2);
        events[i].site = i % 4 == 0 ? 1 : 0;
        if (i % 5 == 1) events[i].join = {i, i % 2 == 0, Time::ps(1'000'000 + r), Time::ps(3)};
        if (i % 10 == 1) events[i].second = {1, true, Time::ps(9), Time(), true, 0.5, 0};
        writer.write(events[i]);
      }
    }
    seal_trace_file(path("a.part"), path("a.ftr"));
    expect_same(read_trace(path("a.ftr")), there_and_back(path("a.ftr")));
  }
}

TEST_F(Otf2, AnIncompleteRunStaysIncomplete) {
  create_trace_file(path("a.ftr"), sample_info(1, Clock::wall));
  {
    TraceWriter writer(path("a.ftr"), WorldRank(0), Clock::wall);
    writer.define_name("MPI_Init");
    Event event;
    event.kind = EventKind::init;
    writer.write(event);
    writer.enter(writer.define_name("MPI_Recv"), writer.define_site({"/bin/app", 16}));
  }
  TraceReader before(path("a.ftr"));
  write_otf2(before, path("x.otf2"));
  read_otf2(path("x.otf2"), path("b.ftr"));
  TraceReader after(path("b.ftr"));
  EXPECT_FALSE(after.sealed());
  Event event;
  while (after.next(WorldRank(0), event)) EXPECT_EQ(event.kind, EventKind::init);
  ASSERT_NE(after.open_call(WorldRank(0)), nullptr);
  EXPECT_EQ(*after.open_call(WorldRank(0)), "MPI_Recv");
  ASSERT_NE(after.open_site(WorldRank(0)), nullptr);
  EXPECT_EQ(after.open_site(WorldRank(0))->offset, 16u);
}

}  // namespace
}  // namespace foretrace::formats
