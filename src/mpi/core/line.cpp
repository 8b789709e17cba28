#include "mpi/core/line.hpp"

#include <sched.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/preload.hpp"
#include "base/program_clock.hpp"
#include "base/ticks.hpp"
#include "mpi/abi/handles.hpp"
#include "mpi/core/function.hpp"
#include "mpi/core/imports.hpp"
#include "mpi/core/mailbox.hpp"
#include "mpi/core/other_threads.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/core/simulator.hpp"
#include "mpi/core/threads.hpp"
#include "mpi/p2p/checks.hpp"
#include "mpi/p2p/completion.hpp"
#include "shared/heap.hpp"
#include "shared/horizon.hpp"
#include "shared/inbox.hpp"
#include "shared/message_costs.hpp"

namespace foretrace::mpi {

using trace::EventKind;

Line line;

namespace {

// After so many polls in vain the simulator repeats the call for the program.
constexpr int kFewPolls = 8;
// And for no longer than so much for each poll in vain before. If each poll went on for as long as
// all before together, a program that polls some hundred times before it does something else would
// never come to it where others work between their polls.
constexpr Time kMostForEach = Time::ns(40'000);
// Nor for longer than this where another thread of the rank runs: its calls may come later by that.
constexpr std::int64_t kMostBeside = Time::ns(10'000).count_ps();

[[noreturn]] void refuse(const char* why) {
  std::fprintf(stderr, "foretrace: %s\n", why);
  std::_Exit(kRefused);
}

// What is so on all ranks is said by one, before any ends.
[[noreturn]] void refuse_run(const char* why) {
  Header& header = SharedMemory::header();
  Refusal found = Refusal::none;
  if (header.refusal.compare_exchange_strong(found, Refusal::is_being_said)) {
    std::fprintf(stderr, "foretrace: %s\n", why);
    header.refusal.store(Refusal::said);
    ring_bell();
  }
  while (header.refusal.load() != Refusal::said) ::sched_yield();
  std::_Exit(kRefused);
}

// Programs that this one starts are none of our business.
void leave_environment() {
  ::unsetenv(kVariable);
  ::unsetenv(kStartVariable);
  ::unsetenv(kSampleVariable);
  ::unsetenv(kWtimeVariable);
  ::unsetenv(kWaitsVariable);
  take_out_of_preload("/live/" FORETRACE_MPI_NAME "/");
}

}  // namespace

void Line::open() {
  const char* value = std::getenv(kVariable);
  int descriptor = -1;
  if (!value || std::sscanf(value, "%d:%d", &descriptor, &rank_) != 2)
    refuse(
        "this MPI library simulates; start the program with: foretrace simulate -n RANKS "
        "--machine MACHINE -- PROGRAM");
  if (!SharedMemory::mapped() && !SharedMemory::attach(descriptor))
    refuse("cannot reach the simulator (is this process one that the program started itself?)");
  ::close(descriptor);
  if (const char* samples = std::getenv(kSampleVariable))
    sampler_ = compute::KernelSampler(std::atoi(samples));
  const char* start = std::getenv(kStartVariable);
  logging_ = logging_next_ = !start || std::strcmp(start, "off") != 0;
  const char* wtime = std::getenv(kWtimeVariable);
  const bool real_clocks = wtime && std::strcmp(wtime, "real") == 0;
  const char* waits = std::getenv(kWaitsVariable);
  waits_count_ = !waits || std::strcmp(waits, "none") != 0;
  leave_environment();
  const Header& header = SharedMemory::header();
  size_ = header.ranks;
  measured_ = header.measured;
  if (measured_ == Measured::cpu) CpuClock::leave_out_reading();
  may_run_ahead_ = may_pass_time_ =
      header.run_ahead && header.ranks == header.world && !program_withdraws_messages();
  try {
    if (measured_ == Measured::blocks) counter_.open(compute::Counter::blocks);
    if (measured_ == Measured::instructions) counter_.open(compute::Counter::instructions);
  } catch (const Error& error) {
    refuse_run(error.what());
  }
  std::int32_t none = 0;
  if (!SharedMemory::slot(rank_).program.compare_exchange_strong(none, ::getpid()))
    refuse_run(
        "a second program comes to MPI_Init on one rank, and only one can be simulated: run each "
        "of a script's programs by itself");
  // One that a script had begun to start when the simulation ended: nobody would answer it.
  if (header.over.load()) ::_exit(1);
  SharedMemory::be(rank_);
  heap::begin(rank_);
  slot_ = &SharedMemory::slot(rank_);
  posted_ = slot_->posted.load();
  publish_names();
  find_site();
  be_first_thread();
  if (measured_ == Measured::cpu) leave_out_calls();
  if (!real_clocks) show_clocks();
  let_children_go();
}

void Line::show_clocks() {
  program_clock::start([] {
    if (!line.is_open()) return std::optional<Time>();
    enter_library();
    const Time time = line.shown_time();
    leave_library();
    return std::optional(time);
  });
}

void Line::close() {
  flush_call();
  const std::string kernels = sampler_.summary();
  if (!kernels.empty() && rank_ == 0) std::fprintf(stderr, "foretrace: %s\n", kernels.c_str());
  program_clock::stop(std::max(clock_wait_.last(), Time::ps(latest_)));
  follow_no_core(followed_);
  slot_ = nullptr;
}

// The simulator knows functions by our numbers.
void Line::publish_names() {
  Header& header = SharedMemory::header();
  if (header.names_taken.exchange(1) != 0) return;
  std::string text;
  const int count = function_count();
  for (int i = 0; i < count; ++i) {
    text += name_of(static_cast<Fn>(i));
    text += '\0';
  }
  const std::uint64_t place = heap::allocate(sizeof(std::uint64_t) + text.size());
  *SharedMemory::at<std::uint64_t>(place) = static_cast<std::uint64_t>(count);
  std::memcpy(SharedMemory::at<char>(place + sizeof(std::uint64_t)), text.data(), text.size());
  header.names.store(place, std::memory_order_release);
}

Record Line::record(EventKind kind) const {
  must_be_open();
  if (work_ != &first_ && kind != EventKind::call) tell_of_threads();
  Record record;
  record.kind = static_cast<std::uint8_t>(kind);
  record.name = static_cast<std::uint32_t>(current_function());
  record.site = at_hand_.site;
  return record;
}

void Line::append(const Record& record) {
  clock_.posted(record);
  write(record);
}

void Line::write(const Record& record) {
  must_be_open();
  let_out();
  wait_for_room(rank_, posted_);
  slot_->next_posting(posted_) = record;
  slot_->posted.store(++posted_, std::memory_order_release);
}

// Tests in vain come in rows. The simulator gets them together, before whatever comes next.
void Line::hold_back(const Record& record) {
  const auto is_like = [&record](const Record& first) {
    return first.name == record.name && first.site == record.site && first.count == record.count;
  };
  if (held_back_ == kMostVain || (held_back_ > 0 && !is_like(slot_->posting(posted_)))) let_out();
  if (held_back_ == 0) {
    wait_for_room(rank_, posted_ + postings_of_vain(kMostVain) - 1);
    Record& first = slot_->next_posting(posted_);
    first = record;
    first.posting = Posting::vain_looks;
    first.list = 0;
  }
  if (record.list != 0) heap::free(record.list);
  slot_->vain_look(posted_, held_back_) = {record.compute, record.patience};
  slot_->posting(posted_).list_count = ++held_back_;
  slot_->held_back.store(postings_of_vain(held_back_), std::memory_order_release);
}

void Line::let_out() {
  if (held_back_ == 0) return;
  posted_ += postings_of_vain(std::exchange(held_back_, 0));
  slot_->held_back.store(0, std::memory_order_relaxed);
  slot_->posted.store(posted_, std::memory_order_release);
}

void Line::take_compute(Record& record) {
  record.compute = work_->compute.count_ps();
  record.steps = work_->steps;
  work_->compute = Time();
  work_->steps = 0;
}

// Of several operations of one call the first one counts as the call.
void Line::count_call(Record& record) {
  if (record.name >= kOwnNames) return;
  if (at_hand_.goes_on) record.count = 0;
  at_hand_.goes_on = true;
}

void Line::post(Record& record) {
  if (record.posting == Posting::operation) {
    flush_call();
    if (!record.silent) take_compute(record), count_call(record);
    forget_polls();
    clock_wait_.end_with_sleep();
  }
  at_hand_.said = true;
  append(record);
}

const Answer& Line::ask(Record& record) {
  if (record.kind != static_cast<std::uint8_t>(EventKind::call)) {
    forget_polls();
    clock_wait_.end_with_sleep();
  }
  return exchange(record);
}

const Answer& Line::exchange(Record& record) {
  // What a rank starts begins when its call leaves, hence after what was before it.
  if (record.posting == Posting::operation || record.posting == Posting::spawn) {
    flush_call();
    if (!record.silent) take_compute(record), count_call(record);
  }
  return wait_for_answer(record);
}

const Answer& Line::wait_for_answer(Record& record) {
  must_be_open();
  record.answer = true;
  at_hand_.said = true;
  let_out();
  wait_for_room(rank_, posted_);
  raise_floor(clock_.entry(record).value_or(Time()));
  slot_->go.store(0, std::memory_order_relaxed);
  slot_->next_posting(posted_) = record;
  slot_->awaits.store(awaited_posting(posted_ + 1), std::memory_order_relaxed);
  slot_->posted.store(++posted_, std::memory_order_release);
  give_up_core(rank_);
  wait_for_turn(rank_);
  return take_answer(record);
}

// Of a test that this rank may come to know the outcome of before the simulator does. nullptr:
// that is so, and foreseen says which.
const Answer* Line::wait_for_answer_or_messages(Record& record, Ends& ends, Foreseen& foreseen) {
  record.answer = true;
  at_hand_.said = true;
  write(record);
  raise_floor(*clock_.entry(record));
  const std::uint64_t awaited = awaited_posting(posted_);
  for (;;) {
    const std::optional<Time> ended = inbox::sleep_until_answered(
        rank_, posted_, ends.missing(), ends.wish(clock_.in_vain_leaves(record)));
    if (__libc_single_threaded) follow_core(followed_);
    if (slot_->answered.load(std::memory_order_acquire) == awaited) return &take_answer(record);
    if (ended) {
      clock_.end_in_vain(record, *ended);
      foreseen = Foreseen::in_vain;
    } else {
      foreseen = look_at(record, ends);
    }
    if (foreseen != Foreseen::nothing) return nullptr;
  }
}

// What comes of this look, as far as this rank knows.
Foreseen Line::look_at(const Record& record, Ends& ends) {
  return clock_.foresee(record, ends.look(*clock_.entry(record), clock_.looks_until(record)));
}

const Answer& Line::take_answer(const Record& record) {
  if (__libc_single_threaded) follow_core(followed_);
  sure_ = true;
  ahead_ = false;
  const Answer& answer = slot_->answer;
  if (record.posting == Posting::operation || record.posting == Posting::spawn) {
    latest_ = answer.clock;
    clock_.answered(record, Time::ps(answer.clock), Time::ps(answer.looked));
  }
  return answer;
}

Time Line::shown_time() {
  const std::int64_t entered = monotonic_ns();
  // What this takes is not the program's.
  take_over();
  stop_work(false);
  const Time now = clock_now();
  Time clock = (several_ ? work_->since : now) + computation(*work_);
  resume_work();
  const std::uint32_t readings = readings_for_sleep();
  if (clock_wait_.at_reading(clock, entered) || readings > 1) {
    const Entry entry(Fn::MPI_Wtime, {});
    clock_wait_.moved_to(clock = virtual_time(readings));
  }
  clock_wait_.showed(clock);
  clock_wait_.left(monotonic_ns());
  return clock;
}

std::uint32_t Line::readings_for_sleep() {
  return several_ ? 1
                  : clock_wait_.readings(first_.slept_between + slept_ever - first_.slept_before);
}

// The rank's, when its last call was over.
Time Line::clock_now() {
  flush_call();
  if (!clock_.left() && asked_ != posted_) {
    catch_up();
    told_ = Time::ps(slot_->answer.clock);
    asked_ = posted_;
  }
  return clock_.left().value_or(told_);
}

// A call of no length that is no event: it comes after what was computed, which is told again.
void Line::take_turn() {
  Record record = this->record(EventKind::call);
  record.silent = true;
  flush_call();
  record.compute = work_->compute.count_ps();
  record.steps = work_->steps;
  aside([&] { return &wait_for_answer(record); });
}

void Line::catch_up() {
  Record record;
  record.posting = Posting::catch_up;
  aside([&] { return &exchange(record); });
}

namespace {

// After a switch between processes the processor has to look up every page anew, code
// as well as data, each by reads from cold tables. All at once they wait together.
template <class... Things>
void look_up(Things*... things) {
  (__builtin_prefetch(reinterpret_cast<const void*>(things)), ...);
}

}  // namespace

void Line::sleep_until(std::uint32_t wanted, std::uint32_t further) {
  raise_floor(clock_.floor());
  inbox::sleep_until(rank_, wanted, further);
  look_up(&complete, &post_again, &forget_handle, &abi::find, &mpi::may_run_ahead, &check_send,
          &mailbox, this, static_cast<const char*>(at_hand_.point.address), &std::free,
          &std::memcpy);
  if (__libc_single_threaded) follow_core(followed_);
}

// A program that computes in between, or does something else, begins anew. One that has given up a
// row of looks may do so again after as many: the next time those take what they take by
// themselves.
void Line::forget_polls(bool gave_up) {
  constexpr int kMostGivenUp = 4096;
  if (gave_up && in_vain_ >= kFewPolls) {
    if (in_vain_ > given_up_) looked_for_nothing_ += Time::ps(last_look_ - since_);
    given_up_ = std::max(given_up_, std::min(in_vain_, kMostGivenUp));
  }
  clock_wait_.end();
  in_vain_ = 0;
  abouts_ = 0;
  more_abouts_ = false;
}

void Line::note_about(std::uint64_t about) {
  if (std::find(looked_for_, looked_for_ + abouts_, about) != looked_for_ + abouts_) return;
  if (abouts_ < kMostLookedFor)
    looked_for_[abouts_++] = about;
  else
    more_abouts_ = true;
}

Few<std::uint64_t> Line::looked_for_besides(std::uint64_t number) {
  Few<std::uint64_t> others;
  if (in_vain_ < kFewPolls) return others;
  for (std::size_t i = 0; i < abouts_; ++i)
    if (looked_for_[i] != number && looked_for_[i] < kNoRequest) others.push_back(looked_for_[i]);
  return others;
}

bool Line::has_worked() const {
  constexpr Time kBusy = Time::ns(5000);
  // A loop that does nothing but look counts a little, too.
  constexpr double kBusyCount = 1000;
  return (counter_.is_open() ? work_->steps > kBusyCount : work_->steps != 0) ||
         work_->compute > kBusy;
}

// How long the simulator is to look for the program.
std::int64_t Line::patience_of(const Record& record, bool waits) const {
  // Where it looks for several things in turn that cannot all be watched at once,
  // the others must not wait for long because of this one.
  const bool watches_all = !more_abouts_ && abouts_ == std::size_t{1} + record.watched;
  const std::int64_t elapsed = latest_ - since_;
  // Another thread of this rank may be what brings it about.
  const bool alone = !threads_multiple();
  if (in_vain_ < std::max(kFewPolls, given_up_)) return 0;
  if (!alone && !other_threads_sleep()) return waits ? std::min(elapsed / 64, kMostBeside) : 0;
  const std::int64_t patience = watches_all && alone ? elapsed : elapsed / 8;
  return waits ? patience : std::min(patience, kMostForEach.count_ps() * in_vain_);
}

const Answer* Line::poll(Record& record, std::uint64_t about, bool waits, Ends* ends) {
  const bool worked = has_worked();
  if (worked) forget_polls();
  note_about(about);
  record.patience = patience_of(record, waits);
  flush_call();
  take_compute(record);
  count_call(record);
  const std::uint64_t look = OwnClock::look_of(record);
  Foreseen foreseen = Foreseen::nothing;
  const Answer* const answer = find_out(record, look, ends, foreseen);
  at_hand_.said = true;
  // It may work as long again before its next call.
  if (worked) let_out();
  if (foreseen != Foreseen::nothing) ahead_ = true;
  if (foreseen == Foreseen::finds) {
    forget_polls(false);
    return nullptr;
  }
  static const Answer nothing;
  if (foreseen == Foreseen::in_vain) latest_ = clock_.now().count_ps();
  if (in_vain_++ == 0) since_ = latest_;
  last_look_ = latest_;
  if (!answer) return &nothing;
  if (answer->found || answer->completed > 0)
    forget_polls(false);
  else
    clock_.learn(look, Time::ps(answer->in_vain_until));
  return answer;
}

// Posts the look; the simulator's answer, or nullptr if what comes of it is foreseen.
const Answer* Line::find_out(Record& record, std::uint64_t look, Ends* ends, Foreseen& foreseen) {
  const bool may_foresee = ends && clock_.may_foresee(record);
  if (may_foresee) foreseen = look_at(record, *ends);
  if (foreseen == Foreseen::nothing && clock_.is_in_vain(record, look))
    foreseen = Foreseen::in_vain;
  if (foreseen == Foreseen::nothing) {
    if (may_foresee && record.list_count <= kTable)
      return wait_for_answer_or_messages(record, *ends, foreseen);
    return &wait_for_answer(record);
  }
  record.foreseen = foreseen == Foreseen::finds;
  // While one that waits is in the engine, what it waits for is an event there: others see that
  // something is still to come.
  if (!record.foreseen && record.probing == 0 && record.patience == 0 && record.steps == 0 &&
      !threads_multiple())
    hold_back(record);
  else
    write(record);
  return nullptr;
}

std::int64_t Line::pass_time(Record& record) {
  flush_call();
  if (!may_pass_time() || thread_multiple_level() || !clock_.knows_cost(record))
    return exchange(record).clock;
  take_compute(record);
  count_call(record);
  at_hand_.said = true;
  append(record);
  ahead_ = true;
  return latest_ = clock_.now().count_ps();
}

// Others may know more then.
void Line::raise_floor(Time floor) {
  if (floor <= floor_ || !mpi::may_run_ahead()) return;
  floor_ = floor;
  horizon::raise(rank_, floor);
}

std::int64_t Line::depart(const Record& send) {
  if (send.silent) {
    clock_.sends_something();
    return kNoClock;
  }
  flush_call();
  Record record;
  record.compute = work_->compute.count_ps();
  record.steps = work_->steps;
  const std::optional<Time> departs =
      clock_.depart(live::sends_pieces(send) ? std::nullopt : clock_.entry(record),
                    Bytes(live::message_costs::sized(send.send_bytes, send.untouched)));
  return departs ? departs->count_ps() : kNoClock;
}

void Line::list_requests(Record& record, std::span<const std::uint64_t> numbers) {
  record.list_count = 0;
  if (numbers.size() <= kNear &&
      std::ranges::all_of(numbers, [](std::uint64_t number) { return number <= UINT32_MAX; })) {
    for (const std::uint64_t number : numbers)
      record.add_near_number(static_cast<std::uint32_t>(number));
    return;
  }
  list(record, numbers);
}

void Line::list(Record& record, std::span<const std::uint64_t> numbers) {
  record.list_count = static_cast<std::uint32_t>(numbers.size());
  record.list = heap::allocate(numbers.size_bytes());
  if (record.list == 0) refuse("the memory that the ranks share is full");
  std::ranges::copy(numbers, SharedMemory::at<std::uint64_t>(record.list));
}

const Result* Line::results(const Answer& answer) {
  return answer.results != 0 ? SharedMemory::at<Result>(answer.results) : slot_->results;
}

void Line::free_results(const Answer& answer) {
  if (answer.results != 0) heap::free(answer.results);
}

}  // namespace foretrace::mpi
