// How events are told in few bytes: what a loop costs, what becomes of a program
// whose every call is different, and which call a rank was in.
#include <gtest/gtest.h>

#include "samples.hpp"
#include "scratch.hpp"
#include "trace/renew.hpp"

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

// Counts of a collective: the same list is written once, and a rank keeps 64.
class CountsOfCalls : public Shapes {
 protected:
  // Reads what was written with list number `which` of those that list(i) makes.
  void check(const std::vector<std::uint64_t>& which) {
    create_trace_file(path("a.part"), sample_info(2, Clock::cpu));
    TraceWriter writer(path("a.part"), WorldRank(0), Clock::cpu);
    define(writer, 2);
    for (const std::uint64_t i : which) {
      const Counts counts = list(i);
      writer.write(call(), i == 0 ? nullptr : &counts);
    }
    writer.close();
    seal_trace_file(path("a.part"), path("a.ftr"));
    TraceReader reader(path("a.ftr"));
    Event event;
    for (const std::uint64_t i : which) {
      ASSERT_TRUE(reader.next(WorldRank(0), event));
      const Counts* counts = reader.counts(WorldRank(0), event);
      ASSERT_EQ(counts != nullptr, i != 0);
      if (counts) {
        ASSERT_EQ(*counts, list(i));
      }
    }
    EXPECT_FALSE(reader.next(WorldRank(0), event));
    EXPECT_TRUE(reader.damage().empty());
  }
  // A sealed file of one rank that has only this.
  void write_alone(const Event& event) {
    create_trace_file(path("a.part"), sample_info(1, Clock::cpu));
    {
      TraceWriter writer(path("a.part"), WorldRank(0), Clock::cpu);
      define(writer, 1);
      writer.write(event);
    }
    seal_trace_file(path("a.part"), path("a.ftr"));
  }
  static Event call() {
    Event event;
    event.kind = EventKind::collective;
    event.collective = machine::Cost::allgatherv;
    event.bytes = Bytes(5);
    return event;
  }
  static Counts list(std::uint64_t i) { return {Bytes(i), Bytes(1'000'000)}; }
  std::size_t size() { return read_bytes(path("a.ftr")).size(); }
};

TEST_F(CountsOfCalls, AreAsTheyWereWritten) {
  check({1, 0, 1, 2, 0, 2, 1});
}

// 63 to 65 lists in turn, then so many that each is written again.
TEST_F(CountsOfCalls, MoreListsThanPlaces) {
  for (const std::uint64_t lists : {63u, 64u, 65u, 1000u}) {
    std::vector<std::uint64_t> which;
    for (std::uint64_t i = 0; i < 3000; ++i) which.push_back(i % 7 == 0 ? 1 : 1 + i % lists);
    check(which);
  }
}

// A call like the one before costs the byte of its shape and no list.
TEST_F(CountsOfCalls, AreWrittenOnce) {
  check(std::vector<std::uint64_t>(1000, 1));
  const std::size_t once = size();
  check(std::vector<std::uint64_t>(2000, 1));
  EXPECT_EQ(size() - once, 1000u);
}

// Only a file with lists has the version that older readers refuse.
TEST_F(CountsOfCalls, TellTheVersion) {
  check({0, 0});
  EXPECT_EQ(read_bytes(path("a.ftr"))[8], 3);
  check({0, 1});
  EXPECT_EQ(read_bytes(path("a.ftr"))[8], 4);
}

// What an event combines has a later one, in whatever order ranks write it.
TEST_F(CountsOfCalls, AndReductionsTellALaterVersion) {
  Event reduction = call();
  reduction.collective = machine::Cost::allreduce;
  reduction.reduction = machine::Reduction::other;
  const Counts counts = list(1);
  for (const bool counts_first : {false, true}) {
    create_trace_file(path("a.part"), sample_info(2, Clock::cpu));
    for (int rank = 0; rank < 2; ++rank) {
      TraceWriter writer(path("a.part"), WorldRank(rank), Clock::cpu);
      define(writer, 2);
      if (counts_first == (rank == 0))
        writer.write(call(), &counts);
      else
        writer.write(reduction);
    }
    EXPECT_EQ(TraceReader(path("a.part")).ranks(), 2);
    seal_trace_file(path("a.part"), path("a.ftr"));
    EXPECT_EQ(read_bytes(path("a.ftr"))[8], 5);
    EXPECT_EQ(read_trace(path("a.ftr")).ranks[counts_first ? 1 : 0][0].reduction,
              machine::Reduction::other);
  }
}

