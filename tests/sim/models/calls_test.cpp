// Every call: its exact times, and that it is the operation which it stands for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "models.hpp"

namespace foretrace::sim {
namespace {

using machine::Cost;
using machine::SendMode;
using testing::ElementsAre;
using trace::EventKind;

// A ping-pong of 800 bytes (stream 799 * 0.5 ns = 399.5 ns): 0.5 + 2 + 0.3995 + 0.5
// each way.
TEST(PingPong, LogGps) {
  ModelProgram program(2, [](ModelRank& rank) -> RankTask {
    if (rank.rank() == 0) {
      co_await rank.send(1, Bytes(800), 5);
      EXPECT_EQ(rank.now(), Time::ns(500));
    }
    const Received got = co_await rank.recv(1 - rank.rank(), 5);
    EXPECT_EQ(got.source, 1 - rank.rank());
    EXPECT_EQ(got.tag, 5);
    EXPECT_EQ(got.bytes, Bytes(800));
    if (rank.rank() == 1) co_await rank.send(0, Bytes(800), 5);
  });
  const Replayed r = run(program);
  EXPECT_EQ(r.leave(1, 1), Time::ps(3'399'500));
  EXPECT_EQ(r.leave(0, 2), Time::ps(6'799'000));
  EXPECT_EQ(r.result.time, Time::ps(6'799'000));
  EXPECT_EQ(r.result.stats.operations, 8u);  // with MPI_Init and MPI_Finalize
  EXPECT_EQ(r.event(0, 0).kind, EventKind::init);
  EXPECT_EQ(r.event(0, 3).kind, EventKind::finalize);
  EXPECT_EQ(r.trace.names[r.event(0, 1).name], "MPI_Send");
  EXPECT_TRUE(r.result.ranks[0].finalized);
}

// send 39; recv max(39 + recvmin 70, 500 + recv 110) and the like.
TEST(PingPong, DataSheet) {
  ModelProgram program(2, [](ModelRank& rank) -> RankTask {
    if (rank.rank() == 0) co_await rank.send(1, Bytes(800));
    if (rank.rank() == 1) rank.compute(us(500));
    co_await rank.recv(1 - rank.rank());
    if (rank.rank() == 1) co_await rank.send(0, Bytes(800));
  });
  const Replayed r = run(program, {});
  EXPECT_EQ(r.leave(0, 1), us(39));
  EXPECT_EQ(r.leave(1, 1), us(570));
  EXPECT_EQ(r.leave(1, 2), us(609));
  EXPECT_EQ(r.leave(0, 2), us(680));
  EXPECT_EQ(r.result.ranks[1].compute, us(500));
}

TEST(Compute, AddsUpAndBelongsToTheNextCall) {
  ModelProgram program(1, [](ModelRank& rank) -> RankTask {
    rank.compute(us(1));
    rank.compute(Time::ps(1));
    EXPECT_EQ(rank.now(), us(0));
    // A reading takes 100 ns where no timer's resolution is known.
    EXPECT_EQ(co_await rank.wtime(), Time::ns(1100) + Time::ps(1));
    EXPECT_EQ(rank.now(), Time::ns(1100) + Time::ps(1));
    rank.steps(3);
    rank.steps(4);
    co_await rank.call("MPI_Comm_rank", 4);  // 0.5 us each
    rank.compute(us(2));
  });
  SimulateOptions options = loggps();
  EXPECT_EQ(run(program, options).result.time, Time::ns(5100) + Time::ps(1));
}

TEST(Compute, ScaledAndAnnotated) {
  const auto body = [](ModelRank& rank) -> RankTask {
    rank.compute(us(10));
    rank.steps(3);
    co_await rank.barrier();
  };
  ModelProgram program(1, body);
  SimulateOptions options;
  options.scale = 0.5;
  EXPECT_EQ(run(program, options).result.time, us(45));
  options.compute = ComputeMode::annotated;
  EXPECT_EQ(run(program, options).result.time, us(43));
  options.compute = ComputeMode::none;
  EXPECT_EQ(run(program, options).result.time, us(40));
}

// The program of Equal.WrittenAsOperations.
RankTask all_calls(ModelRank& rank) {
  const int other = 1 - rank.rank();
  rank.compute(us(1 + rank.rank()));
  co_await rank.phase_begin("exchange");
  ModelRequest in = co_await rank.irecv(other, Bytes(800), 1);
  ModelRequest out = co_await rank.isend(other, Bytes(800), 1);
  ModelRequest sync = co_await rank.issend(other, Bytes(8), 2);
  rank.compute(us(3));
  co_await rank.recv(other, 2);
  co_await rank.wait(in);
  co_await rank.wait_all(out, sync);
  co_await rank.phase_end("exchange");
  co_await rank.sendrecv(other, Bytes(16), 4, other, 4);
  co_await rank.sendrecv(kProcNull, Bytes(16), 4, kProcNull, 4);
  if (rank.rank() == 0) co_await rank.ssend(1, Bytes(8), 6);
  if (rank.rank() == 1) co_await rank.recv(0, 6);
  co_await rank.bsend(other, Bytes(100'000), 7);
  rank.steps(5);
  co_await rank.recv(other, 7);
  co_await rank.allreduce(Bytes(64));
  co_await rank.bcast(Bytes(64), 1);
}

void all_operations(Programs& p, int rank) {
  const int other = 1 - rank;
  const WorldRank id(rank);
  const auto add = [&](Operation operation, std::vector<std::uint64_t> requests = {}) {
    std::vector<trace::Completion> completions(requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      completions[i].request = requests[i];
    }
    p.add(id, operation, completions);
  };
  const auto recv = [&](int tag) {
    Operation operation = p.make(EventKind::recv, "MPI_Recv", {});
    operation.recv = Programs::end(other, 0, tag);
    return operation;
  };
  add(p.make(EventKind::init, "MPI_Init", {}));
  add(p.make(EventKind::phase_begin, "exchange", us(1 + rank)));
  p.irecv(rank, other, 800, 1, {}, 1);
  p.isend(rank, other, 800, 2, {}, 1);
  Operation issend = p.make(EventKind::isend, "MPI_Issend", {});
  issend.send = Programs::end(other, 8, 2);
  issend.mode = SendMode::synchronous;
  issend.request = 3;
  add(issend);
  Operation first = recv(2);
  first.compute = us(3);
  add(first);
  add(p.make(EventKind::complete, "MPI_Wait", {}), {1});
  add(p.make(EventKind::complete, "MPI_Waitall", {}), {2, 3});
  add(p.make(EventKind::phase_end, "exchange", {}));
  Operation sendrecv = p.make(EventKind::sendrecv, "MPI_Sendrecv", {});
  sendrecv.send = Programs::end(other, 16, 4);
  sendrecv.recv = Programs::end(other, 0, 4);
  add(sendrecv);
  sendrecv.send.peer = sendrecv.recv.peer = WorldRank();
  add(sendrecv);
  Operation ssend = p.make(EventKind::send, "MPI_Ssend", {});
  ssend.send = Programs::end(1, 8, 6);
  ssend.mode = SendMode::synchronous;
  add(rank == 0 ? ssend : recv(6));
  Operation bsend = p.make(EventKind::send, "MPI_Bsend", {});
  bsend.send = Programs::end(other, 100'000, 7);
  bsend.mode = SendMode::buffered;
  add(bsend);
  Operation last = recv(7);
  last.steps = 5;
  add(last);
  Operation collective = p.make(EventKind::collective, "MPI_Allreduce", {});
  collective.collective = Cost::allreduce;
  collective.bytes = Bytes(64);
  add(collective);
  collective.name = p.add_name("MPI_Bcast");
  collective.collective = Cost::bcast;
  collective.root = LocalRank(1);
  add(collective);
  p.finalize(rank);
}

// What the model program saw of a message is not in the operations.
void forget_messages(trace::Trace& trace) {
  for (auto& events : trace.ranks)
    for (trace::Event& event : events)
      for (trace::Completion& completion : event.completions)
        completion = {completion.request, {}, 0, {}, false};
}

TEST(Equal, WrittenAsOperations) {
  for (const bool with_loggps : {false, true}) {
    const SimulateOptions options = with_loggps ? loggps() : SimulateOptions();
    ModelProgram program(2, all_calls);
    Programs operations(2);
    for (int rank = 0; rank < 2; ++rank) all_operations(operations, rank);
    Replayed a = run(program, options);
    Replayed b = replay(operations, options);
    forget_messages(a.trace);
    forget_messages(b.trace);
    EXPECT_EQ(a.trace.names, b.trace.names);
    for (int rank = 0; rank < 2; ++rank)
      for (int i = 0; i < 17; ++i)
        EXPECT_EQ(a.event(rank, i), b.event(rank, i)) << "rank " << rank << ", event " << i;
    EXPECT_EQ(a.trace.ranks, b.trace.ranks);
    EXPECT_GT(a.result.time, us(10));
  }
}

TEST(Requests, SayWhatCame) {
  for (const Racing racing : {Racing::no, Racing::yes}) {
    Notes<int> seen(2);
    ModelProgram program(
        2,
        [&](ModelRank& rank) -> RankTask {
          seen.begin(rank);
          const int other = 1 - rank.rank();
          std::array<ModelRequest, 4> requests;
          requests[0] = co_await rank.irecv(other, Bytes(100), 4);
          requests[2] = co_await rank.isend(other, Bytes(30), 3);
          requests[3] = co_await rank.irecv(other, Bytes(100), 3);
          co_await rank.send(other, Bytes(40), 4);
          for (const Completed& one : co_await rank.wait_all(requests)) {
            seen.add(rank, one.index);
            seen.add(rank, one.message.source);
            seen.add(rank, one.message.tag);
            seen.add(rank, static_cast<int>(one.message.bytes.count));
          }
          for (const ModelRequest& request : requests) EXPECT_FALSE(request);
          EXPECT_EQ((co_await rank.wait_all(requests)).size(), 0u);
        },
        racing);
    run(program);
    EXPECT_THAT(seen[1], ElementsAre(0, 0, 4, 40, 2, -1, 0, 0, 3, 0, 3, 30));
  }
}

TEST(Requests, WaitOfNothingTakesNothing) {
  ModelProgram program(1, [](ModelRank& rank) -> RankTask {
    ModelRequest none;
    EXPECT_EQ((co_await rank.wait(none)).source, kProcNull);
    ModelRequest to_nobody = co_await rank.isend(kProcNull, Bytes(1));
    EXPECT_TRUE(to_nobody);
    co_await rank.wait(to_nobody);
    EXPECT_FALSE(to_nobody);
    EXPECT_EQ((co_await rank.recv(kProcNull)).source, kProcNull);
  });
  EXPECT_EQ(run(program).result.time, us(0));
}

// Names, costs and who waits for whom of each collective.
TEST(Collectives, AreWhatTheyAreCalled) {
  using Call = ModelCall<void> (*)(ModelRank&);
  struct Row {
    const char* name;
    Cost cost;
    Call call;
  };
  const Row rows[] = {
      {"MPI_Barrier", Cost::barrier, [](ModelRank& r) { return r.barrier(); }},
      {"MPI_Bcast", Cost::bcast, [](ModelRank& r) { return r.bcast(Bytes(8), 1); }},
      {"MPI_Scatter", Cost::scatter, [](ModelRank& r) { return r.scatter(Bytes(8), 1); }},
      {"MPI_Scatterv", Cost::scatterv, [](ModelRank& r) { return r.scatterv(Bytes(8), 1); }},
      {"MPI_Gather", Cost::gather, [](ModelRank& r) { return r.gather(Bytes(8), 1); }},
      {"MPI_Gatherv", Cost::gatherv, [](ModelRank& r) { return r.gatherv(Bytes(8), 1); }},
      {"MPI_Reduce", Cost::reduce, [](ModelRank& r) { return r.reduce(Bytes(8), 1); }},
      {"MPI_Allgather", Cost::allgather, [](ModelRank& r) { return r.allgather(Bytes(8)); }},
      {"MPI_Allgatherv", Cost::allgatherv, [](ModelRank& r) { return r.allgatherv(Bytes(8)); }},
      {"MPI_Alltoall", Cost::alltoall, [](ModelRank& r) { return r.alltoall(Bytes(8)); }},
      {"MPI_Alltoallv", Cost::alltoallv, [](ModelRank& r) { return r.alltoallv(Bytes(8)); }},
      {"MPI_Alltoallw", Cost::alltoallw, [](ModelRank& r) { return r.alltoallw(Bytes(8)); }},
      {"MPI_Allreduce", Cost::allreduce, [](ModelRank& r) { return r.allreduce(Bytes(8)); }},
      {"MPI_Reduce_scatter", Cost::reduce_scatter,
       [](ModelRank& r) { return r.reduce_scatter(Bytes(8)); }},
      {"MPI_Reduce_scatter_block", Cost::reduce_scatter_block,
       [](ModelRank& r) { return r.reduce_scatter_block(Bytes(8)); }},
      {"MPI_Scan", Cost::scan, [](ModelRank& r) { return r.scan(Bytes(8)); }},
      {"MPI_Exscan", Cost::exscan, [](ModelRank& r) { return r.exscan(Bytes(8)); }},
      {"MPI_Comm_create", Cost::comm_create, [](ModelRank& r) { return r.comm_create(); }},
      {"MPI_Comm_split", Cost::comm_split, [](ModelRank& r) { return r.comm_split(); }},
      {"MPI_Comm_dup", Cost::comm_dup, [](ModelRank& r) { return r.comm_dup(); }},
  };
  ModelProgram program(3, [&](ModelRank& rank) -> RankTask {
    for (const Row& row : rows) co_await row.call(rank);
  });
  const Replayed r = run(program, {});
  int index = 0;
  for (const Row& row : rows) {
    const trace::Event& event = r.event(2, ++index);
    EXPECT_EQ(r.trace.names[event.name], row.name);
    EXPECT_EQ(event.collective, row.cost) << row.name;
    EXPECT_EQ(event.kind, EventKind::collective);
    const bool rooted = machine::dependence_of(row.cost) == machine::Dependence::all_for_root ||
                        machine::dependence_of(row.cost) == machine::Dependence::root_for_all;
    EXPECT_EQ(event.root, LocalRank(rooted ? 1 : -1)) << row.name;
    const bool sized = row.cost != Cost::barrier && row.cost < Cost::comm_create;
    EXPECT_EQ(event.bytes, Bytes(sized ? 8 : 0)) << row.name;
  }
}

// World ranks 4, 2, 0 in this order; 1 and 3 in another.
TEST(Communicators, RanksAreTheirOwn) {
  ModelComm even;
  ModelComm odd;
  Notes<int> seen(5);
  ModelProgram program(
      5,
      [&](ModelRank& rank) -> RankTask {
        seen.begin(rank);
        const ModelComm mine = rank.rank() % 2 == 0 ? even : odd;
        const int me = rank.rank(mine);
        const int size = rank.size(mine);
        seen.add(rank, me);
        EXPECT_EQ(size, rank.rank() % 2 == 0 ? 3 : 2);
        EXPECT_EQ(rank.rank(rank.rank() % 2 == 0 ? odd : even), -1);
        ModelRequest request = co_await rank.irecv((me + size - 1) % size, Bytes(8), 1, mine);
        co_await rank.send((me + 1) % size, Bytes(8), 1, mine);
        seen.add(rank, (co_await rank.wait(request)).source);
        const Received got =
            co_await rank.sendrecv((me + 1) % size, Bytes(8), 2, kAnySource, 2, mine);
        seen.add(rank, got.source);
        // The same ranks and tag in the world are another channel.
        if (rank.rank() == 4) co_await rank.send(2, Bytes(7), 3);
        if (rank.rank() == 4) co_await rank.send(1, Bytes(9), 3, even);
        if (rank.rank() == 2) {
          EXPECT_EQ((co_await rank.recv(kAnySource, 3, even)).bytes, Bytes(9));
          EXPECT_EQ((co_await rank.recv(4, 3)).bytes, Bytes(7));
        }
      },
      Racing::yes);
  even = program.add_comm({4, 2, 0});
  odd = program.add_comm({1, 3});
  run(program);
  EXPECT_THAT(seen[4], ElementsAre(0, 2, 2));
  EXPECT_THAT(seen[2], ElementsAre(1, 0, 0));
  EXPECT_THAT(seen[0], ElementsAre(2, 1, 1));
  EXPECT_THAT(seen[1], ElementsAre(0, 1, 1));
  EXPECT_THAT(seen[3], ElementsAre(1, 0, 0));
}

TEST(Communicators, OnlyForMembers) {
  ModelComm comm;
  ModelProgram program(3, [&](ModelRank& rank) -> RankTask { co_await rank.barrier(comm); });
  comm = program.add_comm({0, 1});
  try {
    run(program);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("rank 2 of the model program"));
    EXPECT_THAT(error.what(), testing::HasSubstr("no member of communicator 1"));
  }
}

}  // namespace
}  // namespace foretrace::sim
