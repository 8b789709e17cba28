// What is said at the end of a run: each in one line, however many ranks it is about. What is
// about its times goes into the trace as well.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <sstream>
#include <vector>

#include "base/locks.hpp"
#include "base/thread_waits.hpp"
#include "base/threads_note.hpp"
#include "base/waits_note.hpp"
#include "capture/handlers/handlers.hpp"
#include "capture/session/own_comm.hpp"
#include "capture/session/session.hpp"
#include "capture/session/start_up.hpp"
#include "compute/annotations_note.hpp"

namespace foretrace::capture {
namespace {

// Collective. Whether this rank is the one to tell of: it has the most, and more than nothing.
bool has_most(double own, WorldRank self) {
  struct {
    double amount;
    int rank;
  } most{own, self.value};
  PMPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, own_comm);
  return most.amount > 0 && most.rank == self.value;
}

std::string rank_text(WorldRank rank) {
  return "rank " + std::to_string(rank.value);
}

std::string seconds_text(Time time) {
  char text[30];
  std::snprintf(text, sizeof text, "%.3g s", time.seconds());
  return text;
}

}  // namespace

void Session::tell(const std::string& note) {
  say(note);
  notes_.push_back(note);
}

// Collective. On rank 0 what the ranks have told, one after the other.
std::vector<std::string> Session::all_notes() const {
  std::string own;
  for (const std::string& note : notes_) own += note + '\n';
  const int bytes = static_cast<int>(own.size());
  const bool root = comms.world_rank().value == 0;
  std::vector<int> sizes(root ? static_cast<std::size_t>(comms.world_size()) : 0);
  PMPI_Gather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, own_comm);
  std::vector<int> places(sizes.size());
  std::exclusive_scan(sizes.begin(), sizes.end(), places.begin(), 0);
  std::string text(root ? static_cast<std::size_t>(places.back() + sizes.back()) : 0, '\0');
  PMPI_Gatherv(own.data(), bytes, MPI_CHAR, text.data(), sizes.data(), places.data(), MPI_CHAR, 0,
               own_comm);
  std::vector<std::string> notes;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) notes.push_back(line);
  return notes;
}

// Collective. --compute annotated, and no rank said what it computes.
void Session::complain_of_silence() {
  if (!computation_.is_announced()) return;
  int announced = computation_.announced() ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &announced, 1, MPI_INT, MPI_MAX, own_comm);
  if (comms.world_rank().value != 0) return;
  const std::string note =
      compute::note_of_annotations(announced != 0, model_->compute_step, "measured");
  if (!note.empty()) tell(note);
}

// Collective. How long a program waits by other means than MPI is this machine's doing; and where
// it waits for its own threads, or several of them call MPI, no prediction does so.
void Session::complain_of_waits() {
  const WaitMeter& waits = first_thread_.computed.waits;
  const WorldRank self = comms.world_rank();
  const auto has_most_of = [&](Time waited) {
    return has_most(is_wait_told(waited, wall_now()) ? waited.seconds() : 0, self);
  };
  const thread_calls::WaitedAlong along = thread_calls::waited_along();
  const Time counted = waits.counted() + along.counted;
  const Time left_out = waits.left_out() + along.left_out;
  if (has_most_of(counted)) tell(note_of_counted_waits(self.value, counted.seconds()));
  if (has_most_of(left_out))
    tell(note_of_waits(self.value, left_out.seconds(),
                       others_called_ ? kThreadsTimeForWaits : kNoTimeForWaits));
}

// Collective. How often a program looks by one-sided calls until another rank has written is this
// machine's, and each look takes time in every prediction.
void Session::complain_of_looks() {
  constexpr std::uint64_t kMany = 100;
  constexpr double kLeastShare = 0.01;  // of the predicted time
  const Looks looks = most_looks();
  const bool few =
      looks.count < kMany || (predicting() && looks.took.seconds() < kLeastShare * now_.seconds());
  if (!has_most(few ? 0 : static_cast<double>(looks.count), comms.world_rank())) return;
  const std::string took = predicting()
                               ? "which take " + seconds_text(looks.took) + " of the predicted time"
                               : "each of which takes time in a prediction";
  tell(rank_text(comms.world_rank()) + " looked " + std::to_string(looks.count) +
       " times in vain by " + looks.by + " whether another rank had written, " + took +
       ": how often is this machine's doing; a live run (simulate -n) looks as often as the "
       "target would");
}

