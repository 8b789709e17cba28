// Until when a look that found nothing is known to find nothing (Outcome::in_vain_until).
//
// Microseconds on test_machine(), 800 bytes: send 39, irecv1 40, irecv2 55. A receive that
// was posted takes at least, for whatever size, irecv1 + irecv2 of no byte, 40 + 5.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

#include "reacting_source.hpp"

namespace foretrace::sim {
namespace {

using trace::EventKind;

bool is_test(const Operation& operation) {
  return operation.kind == EventKind::complete && operation.completing != Completing::all;
}

// Leaves out what asks for requests that are complete, and remembers of each rank what the
// looks were told since it last did anything else.
class Looking : public ReactingSource {
 public:
  using ReactingSource::ReactingSource;

  void begin_again(Pace pace) {
    restart(pace, true);
    states_.assign(static_cast<std::size_t>(ranks()), {});
  }

  bool next(WorldRank rank, Operation& operation) override {
    State& state = states_[static_cast<std::size_t>(rank.value)];
    do {
      if (!ReactingSource::next(rank, operation)) return false;
      state.look.clear();
      if (is_test(operation)) state.look.push_back(static_cast<int>(operation.completing));
      for (const trace::Completion& completion : operation.completions)
        state.look.push_back(static_cast<int>(completion.request));
      if (operation.probing == Probing::look)
        state.look = {-1, operation.recv.peer.value, operation.recv.tag};
    } while (std::ranges::any_of(operation.completions, [&](const trace::Completion& completion) {
      return state.done.contains(completion.request);
    }));
    state.looks = is_test(operation) || operation.probing == Probing::look;
    return true;
  }

  void completed(WorldRank rank, const Operation& operation, const Interval& interval,
                 const Outcome& outcome) override {
    ReactingSource::completed(rank, operation, interval, outcome);
    State& state = states_[static_cast<std::size_t>(rank.value)];
    for (const trace::Completion& completion : outcome.completions)
      state.done.insert(completion.request);
    // After a patient look others may have given up theirs at once.
    if (!state.looks || operation.patience != Time()) state.until.clear();
    if (!state.looks) return;
    const bool found = outcome.message.peer.valid() || !outcome.completions.empty();
    const auto known = state.until.find(state.look);
    if (known != state.until.end() && interval.enter < known->second) {
      ++foreseen;
      EXPECT_FALSE(found) << "rank " << rank.value << " at " << interval.enter.count_ps() << " ps, "
                          << "before " << known->second.count_ps() << " ps";
    }
    if (!found) state.until[state.look] = outcome.in_vain_until;
    if (!found) told_until.push_back(outcome.in_vain_until);
  }

  std::vector<Time> told_until;  // by looks in vain, in the order of time
  int foreseen = 0;              // looks that were known to be in vain

