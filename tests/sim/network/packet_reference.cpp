#include "packet_reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

namespace foretrace::sim::test {
namespace {

using machine::LinkId;
using machine::NodeId;
using machine::NodeKind;
using machine::TopologyKind;

enum class Where { not_yet, queue, node, wire, there };

struct Piece {
  int message = 0;
  std::uint64_t bytes = 0;
  Where where = Where::not_yet;
  int node = 0;
  int came_by = -1;  // link; -1: it is at its source
  int hops = 0;
  int link = -1;      // wanted, or on it
  int ends = -1;      // the link by which it will come to the next node
  bool left = false;  // the link
  std::int64_t came = 0;
  std::int64_t leaves = 0;
  std::int64_t arrives = 0;
  std::int64_t start_number = 0;
  std::vector<std::pair<int, int>> places;  // link, channel
};

class Reference {
 public:
  Reference(const machine::Topology& topology, const machine::LinkSpeed& defaults,
            const PacketOptions& options, const std::vector<Sending>& sendings)
      : topology_(topology), defaults_(defaults), options_(options), sendings_(sendings) {}

  std::optional<std::vector<Outcome>> run() {
    for (std::size_t m = 0; m < sendings_.size(); ++m) {
      std::uint64_t rest = sendings_[m].bytes.count;
      do {
        Piece piece;
        piece.message = static_cast<int>(m);
        piece.node = sendings_[m].from;
        piece.bytes = std::max<std::uint64_t>(1, std::min(rest, options_.packet_size.count));
        rest -= std::min(rest, piece.bytes);
        pieces_.push_back(piece);
      } while (rest > 0);
    }
    outcomes_.resize(sendings_.size());
    for (std::optional<std::int64_t> time = next_time(); time; time = next_time()) {
      now_ = *time;
      while (step()) {
      }
    }
    for (const Piece& piece : pieces_)
      if (piece.where != Where::there) return std::nullopt;
    return outcomes_;
  }

 private:
  std::optional<std::int64_t> next_time() const {
    std::optional<std::int64_t> least;
    const auto consider = [&](std::int64_t time) { least = std::min(least.value_or(time), time); };
    for (const Piece& piece : pieces_) {
      if (piece.where == Where::not_yet)
        consider(sendings_[static_cast<std::size_t>(piece.message)].time.count_ps());
      if (piece.where == Where::wire) consider(piece.left ? piece.arrives : piece.leaves);
    }
    return least;
  }

  // Whether something happened that may let something else happen now.
  bool step() {
    for (Piece& piece : pieces_) {
      if (piece.where != Where::wire || piece.left || piece.leaves != now_) continue;
      piece.left = true;
      if (piece.places.size() == 2) piece.places.erase(piece.places.begin());
    }
    take_in();
    promote();
    for (Piece& piece : pieces_) {
      const Sending& sending = sendings_[static_cast<std::size_t>(piece.message)];
      if (piece.where != Where::not_yet || sending.time.count_ps() != now_) continue;
      piece.where = Where::queue;
      choose(piece);
      promote();
    }
    bool any = false;
    for (int l = 0; l < topology_.links(); ++l) any = start(l) || any;
    for (const Piece& piece : pieces_)
      if (piece.where == Where::wire && (piece.left ? piece.arrives : piece.leaves) == now_)
        return true;
    return false;
  }

  void take_in() {
    std::vector<Piece*> coming;
    for (Piece& piece : pieces_)
      if (piece.where == Where::wire && piece.left && piece.arrives == now_)
        coming.push_back(&piece);
    std::sort(coming.begin(), coming.end(), [](const Piece* a, const Piece* b) {
      return std::tie(a->ends, a->start_number) < std::tie(b->ends, b->start_number);
    });
    for (Piece* piece : coming) {
      const Sending& sending = sendings_[static_cast<std::size_t>(piece->message)];
      piece->came_by = piece->ends;
      piece->node = topology_.to(LinkId(piece->ends)).value;
      ++piece->hops;
      piece->came = now_;
      piece->link = -1;
      if (piece->node == sending.to) {
        piece->where = Where::there;
        piece->places.clear();
        outcomes_[static_cast<std::size_t>(piece->message)].arrived = Time::ps(now_);
        continue;
      }
      choose(*piece);
      piece->where = Where::node;
    }
  }

