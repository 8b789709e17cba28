// Traces as sources of operations, and predicted traces as results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <memory>

#include "base/whole_file.hpp"
#include "programs.hpp"
#include "sim/computed_source.hpp"
#include "sim/deadlock.hpp"
#include "sim/trace_source.hpp"

namespace foretrace::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using trace::Event;
using trace::EventKind;

trace::Trace empty_trace(int ranks) {
  trace::Trace trace;
  trace.info.ranks = ranks;
  trace.names = {"MPI_Call", "MPI_Finalize"};
  trace.comms.emplace_back();
  for (int r = 0; r < ranks; ++r) trace.comms[0].members.push_back(WorldRank(r));
  trace.ranks.resize(static_cast<std::size_t>(ranks));
  return trace;
}

Event send_event(int to, std::uint64_t bytes, int tag, Time compute = {}) {
  Event event;
  event.kind = EventKind::send;
  event.compute = compute;
  event.send = Programs::end(to, bytes, tag);
  return event;
}

Event wildcard_irecv(std::uint64_t request) {
  Event event;
  event.kind = EventKind::irecv;
  event.request = request;
  event.recv.bytes = Bytes(16000);
  event.recv.any_source = event.recv.any_tag = true;
  return event;
}

Event complete_event(std::vector<trace::Completion> completions) {
  Event event;
  event.kind = EventKind::complete;
  event.completions = std::move(completions);
  return event;
}

Event finalize_event() {
  Event event;
  event.kind = EventKind::finalize;
  event.name = 1;
  return event;
}

Replayed replay_trace(Source& source) {
  static const machine::MachineModel model = test_machine();
  const machine::Timing timing(model, machine::Bound::avg);
  MemorySink sink(source, {});
  SimulateResult result = simulate(source, timing, {}, sink);
  return {std::move(result), sink.take()};
}

Replayed replay_trace(const trace::Trace& trace) {
  TraceSource source(trace);
  return replay_trace(source);
}

std::string bytes_of(const std::string& path) {
  return read_if_possible(path);
}

// Rank 0 posts two wildcard receives; the second completes first, with rank
// 2's message.
trace::Trace wildcard_trace() {
  trace::Trace trace = empty_trace(3);
  trace.ranks[0] = {wildcard_irecv(1), wildcard_irecv(2),
                    complete_event({{2, WorldRank(2), 7, Bytes(800), false}}),
                    complete_event({{1, WorldRank(1), 5, Bytes(0), false}}), finalize_event()};
  trace.ranks[1] = {send_event(0, 0, 5, us(1000)), finalize_event()};
  trace.ranks[2] = {send_event(0, 800, 7, us(100)), finalize_event()};
  return trace;
}

TEST(Wildcard, PostedReceiveGetsTheMessageThatItsCompletionNames) {
  const Replayed r = replay_trace(wildcard_trace());
  EXPECT_EQ(r.leave(0, 2), us(195));   // 100 + irecv1 40 + irecv2 55
  EXPECT_EQ(r.leave(0, 3), us(1045));  // 1000 + 40 + 5
  EXPECT_EQ(r.event(0, 0).recv.peer, WorldRank(1));
  EXPECT_TRUE(r.event(0, 0).recv.any_source);
}

TEST(Wildcard, CancelledAndForgottenReceivesTakeNothing) {
  trace::Trace trace = empty_trace(2);
  Event named = wildcard_irecv(3);
  named.recv = Programs::end(1, 800, 5);
  trace::Completion cancelled;
  cancelled.request = 3;
  cancelled.cancelled = true;
  Event recv;
  recv.kind = EventKind::recv;
  recv.recv = Programs::end(1, 800, 5);
  trace.ranks[0] = {wildcard_irecv(1),           wildcard_irecv(2), named, recv,
                    complete_event({cancelled}), finalize_event()};
  trace.ranks[0][1].recv.any_source = false;  // tag only, never completed
  trace.ranks[0][1].recv.peer = WorldRank(1);
  trace.ranks[1] = {send_event(0, 800, 5, us(1000)), finalize_event()};
  const Replayed r = replay_trace(trace);
  EXPECT_EQ(r.leave(0, 3), us(1110));  // the only message goes to the blocking receive
  EXPECT_EQ(r.leave(0, 4), us(1110));
}