// Untouched data has a later one.
TEST_F(CountsOfCalls, AndUntouchedDataALaterOne) {
  Event event = call();
  event.collective = machine::Cost::alltoall;
  event.send.untouched = true;
  write_alone(event);
  EXPECT_EQ(read_bytes(path("a.ftr"))[8], 6);
  EXPECT_TRUE(read_trace(path("a.ftr")).ranks[0][0].send.untouched);
}

// And pieces later than that.
TEST_F(CountsOfCalls, AndPiecesLater) {
  Event event = call();
  event.kind = EventKind::recv;
  event.counts = 0;
  event.recv.peer = WorldRank(0);
  event.recv.bytes = Bytes(64);
  event.recv.piece = 8;
  write_alone(event);
  EXPECT_EQ(read_bytes(path("a.ftr"))[8], 7);
  EXPECT_EQ(read_trace(path("a.ftr")).ranks[0][0].recv, event.recv);
}

// A trace in memory has each list once, whichever rank wrote it.
TEST_F(CountsOfCalls, OfAWholeTrace) {
  create_trace_file(path("a.part"), sample_info(2, Clock::cpu));
  for (int rank = 0; rank < 2; ++rank) {
    TraceWriter writer(path("a.part"), WorldRank(rank), Clock::cpu);
    define(writer, 2);
    for (const std::uint64_t i : {2, 1, 2 + rank}) {
      const Counts counts = list(static_cast<std::uint64_t>(i));
      writer.write(call(), &counts);
    }
  }
  seal_trace_file(path("a.part"), path("a.ftr"));
  const Trace trace = read_trace(path("a.ftr"));
  EXPECT_EQ(trace.counts, (std::vector<Counts>{list(2), list(1), list(3)}));
  EXPECT_EQ(counts_of(trace, trace.ranks[1][2]), &trace.counts[2]);
  write_trace(trace, path("b.ftr"));
  const Trace again = read_trace(path("b.ftr"));
  EXPECT_EQ(again.counts, trace.counts);
  EXPECT_TRUE(again.ranks == trace.ranks);
}

// A list of another length than the collective's has.
TEST_F(CountsOfCalls, OfTheWrongLengthAreDamage) {
  create_trace_file(path("a.part"), sample_info(2, Clock::cpu));
  TraceWriter writer(path("a.part"), WorldRank(0), Clock::cpu);
  define(writer, 2);
  const Counts counts{Bytes(1), Bytes(2), Bytes(3)};
  writer.write(call(), &counts);
  writer.close();
  TraceReader reader(path("a.part"));
  Event event;
  EXPECT_FALSE(reader.next(WorldRank(0), event));
  ASSERT_EQ(reader.damage().size(), 1u);
  EXPECT_EQ(reader.damage()[0].what, "counts that are not those of the collective");
}

// From its second block on a writer remembers what its events looked like; one
// of a known shape takes a byte at least.
constexpr std::size_t kPastTheFirstBlock = 5000;

// The place of the first shape is taken by shapes that are not remembered by their
// fields, which the writer has to notice.
TEST_F(Shapes, APlaceThatIsAnothersByNow) {
  Event first;
  first.kind = EventKind::send;
  first.send.peer = WorldRank(1);
  std::vector<Event> events(kPastTheFirstBlock, first);
  for (std::int32_t i = 0; i < 600; ++i) {
    Event event;
    event.kind = EventKind::complete;
    for (std::uint64_t request = 1; request <= 6; ++request)
      event.completions.push_back({request, WorldRank(1), i, Bytes(8), false});
    events.push_back(event);
  }
  events.push_back(first);
  write(events, Clock::cpu);
  TraceReader reader(path("a.ftr"));
  EXPECT_EQ(read_all(reader, 0), events);
}

using Change = void (*)(Event&);

// Events that differ in one field alone, beside one that was seen just before.
class OneField : public Shapes {
 protected:
  void add(EventKind kind, std::vector<Change> base, std::vector<Change> changes) {
    Event event;
    event.kind = kind;
    for (const Change change : base) change(event);
    changes.insert(changes.end(),
                   {[](Event& e) { e.name = 1; }, [](Event& e) { e.site = 1; },
                    [](Event& e) { e.compute = Time::ns(1); }, [](Event& e) { e.steps = 1; }});
    for (const Change change : changes) {
      Event changed = event;
      change(changed);
      events_.insert(events_.end(), {event, changed, event});
    }
  }
  std::vector<Event> events_;
};