  // One packet of a source for each link is before the link, the others queue.
  void promote() {
    for (Piece& piece : pieces_) {
      if (piece.where != Where::queue) continue;
      const bool taken = std::ranges::any_of(pieces_, [&](const Piece& other) {
        return other.hops == 0 && other.link == piece.link &&
               (other.where == Where::node || (other.where == Where::wire && !other.left));
      });
      if (taken) continue;
      piece.where = Where::node;
      piece.came = now_;
    }
  }

  bool start(int carrier) {
    std::vector<Piece*> waiting;
    for (Piece& piece : pieces_) {
      if (piece.link < 0 || topology_.carrier(LinkId(piece.link)).value != carrier) continue;
      if (piece.where == Where::wire && !piece.left) return false;
      if (piece.where == Where::node) waiting.push_back(&piece);
    }
    const auto key = [](const Piece* piece) {
      const bool own = piece->came_by < 0;
      return std::tuple(piece->came, own, own ? piece->link : piece->came_by, piece->start_number);
    };
    std::sort(waiting.begin(), waiting.end(),
              [&](const Piece* a, const Piece* b) { return key(a) < key(b); });
    for (Piece* piece : waiting) {
      if (options_.buffer_packets - taken(piece->ends, channel(*piece)) < needed(*piece)) continue;
      const machine::LinkSpeed& speed = topology_.speed(LinkId(piece->link));
      const double rate = speed.bytes_per_second.value_or(
          defaults_.bytes_per_second.value_or(std::numeric_limits<double>::infinity()));
      piece->places.emplace_back(piece->ends, channel(*piece));
      if (piece->came_by < 0) piece->places = {{-1, 0}, piece->places.back()};
      piece->where = Where::wire;
      piece->left = false;
      piece->start_number = ++starts_;
      // The bucket: what it lacks afterwards, in time, and what it may lack.
      const auto time_of = [rate](std::uint64_t bytes) {
        return Time::from_seconds(static_cast<double>(bytes) / rate).count_ps();
      };
      const std::int64_t depth = time_of(speed.burst.value_or(defaults_.burst.value_or(0)));
      std::int64_t& full_at = full_at_[carrier];
      full_at = std::max(full_at, now_) + time_of(piece->bytes);
      piece->leaves = std::max(now_, full_at - depth);
      piece->arrives =
          piece->leaves + speed.latency.value_or(defaults_.latency.value_or(Time())).count_ps();
      Time& sent = outcomes_[static_cast<std::size_t>(piece->message)].sent;
      if (piece->came_by < 0) sent = std::max(sent, Time::ps(piece->leaves));
      return true;
    }
    return false;
  }

  int taken(int link, int channel) const {
    int count = 0;
    for (const Piece& piece : pieces_)
      for (const auto& place : piece.places) count += place == std::pair(link, channel);
    return count;
  }

  int channel(const Piece& piece) const {
    if (!options_.avoid_deadlock) return 0;
    switch (topology_.shape().kind) {
      case TopologyKind::dragonfly:
      case TopologyKind::arbitrary:
        return piece.hops;
      case TopologyKind::ring:
      case TopologyKind::torus:
      case TopologyKind::mesh:
      case TopologyKind::hypercube:
        return options_.adaptive ? piece.hops : 0;
      default:
        return 0;
    }
  }

  int needed(const Piece& piece) const {
    const TopologyKind kind = topology_.shape().kind;
    if ((kind != TopologyKind::ring && kind != TopologyKind::torus) || options_.adaptive ||
        !options_.avoid_deadlock)
      return 1;
    const auto here = direction(piece.link);
    if (here.second == 0) return 1;
    return piece.came_by >= 0 && direction(piece.came_by) == here ? 1 : 2;
  }

  // Dimension and +-1 for a link of a ring; 0 for others.
  std::pair<int, int> direction(int link) const {
    const std::vector<int> sides = machine::grid_sides(topology_.shape());
    int from = topology_.from(LinkId(link)).value;
    int to = topology_.to(LinkId(link)).value;
    for (int d = static_cast<int>(sides.size()) - 1; d >= 0; --d) {
      const int side = sides[static_cast<std::size_t>(d)];
      const int moved = to % side - from % side;
      if (moved != 0) return {d, side < 3 ? 0 : moved == 1 || moved == 1 - side ? 1 : -1};
      from /= side;
      to /= side;
    }
    return {};
  }

