// A culprit planted among longer harmless waits is the first finding, on every network.
//
// All ranks compute the same 20 ms, half of it before a call and half after it, but for some pairs.
// In the culprit's one of the two comes late to the call, and computes as much less after it: the
// other waits, and ends late. In the harmless pairs the wait is longer, and who waits has so little
// to do after it that the run does not depend on it. The kind of each wait is drawn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "architecture/convert.hpp"
#include "architecture/description.hpp"
#include "architecture/message_network.hpp"
#include "explained.hpp"
#include "topology/builders.hpp"

namespace foretrace::explain {
namespace {

using machine::Cost;
using sim::NetworkKind;
using trace::EventKind;

constexpr Time kHalf = us(10'000);

class Plant {
 public:
  explicit Plant(unsigned seed) : random_(seed), programs_(0) {
    const int harmless = 1 + below(3);
    const int pairs = 12 + below(4);
    const int culprit = below(pairs);
    programs_ = Programs(2 * pairs);
    const Time wait = us(400 + below(400));
    for (int pair = 0; pair < pairs; ++pair) {
      const int late = 2 * pair + below(2);
      const int waiting = late ^ 1;
      const int number = (pair - culprit + pairs) % pairs;
      if (number == 0) {
        const int kind = below(kKinds);
        wait_ = kWaits[kind];
        meet(late, kHalf + wait, waiting, kHalf, "culprit", kind);
        programs_.finalize(late, kHalf - wait);
        programs_.finalize(waiting, kHalf);
      } else if (number <= harmless) {
        // The wait is longer by at least a fifth; who waits ends at least 200 us early.
        const Time longer = us(wait.count_ps() / 1'000'000 * (12 + below(10)) / 10);
        meet(late, kHalf, waiting, kHalf - longer, "harmless", below(kKinds));
        programs_.finalize(late, kHalf - kLongestCall);
        programs_.finalize(waiting, kHalf - kLongestCall - us(200));
      } else {
        meet(late, kHalf, waiting, kHalf, "even", below(kKinds));
        programs_.finalize(late, kHalf - kLongestCall);
        programs_.finalize(waiting, kHalf - kLongestCall);
      }
    }
  }
  const Programs& programs() const { return programs_; }
  // Of the culprit.
  WaitKind wait() const { return wait_; }

 private:
  // By kind.
  static constexpr WaitKind kWaits[] = {WaitKind::late_sender,    WaitKind::late_receiver,
                                        WaitKind::late_sender,    WaitKind::wait_at_barrier,
                                        WaitKind::late_broadcast, WaitKind::early_reduce};
  static constexpr int kKinds = 6;
  // What a call takes at most on test_machine(), with an empty message or two ranks.
  static constexpr Time kLongestCall = us(310);

  int below(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }

  // One of the two waits for the other, in a call of that name.
  void meet(int late, Time before_late, int waiting, Time before, const std::string& name,
            int kind) {
    const std::string other = name + " partner";
    const auto add = [&](int rank, EventKind what, const std::string& call, Time compute,
                         const auto& set) {
      sim::Operation operation = programs_.make(what, call.c_str(), compute);
      set(operation);
      programs_.add(WorldRank(rank), operation);
    };
    const auto collective = [&](Cost which, int root) {
      const trace::CommId comm = programs_.add_comm({WorldRank(late), WorldRank(waiting)});
      for (const int rank : {late, waiting})
        add(rank, EventKind::collective, name, rank == late ? before_late : before,
            [&](sim::Operation& operation) {
              operation.collective = which;
              operation.root = LocalRank(root);
              operation.comm = comm;
            });
    };
    switch (kind) {
      case 0:  // late sender
        send(programs_, late, waiting, before_late, other.c_str());
        return recv(programs_, waiting, late, before, name.c_str());
      case 1:  // late receiver
        add(waiting, EventKind::send, name, before, [&](sim::Operation& operation) {
          operation.send = Programs::end(late, 8, 0);
          operation.mode = machine::SendMode::synchronous;
        });
        return recv(programs_, late, waiting, before_late, other.c_str(), 8);
      case 2: {  // late sender, with a posted receive
        send(programs_, late, waiting, before_late, other.c_str());
        add(waiting, EventKind::irecv, "post", Time(), [&](sim::Operation& operation) {
          operation.recv = Programs::end(late, 0, 0);
          operation.request = 1;
        });
        sim::Operation complete = programs_.make(EventKind::complete, name.c_str(), before);
        std::vector<trace::Completion> completions(1);
        completions[0].request = 1;
        return programs_.add(WorldRank(waiting), complete, completions);
      }
      case 3:
        return collective(Cost::barrier, -1);
      case 4:
        return collective(Cost::bcast, 0);
      default:
        return collective(Cost::reduce, 1);
    }
  }

  std::mt19937 random_;
  Programs programs_;
  WaitKind wait_ = WaitKind::other;
};

// A ring of so many nodes, as a topology or as an architecture.
class Ring {
 public:
  explicit Ring(int nodes)
      : name_("torus:" + std::to_string(nodes)), topology_(machine::make_topology(name_)) {}

  void put_into(sim::NetworkOptions& network) {
    network.topology = &topology_;
    if (network.kind != NetworkKind::architecture) return;
    flat_ = architecture::elaborate(
        architecture::parse_description(architecture::description_of(topology_, name_), name_, ""),
        {});
    graph_ = architecture::message_graph(flat_);
    network.topology = graph_.topology.get();
    network.make_links = [this](const machine::LinkSpeed& defaults) {
      return std::make_unique<architecture::MessageNetwork>(
          flat_, graph_, *graph_.topology, defaults, architecture::MessageOptions());
    };
  }

 private:
  std::string name_;
  machine::Topology topology_;
  architecture::FlatArchitecture flat_;
  architecture::MessageGraph graph_;
};

class Plants : public testing::TestWithParam<NetworkKind> {};

TEST_P(Plants, TheCulpritComesFirst) {
  constexpr int kPlants = 200;
  sim::NetworkOptions network;
  network.kind = GetParam();
  network.loggps.latency = us(5);
  network.loggps.overhead_send = network.loggps.overhead_recv = us(1);
  network.loggps.gap = us(1);
  network.loggps.gap_per_byte = 1e-9;
  ExplainOptions how;
  how.estimate_waits = network.kind != NetworkKind::datasheet && network.kind != NetworkKind::hops;
  int first = 0;
  for (unsigned seed = 1; seed <= kPlants; ++seed) {
    const Plant plant(seed);
    Ring ring(plant.programs().ranks());
    if (network.kind != NetworkKind::datasheet && network.kind != NetworkKind::loggps)
      ring.put_into(network);
    const Explanation explanation = explain_program(plant.programs(), network, how).explanation;
    const SingleWait& longest = explanation.longest.front();
    EXPECT_EQ(longest.place.function, "harmless") << seed;
    ASSERT_FALSE(explanation.findings.empty()) << seed;
    const Finding& best = explanation.findings.front();
    if (best.kind == "wait" && best.place.function == "culprit")
      ++first;
    else
      ADD_FAILURE() << "plant " << seed << ": first is " << best.kind << " at "
                    << best.place.function;
    EXPECT_EQ(name_of(best.wait_kind), name_of(plant.wait())) << "plant " << seed;
  }
  std::cout << first << " of " << kPlants << " culprits come first\n";
}

std::string name_of_network(const testing::TestParamInfo<NetworkKind>& info) {
  constexpr const char* kNames[] = {"datasheet", "loggps", "hops",        "bus",
                                    "flow",      "packet", "architecture"};
  return kNames[static_cast<std::size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(EveryNetwork, Plants,
                         testing::Values(NetworkKind::datasheet, NetworkKind::loggps,
                                         NetworkKind::hops, NetworkKind::bus, NetworkKind::flow,
                                         NetworkKind::packet, NetworkKind::architecture),
                         name_of_network);

}  // namespace
}  // namespace foretrace::explain