// Of a function that looks: `count` times in vain, computing for `compute` before each.
Event vain_looks(std::uint32_t count, Time compute) {
  Event event;
  event.kind = EventKind::call;
  event.name = 2;
  event.count = count;
  event.compute = Time::ps(compute.count_ps() * count);
  return event;
}

// Rank 0 looks again and again for what rank 1 sends at 1000, then sends itself.
trace::Trace looking_trace(std::vector<Event> looks, Time compute) {
  trace::Trace trace = empty_trace(2);
  trace.names.emplace_back("MPI_Test");
  Event irecv = wildcard_irecv(1);
  trace.ranks[0] = {irecv};
  trace.ranks[0].insert(trace.ranks[0].end(), looks.begin(), looks.end());
  Event found = complete_event({{1, WorldRank(1), 5, Bytes(0), false}});
  found.name = 2;
  found.compute = compute;
  trace.ranks[0].push_back(found);
  trace.ranks[0].push_back(send_event(1, 0, 6));
  trace.ranks[0].push_back(finalize_event());
  Event recv;
  recv.kind = EventKind::recv;
  recv.recv = Programs::end(0, 0, 6);
  trace.ranks[1] = {send_event(0, 0, 5, us(1000)), recv, finalize_event()};
  return trace;
}

TEST(LooksInVain, AreWaitingIfTheRowFindsSomething) {
  const Time soon = Time::ns(250);
  const Replayed r =
      replay_trace(looking_trace({vain_looks(1, us(300)), vain_looks(100'000, soon)}, soon));
  EXPECT_EQ(r.leave(0, 1), us(340));  // after the post, 40: the first look is work
  EXPECT_EQ(r.leave(0, 2), us(340));
  EXPECT_EQ(r.leave(0, 3), us(1045));  // as if it had waited
}

TEST(LooksInVain, BeginWithOneThatAlwaysCounts) {
  const Time soon = Time::ns(100);
  const Replayed r = replay_trace(looking_trace({vain_looks(1, soon), vain_looks(9, soon)}, soon));
  EXPECT_EQ(r.leave(0, 1), us(40) + soon);
  EXPECT_EQ(r.leave(0, 2), us(40) + soon);
}

TEST(LooksInVain, AreWaitingInMemoryToo) {
  const trace::Trace trace =
      looking_trace({vain_looks(1, us(300)), vain_looks(4'000, Time::ns(250))}, {});
  TraceSource source(trace);
  const auto program = std::make_shared<Program>(source);
  MemorySource copy(program);
  Operation operation;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(copy.next(WorldRank(0), operation));
  EXPECT_TRUE(operation.idle);
  ASSERT_TRUE(copy.next(WorldRank(0), operation));
  EXPECT_TRUE(operation.idle);
  ASSERT_TRUE(copy.next(WorldRank(0), operation));
  EXPECT_FALSE(operation.idle);
}

// The probe that ends the row is one by arrival, as others are.
TEST(LooksInVain, EndWithAProbeThatWaits) {
  trace::Trace trace = empty_trace(2);
  trace.names.emplace_back("MPI_Improbe");
  Event probe;
  probe.kind = EventKind::probe;
  probe.name = 2;
  probe.request = 1;
  probe.recv = Programs::end(1, 0, 5);
  probe.recv.any_source = true;
  Event recv;
  recv.kind = EventKind::recv;
  recv.recv = Programs::end(1, 0, 5);
  recv.taken = 1;
  trace.ranks[0] = {vain_looks(1, us(300)), vain_looks(1'000, Time::ns(100)), probe, recv,
                    finalize_event()};
  trace.ranks[1] = {send_event(0, 0, 5, us(1000)), finalize_event()};
  TraceSource source(trace, Wildcards::arrival);
  const Replayed r = replay_trace(source);
  EXPECT_EQ(r.leave(0, 1), us(300));
  EXPECT_EQ(r.leave(0, 2), us(1000));
}

TEST(LooksInVain, AreWorkIfMoreIsComputedBetweenThem) {
  const Time late = Time::ns(251);
  const Replayed r =
      replay_trace(looking_trace({vain_looks(1, us(300)), vain_looks(4'000, late)}, late));
  EXPECT_EQ(r.leave(0, 2), us(1344));
  // What works in between does not make those work that wait.
  const Replayed mixed = replay_trace(looking_trace(
      {vain_looks(1, us(300)), vain_looks(4'000, Time::ns(250)), vain_looks(1, us(20))}, late));
  EXPECT_EQ(mixed.leave(0, 2), us(340));
  EXPECT_EQ(mixed.leave(0, 3), us(360));
}

TEST(LooksInVain, AreWorkIfTheRowFindsNothing) {
  trace::Trace trace =
      looking_trace({vain_looks(1, us(300)), vain_looks(4'000, Time::ns(250))}, {});
  const auto other = trace.ranks[0].begin() + 3;
  trace.ranks[0].insert(other, send_event(1, 0, 6));
  trace.ranks[1].insert(trace.ranks[1].begin() + 1, trace.ranks[1][1]);
  EXPECT_EQ(replay_trace(trace).leave(0, 2), us(1340));
}

// The recorded run gave rank 0 the message of rank 2 first; in virtual time rank
// 1's is there 500 us before.
TEST(Wildcard, ByArrivalTakesTheFirstInVirtualTime) {
  trace::Trace trace = empty_trace(3);
  Event recv;
  recv.kind = EventKind::recv;
  recv.recv = Programs::end(2, 800, 4);
  recv.recv.any_source = recv.recv.any_tag = true;
  Event second = recv;
  second.recv = Programs::end(1, 16, 3);
  second.recv.any_source = second.recv.any_tag = true;
  trace.ranks[0] = {recv, second, finalize_event()};
  trace.ranks[1] = {send_event(0, 16, 3), finalize_event()};
  trace.ranks[2] = {send_event(0, 800, 4, us(500)), finalize_event()};
  const machine::MachineModel model = test_machine();
  const machine::Timing timing(model, machine::Bound::avg);
  const auto first_source = [&](Wildcards wildcards) {
    TraceSource source(trace, wildcards);
    MemorySink sink(source, {});
    simulate(source, timing, {}, sink);
    const trace::Trace predicted = sink.take();
    EXPECT_TRUE(predicted.ranks[0][0].recv.any_source);
    EXPECT_EQ(predicted.ranks[0][0].recv.tag, predicted.ranks[0][0].recv.peer.value + 2);
    return predicted.ranks[0][0].recv.peer;
  };
  EXPECT_EQ(first_source(Wildcards::recorded), WorldRank(2));
  EXPECT_EQ(first_source(Wildcards::arrival), WorldRank(1));
}

Event window_event(machine::OneSided what, trace::CommId window, Time compute = {}) {
  Event event;
  event.kind = EventKind::call;
  event.compute = compute;
  event.one_sided = what;
  event.comm = window;
  event.send.peer = WorldRank(0);
  return event;
}

// The example of docs/theory.md, the lock taking 121 us: rank 1 has it alone from 0 to 1000, rank 2
// asks at 500. Rank 3 asks for that of another window at 600; what it unlocks in the end was locked
// with MPI_MODE_NOCHECK.
trace::Trace trace_with_locks() {
  using machine::OneSided;
  trace::Trace trace = empty_trace(4);
  for (const std::uint64_t key : {1, 2}) trace.comms.push_back({key, trace.comms[0].members});
  trace.ranks[0] = {finalize_event()};
  trace.ranks[1] = {window_event(OneSided::lock, 1), window_event(OneSided::unlock, 1, us(879)),
                    finalize_event()};
  trace.ranks[2] = {window_event(OneSided::lock, 1, us(500)), window_event(OneSided::unlock, 1),
                    finalize_event()};
  trace.ranks[3] = {window_event(OneSided::lock_shared, 2, us(600)),
                    window_event(OneSided::unlock, 2), window_event(OneSided::unlock, 1),
                    finalize_event()};
  return trace;
}

void expect_waits_for_locks(const Replayed& run) {
  EXPECT_EQ(run.leave(1, 0), us(121));
  EXPECT_EQ(run.wait(1, 0), us(0));
  EXPECT_EQ(run.leave(1, 1), us(1000));
  EXPECT_EQ(run.leave(2, 0), us(1000));
  EXPECT_EQ(run.wait(2, 0), us(379));
  EXPECT_EQ(run.leave(2, 1), us(1000));
  EXPECT_EQ(run.leave(3, 0), us(721));
  EXPECT_EQ(run.leave(3, 2), us(721));
}

TEST(RecordedLock, WaitsForWhoeverHoldsIt) {
  const trace::Trace trace = trace_with_locks();
  expect_waits_for_locks(replay_trace(trace));
  // As an operation in memory.
  TraceSource source(trace);
  EXPECT_TRUE(source.races());
  EXPECT_FALSE(source.messages_race());
  MemorySource copy(std::make_shared<Program>(source));
  EXPECT_TRUE(copy.races());
  EXPECT_FALSE(copy.messages_race());
  expect_waits_for_locks(replay_trace(copy));
}

// Rank 1's stream ends while it holds the lock.
TEST(RecordedLock, ThatIsNeverGivenBackIsWaitedForUntilTheEnd) {
  trace::Trace trace = trace_with_locks();
  trace.ranks[1].resize(1);
  const Replayed run = replay_trace(trace);
  EXPECT_THAT(run.result.notes, testing::Contains(HasSubstr("rank 2")));
  EXPECT_EQ(run.trace.ranks[2].size(), 0U);
  EXPECT_EQ(run.leave(3, 2), us(721));
}

TEST(Wildcard, CancelledSendIsNotSent) {
  trace::Trace trace = empty_trace(2);
  Event isend = send_event(1, 16000, 5);
  isend.kind = EventKind::isend;
  isend.request = 1;
  trace::Completion cancelled;
  cancelled.request = 1;
  cancelled.cancelled = true;
  trace.ranks[0] = {isend, complete_event({cancelled}), send_event(1, 0, 5), finalize_event()};
  Event recv;
  recv.kind = EventKind::recv;
  recv.recv = Programs::end(0, 0, 5);
  trace.ranks[1] = {recv, finalize_event()};
  const Replayed r = replay_trace(trace);
  EXPECT_EQ(r.leave(0, 1), us(210));  // isend1 was paid
  EXPECT_EQ(r.leave(1, 0), us(270));  // 210 + recv 60
}

TEST(TraceFile, GivesTheSameAsTheTraceInMemory) {
  const std::string path = testing::TempDir() + "sim_source.ftr";
  trace::write_trace(wildcard_trace(), path);
  trace::TraceReader reader(path);
  TraceSource source(reader);
  const Replayed from_file = replay_trace(source);
  const Replayed from_memory = replay_trace(wildcard_trace());
  EXPECT_EQ(from_file.trace.ranks, from_memory.trace.ranks);
  EXPECT_EQ(from_file.trace.names, from_memory.trace.names);
  std::remove(path.c_str());
}

TEST(TraceFile, PredictedTraceHasTheSameBytesTwice) {
  const machine::MachineModel model = test_machine();
  const machine::Timing timing(model, machine::Bound::avg);
  std::string bytes[2];
  for (int run = 0; run < 2; ++run) {
    const std::string path = testing::TempDir() + "sim_sink.ftr";
    const trace::Trace input = wildcard_trace();
    TraceSource source(input);
    FileSink sink(source, {}, path);
    SimulateOptions options;
    options.order = run ? ReadyOrder::lowest_rank_first : ReadyOrder::last_in_first_out;
    simulate(source, timing, options, sink);
    sink.finish();
    bytes[run] = bytes_of(path);
    const trace::Trace written = trace::read_trace(path);
    EXPECT_EQ(written.info.clock, trace::Clock::virtual_);
    EXPECT_EQ(written.ranks, replay_trace(input).trace.ranks);
    std::remove(path.c_str());
  }
  EXPECT_FALSE(bytes[0].empty());
  EXPECT_EQ(bytes[0], bytes[1]);
}

// Marks with their values, call sites, and calls that tell what they move are in
// the prediction as in the recording, from memory and through a file.
TEST(TraceFile, PredictionKeepsSitesMarksAndWhatCallsMove) {
  trace::Trace input = empty_trace(2);
  input.comms.push_back({7, {WorldRank(1), WorldRank(0)}});
  input.sites = {{"/bin/application", 100}, {"/bin/application", 200}};
  Event put;
  put.kind = EventKind::call;
  put.site = 2;
  put.comm = 1;
  put.send.peer = WorldRank(1);
  put.bytes = Bytes(64);
  Event mark;
  mark.kind = EventKind::mark;
  mark.site = 1;
  mark.value = -0.5;
  input.ranks = {{put, mark, finalize_event()}, {finalize_event()}};
  const std::string path = testing::TempDir() + "sim_sites.ftr";
  const trace::Trace predicted = replay_trace(input).trace;
  trace::write_trace(predicted, path);
  trace::TraceReader reader(path);
  TraceSource source(reader);
  for (const trace::Trace& trace : {predicted, replay_trace(source).trace}) {
    const std::vector<Event>& events = trace.ranks[0];
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(trace.sites.at(events[0].site - 1), input.sites[1]);
    EXPECT_EQ(trace.sites.at(events[1].site - 1), input.sites[0]);
    EXPECT_EQ(events[2].site, 0u);
    EXPECT_EQ(trace.comms.at(events[0].comm).key, 7u);
    EXPECT_EQ(events[0].send.peer, WorldRank(1));
    EXPECT_EQ(events[0].bytes, Bytes(64));
    EXPECT_EQ(events[1].kind, EventKind::mark);
    EXPECT_EQ(events[1].value, -0.5);
  }
  std::remove(path.c_str());
}

Event collective_event(machine::Cost which, trace::SiteId site) {
  Event event;
  event.kind = EventKind::collective;
  event.collective = which;
  event.site = site;
  return event;
}

// The message that ends the replay; places are told as the offsets of sites.
std::string error_with_places(const trace::Trace& input, bool computed) {
  TraceSource traced(input);
  traced.tell_places_by([](const trace::Site& site) {
    return site.offset == 0 ? std::string() : "a.c:" + std::to_string(site.offset);
  });
  struct AsRecorded : compute::Rule {
    Time before(const compute::Interval& interval) override { return interval.measured; }
  };
  ComputedSource source(traced, [](WorldRank) { return std::make_unique<AsRecorded>(); });
  try {
    replay_trace(computed ? static_cast<Source&>(source) : traced);
  } catch (const Deadlock& deadlock) {
    return deadlock.report();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Places, AreInMessages) {
  trace::Trace input = empty_trace(2);
  input.sites = {{"application", 12}, {"application", 34}, {"application", 0}};
  const Event barrier = collective_event(machine::Cost::barrier, 1);
  const Event bcast = collective_event(machine::Cost::allreduce, 2);
  input.ranks = {{barrier, finalize_event()}, {bcast, finalize_event()}};
  for (const bool computed : {false, true}) {
    const std::string mismatch = error_with_places(input, computed);
    EXPECT_THAT(mismatch, HasSubstr(" at a.c:12, rank 1 calls"));
    EXPECT_THAT(mismatch, HasSubstr(" at a.c:34; all members"));
  }
  Event recv;
  recv.kind = EventKind::recv;
  recv.recv = Programs::end(1, 800, 5);
  recv.site = 2;
  input.ranks[0][0] = recv;
  input.ranks[1][0] = recv;
  input.ranks[1][0].recv.peer = WorldRank(0);
  input.ranks[1][0].site = 3;
  const std::string deadlock = error_with_places(input, false);
  EXPECT_THAT(deadlock, HasSubstr("from rank 1, tag 5, 800 bytes at a.c:34: waits"));
  EXPECT_THAT(deadlock, HasSubstr("from rank 0, tag 5, 800 bytes: waits"));
}

// Rank 0 hands work of 300 to another of its threads, receives what rank 1 sends `late`, and then
// waits for that thread; it has computed 100 before and 10 after. The thread had computed 200 more
// than it there. What was handed on counts from where the event before was left, or where the next
// one is `entered`.
trace::Trace joining_trace(Time late, bool entered) {
  trace::Trace trace = empty_trace(2);
  Event recv;
  recv.kind = EventKind::recv;
  recv.recv = Programs::end(1, 800, 5);
  Event begins;
  begins.kind = EventKind::phase_begin;
  begins.compute = us(100);
  Event joins;
  joins.kind = EventKind::phase_end;
  joins.compute = us(210);
  joins.join = {entered ? 1u : 2u, entered, us(300), us(200)};
  trace.ranks[0] = {begins, recv, joins, finalize_event()};
  trace.ranks[1] = {send_event(0, 800, 5, late), finalize_event()};
  return trace;
}

class Half : public compute::Rule {
 public:
  Time before(const compute::Interval& interval) override { return interval.measured.scaled(0.5); }
};

TEST(Joins, HideAsMuchBehindCallsAsTheseTake) {
  const machine::MachineModel model = test_machine();
  const machine::Timing timing(model, machine::Bound::avg);
  for (const bool entered : {false, true})
    for (const auto& [scale, late] : std::initializer_list<std::pair<double, Time>>{
             {1, us(100)}, {2, us(100)}, {2, us(5000)}}) {
      const trace::Trace trace = joining_trace(late, entered);
      TraceSource direct(trace);
      TraceSource to_pack(trace);
      MemorySource packed(std::make_shared<Program>(to_pack));
      TraceSource to_halve(trace);
      ComputedSource halved(to_halve, [](WorldRank) { return std::make_unique<Half>(); });
      for (Source* source : std::initializer_list<Source*>{&direct, &packed, &halved}) {
        SimulateOptions options;
        options.scale = scale;
        MemorySink sink(*source, {});
        simulate(*source, timing, options, sink);
        const trace::Trace made = sink.take();
        const double factor = source == &halved ? scale / 2 : scale;
        const Time worked = us(100 + 300).scaled(factor);
        const Time called = made.ranks[0][1].leave + us(10).scaled(factor);
        EXPECT_EQ(made.ranks[0][2].enter, std::max(worked, called));
        EXPECT_EQ(worked > called, late == us(100)) << "both are tried";
      }
    }
}

TEST(TraceFile, UnfinishedSinkLeavesNothing) {
  const std::string path = testing::TempDir() + "sim_unfinished.ftr";
  const trace::Trace input = wildcard_trace();
  TraceSource source(input);
  { FileSink sink(source, {}, path); }
  EXPECT_FALSE(std::ifstream(path).good());
  EXPECT_FALSE(std::ifstream(path + ".part").good());
}

TEST(TraceFile, DamagedStreamEndsThere) {
  const std::string path = testing::TempDir() + "sim_damaged.ftr";
  trace::Trace input = wildcard_trace();
  input.names.push_back("MPI_Very_special");
  Event special;
  special.kind = EventKind::call;
  special.name = 2;
  input.ranks[2].insert(input.ranks[2].begin(), special);  // rank 2 never sends
  trace::write_trace(input, path);
  // The definition of the name stands before its use; make the use a record
  // of an unknown kind.
  std::string bytes = bytes_of(path);
  const std::size_t at = bytes.find("MPI_Very_special");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 16] = 0x3f;
  std::ofstream(path, std::ios::binary) << bytes;
  trace::TraceReader reader(path);
  TraceSource source(reader);
  const Replayed r = replay_trace(source);
  ASSERT_EQ(r.result.notes.size(), 1u);
  EXPECT_THAT(r.result.notes[0], HasSubstr("rank 2's trace ends at event 0 (damaged at offset"));
  EXPECT_THAT(r.result.notes[0], HasSubstr("rank 0 waits for it"));
  EXPECT_EQ(r.trace.ranks[0].size(), 2u);
  EXPECT_EQ(r.trace.ranks[1].size(), 2u);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace foretrace::sim