  void choose(Piece& piece) {
    const int to = sendings_[static_cast<std::size_t>(piece.message)].to;
    const std::vector<int>& left = distances(to);
    int best = -1;
    int fewest = 0;
    for (int l = 0; l < topology_.links(); ++l) {
      if (topology_.from(LinkId(l)).value != piece.node) continue;
      const int next = topology_.to(LinkId(l)).value;
      if (options_.adaptive ? left[static_cast<std::size_t>(next)] + 1 !=
                                  left[static_cast<std::size_t>(piece.node)]
                            : topology_.next_hop(NodeId(piece.node), NodeId(to)) != NodeId(next))
        continue;
      const int here = before(l);
      if (best >= 0 && here >= fewest) continue;
      best = l;
      fewest = here;
    }
    piece.link = piece.ends = best;
    const NodeId next = topology_.to(LinkId(best));
    if (topology_.kind(next) == NodeKind::bus)
      piece.ends = topology_.graph().find(next.value, topology_.next_hop(next, NodeId(to)).value);
  }

  // Packets that wait for a link, are on it, or queue at the source for it.
  int before(int link) const {
    return static_cast<int>(std::ranges::count_if(pieces_, [&](const Piece& piece) {
      if (piece.link < 0) return false;
      if (piece.where == Where::queue) return piece.link == link;
      const bool counts = piece.where == Where::node || (piece.where == Where::wire && !piece.left);
      return counts && topology_.carrier(LinkId(piece.link)) == topology_.carrier(LinkId(link));
    }));
  }

  // Bellman and Ford; the way out of a bus is no hop.
  const std::vector<int>& distances(int to) {
    std::vector<int>& left = distances_[to];
    if (!left.empty()) return left;
    left.assign(static_cast<std::size_t>(topology_.nodes()), 1 << 20);
    left[static_cast<std::size_t>(to)] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (int l = 0; l < topology_.links(); ++l) {
        const NodeId from = topology_.from(LinkId(l));
        const int step = topology_.kind(from) == NodeKind::bus ? 0 : 1;
        const int through = left[static_cast<std::size_t>(topology_.to(LinkId(l)).value)] + step;
        if (through >= left[static_cast<std::size_t>(from.value)]) continue;
        left[static_cast<std::size_t>(from.value)] = through;
        changed = true;
      }
    }
    return left;
  }

  std::map<int, std::int64_t> full_at_;  // by carrier: when its bucket is full
  const machine::Topology& topology_;
  machine::LinkSpeed defaults_;
  PacketOptions options_;
  const std::vector<Sending>& sendings_;
  std::vector<Piece> pieces_;
  std::vector<Outcome> outcomes_;
  std::map<int, std::vector<int>> distances_;
  std::int64_t now_ = 0;
  std::int64_t starts_ = 0;
};

}  // namespace

std::optional<std::vector<Outcome>> reference_packets(const machine::Topology& topology,
                                                      const machine::LinkSpeed& defaults,
                                                      const PacketOptions& options,
                                                      const std::vector<Sending>& sendings) {
  return Reference(topology, defaults, options, sendings).run();
}

std::vector<Outcome> run_packets(PacketNetwork& network, const std::vector<Sending>& sendings) {
  std::vector<Outcome> outcomes(sendings.size());
  std::vector<Time> certain(sendings.size(), Time::max());
  std::vector<Arrival> arrivals;
  Time now;
  MessageId last = 0;
  const auto advance = [&] {
    now = network.next();
    arrivals.clear();
    network.advance(arrivals);
    EXPECT_GT(network.next(), now) << "a time is done at once";
    for (const Departure& departure : network.departures()) {
      EXPECT_GE(departure.sent, now);
      EXPECT_EQ(certain[departure.message], Time::max()) << "reported once";
      certain[departure.message] = departure.sent;
    }
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      const Arrival& arrival = arrivals[i];
      EXPECT_EQ(arrival.arrived, now);
      EXPECT_EQ(arrival.sent, certain[arrival.message]);
      EXPECT_EQ(outcomes[arrival.message], Outcome()) << "arrives once";
      if (i > 0) {
        EXPECT_GT(arrival.message, last) << "order of injection at one time";
      }
      last = arrival.message;
      outcomes[arrival.message] = {arrival.sent, arrival.arrived};
    }
  };
  for (std::size_t m = 0; m < sendings.size(); ++m) {
    const Sending& sending = sendings[m];
    while (network.next() < sending.time) advance();
    network.inject(static_cast<MessageId>(m),
                   {machine::NodeId(sending.from), machine::NodeId(sending.to)}, sending.bytes,
                   sending.time);
  }
  while (network.next() != Time::max()) advance();
  return outcomes;
}

}  // namespace foretrace::sim::test
