// Sends that end in a prediction while their receiver computes, though the measured MPI ends such
// sends only while the receiver is in one of its calls (LogGPS::attended_from).
//
// A prediction lets messages go on by themselves. For how long it does so against the MPI's ways is
// told from its events, in any order between ranks. How much longer the run would take is not known
// from that: a rank that waits once may be as late for all that follows.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/slots.hpp"
#include "trace/event.hpp"

namespace foretrace::analysis {

// Of one rank.
struct Unattended {
  WorldRank rank;
  // For how long its sends were over before their receivers came, but for what its other waits
  // would hide.
  Time early;
  // Most of it in these calls, of sends to this rank.
  WorldRank receiver;
  trace::NameId name = 0;
  trace::SiteId site = 0;
};

class UnattendedSends {
 public:
  // Whether a send of the rank to another is of that kind.
  using IsAttended = std::function<bool(WorldRank from, WorldRank to, machine::SendMode, Bytes)>;
  using NameOf = std::function<std::string_view(WorldRank, trace::NameId)>;
  UnattendedSends(int ranks, IsAttended is_attended, NameOf name_of);

  // Each rank's in the order in which they happen.
  void add(WorldRank rank, const trace::Call& call, Time enter, Time leave, Time wait,
           std::span<const trace::Completion> completions);
  // The rank of which it is most; nothing: no send was early. `end`: of the run.
  std::optional<Unattended> most(Time end) const;

 private:
  // A rank is in no call that moves messages; the ends are not part of it.
  struct Stay {
    Time from, to;
  };
  struct Send {
    WorldRank sender;
    WorldRank receiver;
    Time sent;
    std::optional<Time> attended;  // when its receiver was in MPI first
    // The call that completed it: when the rank left it, and had waited for so long.
    Time left;
    Time waited;
    trace::NameId name = 0;
    trace::SiteId site = 0;
  };
  using Place = std::tuple<trace::NameId, trace::SiteId, std::int32_t>;  // the receiver
  struct Rank {
    Time until;  // its events are known so far
    Time waited;
    bool ended = false;
    std::vector<Stay> stays;  // ascending
    // Sends to it at a time that it has not come to: a heap, the earliest first.
    std::vector<std::pair<Time, std::uint32_t>> arriving;
    // Its sends that are not completed, with their requests: few, and mostly in this order.
    std::vector<std::pair<std::uint64_t, std::uint32_t>> open;
    std::deque<std::uint32_t> completed;  // its sends, of which it is not known yet
    Time early, late_until, waited_before;
    std::map<Place, Time> places;
    std::vector<signed char> kinds;  // of calls by name; 0: not asked
  };

  enum Kind : signed char { moves_nothing = 1, moves, looks };
  Kind kind_of(Rank& state, WorldRank rank, const trace::Call& call);
  void come(Rank& state, Time from, Time leave);
  void end(Rank& state);
  std::uint32_t post(WorldRank rank, const trace::Call& call, Time sent);
  void complete(std::uint32_t send, const trace::Call& call, Time left);
  void settle(Rank& sender);
  void count(Rank& sender, std::uint32_t send);
  void forget_stays();
  Rank& of(WorldRank rank) { return ranks_[static_cast<std::size_t>(rank.value)]; }

  IsAttended is_attended_;
  NameOf name_of_;
  std::vector<Rank> ranks_;
  Slots<Send> sends_;
  std::uint64_t stays_ = 0;
  std::uint64_t most_stays_ = std::uint64_t{1} << 20;
};

}  // namespace foretrace::analysis
