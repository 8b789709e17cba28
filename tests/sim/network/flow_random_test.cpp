// FlowNetwork against a slow reference that knows nothing of streams, heaps or
// changes: at every event it fills all links from scratch, in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <random>

#include "flow_cases.hpp"
#include "sim/network/flow.hpp"

namespace foretrace::sim {
namespace {

using cases::Message;
using machine::LinkId;
using machine::NodeId;
using machine::Topology;

struct Fluid {
  std::size_t message = 0;
  std::vector<int> carriers;
  long double left = 0;
  long double rate = 0;
};

std::vector<int> carriers_of(const Topology& topology, const Message& message) {
  std::vector<LinkId> route;
  topology.route(NodeId(message.from), NodeId(message.to), route);
  std::vector<int> carriers;
  for (const LinkId link : route)
    if (topology.kind(topology.from(link)) != machine::NodeKind::bus)
      carriers.push_back(topology.carrier(link).value);
  return carriers;
}

// Progressive filling, by the book.
void fill(const Topology& topology, std::vector<Fluid>& fluids) {
  struct Room {
    long double left = 0;
    int flows = 0;
  };
  std::map<int, Room> rooms;
  for (Fluid& fluid : fluids) {
    fluid.rate = -1;
    for (const int c : fluid.carriers) {
      rooms[c].left = static_cast<long double>(*topology.speed(LinkId(c)).bytes_per_second) / 1e12L;
      ++rooms[c].flows;
    }
  }
  for (std::size_t unfixed = fluids.size(); unfixed > 0;) {
    int tightest = -1;
    long double level = std::numeric_limits<long double>::infinity();
    for (const auto& [carrier, room] : rooms)
      if (room.flows > 0 && room.left / room.flows < level) {
        level = room.left / room.flows;
        tightest = carrier;
      }
    for (Fluid& fluid : fluids) {
      if (fluid.rate >= 0) continue;
      if (std::find(fluid.carriers.begin(), fluid.carriers.end(), tightest) == fluid.carriers.end())
        continue;
      fluid.rate = level;
      --unfixed;
      for (const int c : fluid.carriers) {
        rooms[c].left -= level;
        --rooms[c].flows;
      }
    }
  }
}

// Follows the messages (by start) through the ends that the network claims, and
// holds each end against its own rates: it must lie within half a picosecond
// (the rounding), and what double loses, of where the last byte really leaves.
// Taking the claimed end as the time of the change, as docs/networks.md has
// it, keeps ends that lie half way between two picoseconds, and may be rounded
// either way, from adding up: so every end is right to 1 ps, and by itself.
class Reference {
 public:
  Reference(const Topology& topology, const std::vector<Message>& messages,
            const std::vector<Arrival>& claimed)
      : topology_(topology), messages_(messages), claimed_(claimed) {}

  void check() {
    std::size_t started = 0;
    while (started < messages_.size() || !fluids_.empty()) {
      std::int64_t next =
          started < messages_.size() ? messages_[started].start.count_ps() : INT64_MAX;
      for (const Fluid& fluid : fluids_) next = std::min(next, std::max(now_, end(fluid)));
      for (Fluid& fluid : fluids_) fluid.left -= fluid.rate * static_cast<long double>(next - now_);
      now_ = next;
      take_ended();
      for (; started < messages_.size() && messages_[started].start.count_ps() == now_; ++started)
        start(started);
      do {
        fill(topology_, fluids_);
      } while (take_ended());
    }
  }

 private:
  std::int64_t end(const Fluid& fluid) const { return claimed_[fluid.message].sent.count_ps(); }

  bool take_ended() {
    for (const Fluid& fluid : fluids_) {
      const long double late = -fluid.left / fluid.rate;  // picoseconds
      EXPECT_LE(late, kHalf) << "message " << fluid.message << " should have ended";
      if (end(fluid) > now_) continue;
      EXPECT_GE(late, -kHalf) << "message " << fluid.message << " at " << now_;
    }
    std::vector<std::size_t> ended;
    for (const Fluid& fluid : fluids_)
      if (end(fluid) <= now_) ended.push_back(fluid.message);
    std::erase_if(fluids_, [this](const Fluid& fluid) { return end(fluid) <= now_; });
    for (const std::size_t number : ended) {
      std::deque<std::size_t>& line = lines_[messages_[number].connection];
      line.pop_front();
      begin(line);
    }
    return !ended.empty();
  }

