// OwnClock: the rank's virtual clock as far as the rank can follow it by itself, and what it
// knows of its looks (Test, Iprobe): which of them the simulator has said to be in vain until
// when, and when messages end whose senders knew their clocks. Such looks are posted like
// others, but nobody waits for what is known.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "machine/port.hpp"
#include "shared/shared_memory.hpp"

namespace foretrace::live {

// An eager message as one end of it knows it.
struct KnownTransfer {
  bool is_send = false;
  std::int64_t sent = kNoClock;
  std::uint64_t bytes = 0;  // message_costs::sized()
};

// When that is there for which a rank looks, as far as the rank can tell: at this moment, or, if
// that is not known, at this moment at the soonest.
struct End {
  Time at;
  bool known = false;
};

// Whether data that does not lie together takes time, which only the simulator knows; and whether
// the record sends such data then.
bool pieces_take_time();
bool sends_pieces(const Record& record);

// What comes of a look.
enum class Foreseen : std::uint8_t { nothing, in_vain, finds };

class OwnClock {
 public:
  // What a look asks for; the same number for the same look.
  static std::uint64_t look_of(const Record& record);

  // When the posting begins that has so much computation before it.
  std::optional<Time> entry(const Record& record) const;
  // What the computation of a posting takes, as far as the simulator tells.
  static Time computation(const Record& record);
  // When the last posting was over, if that is known.
  std::optional<Time> left() const { return known_ ? std::optional(now_) : std::nullopt; }
  // A message is sent by the operation that is posted next, in a call that begins at `entry`: when
  // it leaves, if that is known.
  std::optional<Time> depart(std::optional<Time> entry, Bytes bytes);
  // An operation was posted that is not waited for.
  void posted(const Record& record);
  // The simulator has answered an operation, which left at `clock`; so long it has
  // `looked` (sim::Outcome).
  void answered(const Record& record, Time clock, Time looked);
  // What was posted last is a blocking receive, and has got this message.
  void received(const KnownTransfer& message);
  // What was posted last has completed these, in this order.
  void completed(std::span<const KnownTransfer> transfers);

  // It has said that a look is in vain as long as it begins before `until`.
  void learn(std::uint64_t look, Time until);
  // Whether this look, which is posted next, is known to be in vain: then it is over at now().
  bool is_in_vain(const Record& record, std::uint64_t look);
  // What comes of this look, which is posted next, for what ends then. In vain, or a probe that
  // finds a message: it is over at now(). A test completes what has ended at let_go(), a test_any
  // the first of that: completed() has to follow.
  // Only where may_foresee().
  bool may_foresee(const Record& record) const;
  Foreseen foresee(const Record& record, std::span<const End> ends);
  // Until when it looks at the latest, and when it leaves at the soonest if it finds nothing.
  Time looks_until(const Record& record) const;
  Time in_vain_leaves(const Record& record) const;
  // It has ended in vain at `when`: it is over at now().
  void end_in_vain(const Record& record, Time when);
  // No message that the rank has sent leaves after this; Time::max() if that is not known.
  Time sent_by() const { return sent_by_; }
  // One of which nothing is known.
  void sends_something() { sent_by_ = Time::max(); }

  // When it ends; nothing if that is not known.
  static std::optional<Time> end_of(const KnownTransfer& transfer);
  // Whether it is known when this call leaves, which is posted next.
  bool knows_cost(const Record& record) const;
  Time now() const { return now_; }
  Time let_go() const { return let_go_; }
  // What is posted from now on begins then or later; 0 if nothing is known.
  Time floor() const { return known_ ? now_ : entered_.value_or(Time()); }

 private:
  struct Vain {
    std::uint64_t look = 0;
    Time until;
  };

  // What is known of the rank's port: it may have done what the rank cannot follow.
  struct KnownPort {
    machine::Port port;
    bool departures = true;         // all of them are known
    std::optional<Time> free_by;    // if not: the next message can leave then, at the latest
    std::vector<Bytes> unfollowed;  // sent since that is not known either
    bool moves = true;
    std::optional<Time> idle_by;  // the same of what it moves

    std::optional<Time> move(Time end, std::optional<Time> takes);
    void lose_moves() {
      moves = false;
      idle_by.reset();
    }
    // The simulator has gone through all that came before `clock`.
    void bound(Time clock);
  };

  std::optional<Time> follow(std::optional<Time> entry, Bytes bytes);

  KnownPort port_;
  Time now_;
  bool known_ = false;
  std::optional<Time> entered_;  // when what was posted last began
  bool takes_apart_ = false;     // and whether it receives data that does not lie together
  Time let_go_;                  // and when it is let go on, if it waits for nothing more
  Time looked_;                  // sim::Outcome
  Time waits_since_;             // from when on what completes requests counts as a wait
  Time sent_by_;
  std::array<Vain, 16> vain_{};
  std::size_t next_ = 0;  // the place in it that is taken next
};

}  // namespace foretrace::live
