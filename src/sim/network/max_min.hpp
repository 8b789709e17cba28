// MaxMin: max-min fair rates of flows that share links, kept up to date while
// flows come and go.
//
// The mathematics. Rates are max-min fair if and only if every flow has a
// bottleneck: a link that is full and on which no flow is faster than this one
// (Bertsekas and Gallager, Data Networks, section 6.5.2). Progressive filling
// finds them: all rates grow together; at its *level* a link is full, and the
// flows on it stay.
//
// The rates of before are the start. Rising are the flows that are new or whose
// bottleneck lost load; every other one counts, on a link, min(its rate, level).
// Links are taken by rising level. On the link taken, flows that rise or are
// faster than the level stop there. One that ends up slower than before takes
// load from its other links: the flows that had their bottleneck there rise
// too (they were at least as fast as that one, so they are above the level);
// one that ends up faster may fill its other links, which are looked at then.
// So what lies below the level stays as it was, each step is the step that
// filling from scratch takes, and nothing is touched whose rate and bottleneck
// stay the same. Rates that differ by less than kEqual (relative) are the same.
//
// No clock and no bytes here. The result depends on the calls alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace foretrace::sim {

class MaxMin {
 public:
  using Flow = std::uint32_t;  // numbers of the caller's choice, dense
  using Link = std::uint32_t;  // numbered by add_link

  // Some hundred units in the last place: what sums over a link's flows lose.
  static constexpr double kEqual = 1e-13;

  // capacity: > 0, finite.
  Link add_link(double capacity);

  // A flow over these links, each at most once, at least one; weight 0.
  void add_flow(Flow flow, std::span<const Link> links);
  // Its weight is 0, and solve() has seen that.
  void remove_flow(Flow flow);

  // As many equal flows on this route; 0: none. Takes effect in solve().
  void set_weight(Flow flow, std::uint32_t weight);
  // Whether a weight has been set since.
  bool changed() const { return !pending_.empty(); }

  // The flows whose rate is another one now, those of weight 0 excepted.
  // Valid until the next call.
  std::span<const Flow> solve();

  // Of each of the `weight` flows, in capacity units; 0 where the weight is.
  double rate(Flow flow) const { return flows_[flow].rate; }

  std::size_t memory() const;

 private:
  enum class State : std::uint8_t { fixed, rising, stopped };
  static constexpr Link kNone = UINT32_MAX;

  struct FlowState {
    double rate = 0;
    std::uint32_t weight = 0;
    State state = State::fixed;
    bool pending = false;
  };
  struct FlowRoute {
    std::uint32_t first_hop = 0;
    std::uint32_t hops = 0;
    Link bottleneck = kNone;
    std::uint32_t next_weight = 0;
    std::uint32_t last_weight = 0;  // while it is pending in solve()
    double old_rate = 0;            // while it is touched
  };
  struct Hop {
    Link link = 0;
    std::uint32_t place = 0;  // in on_link_[link]
  };
  // One cache line: a change of a flow goes over all links of its route.
  struct alignas(64) LinkState {
    double capacity = 0;
    double share = 0;  // capacity / weight: no level is below it
    double load = 0;   // sum of weight * rate, about; without the flows that rise
    double key = 0;    // of its valid entry in the queue
    std::uint32_t weight = 0;
    std::uint32_t rising = 0;  // weight of the flows that rise
    std::uint32_t bottleneck_of = 0;
    std::uint32_t grew = 0;  // the solve() in which a flow on it last became faster
    bool queued = false;
    bool suspect = false;  // may be too full, whether or not one rises
    bool exact = false;    // the key is the level
  };
  struct Entry {
    double key;
    Link link;
    bool operator>(const Entry& other) const {
      return key != other.key ? key > other.key : link > other.link;
    }
  };

  std::span<Hop> hops(Flow flow) {
    return {hops_.data() + routes_[flow].first_hop, routes_[flow].hops};
  }
  void link_flow(Flow flow);
  void unlink_flow(Flow flow);
  void apply_weight(Flow flow);
  void touch(Flow flow);
  void raise(Flow flow);
  void release(Link link);
  void enqueue(Link link, double key);
  void suspect(Link link);
  void enqueue_own();
  double bound_of(const LinkState& link) const;
  double level_of(Link link);
  void look_at(const Entry& entry);
  void fill(Link link, double level);
  void stop(Flow flow, Link link, double level);

  std::vector<FlowState> flows_;
  std::vector<FlowRoute> routes_;
  std::vector<Hop> hops_;
  std::vector<std::vector<std::uint32_t>> free_hops_;  // blocks by length
  std::vector<LinkState> links_;
  std::vector<std::vector<std::uint64_t>> on_link_;  // flow << 32 | number of its hop
  std::vector<Flow> pending_;

  // Of one solve().
  std::vector<Flow> touched_;
  std::vector<Flow> changed_;
  std::vector<Entry> queue_;  // a heap, the lowest key first
  std::vector<Entry> own_;    // links with one flow only, until they matter
  double first_own_ = 0;      // the lowest key of these
  std::vector<FlowState> below_;
  std::uint32_t solves_ = 0;
  std::size_t rising_ = 0;
  std::size_t suspects_ = 0;
};

}  // namespace foretrace::sim
