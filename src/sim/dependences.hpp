// Dependences: what determined every time of a simulation, as the engine found it.
//
// A graph of moments. Each moment is the latest of its links: the moment where
// the link comes from, plus what lies between. The engine writes it while it
// computes the times (SimulateOptions::dependences); it decides nothing. With it
// the run can be walked back (critical path) or gone through again with links
// changed (what-if). The order of the moments is a topological one.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "machine/timing.hpp"
#include "sim/packed_rows.hpp"
#include "sim/recurring.hpp"
#include "trace/event.hpp"

namespace foretrace::sim {

using MomentId = std::uint32_t;
inline constexpr MomentId kNoMoment = UINT32_MAX;

enum class LinkKind : std::uint8_t {
  compute,     // from the previous call's leave to a call's enter
  own,         // from a call's enter to its own leave, or its request's end
  message,     // from the sender's enter
  answer,      // from the receiver's enter to what waits for it (rendezvous)
  collective,  // from the latest start to a member's leave
  request,     // from the end of a request to the leave of the call that completes it
  gather,      // from a member's enter to the latest start, from where a lock is given back to
               // the leave of who gets it; takes no time
};

// What lies between two moments. The parts are never more than the whole; what is
// left waits for others on links or ports.
struct Link {
  MomentId from = kNoMoment;
  LinkKind kind = LinkKind::own;
  Time takes;
  Time overhead;  // the processor's: o of LogGPS; calls of the data sheet that need nobody
  Time latency;   // what an empty message would take; collective: an empty one
  Time bytes;     // what its size adds
};

enum class MomentKind : std::uint8_t { enter, leave, request, latest };

struct Moment {
  Time at;
  Time alone;                   // leave: when, if everybody had been there
  MomentId enter = kNoMoment;   // leave: of the same call
  WorldRank rank;               // invalid: of a collective
  std::uint32_t operation = 0;  // of the rank, from 0
  MomentKind kind = MomentKind::enter;

  Time wait() const { return at > alone ? at - alone : Time(); }
};

class Dependences {
 public:
  std::size_t size() const { return moments_.size(); }
  Moment operator[](MomentId id) const;

  class Links;
  Links links(MomentId id) const;
  // Where a rank's last operation was entered and left; kNoMoment: it had none. One that is
  // carried out as messages has more between them.
  MomentId last_enter(WorldRank rank) const { return state(rank).first; }
  MomentId last_leave(WorldRank rank) const { return state(rank).leave; }

  // Whether every time is the latest of its links and these take the same whatever
  // the other times are, so that a what-if follows from the graph alone.
  bool fixed() const { return fixed_; }
  // Something has happened of which the graph knows the time alone.
  void note_unknown() { fixed_ = false; }

  // What follows is for the engine.
  void begin(int ranks, bool fixed);
  // Nothing comes any more: what was kept for that is let go.
  void finish();
  void enter(WorldRank rank, std::uint32_t operation, Time when);
  // `rest`: what the call takes after each of the links that it was given.
  void leave(WorldRank rank, Time when, Time alone, Time rest);
  // One more link of the call that the rank is in.
  void add(WorldRank rank, const Link& link) { state(rank).links.push_back(link); }
  MomentId entered(WorldRank rank) const { return state(rank).enter; }

  void post(WorldRank rank, std::uint64_t request) {
    state(rank).posted[request] = {entered(rank), kNoMoment};
  }
  // When the request ends. Its links must give `when` in the same way as leave()'s.
  void end_request(WorldRank rank, std::uint64_t request, Time when, std::span<Link> links);
  // The end of a request that is completed now; kNoMoment if there was nothing.
  MomentId take_request(WorldRank rank, std::uint64_t request);
  // Where the call that posted it was entered.
  MomentId posted(WorldRank rank, std::uint64_t request) const;

  // Of a rank's messages, in their order: where the call was entered that sent it, and
  // the processor's part until it left.
  struct Sent {
    MomentId enter = kNoMoment;
    Time overhead;
  };
  void note_send(WorldRank rank, Time overhead) {
    state(rank).sends.push_back({entered(rank), overhead});
  }
  const Sent& sent(WorldRank rank, std::uint32_t order) const { return state(rank).sends[order]; }

  // A message whose both ends are known: links that lead to `at`, where it is there,
  // or (shared links) where its data enters them.
  struct Way {
    Link links[2];
    int count = 0;
    Time at = Time::ps(INT64_MIN);
    Link beyond;  // what it takes from there on: its parts, at most
  };
  // It is there at `when`, for a rank in its call (request 0) or a request.
  void arrive(Way way, WorldRank rank, std::uint64_t request, Time when);
  struct Flying {
    Way data;
    Way sender;
  };
  // On links that messages share: both ends are known, but not yet when it is there;
  // the message gets its number next.
  void meet(const Flying& ways) { met_ = ways; }
  void launch(std::uint32_t number) { flying_[number] = met_; }
  const Flying& flying(std::uint32_t number) { return flying_[number]; }

  // Collectives. `root`: a world rank.
  void join(trace::CommId comm, std::size_t size, machine::Dependence dependence, WorldRank root,
            WorldRank rank, std::uint64_t request);
  // A member need not wait any more: its call or request ends `cost` after the latest start.
  void release(trace::CommId comm, WorldRank rank, std::uint64_t request, const Link& cost,
               Time end);