  void start(std::size_t number) {
    std::deque<std::size_t>& line = lines_[messages_[number].connection];
    line.push_back(number);
    if (line.size() == 1) begin(line);
  }

  // The first of a line flows; one without bytes has gone.
  void begin(std::deque<std::size_t>& line) {
    for (; !line.empty(); line.pop_front()) {
      const Message& message = messages_[line.front()];
      if (message.bytes > 0) {
        fluids_.push_back({line.front(), carriers_of(topology_, message),
                           static_cast<long double>(message.bytes), 0});
        return;
      }
      EXPECT_EQ(claimed_[line.front()].sent, Time::ps(now_)) << "message " << line.front();
    }
  }

  static constexpr long double kHalf = 0.5L + 1e-4L;

  const Topology& topology_;
  const std::vector<Message>& messages_;
  const std::vector<Arrival>& claimed_;
  std::vector<Fluid> fluids_;
  std::map<int, std::deque<std::size_t>> lines_;  // by connection, the first one under way
  std::int64_t now_ = 0;
};

class Generator {
 public:
  explicit Generator(unsigned seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }

  // Processors in a ring with chords, through switches and around a bus; every
  // link with a speed of its own, from few values or from many.
  Topology topology() {
    const int processors = 3 + static_cast<int>(below(6));
    const int nodes = processors + 4;
    const bool few = below(2) == 0;
    std::map<std::pair<int, int>, cases::Link> links;
    const auto add = [&](int a, int b) {
      for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
        const double speed = few ? 1e9 * static_cast<double>(1 + below(3))
                                 : 1e6 * static_cast<double>(1 + below(10'000));
        links[{from, to}] = {from, to, speed, Time::ps(static_cast<std::int64_t>(below(1000)))};
      }
    };
    for (int node = 0; node < nodes; ++node) add(node, (node + 1) % nodes);
    for (std::uint64_t chord = below(8); chord > 0; --chord) {
      const int a = static_cast<int>(below(static_cast<std::uint64_t>(nodes)));
      const int b = static_cast<int>(below(static_cast<std::uint64_t>(nodes)));
      if (a != b) add(a, b);
    }
    std::vector<cases::Link> list;
    for (const auto& [ends, link] : links) list.push_back(link);
    using enum machine::NodeKind;
    return cases::graph(processors, {switch_, bus, switch_, switch_}, list);
  }

  // pace: the longest time between two starts, ps; 0: a random one.
  std::vector<Message> messages(const Topology& topology, std::size_t count,
                                std::uint64_t pace = 0) {
    std::vector<Message> messages;
    std::int64_t time = 0;
    const auto processors = static_cast<std::uint64_t>(topology.processors());
    if (pace == 0) pace = 1 + below(3'000'000);
    for (std::size_t i = 0; i < count; ++i) {
      if (below(3) > 0) time += static_cast<std::int64_t>(below(pace));
      const auto from = below(processors);
      const auto to = (from + 1 + below(processors - 1)) % processors;
      std::uint64_t bytes = below(8) == 0 ? 0 : std::uint64_t{1} << below(18);
      if (below(2) == 0) bytes += below(bytes + 1);
      // Two connections between two nodes.
      const int connection = static_cast<int>(2 * (from * processors + to) + below(2));
      messages.push_back(
          {static_cast<int>(from), static_cast<int>(to), bytes, Time::ps(time), connection});
    }
    return messages;
  }

 private:
  std::mt19937_64 engine_;
};

void expect_right(const Topology& topology, const std::vector<Message>& messages) {
  for (const cases::Ties ties : {cases::Ties::messages_first, cases::Ties::network_first}) {
    FlowNetwork network(topology);
    const auto arrivals = cases::run(network, messages, ties);
    Reference(topology, messages, arrivals).check();
    for (std::size_t i = 0; i < messages.size(); ++i)
      ASSERT_EQ(arrivals[i].arrived - arrivals[i].sent,
                network.latency(NodeId(messages[i].from), NodeId(messages[i].to)));
  }
}

TEST(FlowRandom, AnyGraph) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    Generator generator(seed);
    const Topology topology = generator.topology();
    expect_right(topology, generator.messages(topology, 150));
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(FlowRandom, RegularTopologies) {
  unsigned seed = 1000;
  for (const char* name : {"torus:4x4", "fattree:2,3", "xgft:2;4,4;1,2", "hypercube:4", "star:6",
                           "bus:6", "full:5", "dragonfly:2,1,2", "omega:8", "crossbar:6"}) {
    const Topology topology = cases::regular(std::string(name) + "?latency=1us&bandwidth=1GB/s");
    for (int round = 0; round < 4; ++round) {
      Generator generator(++seed);
      expect_right(topology, generator.messages(topology, 250));
      if (HasFailure()) FAIL() << name << " seed " << seed;
    }
  }
}

TEST(FlowRandom, SameInputSameBits) {
  Generator generator(7);
  const Topology topology = generator.topology();
  const auto messages = generator.messages(topology, 5000, 2'000'000);
  FlowNetwork first(topology), second(topology);
  std::vector<MessageId> first_order, second_order;
  const auto a = cases::run(first, messages, cases::Ties::messages_first, &first_order);
  const auto b = cases::run(second, messages, cases::Ties::messages_first, &second_order);
  EXPECT_EQ(cases::sent_ps(a), cases::sent_ps(b));
  EXPECT_EQ(first_order, second_order);
}

// 10^5 messages end, each once, none before a link of its route could carry it
// alone; the links together carried bytes * hops.
TEST(FlowRandom, ManyMessages) {
  const Topology topology = cases::regular("fattree:4,3?latency=1us&bandwidth=1GB/s");
  Generator generator(99);
  const auto messages = generator.messages(topology, 100'000, 2'000'000);
  FlowNetwork network(topology);
  std::vector<MessageId> order;
  const auto arrivals = cases::run(network, messages, cases::Ties::messages_first, &order);
  ASSERT_EQ(order.size(), messages.size());
  std::sort(order.begin(), order.end());
  std::uint64_t byte_hops = 0, message_hops = 0;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    ASSERT_EQ(order[i], i);
    ASSERT_GE(arrivals[i].sent - messages[i].start,
              Time::ps(static_cast<std::int64_t>(messages[i].bytes) * 1000));
    const auto hops = static_cast<std::uint64_t>(
        *topology.hops(NodeId(messages[i].from), NodeId(messages[i].to)));
    byte_hops += messages[i].bytes * hops;
    message_hops += hops;
  }
  std::uint64_t bytes = 0, count = 0;
  for (const LinkLoad& load : network.loads()) {
    bytes += load.bytes.count;
    count += load.messages;
    EXPECT_EQ(load.busy, Time::ps(static_cast<std::int64_t>(load.bytes.count) * 1000));
  }
  EXPECT_EQ(bytes, byte_hops);
  EXPECT_EQ(count, message_hops);
  EXPECT_EQ(network.next(), Time::max());
}

// More pairs than idle streams are kept: routes are forgotten and found again.
TEST(FlowRandom, MoreRoutesThanAreKept) {
  const Topology topology = cases::regular("crossbar:300?latency=1ns&bandwidth=1GB/s");
  FlowNetwork network(topology);
  std::vector<Message> messages;
  std::int64_t time = 0;
  for (int round = 0; round < 2; ++round)
    for (int from = 0; from < 300; ++from)
      for (int to = 0; to < 300; ++to)
        if (from != to) messages.push_back({from, to, 10, Time::ps(time += 20'000)});
  const auto arrivals = cases::run(network, messages);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    ASSERT_EQ(arrivals[i].sent, messages[i].start + Time::ns(10));
    ASSERT_EQ(arrivals[i].arrived, messages[i].start + Time::ns(12));
  }
}

}  // namespace
}  // namespace foretrace::sim