TEST_F(OneField, Tells) {
  const Change sends = [](Event& e) { e.send = {WorldRank(0), 3, Bytes(8), false, false}; };
  const Change receives = [](Event& e) { e.recv = {WorldRank(0), 3, Bytes(8), false, false}; };
  const Change comm = [](Event& e) { e.comm = 1; };
  const Change request = [](Event& e) { e.request = 7; };
  const Change to = [](Event& e) { e.send.peer = WorldRank(1); };
  const Change send_tag = [](Event& e) { e.send.tag = 4; };
  const Change send_bytes = [](Event& e) { e.send.bytes = Bytes(9); };
  const Change mode = [](Event& e) { e.mode = machine::SendMode::ready; };
  const Change from = [](Event& e) { e.recv.peer = WorldRank(1); };
  const Change recv_tag = [](Event& e) { e.recv.tag = 4; };
  const Change recv_bytes = [](Event& e) { e.recv.bytes = Bytes(9); };
  const Change any_source = [](Event& e) { e.recv.any_source = true; };
  const Change any_tag = [](Event& e) { e.recv.any_tag = true; };
  const Change untouched = [](Event& e) { e.send.untouched = true; };
  const Change sent_piece = [](Event& e) { e.send.piece = 4; };
  const Change received_piece = [](Event& e) { e.recv.piece = 4; };
  const Change bytes = [](Event& e) { e.bytes = Bytes(9); };
  add(EventKind::send, {sends}, {comm, to, send_tag, send_bytes, mode, untouched, sent_piece});
  add(EventKind::isend, {sends},
      {comm, to, send_tag, send_bytes, mode, untouched, sent_piece, request});
  add(EventKind::recv, {receives},
      {comm, from, recv_tag, recv_bytes, any_source, any_tag, received_piece,
       [](Event& e) { e.taken = 1; }});
  add(EventKind::sendrecv, {sends, receives},
      {comm, to, send_tag, send_bytes, mode, sent_piece, from, recv_tag, recv_bytes, any_source,
       any_tag, received_piece});
  add(EventKind::collective,
      {[](Event& e) { e.collective = machine::Cost::bcast, e.root = LocalRank(0); }},
      {comm, bytes, untouched, [](Event& e) { e.root = LocalRank(1); },
       [](Event& e) { e.collective = machine::Cost::scatter; }});
  add(EventKind::call, {[](Event& e) { e.bytes = Bytes(8); }},
      {comm, to, bytes, [](Event& e) { e.count = 2; }});
  add(EventKind::complete, {[](Event& e) {
        e.completions = {{1, WorldRank(0), 3, Bytes(8), false}, {2, {}, 0, {}, false}};
      }},
      {[](Event& e) { e.completions.resize(1); }, [](Event& e) { e.completions[0].request = 2; },
       [](Event& e) { e.completions[0].source = WorldRank(1); },
       [](Event& e) { e.completions[0].tag = 4; },
       [](Event& e) { e.completions[0].bytes = Bytes(9); },
       [](Event& e) { e.completions[1].cancelled = true; }});
  add(EventKind::aborted, {}, {[](Event& e) { e.code = 6; }});
  events_.insert(events_.begin(), kPastTheFirstBlock, events_[0]);
  for (const Clock clock : {Clock::cpu, Clock::virtual_}) {
    Time now;
    for (Event& event : events_) {
      event.enter = now += event.compute;
      if (clock == Clock::virtual_) now += Time::ns(event.code == 6 ? 8 : 7);
      event.leave = now;
    }
    create_trace_file(path("a.ftr"), sample_info(2, clock));
    TraceWriter writer(path("a.ftr"), WorldRank(0), clock);
    for (int i = 0; i < 2; ++i) define(writer, 2);
    writer.define_site({"program", 1});
    for (const Event& event : events_) writer.write(event);
    TraceReader reader(path("a.ftr"));
    const std::vector<Event> read = read_all(reader, 0);
    ASSERT_EQ(read.size(), events_.size());
    for (std::size_t i = 0; i < read.size(); ++i) EXPECT_EQ(read[i], events_[i]) << i;
  }
}

TEST(Renewed, IsAsNew) {
  Event event;
  event.kind = EventKind::send;
  event.name = event.comm = event.site = event.count = 5;
  event.compute = event.enter = event.leave = event.wait = Time::ns(1);
  event.steps = event.value = 2;
  event.send = event.recv = {WorldRank(1), 2, Bytes(3), true, true};
  event.mode = machine::SendMode::ready;
  event.collective = machine::Cost::bcast;
  event.bytes = Bytes(1);
  event.root = LocalRank(1);
  event.request = event.taken = 1;
  event.completions.resize(3);
  event.code = 3;
  renew(event);
  EXPECT_EQ(event, Event());
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