// Collective. A program may work until a look finds something; here it did as often as it looked
// here, unless it waited for those behind.
void Session::complain_of_working_looks() {
  complain_of_pacing();
  constexpr std::uint64_t kMany = 10;
  constexpr double kLeastShare = 0.1;
  const double share = announced_ > 0 ? announced_at_looks_ / announced_ : 0;
  const bool as_there = predicting() && piggyback.paces_looks();
  const bool few = as_there || working_looks_ < kMany || share < kLeastShare;
  if (!has_most(few ? 0 : static_cast<double>(working_looks_), comms.world_rank())) return;
  char percent[20];
  std::snprintf(percent, sizeof percent, "%.0f %%", 100 * share);
  tell(
      rank_text(comms.world_rank()) + " announced " + percent + " of its computation before " +
      std::to_string(working_looks_) +
      " looks in vain (MPI_Test, MPI_Iprobe): if it computes until a message is there, how long is "
      "this machine's doing; a live run (simulate -n) looks as often as the target would");
}

// Collective. Waiting for those behind may take much more than the program.
void Session::complain_of_pacing() {
  constexpr double kLeastShare = 0.001;
  const double ahead = predicting() ? piggyback.most_ahead().seconds() : 0;
  if (!has_most(ahead >= kLeastShare * now_.seconds() ? ahead : 0, comms.world_rank())) return;
  tell(
      rank_text(comms.world_rank()) + " looked up to " + seconds_text(Time::from_seconds(ahead)) +
      " ahead of other ranks, as waiting for them took longer than the program: each time that it "
      "works until a look finds something may be so much too long; a live run (simulate -n) waits");
}

// Collective. One line, however many ranks had no room; false: nothing is lost.
bool Session::complain_of_losses() const {
  const int rank = comms.world_rank().value;
  unsigned long long lost = writer_.lost();
  int first = lost > 0 ? rank : comms.world_size();
  PMPI_Allreduce(MPI_IN_PLACE, &lost, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, own_comm);
  PMPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, own_comm);
  if (first == rank)
    say("could not write " + std::to_string(lost) + " records to " + settings_.output + ": " +
        std::strerror(writer_.error()) + "; it holds what happened before");
  return lost > 0;
}

// Collective. What a program sleeps, or waits by the clock, is computation as long as that is
// measured.
void Session::complain_of_sleep() {
  if (predicting() && !computation_.leaves_sleep_out()) return;
  const Time slept =
      first_thread_.computed.slept_between + thread_calls::waited_along().slept + waited_by_clock_;
  if (!has_most(is_wait_told(slept, wall_now()) ? slept.seconds() : 0, comms.world_rank())) return;
  const WorldRank self = comms.world_rank();
  tell(predicting()
           ? note_of_sleep(self.value, slept.seconds(), compute::format_spec(settings_.compute))
           : rank_text(self) + " slept, or waited by the clock, for " + seconds_text(slept) +
                 ": that is part of what is measured, and takes no time with --compute none, "
                 "annotated or counted");
}

// Collective. A rank has one row of events, whichever thread's they are.
void Session::complain_of_threads() {
  constexpr double kLeastShare = 0.1;
  const WorldRank self = comms.world_rank();
  if (has_most(unasked_call_ ? 1 : 0, self)) tell(rank_text(self) + kUnaskedThreads);
  if (has_most(static_cast<double>(overtaken_calls_), self))
    tell(rank_text(self) + ": while " + std::to_string(overtaken_calls_) +
         (overtaken_calls_ == 1 ? " call" : " calls") +
         " waited, other threads made theirs; which of them ends first is this machine's doing, "
         "and times differ from run to run; a live run (simulate -n) has the target's order");
  const double hidden = predicting() ? hidden_.seconds() : 0;
  if (has_most(hidden >= kLeastShare * now_.seconds() ? hidden : 0, self))
    tell(rank_text(self) + ": threads computed for " + seconds_text(hidden_) +
         " while others computed or were in calls; serial time, speed-up and utilisation leave "
         "that out");
  complain_of_crowding();
  complain_of_threads_locks();
  complain_of_unawaited_threads();
}

