// Completing: a completing call under way. It takes the requests that the call completed, in the
// order in which MPI lists them, and ends its event. Which they are the handlers know
// (complete.cpp).
#pragma once

#include "capture/handlers/posting.hpp"
#include "capture/session/found_look.hpp"

namespace foretrace::capture {

// Whom the message that a completed receive got came from, and with which tag.
WorldRank source_of(const Request& request, const MPI_Status& status);
int tag_of(const Request& request, const MPI_Status& status);

// Under predict: whether a posted receive or collective ends by `now`, as far as others have said.
bool is_known_to_end_by(Request& request, Time now);
// Of a request that MPI has completed, and the program does not know, under predict: whether others
// have to say more before it is known when it ends: members of a posted collective, the receiver of
// a send that waits for it.
bool waits_for_others(Request& request);
// Of one that waits for none: whether its transfer ends after `now`. That is not asked of sends
// that wait for no receiver.
bool ends_after(Request& request, const MPI_Status& status, Time now);

class Completing {
 public:
  // `may_be_ignored`: it looks, and the program may go on as if nothing had come of it.
  // `chooses`: it takes of its requests what came first.
  explicit Completing(trace::Event& event, bool may_be_ignored = false, bool chooses = false)
      : event_(event),
        looks_(may_be_ignored),
        chooses_(chooses),
        waits_(event.enter),
        found_(may_be_ignored && session.begin_found() ? &session.found_look() : nullptr) {}

  // One of which the program has been told before only goes.
  void take(Request& request, const MPI_Status& status);
  // It is complete, but remains until another call.
  void tell(Request& request, const MPI_Status& status);
  // Without the request itself. Of several parts the receives come first.
  void take_parts(Request& request, const MPI_Status& status);
  // Of a look that was taken back: it is this call's.
  void take_again(const Taken& taken);
  // Where it looks, and what it found may be ignored; else nullptr.
  FoundLook* found() { return found_; }
  // It is a look in any case.
  void be_look() { looks_ = true; }
  void finish();

 private:
  void take_one(Request& request, const MPI_Status& status);
  static void end_collective(Request& request, Taken& taken);
  static void end_message(Request& request, Taken& taken);
  void advance(const Taken& taken);

  trace::Event& event_;
  bool looks_;
  bool chooses_;
  machine::WaitsInTurn waits_;
  FoundLook* found_;
  Time ends_;       // of collectives and accesses
  Time unpacking_;  // of all that was received
};

}  // namespace foretrace::capture
