// What a writer wrote, the reader reads: every kind, every extreme, records
// that cross blocks, names, communicators and the trace's own information.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "samples.hpp"
#include "scratch.hpp"

namespace foretrace::trace {
namespace {

class RoundTrip : public ScratchFolder {};

TEST_F(RoundTrip, EveryKindWithExtremeValues) {
  for (const Clock clock : {Clock::cpu, Clock::wall, Clock::virtual_}) {
    for (const int ranks : {2, 1 << 20}) {
      SCOPED_TRACE(testing::Message() << "clock " << static_cast<int>(clock) << ", " << ranks);
      const std::vector<Event> events = sample_events(ranks, clock);
      create_trace_file(path("a.ftr"), sample_info(ranks, clock));
      TraceWriter writer(path("a.ftr"), WorldRank(1), clock);
      define(writer, ranks);
      for (const Event& event : events) writer.write(event);
      EXPECT_EQ(writer.lost(), 0u);
      TraceReader reader(path("a.ftr"));
      const std::vector<Event> read = read_all(reader, 1);
      ASSERT_EQ(read.size(), events.size());
      for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(read[i], events[i]) << i;
      EXPECT_TRUE(read_all(reader, 0).empty());
      EXPECT_TRUE(reader.damage().empty());
      EXPECT_FALSE(reader.sealed());
    }
  }
}

TEST_F(RoundTrip, Information) {
  for (const Clock clock : {Clock::cpu, Clock::wall, Clock::virtual_}) {
    TraceInfo info = sample_info(3, clock);
    info.program = std::string(10000, 'x') + "\n\x01";  // needs more than a page
    create_trace_file(path("a.ftr"), info);
    const TraceReader reader(path("a.ftr"));
    EXPECT_EQ(reader.ranks(), 3);
    EXPECT_EQ(reader.path(), path("a.ftr"));
    EXPECT_EQ(reader.info().clock, clock);
    EXPECT_EQ(reader.info().program, info.program);
    EXPECT_EQ(reader.info().origin, info.origin);
    EXPECT_EQ(reader.info().machine, info.machine);
    EXPECT_EQ(reader.info().options, info.options);
    EXPECT_EQ(reader.info().mpi, info.mpi);
    EXPECT_FALSE(reader.sealed());
    EXPECT_TRUE(reader.damage().empty());
  }
}

// Arguments of a program need not be UTF-8; the rest of them must survive.
TEST_F(RoundTrip, ProgramThatIsNotUtf8) {
  TraceInfo info = sample_info(1, Clock::cpu);
  info.program = "./app \xff\xfe end";
  create_trace_file(path("a.ftr"), info);
  const TraceReader reader(path("a.ftr"));
  EXPECT_TRUE(reader.damage().empty());
  EXPECT_EQ(reader.info().program.substr(0, 6), "./app ");
  EXPECT_NE(reader.info().program.find(" end"), std::string::npos);
}

// Blocks are 4, 16, 64 and 256 KiB, then 256 KiB each: 60,000 events of 8 to 60
// bytes fill several of the largest, and records lie across their borders.
TEST_F(RoundTrip, RecordsThatCrossBlocks) {
  const std::vector<Event> events = many_events(2, 0, 60'000, Clock::virtual_);
  create_trace_file(path("a.ftr"), sample_info(2, Clock::virtual_));
  TraceWriter writer(path("a.ftr"), WorldRank(0), Clock::virtual_);
  define(writer, 2);
  for (const Event& event : events) writer.write(event);
  writer.close();
  EXPECT_GT(read_bytes(path("a.ftr")).size(), 3u * 256 * 1024);
  TraceReader reader(path("a.ftr"));
  EXPECT_EQ(read_all(reader, 0), events);
  EXPECT_TRUE(reader.damage().empty());
  reader.rewind(WorldRank(0));
  EXPECT_EQ(read_all(reader, 0), events) << "after rewind";
}

// Every length of the stream around the end of the first block.
TEST_F(RoundTrip, EveryPositionOfABlocksEnd) {
  Event event = sample_events(2, Clock::cpu)[9];  // a sendrecv, the longest record
  ASSERT_EQ(event.kind, EventKind::sendrecv);
  for (std::size_t length = 3960; length <= 4096; ++length) {
    create_trace_file(path("a.ftr"), sample_info(2, Clock::cpu));
    TraceWriter writer(path("a.ftr"), WorldRank(0), Clock::cpu);
    define(writer, 2);
    const std::string filler(length, 'n');
    writer.define_name(filler);
    event.name = 1;
    writer.write(event);
    writer.write(event);
    TraceReader reader(path("a.ftr"));
    const std::vector<Event> read = read_all(reader, 0);
    ASSERT_EQ(read.size(), 2u) << length;
    EXPECT_EQ(read[0].send, event.send) << length;
    EXPECT_EQ(read[1].recv, event.recv) << length;
    EXPECT_EQ(reader.name(WorldRank(0), 1), filler);
  }
}

TEST_F(RoundTrip, NamesAndCommunicators) {
  const std::vector<std::vector<int>> members{
      {0}, {7, 6, 5, 4, 3, 2, 1, 0}, {0, 2, 4, 6}, {1, 3, 2, 0}, {5, 5 - 5, 7},
      {},  {0, 1, 2, 5, 6, 7}};
  create_trace_file(path("a.ftr"), sample_info(8, Clock::cpu));
  TraceWriter writer(path("a.ftr"), WorldRank(2), Clock::cpu);
  EXPECT_EQ(writer.define_name(""), 0u);
  EXPECT_EQ(writer.define_name("caf\xc3\xa9 \n"), 1u);
  CommId number = 0;
  for (const std::vector<int>& list : members) {
    std::vector<WorldRank> ranks;
    for (const int rank : list) ranks.emplace_back(rank);
    EXPECT_EQ(writer.define_comm(UINT64_MAX - number, ranks), number);
    ++number;
  }
  Event event;
  event.kind = EventKind::send;
  event.name = 1;
  for (event.comm = 0; event.comm < number; ++event.comm) writer.write(event);
  TraceReader reader(path("a.ftr"));
  const std::vector<Event> read = read_all(reader, 2);
  ASSERT_EQ(read.size(), members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Communicator& comm = reader.comm(WorldRank(2), read[i].comm);
    EXPECT_EQ(comm.key, UINT64_MAX - i);
    ASSERT_EQ(comm.members.size(), members[i].size());
    for (std::size_t m = 0; m < members[i].size(); ++m)
      EXPECT_EQ(comm.members[m].value, members[i][m]);
  }
  EXPECT_EQ(reader.name(WorldRank(2), 0), "");
  EXPECT_EQ(reader.name(WorldRank(2), 1), "caf\xc3\xa9 \n");
}

// Readers refuse names beyond 4096 bytes: a writer must not write one, or all
// that the rank does afterwards is lost.
TEST_F(RoundTrip, AVeryLongNameIsCut) {
  create_trace_file(path("a.ftr"), sample_info(1, Clock::cpu));
  TraceWriter writer(path("a.ftr"), WorldRank(0), Clock::cpu);
  writer.define_name(std::string(100'000, 'n'));
  Event event;
  event.kind = EventKind::call;
  writer.write(event);
  TraceReader reader(path("a.ftr"));
  EXPECT_EQ(read_all(reader, 0).size(), 1u);
  EXPECT_TRUE(reader.damage().empty());
}

// 100 events whose computations are the longest each: beyond what a Time holds.
// Whatever is left of them, times must not run backwards.
TEST_F(RoundTrip, SumsOfTimesDoNotOverflow) {
  for (const Clock clock : {Clock::cpu, Clock::virtual_}) {
    create_trace_file(path("a.ftr"), sample_info(1, clock));
    TraceWriter writer(path("a.ftr"), WorldRank(0), clock);
    define(writer, 1);
    Event event;
    event.compute = kLongest;
    for (int i = 0; i < 100; ++i) {
      writer.write(event);
      event.leave = Time::max();
    }
    TraceReader reader(path("a.ftr"));
    Time last;
    for (const Event& read : read_all(reader, 0)) {
      EXPECT_GE(read.enter, last);
      EXPECT_GE(read.leave, read.enter);
      last = read.leave;
    }
  }
}

TEST_F(RoundTrip, NegativeTimesAreWrittenAsZero) {
  create_trace_file(path("a.ftr"), sample_info(1, Clock::virtual_));
  TraceWriter writer(path("a.ftr"), WorldRank(0), Clock::virtual_);
  define(writer, 1);
  Event event;
  event.compute = event.wait = Time::ps(-5);
  event.enter = Time::ps(10);
  event.leave = Time::ps(3);
  writer.write(event);
  TraceReader reader(path("a.ftr"));
  const std::vector<Event> read = read_all(reader, 0);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].compute, Time());
  EXPECT_EQ(read[0].wait, Time());
  EXPECT_EQ(read[0].enter, Time::ps(10));
  EXPECT_EQ(read[0].leave, Time::ps(10));
}

// Local numbers differ between the ranks; in memory they are the trace's own.
TEST_F(RoundTrip, WholeTraceInMemory) {
  Trace trace;
  trace.info = sample_info(2, Clock::virtual_);
  trace.names = {"A", "B"};
  trace.comms.resize(2);
  trace.comms[0].members = {WorldRank(0), WorldRank(1)};
  trace.comms[1].key = 9;
  trace.comms[1].members = {WorldRank(1)};
  Event a;
  a.kind = EventKind::send;
  Event b = a;
  b.name = 1;
  b.comm = 1;
  trace.ranks = {{a, b, a}, {b, a}};
  write_trace(trace, path("a.ftr"));
  const Trace read = read_trace(path("a.ftr"));
  EXPECT_TRUE(read.sealed);
  EXPECT_EQ(read.names, trace.names);
  ASSERT_EQ(read.comms.size(), 2u);
  EXPECT_EQ(read.comms[1].key, 9u);
  EXPECT_EQ(read.ranks, trace.ranks);
  EXPECT_FALSE(std::filesystem::exists(path("a.ftr.part")));
}

// Sites are numbered by rank in the file and over all ranks in memory; a call that
// moves data has a communicator, others have none.
TEST_F(RoundTrip, CallSitesAndCallsThatMoveData) {
  Trace trace;
  trace.info = sample_info(2, Clock::virtual_);
  trace.names = {"MPI_Put"};
  trace.sites = {{"/bin/application", 16}, {"/lib/solver.so", UINT64_MAX}};
  trace.comms.resize(2);
  trace.comms[0].members = {WorldRank(0), WorldRank(1)};
  trace.comms[1].key = 3;
  trace.comms[1].members = {WorldRank(1), WorldRank(0)};
  Event put;
  put.kind = EventKind::call;
  put.site = 1;
  put.comm = 1;
  put.send.peer = WorldRank(1);
  put.bytes = Bytes(800);
  Event fence;
  fence.kind = EventKind::call;
  fence.site = 2;
  Event send;
  send.kind = EventKind::send;
  trace.ranks = {{put, fence}, {send, fence, put}};
  write_trace(trace, path("a.ftr"));
  TraceReader reader(path("a.ftr"));
  Event event;
  reader.next(WorldRank(1), event);
  reader.next(WorldRank(1), event);
  EXPECT_EQ(event.site, 1u);
  EXPECT_EQ(reader.site(WorldRank(1), event.site), trace.sites[1]);
  const Trace read = read_trace(path("a.ftr"));
  EXPECT_EQ(read.sites, trace.sites);
  EXPECT_EQ(read.ranks, trace.ranks);
  ASSERT_EQ(read.comms.size(), 2u);
  EXPECT_EQ(read.comms[1].members, trace.comms[1].members);
}

TEST_F(RoundTrip, MissingFilesAreErrors) {
  EXPECT_THROW(TraceReader(path("none.ftr")), Error);
  EXPECT_THROW(TraceWriter(path("none.ftr"), WorldRank(0), Clock::cpu), Error);
  EXPECT_THROW(create_trace_file(path("none/a.ftr"), sample_info(1, Clock::cpu)), Error);
  EXPECT_THROW(TraceReader(path("")), Error) << "a folder";
}

}  // namespace
}  // namespace foretrace::trace
