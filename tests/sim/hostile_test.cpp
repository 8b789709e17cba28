// Programs and machines that no sane user has: the end of time, messages that
// nobody can send, streams that end anywhere, many of everything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/end_of_time.hpp"
#include "loggps_options.hpp"
#include "programs.hpp"
#include "sim/arrivals.hpp"
#include "sim/collectives/algorithm.hpp"
#include "topology/builders.hpp"
#include "trace/trace.hpp"

namespace foretrace::sim {
namespace {

using machine::Cost;
using ::testing::HasSubstr;

constexpr NetworkKind kNetworks[] = {NetworkKind::datasheet, NetworkKind::loggps,
                                     NetworkKind::hops,      NetworkKind::bus,
                                     NetworkKind::flow,      NetworkKind::packet};

// L = o = 1000 ns, g = 0, G = 1 ns; on a ring of 4 where there are links.
SimulateOptions on(NetworkKind kind) {
  static const machine::Topology ring = machine::make_topology("ring:4");
  SimulateOptions options;
  options.network.kind = kind;
  options.network.topology = &ring;
  options.network.loggps.latency = ns(1000);
  options.network.loggps.overhead_send = ns(1000);
  options.network.loggps.overhead_recv = ns(1000);
  options.network.loggps.gap_per_byte = 1e-9;
  return options;
}

template <class Run>
std::string error_of_run(Run run) {
  try {
    run();
  } catch (const Deadlock& deadlock) {
    return std::string("Deadlock: ") + deadlock.what();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Operation open_irecv(Programs& source, std::uint64_t request, Time at = {}) {
  Operation operation = source.make(trace::EventKind::irecv, "MPI_Irecv", at);
  operation.recv.any_source = true;
  operation.recv.any_tag = true;
  operation.recv.tag = kAnyTag;
  operation.request = request;
  return operation;
}

void wait_some(Programs& source, int rank, Completing completing,
               const std::vector<std::uint64_t>& requests, Time at = {}) {
  Operation operation = source.make(trace::EventKind::complete, "MPI_Waitsome", at);
  operation.completing = completing;
  std::vector<trace::Completion> completions(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) completions[i].request = requests[i];
  source.add(WorldRank(rank), operation, completions);
}

TEST(Hostile, ComputationBeyondTheEndOfTimeEndsOnEveryNetwork) {
  for (const NetworkKind kind : kNetworks) {
    Programs source(2);
    source.send(0, 1, 8, Time::max());
    source.recv(1, 0, 8);
    source.finalize_all();
    EXPECT_THAT(error_of_run([&] { replay(source, on(kind)); }),
                HasSubstr("rank 0, event 1 (MPI_Send): the virtual time passes 53 days"));
  }
}

// Nothing comes after it that would take any more time.
TEST(Hostile, ComputationThatIsTheLastOfItsRankDoesNotPassTheEndOfTime) {
  for (const NetworkKind kind : kNetworks) {
    for (const std::int64_t beyond : {0, 1}) {
      Programs source(2);
      source.finalize(0);
      source.finalize(1, kEndOfTime + Time::ps(beyond));
      EXPECT_THAT(error_of_run([&] { replay(source, on(kind)); }),
                  HasSubstr(beyond == 0 ? "no error"
                                        : "rank 1, event 1 (MPI_Finalize): the virtual time "
                                          "passes 53 days"));
    }
  }
}

// 2^62 bytes at 1 ns each take 146 years: no deadlock, and no waiting for it.
TEST(Hostile, MessageThatTakesForEverEndsOnEveryNetwork) {
  for (const NetworkKind kind : kNetworks) {
    if (kind == NetworkKind::packet) continue;
    Programs source(2);
    source.send(0, 1, std::uint64_t{1} << 62);
    source.send(0, 1, std::uint64_t{1} << 62);
    source.recv(1, 0, std::uint64_t{1} << 62);
    source.recv(1, 0, std::uint64_t{1} << 62);
    source.finalize_all();
    SimulateOptions options = on(kind);
    EXPECT_THAT(error_of_run([&] { replay(source, options); }),
                HasSubstr("the virtual time passes 53 days"))
        << static_cast<int>(kind);
    if (kind == NetworkKind::datasheet) continue;
    options.network.loggps.sync_threshold = Bytes(0);
    EXPECT_THAT(error_of_run([&] { replay(source, options); }),
                HasSubstr("the virtual time passes 53 days"))
        << static_cast<int>(kind);
  }
}

TEST(Hostile, MessageOfTooManyPacketsIsRefused) {
  Programs source(2);
  source.send(0, 1, std::uint64_t{1} << 62);
  source.recv(1, 0, std::uint64_t{1} << 62);
  source.finalize_all();
  EXPECT_THAT(error_of_run([&] { replay(source, on(NetworkKind::packet)); }),
              HasSubstr("expected at most 4294967296 packets a message, found one of "
                        "4611686018427387904 bytes"));
}

// Nothing takes any time: everything happens at 0, in a finite number of steps.
TEST(Hostile, WorldWithoutTimeEnds) {
  const AlgorithmTable algorithms("openmpi");
  for (const NetworkKind kind : kNetworks) {
    for (const bool rendezvous : {false, true}) {
      SimulateOptions options = on(kind);
      options.algorithms = &algorithms;
      options.network.loggps = {};
      if (rendezvous) options.network.loggps.sync_threshold = Bytes(0);
      Programs source(4);
      for (int r = 0; r < 4; ++r) {
        source.sendrecv(r, (r + 1) % 4, (r + 3) % 4, 100000);
        source.collective(r, Cost::alltoall, {}, -1, 0, 100000);
        source.collective(r, Cost::barrier);
      }
      source.finalize_all();
      const Replayed run = replay(source, options);
      EXPECT_TRUE(run.result.notes.empty());
      if (kind != NetworkKind::datasheet) {
        EXPECT_EQ(run.result.time, Time());
      }
    }
  }
}

// Rank 0 is in the collective while its open receive waits for a message that
// is sent after it.
TEST(Hostile, CollectiveBehindAnOpenReceive) {
  const AlgorithmTable algorithms("openmpi");
  for (const NetworkKind kind : kNetworks) {
    for (const bool rendezvous : {false, true}) {
      SimulateOptions options = on(kind);
      options.algorithms = &algorithms;
      if (rendezvous) options.network.loggps.sync_threshold = Bytes(0);
      Programs source(3);
      source.add(WorldRank(0), open_irecv(source, 1));
      for (int r = 0; r < 3; ++r) source.collective(r, Cost::allreduce, ns(r * 10000), -1, 0, 8);
      source.send(1, 0, 8);
      source.wait(0, {1});
      source.finalize_all();
      EXPECT_EQ(error_of_run([&] { replay(source, options); }), "no error")
          << static_cast<int>(kind);
    }
  }
}

// Ranks that call different things do not pass, whoever leaves early.
TEST(Hostile, ExpandedCollectivesThatDoNotMatch) {
  const AlgorithmTable algorithms("openmpi");
  SimulateOptions options = on(NetworkKind::loggps);
  options.algorithms = &algorithms;
  Programs source(3);
  source.collective(0, Cost::bcast, {}, 0, 0, 8);
  source.collective(1, Cost::gather, {}, 0, 0, 8);
  source.collective(2, Cost::gather, {}, 0, 0, 8);
  source.finalize_all();
  EXPECT_THAT(error_of_run([&] { replay(source, options); }), HasSubstr("do not match"));
}

// Wherever the streams of all or one of the ranks end, on every network, with
// messages eager and not: notes or a deadlock's report, never a crash.
TEST(Hostile, StreamsThatEndAnywhere) {
  const AlgorithmTable algorithms("openmpi");
  constexpr int kRanks = 4;
  constexpr int kCalls = 7;
  const auto call = [](Programs& source, int r, int which) {
    switch (which) {
      case 0:
        return source.collective(r, Cost::bcast, ns(r), 1, 0, 100000);
      case 1:
        return source.isend(r, (r + 1) % kRanks, 5000, 1);
      case 2:
        return source.irecv(r, (r + 3) % kRanks, 5000, 2);
      case 3:
        return source.collective(r, Cost::alltoall, {}, -1, 0, 300);
      case 4:
        return source.wait(r, {1, 2});
      case 5:
        return source.sendrecv(r, (r + 1) % kRanks, (r + 3) % kRanks, 10);
      default:
        return source.collective(r, Cost::scan, {}, -1, 0, 8);
    }
  };
  for (const NetworkKind kind : kNetworks) {
    for (int variant = 0; variant < 4; ++variant) {
      for (int end = 0; end < kCalls; ++end) {
        SimulateOptions options = on(kind);
        if (variant & 1) options.algorithms = &algorithms;
        if (variant & 2) options.network.loggps.sync_threshold = Bytes(0);
        Programs source(kRanks);
        for (int r = 0; r < kRanks; ++r)
          for (int c = 0; c < kCalls; ++c)
            if (r != 2 || c < end) call(source, r, c);
        for (int r = 0; r < kRanks; ++r)
          if (r != 2) source.finalize(r);
        Replayed run;
        ASSERT_EQ(error_of_run([&] { run = replay(source, options); }), "no error");
        ASSERT_EQ(run.result.notes.size(), 1u);
        EXPECT_THAT(run.result.notes[0],
                    HasSubstr("rank 2's trace ends at event " + std::to_string(end)));
      }
    }
  }
}

TEST(Hostile, EveryCollectiveAloneAndWithNobody) {
  for (const char* table : {"openmpi", "mpich"}) {
    const AlgorithmTable algorithms(table);
    for (const NetworkKind kind : kNetworks) {
      SimulateOptions options = on(kind);
      options.algorithms = &algorithms;
      Programs source(1);
      for (int c = static_cast<int>(Cost::barrier); c <= static_cast<int>(Cost::exscan); ++c) {
        source.collective(0, static_cast<Cost>(c), {}, 0, 0, 0);
        source.collective(0, static_cast<Cost>(c), {}, 0, 0, std::uint64_t{1} << 62);
      }
      source.send(0, -1, 8);
      source.recv(0, -1, 8);
      source.sendrecv(0, -1, -1, 8);
      source.isend(0, -1, 8, 1);
      source.irecv(0, -1, 8, 2);
      source.wait(0, {1, 2});
      source.sendrecv(0, 0, 0, 100000);
      source.irecv(0, 0, 100000, 3);
      source.isend(0, 0, 100000, 4);
      source.wait(0, {4, 3});
      source.finalize_all();
      EXPECT_EQ(error_of_run([&] { replay(source, options); }), "no error");
    }
  }
}

// A named receive behind an open one has its rank looked at, too.
TEST(Hostile, ReceiveBehindAnOpenOneFromARankThatDoesNotExist) {
  Programs source(2);
  source.add(WorldRank(0), open_irecv(source, 1));
  source.recv(0, 99, 8);
  source.finalize_all();
  EXPECT_THAT(error_of_run([&] { replay(source, on(NetworkKind::loggps)); }),
              HasSubstr("rank 0, event 2 (MPI_Recv): expected a peer below 2, found rank 99"));
}

TEST(Hostile, CollectiveOfAStrangerAndWithAStrangeRoot) {
  const AlgorithmTable algorithms("openmpi");
  for (const bool expanded : {false, true}) {
    SimulateOptions options = on(NetworkKind::loggps);
    if (expanded) options.algorithms = &algorithms;
    Programs stranger(3);
    const trace::CommId pair = stranger.add_comm({WorldRank(0), WorldRank(1)});
    stranger.collective(2, Cost::barrier, {}, -1, pair);
    stranger.finalize_all();
    EXPECT_THAT(error_of_run([&] { replay(stranger, options); }),
                HasSubstr("rank 2 calls MPI_barrier on communicator 0.1"));
    Programs root(2);
    root.collective(0, Cost::bcast, {}, 2, 0, 8);
    root.finalize_all();
    EXPECT_THAT(error_of_run([&] { replay(root, options); }), HasSubstr("root 2"));
  }
}

// Both messages (headers 2000, whole at 2008 and 3008 at the latest) are there
// long before the receives are posted at 10000: Waitsome takes both.
TEST(Hostile, WaitsomeTakesAllThatWereThereBefore) {
  Programs source(2);
  source.send(0, 1, 8);
  source.send(0, 1, 8);
  source.add(WorldRank(1), open_irecv(source, 1, ns(10000)));
  source.add(WorldRank(1), open_irecv(source, 2));
  wait_some(source, 1, Completing::some, {1, 2});
  source.finalize_all();
  const Replayed run = replay(source, on(NetworkKind::loggps));
  EXPECT_EQ(run.event(1, 2).completions.size(), 2u);
  EXPECT_EQ(run.leave(1, 2), ns(12000));
}

// Message i is there at 1000 + i * 1000: all but the first end later than the
// call that waits for any of them. Those do not fill the queue of events.
TEST(Hostile, WaitanyOverManyRequestsKeepsTheQueueShort) {
  constexpr std::uint64_t kMany = 1000;
  Programs source(2);
  std::vector<std::uint64_t> requests;
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    source.irecv(1, 0, i * 1000, i, i == 1 ? ns(100) : Time(), static_cast<int>(i));
    requests.push_back(i);
  }
  for (std::uint64_t i = 1; i <= kMany; ++i)
    source.isend(0, 1, i * 1000, i, {}, static_cast<int>(i));
  source.wait(0, requests);
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    wait_some(source, 1, Completing::any, requests);
    requests.erase(requests.begin());
  }
  source.finalize_all();
  SimulateOptions options = on(NetworkKind::hops);
  options.network.loggps.overhead_send = Time();
  options.network.loggps.overhead_recv = Time();
  const Replayed run = replay(source, options);
  EXPECT_EQ(run.leave(1, 2 * kMany - 1), ns(1001000));
  EXPECT_LT(run.result.stats.peak_bytes, 2'000'000u);
}

// Every rank waits for the next one: the first 64 have a line each.
TEST(Hostile, ReportOfManyBlockedRanksIsShort) {
  constexpr int kRanks = 1000;
  Programs source(kRanks);
  for (int r = 0; r < kRanks; ++r) source.recv(r, (r + 1) % kRanks, 8);
  source.finalize_all();
  SimulateOptions options = on(NetworkKind::loggps);
  options.network.topology = nullptr;
  try {
    replay(source, options);
    FAIL() << "no deadlock";
  } catch (const Deadlock& deadlock) {
    const std::string report = deadlock.report();
    EXPECT_EQ(std::ranges::count(report, '\n'), 65);
    EXPECT_THAT(report, ::testing::EndsWith("\nand 936 more blocked ranks\n"));
    EXPECT_EQ(deadlock.blocked().size(), 1000u);
  }
}

// Sets a limit of this process for a while.
class Limit {
 public:
  Limit(__rlimit_resource what, rlim_t most) : what_(what) {
    EXPECT_EQ(::getrlimit(what, &before_), 0);
    const rlimit limited{most, before_.rlim_max};
    EXPECT_EQ(::setrlimit(what, &limited), 0);
  }
  ~Limit() { ::setrlimit(what_, &before_); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  __rlimit_resource what_;
  rlimit before_{};
};

std::string scratch_trace() {
  return ::testing::TempDir() + "hostile_" + std::to_string(::getpid()) + ".ftr";
}

// More ranks than files that may be open.
TEST(Hostile, SinkOfManyRanksNeedsFewFiles) {
  constexpr int kRanks = 500;
  const Limit few(RLIMIT_NOFILE, 32);
  const std::string path = scratch_trace();
  Programs source(kRanks);
  for (int r = 0; r < kRanks; ++r)
    source.sendrecv(r, (r + 1) % kRanks, (r + kRanks - 1) % kRanks, 8);
  source.finalize_all();
  const machine::MachineModel model;
  const machine::Timing timing(model, machine::Bound::avg);
  FileSink sink(source, {}, path);
  SimulateOptions options = on(NetworkKind::loggps);
  options.network.topology = nullptr;
  simulate(source, timing, options, sink);
  sink.finish();
  const trace::Trace read = trace::read_trace(path);
  EXPECT_TRUE(read.sealed);
  ASSERT_EQ(read.ranks.size(), std::size_t{kRanks});
  for (const auto& events : read.ranks) EXPECT_EQ(events.size(), 2u);
  std::filesystem::remove(path);
}

// Each rank takes 4 KiB from the beginning on.
TEST(Hostile, SinkThatFindsNoRoomLeavesNoFile) {
  const std::string path = scratch_trace();
  const Programs source(100);
  std::string error;
  {
    const Limit small(RLIMIT_FSIZE, 25 * 4096);
    error = error_of_run([&] { FileSink(source, {}, path); });
  }
  EXPECT_THAT(error, HasSubstr("File too large"));
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
}

// Messages that named receives took do not stay for ever.
TEST(Hostile, ArrivalsForgetWhatWasTaken) {
  Arrivals arrivals;
  arrivals.learn(0, kAnyTag);
  std::uint32_t taken = 0;
  const auto waits = [&](const WaitingMessage& message) { return message.order >= taken; };
  for (std::uint32_t i = 0; i < 100000; ++i) {
    arrivals.add(0, {ns(i), WorldRank(0), i, static_cast<int>(i)}, waits);
    if (i >= 10) taken = i - 10;
  }
  EXPECT_LT(arrivals.memory(), 100 * sizeof(WaitingMessage) * 2);
  WaitingMessage first;
  ASSERT_TRUE(arrivals.first(0, kAnyTag, waits, first));
  EXPECT_EQ(first.order, taken);
}

}  // namespace
}  // namespace foretrace::sim