// Collective. Where several threads call MPI, nothing is known of the others.
void Session::complain_of_threads_locks() {
  const Time waited = locks::waited_left_out();
  if (!has_most(is_wait_told(waited, wall_now()) ? waited.seconds() : 0, comms.world_rank()))
    return;
  tell(rank_text(comms.world_rank()) + ": its threads waited " + seconds_text(waited) +
       " (real time, all together) for locks of each other, which takes no time where several "
       "threads call MPI: times may come out too short");
}

// Collective. What the threads of a rank compute counts as if each had a core; but which of them
// does what may have hung on who had one here.
void Session::complain_of_crowding() {
  const bool is_measured =
      predicting() ? !computation_.leaves_sleep_out() : settings_.clock == trace::Clock::cpu;
  const Time waited = is_measured ? thread_calls::crowded() : Time();
  if (!has_most(is_wait_told(waited, wall_now()) ? waited.seconds() : 0, comms.world_rank()))
    return;
  tell(note_of_crowding(comms.world_rank().value, waited.seconds()));
}

// Collective. A thread that nobody waited for may be one that the rank came to too late, here, to
// wait for.
void Session::complain_of_unawaited_threads() {
  constexpr Time kLeast = Time::ns(1'000'000);
  constexpr double kLeastShare = 0.01;
  const bool is_known = predicting() || settings_.clock == trace::Clock::cpu;
  std::vector<thread_calls::Unawaited> threads = thread_waits::unawaited();
  for (const thread_calls::Unawaited& ended : thread_calls::take_unawaited_ends())
    threads.push_back(ended);
  Time most;
  if (is_known && !others_called_)
    for (const auto& [at, work] : threads)
      most = std::max(most, std::min(work, predicting() ? at.clock - now_ : joins_.beyond(at)));
  const bool is_told = most >= kLeast && most.seconds() >= kLeastShare * now_.seconds();
  if (!has_most(is_told ? most.seconds() : 0, comms.world_rank())) return;
  tell(
      rank_text(comms.world_rank()) + ": a thread computed for " + seconds_text(most) +
      " beyond it, and nobody was seen to wait for that; if the rank does, by what it comes to too "
      "late here (a condition, std::latch, std::promise) or by looking, times come out too short; "
      "a live run (simulate -n) sees more of them");
}

// Collective. What threads announce takes no time here, so they do not run at the same time.
void Session::complain_of_announcing_threads() {
  const bool counts = several_announce_ && (!predicting() || computation_.is_announced());
  const bool unasked = others_announced_ && (!predicting() || computation_.is_announced());
  if (has_most(unasked ? 1 : 0, comms.world_rank()))
    tell(rank_text(comms.world_rank()) + kUnaskedAnnouncements);
  if (!has_most(counts ? 1 : 0, comms.world_rank())) return;
  tell(rank_text(comms.world_rank()) +
       ": several threads announced what they compute; that takes no time here, so they ran one "
       "after the other, and what they compute at the same time there may add up");
}

// Collective. As MPI gives them here, one rank may have got a lock again and again before others.
void Session::complain_of_locks() {
  if (!predicting()) return;
  constexpr double kLeastShare = 0.01;  // of the predicted time
  const Time waited = waited_for_locks();
  const bool few = waited.seconds() < kLeastShare * now_.seconds();
  if (!has_most(few ? 0 : waited.seconds(), comms.world_rank())) return;
  tell(rank_text(comms.world_rank()) + " waits " + seconds_text(waited) +
       " for locks of windows, which ranks get in the order of here; a live run (simulate -n) "
       "gives them in the target's order");
}

// Collective. What some accesses bring back says whether others came first. If but one rank makes
// such to a target's memory, no other can have.
void Session::complain_of_fetches() {
  const Fetches& own = fetches();
  int some = own.count > 0 ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &some, 1, MPI_INT, MPI_SUM, own_comm);
  if (some < 2) return;
  std::vector<int> ranks_at(static_cast<std::size_t>(comms.world_size()));
  for (const WorldRank target : own.targets) ranks_at[static_cast<std::size_t>(target.value)] = 1;
  PMPI_Allreduce(MPI_IN_PLACE, ranks_at.data(), comms.world_size(), MPI_INT, MPI_SUM, own_comm);
  if (*std::ranges::max_element(ranks_at) < 2) return;
  if (!has_most(static_cast<double>(own.count), comms.world_rank())) return;
  const std::string calls = own.count == 1 ? " call" : " calls";
  const std::string how = own.under_lock ? " under exclusive locks" : "";
  tell(rank_text(comms.world_rank()) + " made " + std::to_string(own.count) + calls + " like " +
       name_of(own.fn) + how + ", whose results tell who came first: " +
       (predicting() ? "that is this machine's doing; a live run (simulate -n) has the target's"
                     : "simulate keeps those of here, a live run (simulate -n) has the target's"));
}

