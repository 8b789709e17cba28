// MaxMin: max-min fair rates of flows that share links, kept up to date while
// flows come and go.
//
// The mathematics. Rates are max-min fair if and only if every flow has a
// bottleneck: a link that is full and on which no flow is faster than this one
// (Bertsekas and Gallager, Data Networks, section 6.5.2). So the flows that have
// their bottleneck at one link, its *members*, have one rate, the link's *level*;
// and a level is what the others on the link leave, divided by the members.
//
// A change of some flows changes the levels of many links, but the bottlenecks
// of few flows. So rates are kept by link, and flows are touched only where
// their bottleneck moves. solve() takes links whose level may be wrong, the
// lowest first. It takes in the flows that are faster than the level (they have
// their bottleneck elsewhere; the fastest first), computes the level, and tells the
// other links of its members by how much their loads change. Each of these is
// then looked at, too. It ends when every level is what the link's others
// leave, and nobody is faster: when the definition holds. A lower level depends on
// lower ones alone, so it does end.
//
// Where flows of nearly equal rates go to and fro between their links, following each takes longer
// than to compute all rates from nothing (progressive filling, the same section): then fill()
// does. Rates are the same.
//
// A link is *quiet* as long as its flows are all so slow that it cannot be full:
// nobody keeps its load. All to one, this is so of almost all links.
//
// Levels are whole numbers of 2^-96 bytes per picosecond. So sums are exact,
// whatever their order, and nothing adds up over time.
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
  __extension__ using Fixed = __int128;
  static constexpr Link kNone = UINT32_MAX;
  static constexpr int kFractionBits = 96;

  // capacity: > 0; of what is more than kMost, kMost.
  static constexpr long double kMost = 1048576;
  Link add_link(long double capacity);

  // A flow over these links, each at most once, at least one; weight 0.
  void add_flow(Flow flow, std::span<const Link> links);
  // Its weight is 0, and solve() has seen that.
  void remove_flow(Flow flow);

  // As many equal flows on this route; 0: none. Takes effect in solve().
  void set_weight(Flow flow, std::uint32_t weight);
  // Whether a weight has been set since.
  bool changed() const { return !pending_.empty(); }

  struct Changes {
    std::span<const Flow> flows;  // whose bottleneck may be another one, or none, now
    std::span<const Link> links;  // whose level is another one, those without members excepted
  };
  // Valid until the next call.
  Changes solve();

  // kNone: its weight is 0.
  Link bottleneck(Flow flow) const { return bottleneck_[flow]; }
  // The rate of each member: in units of 2^-kFractionBits.
  Fixed level(Link link) const { return links_[link].level; }
  // Of each of the `weight` flows, in capacity units; 0 where the weight is.
  double rate(Flow flow) const;

  std::size_t memory() const;

 private:
  struct FlowState {
    std::uint32_t first_hop = 0;
    std::uint32_t hops = 0;
    std::uint32_t weight = 0;
    std::uint32_t next_weight = 0;
    std::uint32_t filled = 0;  // in this fill()
    bool pending = false;
    bool touched = false;
  };
  struct Hop {
    Link link = 0;
    std::uint32_t place = 0;  // in on_link_[link]
  };
  // What a solve() looks at is in the first cache line.
  struct alignas(64) LinkState {
    Fixed level = 0;    // with members
    Fixed room = 0;     // what those that are not members leave; not while it is quiet
    Fixed fastest = 0;  // the greatest level of those that are not members, or more
    std::uint32_t weight = 0;
    std::uint32_t members = 0;   // their weight
    std::uint32_t reserved = 0;  // at least `weight`
    bool quiet = true;           // has no members
    bool queued = false;
    bool noted = false;
    Fixed capacity = 0;
    Fixed before = 0;       // the level when solve() began; -1: no members
    Fixed quiet_share = 0;  // capacity / reserved: up to this level it cannot be full
    Fixed quiet_up_to = 0;  // of its members' quiet links the least quiet_share, or less
  };
  // Of the members of one link, those on another one.
  struct Crossing {
    Link link;
    std::uint32_t weight;
  };
  std::span<Hop> hops(Flow flow) {
    return {hops_.data() + flows_[flow].first_hop, flows_[flow].hops};
  }
  void link_flow(Flow flow);
  void unlink_flow(Flow flow);
  void apply_weight(Flow flow);
  void touch(Flow flow);
  Link best_offer(Flow flow);
  void join(Flow flow, Link at);
  void leave(Flow flow);
  void cross(Link members_of, Link link, std::uint32_t weight, bool more);
  void take_in(Link link, Link members_of);
  static void set_aside(LinkState& link);
  void reserve(Link link);
  void wake(Link link);
  void wake_for(Link members_of);
  void load(Link link, Fixed more, Fixed level);
  void enqueue(Link link);
  void note(Link link);
  void look_at(Link link);
  static Fixed level_of(const LinkState& link);
  Fixed take_in_faster(Link link, Fixed level);
  void set_level(Link link, Fixed level);
  void fill();
  void begin_fill();
  void fill_link(Link link, Fixed level);
  void end_fill();

  std::vector<FlowState> flows_;
  std::vector<Link> bottleneck_;  // by flow
  std::vector<Hop> hops_;
  std::vector<std::vector<std::uint32_t>> free_hops_;  // blocks by length
  std::vector<LinkState> links_;
  std::vector<std::vector<std::uint64_t>> on_link_;  // flow << 32 | number of its hop
  std::vector<std::vector<Crossing>> crossings_;     // of its members; no quiet links
  std::vector<std::vector<Link>> members_from_;      // whose members are on it; not if quiet
  std::vector<Flow> pending_;
  std::size_t all_hops_ = 0;  // of flows with a weight

  // Of one solve().
  std::vector<Flow> touched_;
  std::vector<Link> noted_;
  std::vector<std::uint64_t> queue_;  // a heap: about the level, then the link
  std::vector<Link> faster_;
  Fixed same_ = 0;         // levels that differ by no more are the same
  std::size_t taken_ = 0;  // flows that went to another bottleneck

  // Of one fill().
  struct Offer {
    Fixed level;  // or less than what is left for each
    Link link;
    bool operator<(const Offer& other) const {  // std heaps have the greatest on top
      return level != other.level ? level > other.level : link > other.link;
    }
  };
  std::vector<Offer> offers_;         // a heap
  std::vector<std::uint32_t> open_;   // by link: the weight of flows that have no rate yet
  std::vector<std::uint32_t> slots_;  // by link: where it is in crossings_ of the link at hand
  std::uint32_t fills_ = 0;
};

}  // namespace foretrace::sim
