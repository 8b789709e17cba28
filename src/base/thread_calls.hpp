// Threads of the program: which made which, who waited for another, and how far each is by that.
// thread_calls.cpp and thread_waits.cpp stand in for the C library's functions, in the libraries
// that they are part of.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/position.hpp"
#include "base/thread_usage.hpp"
#include "base/time.hpp"

namespace foretrace::thread_calls {

// A wait of the calling thread for another, really.
struct Waited {
  std::int64_t ns = 0;       // without a core
  std::int64_t idle_ns = 0;  // it may have idled for so long because of the other one
  bool worked = true;        // what it computed meanwhile is the program's;
  Time spun{};               // that, where it is not
  // What the other one waited for as well, since nobody computed: files, other processes.
  std::int64_t for_others_ns = 0;
  bool counts = true;  // whether such waits take time
};

// What follows the program's calls of MPI says of the calling thread:
struct Watcher {
  // Whether what it does now is the program's own, and any of it is asked for.
  bool (*is_followed)();
  // How far it is; nothing: it has not called MPI.
  std::optional<Position> (*position)();
  // It has waited for one that was there, which is where it is now, or later (not later where it
  // did not work meanwhile); false: it does not know its position.
  bool (*go_on)(const Position& from, const Waited& waited);
  // It has waited for the end of one that had called MPI.
  void (*joined)();
  // It is about to make another; may be nullptr.
  void (*makes_thread)();
  // How long the rank's clock takes for what it computed.
  Time (*on_clock)(Time computed);
  // Whether waits for files or other processes take time.
  bool (*counts_waits)();
  // Whether no other thread has called MPI than the one that calls it first.
  bool (*one_calls)();
  // What has passed, really, in the calls of the one thread that calls MPI; and whether it computes
  // meanwhile, to find out what it waits for.
  Time (*in_calls)();
  bool looks_in_calls = false;
};

// From now on; it has to stay.
void watch(const Watcher& watcher);
// Where the calling thread began, later by as much as others have held it up since; nothing: nobody
// knows.
std::optional<Position> begun_at();

// The time of begun_at(); 0 where that is nothing.
Time begun_clock();

// How far the calling thread is. Nothing: nobody asks, or nobody knows.
std::optional<Position> look();
// The same as it is about to let another go on, or to wait.
std::optional<Position> here();
// What a thread that never calls MPI has computed without handing on how far it is: where it is, if
// it had never slept.
struct Unawaited {
  Position at;
  Time work;
};
// Of the calling thread; without work: none, or nobody knows where it is.
Unawaited unawaited_here();
// Of those that have ended, with nobody there who waited for it: they are forgotten.
std::vector<Unawaited> take_unawaited_ends();
// How much a wait is, from where it begins.
class WaitBegin {
 public:
  static WaitBegin now();
  Waited until_now() const;

 private:
  std::int64_t at_ns_ = 0;
  ThreadUsage usage_;  // of all threads: this one computes nothing until it goes on
  Time in_calls_;
};
// That one was `from`: it goes on no earlier, or just there where it did not work; and no earlier
// than after what both waited for. Nothing: nobody knows where that was.
void go_on(const std::optional<Position>& from, const Waited& waited);
// How often the calling thread has done so.
inline thread_local std::uint64_t times_gone_on = 0;
// How long the rank's clock takes for what somebody computed who is followed.
Time on_clock(Time computed);
bool is_followed();
// Whether that holds for its locks as well (locks.hpp).
bool follows_locks();
// Whether anybody has known of another thread than those that call MPI where it was.
bool knows_others();
// The calling thread lets others go on: if it has waited for a core, that is why they have waited.
void tell_queued();
// What the calling thread has waited together with others for files or other processes: what of
// it counted, and what did not.
struct WaitedAlong {
  Time counted;
  Time left_out;
  Time slept;  // by others while it waited for them, beyond what it slept itself
};
WaitedAlong waited_along();
// How long the process's threads, but for the busiest, waited for cores, where that matters: they
// share out work as they go (work_sharing.hpp), a fifth of all was computed by these, and they
// waited for a fifth as long as all computed. Else nothing. Those that have ended count where
// others were there meanwhile: else they ran one after the other.
Time crowded();

}  // namespace foretrace::thread_calls