 private:
  struct Posted {
    MomentId enter = kNoMoment;
    MomentId end = kNoMoment;
  };
  struct RankState {
    MomentId first = kNoMoment;  // of the operation at hand
    MomentId enter = kNoMoment;
    MomentId leave = kNoMoment;
    std::vector<Link> links;
    std::vector<Sent> sends;
    std::unordered_map<std::uint64_t, Posted> posted;
    std::unordered_map<trace::CommId, std::uint64_t> joined;  // collectives so far
    // Posted collectives: their number on the communicator.
    std::unordered_map<std::uint64_t, std::uint64_t> instances;
  };
  struct Instance {
    machine::Dependence dependence = machine::Dependence::all_for_all;
    std::vector<MomentId> entered;
    MomentId root = kNoMoment;
    MomentId latest = kNoMoment;
    std::size_t released = 0;
    std::size_t size = 0;
  };
  using Instances = std::unordered_map<std::uint64_t, Instance>;

  RankState& state(WorldRank rank) { return states_[static_cast<std::size_t>(rank.value)]; }
  const RankState& state(WorldRank rank) const {
    return states_[static_cast<std::size_t>(rank.value)];
  }
  // A run has several moments and links for each call, so that they are kept small: columns of
  // PackedRows.
  struct MomentColumn {
    enum : std::size_t {
      kAt,
      kFirstLink,  // its links: up to the next moment's first
      kRank,       // its number and 1
      kKind,
      kOperation,
      kBack,   // leave: how many moments before it the call was entered
      kAlone,  // leave: index into alone_
      kCount
    };
  };
  struct LinkColumn {
    enum : std::size_t {
      kBack,     // how many moments before its own it comes from
      kReaches,  // 1: it makes its moment so late
      kParts,    // index into parts_
      kCount
    };
  };
  struct LinkParts {
    Time takes;  // of a link that reaches none: it is what lies between the moments
    Time overhead;
    Time latency;
    Time bytes;
    LinkKind kind;
    bool operator==(const LinkParts&) const = default;
    std::uint64_t hash() const;
  };
  // From a call's enter to when it would leave if everybody had been there.
  struct Alone {
    Time time;
    bool operator==(const Alone&) const = default;
    std::uint64_t hash() const;
  };

  Time at(MomentId id) const {
    return Time::ps(static_cast<std::int64_t>(moments_.get(id, MomentColumn::kAt)));
  }
  Link link(std::size_t index, MomentId to) const {
    const auto from = to - static_cast<MomentId>(links_.get(index, LinkColumn::kBack));
    const LinkParts& parts =
        parts_[static_cast<std::uint32_t>(links_.get(index, LinkColumn::kParts))];
    const bool reaches = links_.get(index, LinkColumn::kReaches) != 0;
    return {from,           parts.kind,    reaches ? at(to) - at(from) : parts.takes,
            parts.overhead, parts.latency, parts.bytes};
  }
  MomentId append(const Moment& moment, std::span<Link> links);
  void settle(std::span<Link> links, Time when);

  friend class Links;
  PackedRows<MomentColumn::kCount> moments_;
  PackedRows<LinkColumn::kCount> links_;
  Recurring<LinkParts> parts_;
  Recurring<Alone> alone_;
  std::vector<RankState> states_;
  std::unordered_map<std::uint32_t, Flying> flying_;
  Flying met_;
  std::unordered_map<trace::CommId, Instances> collectives_;
  bool fixed_ = true;
};

// The links of a moment, made as they are asked for.
class Dependences::Links {
 public:
  class Iterator {
   public:
    Iterator(const Dependences& graph, MomentId to, std::size_t at)
        : graph_(&graph), at_(at), to_(to) {}
    Link operator*() const { return graph_->link(at_, to_); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const Dependences* graph_;
    std::size_t at_;
    MomentId to_;
  };

  Links(const Dependences& graph, MomentId to, std::size_t first, std::size_t end)
      : graph_(&graph), to_(to), first_(first), end_(end) {}
  bool empty() const { return first_ == end_; }
  std::size_t size() const { return end_ - first_; }
  Iterator begin() const { return {*graph_, to_, first_}; }
  Iterator end() const { return {*graph_, to_, end_}; }

 private:
  const Dependences* graph_;
  MomentId to_;
  std::size_t first_;
  std::size_t end_;
};

inline Dependences::Links Dependences::links(MomentId id) const {
  const auto first_of = [this](std::size_t one) {
    return one < moments_.size() ? moments_.get(one, MomentColumn::kFirstLink) : links_.size();
  };
  return {*this, id, first_of(id), first_of(id + std::size_t{1})};
}

// Inlined, so that only what is asked for is unpacked.
[[gnu::always_inline]] inline Moment Dependences::operator[](MomentId id) const {
  const auto number = [this, id](std::size_t column) {
    return static_cast<std::uint32_t>(moments_.get(id, column));
  };
  Moment moment;
  moment.at = moment.alone = at(id);
  moment.rank = WorldRank(static_cast<std::int32_t>(number(MomentColumn::kRank)) - 1);
  moment.kind = static_cast<MomentKind>(number(MomentColumn::kKind));
  moment.operation = number(MomentColumn::kOperation);
  if (moment.kind != MomentKind::leave) return moment;
  moment.enter = id - number(MomentColumn::kBack);
  moment.alone = at(moment.enter) + alone_[number(MomentColumn::kAlone)].time;
  return moment;
}

}  // namespace foretrace::sim