 private:
  struct State {
    std::vector<int> look;  // what the operation at hand looks for
    bool looks = false;
    std::map<std::vector<int>, Time> until;
    std::set<std::uint64_t> done;
  };
  std::vector<State> states_;
};

void run(Looking& source, const SimulateOptions& options = {}) {
  static const machine::MachineModel model = test_machine();
  const machine::Timing timing(model, machine::Bound::avg);
  for (const Pace pace : {Pace::ready, Pace::slow, Pace::mixed}) {
    source.begin_again(pace);
    source.told_until.clear();
    MemorySink sink(source, {});
    simulate(source, timing, options, sink);
  }
}

// The message may be sent at 200 at the soonest, whatever is in it.
TEST(VainLooks, NothingComesBeforeSomebodyGoesOn) {
  Looking p(2);
  p.irecv(0, 1, 1);
  p.complete(0, {1}, Completing::test_all);
  p.probe(0, Probing::look, 1, 3);
  p.complete(0, {1});
  p.send(1, 0, 800, us(200));
  p.finalize_all();
  run(p);
  EXPECT_EQ(p.told_until, (std::vector{us(245), us(200)}));
}

// It was sent at 0 and is there at 40 + 55, which is known at 40.
TEST(VainLooks, AMessageUnderWayIsKnown) {
  Looking p(2);
  p.irecv(0, 1, 1);
  for (int i = 0; i < 2; ++i) p.complete(0, {1}, Completing::test_any, us(20));
  p.complete(0, {1}, Completing::test_any, us(15));
  p.send(1, 0, 800);
  p.add(1, EventKind::call, "MPI_Comm_rank", us(500));
  p.finalize_all();
  run(p);
  EXPECT_EQ(p.told_until, (std::vector{us(95), us(95)}));  // at 60 and at 80.1; 95.2 finds it
  EXPECT_EQ(p.foreseen, 3);                                // one at each pace
}

// All must be there: the later one decides. Any: the sooner one.
TEST(VainLooks, OfSeveralRequests) {
  Looking p(2);
  p.irecv(0, 1, 1);
  p.irecv(0, 1, 2, {}, 1);
  p.complete(0, {1, 2}, Completing::test_any);
  p.complete(0, {1, 2}, Completing::test_all);
  p.complete(0, {1, 2});
  p.send(1, 0, 800);
  p.send(1, 0, 800, {}, 1);
  p.add(1, EventKind::call, "MPI_Comm_rank", us(500));
  p.finalize_all();
  run(p);
  EXPECT_EQ(p.told_until, (std::vector{us(95), us(39 + 95)}));
}

// Ranks that compute, look, send and receive in any order; one look in four is patient.
Looking random_looks(std::uint64_t seed) {
  constexpr int kRanks = 4;
  Looking p(kRanks);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15U + 1;
  const auto below = [&state](int limit) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int>((state >> 33) % static_cast<unsigned>(limit));
  };
  std::uint64_t serial = 0;
  for (int round = 0; round < 8; ++round) {
    std::array<std::vector<std::uint64_t>, kRanks> open;
    std::array<int, kRanks> coming{};
    for (int r = 0; r < kRanks; ++r)
      for (int i = below(4); i > 0; --i) {
        const int to = (r + 1 + below(kRanks - 1)) % kRanks;
        p.isend(r, to, below(3) == 0 ? 20'000 : 100, ++serial, us(below(90)));
        open[static_cast<std::size_t>(r)].push_back(serial);
        ++coming[static_cast<std::size_t>(to)];
      }
    for (int r = 0; r < kRanks; ++r) {
      auto& own = open[static_cast<std::size_t>(r)];
      for (int i = 0; i < coming[static_cast<std::size_t>(r)]; ++i) {
        p.irecv(r, -1, ++serial, us(below(20)));
        own.push_back(serial);
      }
      p.icollective(r, machine::Cost::allreduce, ++serial, us(below(50)), -1, 8);
      own.push_back(serial);
      const auto some = [&] {
        return own[static_cast<std::size_t>(below(static_cast<int>(own.size())))];
      };
      const std::uint64_t one = some();
      for (int i = below(24); i > 0; --i) {
        const Time pause = us(below(3) == 0 ? below(40) : 0);
        const Time patience = us(below(4) == 0 ? below(60) : 0);
        switch (below(4)) {
          case 0:
            p.probe(r, Probing::look, -1, -1, pause).patience = patience;
            break;
          case 1:
            p.complete(r, {some()}, Completing::test_all, pause).patience = patience;
            break;
          default:
            p.complete(r, {one}, Completing::test_any, pause).patience = patience;
        }
      }
      for (const std::uint64_t request : own) p.complete(r, {request});
    }
  }
  p.finalize_all();
  return p;
}

TEST(VainLooks, RandomProgramsFindNothingBefore) {
  SimulateOptions loggps;
  loggps.network.kind = NetworkKind::loggps;
  loggps.network.loggps.latency = us(9);
  loggps.network.loggps.overhead_send = loggps.network.loggps.overhead_recv = us(2);
  int foreseen = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed)
    for (const SimulateOptions& options : {SimulateOptions(), loggps}) {
      Looking p = random_looks(seed);
      run(p, options);
      foreseen += p.foreseen;
    }
  EXPECT_GT(foreseen, 1000);
}

}  // namespace
}  // namespace foretrace::sim
