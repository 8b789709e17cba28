// Programs whose threads call MPI at once. One thread at a time is inside the
// session; whoever waits in MPI lets the others in.
//
// The rank's events stand in the trace in the order in which the calls ended. A
// call that others overtook is written as two events, as if the program had
// posted it and waited for it: nobody who replays them has to wait where the
// program went on. The rank has one clock, which only goes forward. What a
// thread computes counts from the clock at the end of its last call, so threads
// that compute at the same time do not add up. It begins where its maker was then; who waits for
// its end goes on where it was at the end.
#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "capture/session/session.hpp"

namespace foretrace::capture {

using trace::EventKind;

namespace {

thread_local CallingThread* this_thread = nullptr;

// Gives a thread's place back when the thread ends.
struct Leaving {
  CallingThread* thread = nullptr;
  ~Leaving() {
    if (!thread) return;
    session.forget_thread(*thread);
    // What comes after this, of other objects of the thread, is nobody's.
    this_thread = nullptr;
  }
};
thread_local Leaving leaving;

using thread_calls::Waited;

// By another clock, that is `by` later.
Position moved(Position at, Time by) {
  at.clock += by;
  for (Position::Behind& behind : at.behind) {
    behind.left += by;
    behind.is_next = false;
  }
  return at;
}

constexpr thread_calls::Watcher kWatcher{
    .is_followed = [] { return session.active() && wrapper_depth == 0; },
    .position = [] { return session.threads_position(); },
    .go_on = [](const Position& from,
                const Waited& waited) { return session.go_on_from(from, waited); },
    .joined = [] { session.joined_thread(); },
    .makes_thread = nullptr,
    .on_clock = [](Time computed) { return session.on_clock(computed); },
    .counts_waits = [] { return session.counts_waits(); },
    .one_calls = [] { return !session.others_called(); },
    .in_calls = [] { return session.in_calls(); },
    .looks_in_calls = true};

}  // namespace

void Session::start_threads(bool several_may_call) {
  if (several_may_call) this_thread = &first_thread_;
  several_threads_ = several_may_call;
  thread_calls::watch(kWatcher);
}

// The turn is ours.
CallingThread& Session::new_thread() {
  CallingThread* thread = nullptr;
  if (free_threads_.empty()) {
    thread = &other_threads_.emplace_back();
  } else {
    thread = free_threads_.back();
    free_threads_.pop_back();
    *thread = CallingThread();
  }
  // Most threads are made by the first one.
  const std::optional<Position> made_at = thread_calls::begun_at();
  const Position begun = made_at ? moved(*made_at, Time() - beside_clock())
                                 : Position{first_thread_.clock, first_thread_.steps_clock, Time(),
                                            first_thread_.behind};
  thread->clock = begun.clock;
  thread->behind = begun.behind;
  thread->steps_clock = begun.steps;
  thread->computed.cpu.resume_at_birth();
  computation_.stop(thread->computed);
  thread->number = ++threads_made_;
  if (!others_called_) let_rows_end();
  this_thread = thread;
  leaving.thread = thread;
  return *thread;
}

// A row of looks is one thread's: what there is of it ends here, as work.
void Session::let_rows_end() {
  settle_found();
  end_row();
  may_be_idle_ = false;
  write_pending();
  others_called_ = true;
  in_calls_.stop();
  computation_.leave_waits_out();
}

// In a child process the lock may be another thread's, which is not there.
void Session::forget_thread(CallingThread& thread) {
  if (!active()) return;
  const std::lock_guard turn(turn_);
  reach(thread);
  free_threads_.push_back(&thread);
}

// Of the thread that runs this.
Position Session::position(CallingThread& thread) const {
  const Time computed = computation_.at_reading(thread.computed);
  return {thread.clock + computed, thread.steps_clock + thread.computed.added.steps, Time(),
          thread.behind};
}

// What it has computed so far counts, although no call follows.
void Session::reach(CallingThread& thread) {
  reached_ = after_both(reached_, position(thread));
}

std::optional<Position> Session::threads_position() {
  if (others_called_ ? !this_thread : !initial_thread) return std::nullopt;
  if (others_called_) return moved(position(*this_thread), beside_clock());
  const Time before = now_ + idle_compute_ + idle_cost_;
  // Made where it stays: copying what was just written takes long.
  std::optional<Position> at(std::in_place);
  at->clock = before + computation_.until_reading(first_thread_.computed) + beside_clock();
  at->steps = first_thread_.steps_clock + first_thread_.computed.added.steps;
  at->behind[0] = joins_.behind(written_until_ + beside_clock());
  at->behind[0].steps = first_thread_.steps_clock;
  in_calls_.ask();
  return at;
}

// A recording's clock leaves out what passes in calls, but other threads, that compute meanwhile,
// go on.
Time Session::beside_clock() const {
  return predicting() ? Time() : in_calls_.before();
}

Time Session::on_clock(Time computed) const {
  return computation_.on_clock(computed);
}

// The calling thread goes on no earlier than there.
bool Session::go_on_from(const Position& from, const Waited& waited) {
  const std::optional<Position> here = threads_position();
  const bool exactly = !waited.worked;
  if (!here) return false;
  if (others_called_) {
    const std::lock_guard turn(turn_);
    hold_up_until(moved(from, Time() - beside_clock()), waited);
  } else {
    if (exactly || from.clock > here->clock)
      note_held_up(computation_.off_clock(from.clock - here->clock), Time());
    const Time own = here->clock - (exactly ? on_clock(waited.spun) : Time());
    if (predicting() || settings_.clock == trace::Clock::cpu)
      joins_.note(from, own, exactly ? from.clock : std::max(from.clock, here->clock));
  }
  return true;
}

void Session::hold_up_until(const Position& from, const Waited& waited) {
  const Position now = position(*this_thread);
  Position here = now;
  if (!waited.worked) here.clock -= on_clock(waited.spun);
  const Position at = after_both(here, from);
  this_thread->clock += at.clock - now.clock;
  this_thread->steps_clock += at.steps - now.steps;
  this_thread->behind = at.behind;
}

// It may have been any of those that have ended.
void Session::joined_thread() {
  if (!this_thread) return;
  const std::lock_guard turn(turn_);
  hold_up_until(reached_, {});
}

// A thread that never calls MPI says what it computes by this alone.
void Session::add_threads_steps(double steps) {
  const std::lock_guard turn(turn_);
  CallingThread& thread = this_thread ? *this_thread : new_thread();
  computation_.add_steps(thread.computed, steps);
  if (!thread.has_called) reach(thread);
}

// An event begins, of which its thread has said what it computed.
void Session::advance(trace::Event& event) {
  thread_->has_called = thread_->in_turn = true;
  if (!others_called_) return;
  const bool wall = !predicting() && settings_.clock == trace::Clock::wall;
  Position at{thread_->clock + event.compute, thread_->steps_clock + event.steps, Time(),
              thread_->behind};
  at = after_both(at, reached_);
  if (!wall) {
    now_ = std::max(now_, at.clock);
    Joins::begin(event, at);
  }
  event.steps = std::max(at.steps - steps_now_, 0.0);
  steps_now_ += event.steps;
}

void Session::take_turn() {
  if (this_thread) computation_.stop(this_thread->computed);
  turn_.lock();
  thread_ = this_thread ? this_thread : &new_thread();
  thread_->in_turn = false;
  computation_.on(thread_->computed);
  post_waiting();
}

// Where nothing was called (kernels), what it computed before is still to count.
void Session::end_turn() {
  if (thread_->in_turn) {
    thread_->clock = now_;
    thread_->behind = {joins_.behind(written_until_)};
    thread_->behind[0].is_next = false;
    thread_->behind[0].steps = steps_now_;
    thread_->steps_clock = steps_now_;
  }
  turn_.unlock();
}

void Session::let_others_in() {
  if (thread_->in_event) waiting_.push_back(thread_);
  turn_.unlock();
}

void Session::come_back() {
  turn_.lock();
  thread_ = this_thread;
  computation_.on(thread_->computed);
  std::erase(waiting_, thread_);
  post_waiting();
}

// Somebody else goes on: the calls that wait begin before whatever comes now.
void Session::post_waiting() {
  for (CallingThread* thread : waiting_)
    if (thread->may_split && !thread->is_posted) post(*thread);
}

void Session::post(CallingThread& thread) {
  thread.is_posted = true;
  ++overtaken_calls_;
  thread.posted = {};
  const trace::Event& call = thread.event;
  trace::Event event = call;
  event.enter -= thread.packing;
  event.leave = event.enter;
  event.wait = Time();
  event.completions.clear();
  const auto write_as = [&](EventKind kind, std::size_t part) {
    event.kind = kind;
    event.request = thread.posted[part] = requests.next_serial();
    write_in_order(event, kind == EventKind::icollective ? thread.counts_or_null() : nullptr);
    event.join = {};
    event.compute = Time();
    event.steps = 0;
    event.count = 0;
  };
  switch (call.kind) {
    case EventKind::send:
      write_as(EventKind::isend, 0);
      return;
    case EventKind::recv:
      write_as(EventKind::irecv, 0);
      return;
    case EventKind::sendrecv:
      write_as(EventKind::irecv, 0);
      write_as(EventKind::isend, 1);
      return;
    case EventKind::collective:
      write_as(EventKind::icollective, 0);
      return;
    default:  // posts anyway
      write_in_order(event);
  }
}

// What is left of a call that was posted: it completes. False: nothing is.
bool Session::complete_posted(trace::Event& event, bool refused) {
  if (thread_->posted[0] == 0) return false;
  const bool receives = event.kind == EventKind::recv || event.kind == EventKind::sendrecv;
  event.completions.clear();
  for (const std::uint64_t number : thread_->posted) {
    if (number == 0) continue;
    trace::Completion completion;
    completion.request = number;
    completion.cancelled = refused;
    if (receives && !refused && number == thread_->posted[0]) {
      completion.source = event.recv.peer;
      completion.tag = event.recv.tag;
      completion.bytes = event.recv.bytes;
    }
    event.completions.push_back(completion);
  }
  event.kind = EventKind::complete;
  event.join = {};
  event.compute = Time();
  event.steps = 0;
  event.count = 0;
  return true;
}

// Ends the event at hand. `refused`: MPI did not make the call.
void Session::write_threads_event(bool refused) {
  trace::Event& event = thread_->event;
  if (!thread_->is_posted)
    write_in_order(event, thread_->counts_or_null());
  else if (complete_posted(event, refused))
    write_in_order(event);
  thread_->in_event = thread_->is_posted = false;
}

// Of calls that overlap, each has the time that those before it left.
void Session::write_in_order(trace::Event& event, const trace::Counts* counts) {
  event.enter = std::max(event.enter, written_until_);
  event.leave = std::max(event.leave, event.enter);
  event.wait = std::min(event.wait, event.leave - event.enter);
  const Time gap = event.enter - written_until_;
  const bool wall = !predicting() && settings_.clock == trace::Clock::wall;
  hidden_ += std::max(event.compute - gap, Time());
  event.compute = wall ? std::min(event.compute, gap) : gap;
  // The row of events goes on without it.
  event.join.held = event.compute;
  event.join.held_steps = event.steps;
  joins_.write(event);
  written_until_ = event.leave;
  writer_.write(event, counts);
  // The rank is still in the calls of the others.
  for (const CallingThread* thread : waiting_)
    if (thread != thread_) writer_.enter(thread->event.name, thread->event.site);
}

}  // namespace foretrace::capture