// Collective. A loop that looks at memory of its own until another rank has put something there
// calls nothing that would tell so, but for this.
void Session::complain_of_syncs() {
  constexpr std::uint64_t kMany = 100;
  const bool few = most_syncs_.count < kMany;
  if (!has_most(few ? 0 : static_cast<double>(most_syncs_.count), comms.world_rank())) return;
  const std::string place = place_of(most_syncs_.site);
  tell(rank_text(comms.world_rank()) + " called MPI_Win_sync " + std::to_string(most_syncs_.count) +
       " times in a row" + (place.empty() ? "" : " at " + place) +
       ": if it waits there for what another rank puts, a prediction does not; a live run "
       "(simulate -n) does");
}

// Collective. Messages from whomever come here in the order of this machine.
void Session::complain_of_order() {
  if (!predicting()) {
    // Of two ranks each has one other to receive from.
    const bool chooses = wildcards_ > 1 && comms.world_size() > 2;
    if (!has_most(chooses ? static_cast<double>(wildcards_) : 0, comms.world_rank())) return;
    return tell(
        rank_text(comms.world_rank()) + " asked " + std::to_string(wildcards_) +
        " times for messages from MPI_ANY_SOURCE; simulate takes them in the order of here "
        "(--wildcards arrival: as they come there, right if nobody is answered), a live run "
        "(simulate -n) in the target's");
  }
  const AnySource& order = piggyback.any_source();
  if (!has_most(static_cast<double>(order.overtaken), comms.world_rank())) return;
  tell(rank_text(comms.world_rank()) + " took " + std::to_string(order.overtaken) + " of " +
       std::to_string(order.messages) +
       " messages from MPI_ANY_SOURCE after others that are sent later there: which comes first is "
       "this machine's doing; a live run (simulate -n) takes them in the target's order");
}

// Collective. A recording has the looks of a loop that gives up when some time has passed, and they
// take another time elsewhere.
void Session::complain_of_limits() {
  const bool is_told = is_wait_told(gave_up_after_, wall_now());
  if (!has_most(is_told ? gave_up_after_.seconds() : 0, comms.world_rank())) return;
  tell(rank_text(comms.world_rank()) + " looked in vain for " + seconds_text(gave_up_after_) +
       " (MPI_Test, MPI_Iprobe and the like), read a clock meanwhile, and then did something else; "
       "if it gives up when some time has passed, simulate has the looks of here, not that time; "
       "predict and live runs (simulate -n) show it virtual time");
}

// Collective. So does what they complete of several requests.
void Session::complain_of_choices() {
  if (!predicting()) {
    // simulate tells of MPI_Waitany itself; whom a look in vain was for is in no trace.
    const std::uint64_t own = comms.world_size() > 2 ? look_choices.choices() : 0;
    if (!has_most(own > 1 ? static_cast<double>(own) : 0, comms.world_rank())) return;
    return tell(rank_text(comms.world_rank()) + " took " + std::to_string(own) +
                " messages that it found by looking for several in turn (MPI_Test, MPI_Iprobe and "
                "the like); simulate takes them in the order of here, a live run (simulate -n) in "
                "the target's");
  }
  const WorldRank self = comms.world_rank();
  const auto tell_of = [&](const machine::PassedOver& own, const char* by) {
    if (has_most(machine::is_told(own, now_) ? own.lay.seconds() : 0, self))
      tell(machine::note_of_choices(self.value, own, by));
  };
  tell_of(choices.passed_over(), "MPI_Waitany");
  tell_of(look_choices.passed_over(), "MPI_Test, MPI_Iprobe");
}

// Collective. No member of such a collective waits for all others, so nobody sees it there. Ends
// the program, as where members see it: the predicted time means nothing.
void Session::complain_of_roots() const {
  if (!predicting() || piggyback.roots_match() || comms.world_rank().value != 0) return;
  say("members of a communicator call collectives that do not match: their roots differ, or the "
      "calls themselves; simulate and live runs name the calls");
  end_program();
}

}  // namespace foretrace::capture
