// Joins: what a rank's events tell of its threads (trace::Join).
//
// Where one thread calls MPI, it has waited for others, which computed since it was at an event.
// Where several do, each event comes after what its own thread, or one that this has waited for,
// has computed since its last one, whatever others did meanwhile.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/thread_calls.hpp"
#include "trace/event.hpp"

namespace foretrace::capture {

class Joins {
 public:
  // For a position that the thread hands on; `left`: when the last event that is written was left,
  // by the position's clock.
  Position::Behind behind(Time left);
  // The thread has waited for one that is `from`. It goes on at `until`, by itself it would be
  // `own` there.
  void note(const Position& from, Time own, Time until);
  // An event begins at `now`: what was noted goes with it. write() has to see it before the file
  // does.
  void begin(trace::Event& event, Time now);
  // The same where several threads call: the event's thread is `at`.
  static void begin(trace::Event& event, const Position& at);
  void write(trace::Event& event);
  // What one that is there has computed since it was handed its work, beyond the rank itself.
  Time beyond(const Position& there) const;

  // Whether the two must not become one event.
  static bool part(const trace::Event& a, const trace::Event& b) {
    return (a.join.back | a.join.mark | b.join.back | b.join.mark) != 0;
  }

 private:
  // Where an event was entered.
  struct Entered {
    Time at;
    Time computed;
    std::uint64_t event = 0;  // its number; 0: it is not written
  };

  std::optional<Entered> begin_of(const Position::Behind& behind) const;
  void settle(trace::Join& join) const;

  std::uint64_t gap_ = 1;                     // between two calls, the one at hand
  std::uint64_t written_ = 0;                 // events
  Time computed_;                             // before them, without waits for threads
  std::map<std::uint64_t, Entered> entered_;  // by the gap before the event; the last ones
  bool is_asked_ = false;                     // for where the next event is entered
  // In this gap: whether there was a wait; for what until where, and how long all took.
  bool has_joined_ = false;
  Position from_;
  Time until_;
  Time held_;
};

}  // namespace foretrace::capture
