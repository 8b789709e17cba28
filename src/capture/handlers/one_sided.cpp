// Windows: accesses to the memory of others, and what opens and closes the epochs that they
// belong to. Its members have a communicator of their own in the trace. A fence is a barrier
// of them; the posts and completions of chosen members are messages. What an epoch's end waits
// for besides stands before it as an event of its own, if there is anything.
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/handlers/posting.hpp"
#include "capture/predict/lock_times.hpp"
#include "mpi_api/groups.hpp"

namespace foretrace::capture {
namespace {

using machine::OneSided;

// As in our own MPI library (src/mpi/onesided/state.hpp).
constexpr int kPosted = 1;
constexpr int kCompleted = 2;

bool is_meant(int target, int asked) {
  return asked == kAllTargets || target == asked;
}

// Whether what it brings back tells who came first.
bool is_fetch(Fn fn, const Place& place, const CommInfo& members) {
  if (place.no_op || members.size < 2) return false;
  static const mpi_api::Group* const group = mpi_api::find_group("fetches");
  return mpi_api::is_in(*group, name_of(fn));
}

// The accesses to one target since the last call that waited for them all.
struct Accessed {
  Time end;      // predict: of the latest
  Time fetched;  // predict: of the latest that brings data
};

// A lock.
struct Held {
  bool alone = false;
  bool has_read = false;  // by an access that brings data
};

struct Window {
  MPI_Win handle = MPI_WIN_NULL;
  CommInfo* members = nullptr;
  std::map<int, Accessed> accessed;  // by target
  std::map<int, bool> started;       // MPI_Win_start: targets; whether it is known that they posted
  Request posted;                    // MPI_Win_post: the messages from and to the origins
  std::map<int, Held> locked;        // targets whose lock is held
  LockTimes lock_times;              // predict
};

std::unordered_map<std::uint64_t, std::unique_ptr<Window>> windows;
Time lock_waits;
Fetches fetches_made;

Window* find(MPI_Win win) {
  const auto found = windows.find(handle_bits(win));
  return found == windows.end() ? nullptr : found->second.get();
}

// A loop that reads a place of memory until another rank has written there: each look is an access
// and a wait for it, as in work. What tells it from work is that it finds what was there before,
// and that nothing is computed between two looks.
class Watched {
 public:
  // An access begins. `own`: where what it brings comes.
  void look(Fn fn, MPI_Win win, int target, const Place& place, Bytes bytes,
            const trace::Event& event) {
    constexpr Time kIdle = Time::ns(2000);
    if (bytes.count > kMost) return;
    Spot& spot = find(win, target, place, bytes);
    spot.fn = fn;
    spot.site = event.site;
    spot.begin = event.enter;
    spot.asked = true;
    if (event.compute > kIdle) spot.known = false;
  }
  // What was asked for is there.
  void found(MPI_Win win, int target, Time now) {
    for (Spot& spot : spots_) {
      if (!spot.asked || spot.win != win || !is_meant(spot.target, target)) continue;
      spot.asked = false;
      std::array<char, kMost> value{};
      // By the system, which does not mind if it is a device's memory.
      const iovec ours{value.data(), spot.bytes.count};
      const iovec theirs{const_cast<void*>(spot.place.own), spot.bytes.count};
      if (::process_vm_readv(::getpid(), &ours, 1, &theirs, 1, 0) < 0) continue;
      if (std::exchange(spot.known, true) && value == spot.value) {
        ++spot.in_vain;
        spot.took += now - spot.begin;
      }
      spot.value = value;
    }
  }
  Looks most() const {
    const Spot& most = *std::ranges::max_element(spots_, {}, &Spot::in_vain);
    const std::string place = session.place_of(most.site);
    return {most.in_vain, most.took,
            std::string(name_of(most.fn)) + (place.empty() ? "" : " at " + place)};
  }

 private:
  static constexpr std::uint64_t kMost = 16;  // bytes of a flag, a counter, a lock
  struct Spot {
    MPI_Win win = MPI_WIN_NULL;
    int target = 0;
    Place place;
    Bytes bytes;
    Fn fn{};
    trace::SiteId site = 0;
    Time begin;  // of the last look
    Time took;
    bool asked = false;  // and not yet waited for
    bool known = false;
    std::array<char, kMost> value{};  // if known
    std::uint64_t in_vain = 0;
  };

  // Where it is new: in place of the one with the fewest looks.
  Spot& find(MPI_Win win, int target, const Place& place, Bytes bytes) {
    const auto is_it = [&](const Spot& spot) {
      return spot.win == win && spot.target == target && spot.place.at == place.at &&
             spot.place.own == place.own && spot.bytes.count == bytes.count;
    };
    const auto known = std::ranges::find_if(spots_, is_it);
    if (known != spots_.end()) return *known;
    Spot& spot = *std::ranges::min_element(spots_, {}, &Spot::in_vain);
    spot = Spot();
    spot.win = win;
    spot.target = target;
    spot.place = place;
    spot.bytes = bytes;
    return spot;
  }

  std::array<Spot, 8> spots_;
};
Watched watched;

// The real call is made in the first of a call's events, whichever that is.
class Once {
 public:
  explicit Once(Real real) : real_(real) {}
  int operator()() {
    if (!made_) result_ = wait_in(real_);
    made_ = true;
    return result_;
  }

 private:
  Real real_;
  bool made_ = false;
  int result_ = MPI_SUCCESS;
};

int barrier(Fn fn, CommInfo& members, Real real) {
  return run_collective(fn, Cost::barrier, members, MPI_COMM_NULL, -1, Bytes(0), real);
}

// Begins the event of a call about a window and makes the call; nullptr, and the event is over, if
// MPI refused it.
trace::Event* make_call(Fn fn, OneSided what, Window& window, int target, Real real, int& result) {
  trace::Event& event = session.open(trace::EventKind::call, fn);
  result = real();
  if (result != MPI_SUCCESS) {
    session.close_as_call();
    return nullptr;
  }
  event.comm = session.comm_id(*window.members);
  event.one_sided = what;
  event.send.peer = window.members->world(target);
  return &event;
}

// Waits for the accesses to `target`.
int flush(Fn fn, OneSided how, Window& window, int target, Real real) {
  int result = MPI_SUCCESS;
  trace::Event* const event = make_call(fn, how, window, target, real, result);
  if (!event) return result;
  Time end;
  std::erase_if(window.accessed, [&](const auto& entry) {
    if (!is_meant(entry.first, target)) return false;
    end = std::max(end, how == OneSided::flush ? entry.second.end : entry.second.fetched);
    return how == OneSided::flush;
  });
  // What a look found is read before the event closes: from then on the program computes.
  if (!session.predicting()) {
    watched.found(window.handle, target, event->enter);
    session.close();
    return result;
  }
  const Time alone = event->enter + session.timing().flush_time(name_of(fn));
  const Time leave = std::max(alone, end);
  watched.found(window.handle, target, leave);
  session.close_at(leave, machine::wait_time(leave, alone));
  return result;
}

// At the end of an epoch.
void flush_open(Fn fn, Window& window, int target, Once& real) {
  for (const auto& [accessed, times] : window.accessed) {
    if (!is_meant(accessed, target)) continue;
    flush(fn, OneSided::flush, window, target, [&] { return real(); });
    return;
  }
}

// What takes the time of its own equation, if that.
int plain_epoch(Fn fn, OneSided what, Window& window, int target, Real real) {
  int result = MPI_SUCCESS;
  trace::Event* const event = make_call(fn, what, window, target, real, result);
  if (!event) return result;
  if (session.predicting())
    session.close_at(event->enter + session.call_cost(fn), Time());
  else
    session.close();
  return result;
}

// The lock of one target: leaves when it would if nobody had held it, or when those before have
// given it back.
int lock_target(Fn fn, OneSided how, Window& window, int target, Real real) {
  int result = MPI_SUCCESS;
  trace::Event* const event = make_call(fn, how, window, target, real, result);
  if (!event) return result;
  const bool alone = how == OneSided::lock;
  window.locked[target] = {.alone = alone};
  if (!session.predicting()) {
    session.close();
    return result;
  }
  const Time free = event->enter + session.timing_with(event->send.peer).lock_time();
  const Time leave = std::max(free, window.lock_times.held_until(target, alone));
  lock_waits += leave - free;
  session.close_at(leave, machine::wait_time(leave, free));
  return result;
}

int unlock_target(Fn fn, Window& window, int target, Real real) {
  const auto held = window.locked.find(target);
  const auto give_back = [&] {
    if (session.predicting() && held != window.locked.end())
      window.lock_times.give_back(target, held->second.alone, session.thread().event.enter);
    return real();
  };
  const int result = plain_epoch(fn, OneSided::unlock, window, target, give_back);
  if (result == MPI_SUCCESS && held != window.locked.end()) window.locked.erase(held);
  return result;
}

// The first access to a target of MPI_Win_start waits for its MPI_Win_post.
void meet(Fn fn, Window& window, int target) {
  const auto found = window.started.find(target);
  if (found == window.started.end() || found->second) return;
  found->second = true;
  receive_by_itself(fn, session.comms.hidden(*window.members), target, kPosted);
}

// The group's members as ranks of the window.
std::vector<int> ranks_of(MPI_Group group, MPI_Win win) {
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> members(static_cast<std::size_t>(size));
  std::vector<int> ranks(members.size());
  for (int i = 0; i < size; ++i) members[static_cast<std::size_t>(i)] = i;
  MPI_Group all = MPI_GROUP_NULL;
  PMPI_Win_get_group(win, &all);
  PMPI_Group_translate_ranks(group, size, members.data(), all, ranks.data());
  PMPI_Group_free(&all);
  return ranks;
}

}  // namespace

int win_create(Fn fn, MPI_Comm comm, const MPI_Win* win, Real real) {
  Inside inside;
  CommInfo* info = inside ? session.comms.find(comm) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  const int result = barrier(fn, *info, real);
  if (result != MPI_SUCCESS) return result;
  const AfterEvent after;
  auto window = std::make_unique<Window>();
  window->handle = *win;
  window->members = &session.comms.adopt_members(*info, comm);
  if (session.predicting()) window->lock_times.make(comm);
  window->posted.several = true;
  window->posted.comm = &session.comms.hidden(*window->members);
  windows[handle_bits(*win)] = std::move(window);
  return result;
}

int win_free(Fn fn, const MPI_Win* win, Real real) {
  Inside inside;
  Window* window = inside && win ? find(*win) : nullptr;
  if (!window) return inside ? plain_call(fn, real) : real();
  const std::uint64_t handle = handle_bits(*win);
  const int result = barrier(fn, *window->members, real);
  if (result != MPI_SUCCESS) return result;
  const AfterEvent after;
  window->lock_times.free();
  // What has the handle by now may be another one.
  const auto found = windows.find(handle);
  if (found != windows.end() && found->second.get() == window) windows.erase(found);
  return result;
}

int win_fence(Fn fn, MPI_Win win, Real real) {
  Inside inside;
  Window* window = inside ? find(win) : nullptr;
  if (!window) return inside ? plain_call(fn, real) : real();
  const auto nothing = [] { return MPI_SUCCESS; };
  Once none(nothing);
  flush_open(fn, *window, kAllTargets, none);
  return barrier(fn, *window->members, real);
}

Time waited_for_locks() {
  return lock_waits;
}

const Fetches& fetches() {
  return fetches_made;
}

void note_fetch(Fn fn, WorldRank target, bool under_lock) {
  ++fetches_made.count;
  fetches_made.fn = fn;
  fetches_made.under_lock = under_lock;
  fetches_made.targets.insert(target);
}

Looks most_looks() {
  return watched.most();
}

int win_access(Fn fn, OneSided what, MPI_Win win, int target, const Place& place, Bytes bytes,
               MPI_Request* variable, Real real) {
  Inside inside;
  if (!inside) return real();
  Window* window = target == MPI_PROC_NULL ? nullptr : find(win);
  if (!window || !window->members->world(target).valid()) return plain_call(fn, real);
  meet(fn, *window, target);
  if (bytes.count == 0) return plain_call(fn, real);
  trace::Event& event = session.open(trace::EventKind::call, fn);
  const int result = wait_in(real);
  if (result != MPI_SUCCESS) {
    session.close_as_call();
    return result;
  }
  event.comm = session.comm_id(*window->members);
  event.one_sided = what;
  event.bytes = bytes;
  event.send.peer = window->members->world(target);
  machine::AccessTimes times{event.enter, event.enter};
  if (session.predicting())
    times = session.accesses.begin(session.timing_with(event.send.peer), what, event.enter, bytes);
  Accessed& accessed = window->accessed[target];
  accessed.end = std::max(accessed.end, times.end);
  const bool brings = machine::brings_back(what);
  // Who reads and then writes under a lock that it has alone draws from a counter, too.
  const auto held = window->locked.find(target);
  const bool alone = held != window->locked.end() && held->second.alone;
  const bool draws = alone && held->second.has_read && !brings;
  if (is_fetch(fn, place, *window->members) || (draws && window->members->size > 1)) {
    note_fetch(fn, window->members->world(target), draws);
  }
  if (alone && brings) held->second.has_read = true;
  if (brings && !variable) watched.look(fn, win, target, place, bytes, event);
  if (brings) accessed.fetched = std::max(accessed.fetched, times.end);
  if (variable && *variable != MPI_REQUEST_NULL) {
    Request& request = session.requests.add();
    request.access = true;
    request.active = true;
    request.comm = window->members;
    request.serial = event.request = session.requests.next_serial();
    request.end = brings ? times.end : times.leave;
    session.requests.index(request, variable);
  }
  if (session.predicting())
    session.close_at(times.leave, Time());
  else
    session.close();
  return result;
}

int win_flush(Fn fn, OneSided how, MPI_Win win, int target, Real real) {
  Inside inside;
  Window* window = inside ? find(win) : nullptr;
  if (!window || target == MPI_PROC_NULL) return inside ? plain_call(fn, real) : real();
  return flush(fn, how, *window, target, [&] { return wait_in(real); });
}

int win_lock(Fn fn, int type, int target, int assertion, MPI_Win win, Real real) {
  Inside inside;
  Window* window = inside ? find(win) : nullptr;
  if (!window || target == MPI_PROC_NULL || (assertion & MPI_MODE_NOCHECK) != 0)
    return inside ? plain_call(fn, real) : real();
  const OneSided how = type == MPI_LOCK_EXCLUSIVE ? OneSided::lock : OneSided::lock_shared;
  const auto call = [&] { return wait_in(real); };
  if (target == kAllTargets) return plain_epoch(fn, how, *window, target, call);
  return lock_target(fn, how, *window, target, call);
}

int win_unlock(Fn fn, int target, MPI_Win win, Real real) {
  Inside inside;
  Window* window = inside ? find(win) : nullptr;
  if (!window || target == MPI_PROC_NULL) return inside ? plain_call(fn, real) : real();
  Once once(real);
  const auto nothing = [] { return MPI_SUCCESS; };
  Once none(nothing);
  // A predicted run says when it gives the lock back before it does.
  flush_open(fn, *window, target, session.predicting() ? none : once);
  return unlock_target(fn, *window, target, [&] { return once(); });
}

int win_start(Fn fn, MPI_Group group, int assertion, MPI_Win win, Real real) {
  Inside inside;
  if (!inside) return real();
  const int result = plain_call(fn, real);
  Window* window = result == MPI_SUCCESS ? find(win) : nullptr;
  if (!window) return result;
  const bool posted = (assertion & MPI_MODE_NOCHECK) != 0;
  for (const int rank : ranks_of(group, win)) window->started.emplace(rank, posted);
  return result;
}

int win_complete(Fn fn, MPI_Win win, Real real) {
  Inside inside;
  Window* window = inside ? find(win) : nullptr;
  if (!window || window->started.empty()) return inside ? plain_call(fn, real) : real();
  Once once(real);
  // Before anybody waits for what this rank's completion brings about.
  const int result = once();
  for (const auto& [target, posted] : window->started) {
    meet(fn, *window, target);
    flush_open(fn, *window, target, once);
    send_by_itself(fn, session.comms.hidden(*window->members), target, kCompleted);
  }
  window->started.clear();
  return result;
}

int win_post(Fn fn, MPI_Group group, int assertion, MPI_Win win, Real real) {
  Inside inside;
  Window* window = inside ? find(win) : nullptr;
  if (!window) return inside ? plain_call(fn, real) : real();
  Request& messages = window->posted;
  const std::vector<int> ranks = ranks_of(group, win);
  for (const int rank : ranks)
    describe_recv(add_part(messages), *messages.comm, Bytes(0), rank, kCompleted);
  if ((assertion & MPI_MODE_NOCHECK) == 0)
    for (const int rank : ranks)
      describe_send(add_part(messages), *messages.comm, SendMode::standard, Bytes(0), rank,
                    kPosted);
  return post_several(fn, messages, nullptr, [&] { return wait_in(real); });
}

int win_wait(Fn fn, MPI_Win win, Real real) {
  Inside inside;
  Window* window = inside ? find(win) : nullptr;
  if (!window || window->posted.parts.empty()) return inside ? plain_call(fn, real) : real();
  const int result = complete_parts(fn, window->posted, [&] {
    if (!session.predicting() || !session.piggyback.needs_progress()) return wait_in(real);
    // Others may wait for this rank's answer.
    int flag = 0;
    int tested = MPI_SUCCESS;
    session.piggyback.poll(
        [&] {
          tested = PMPI_Win_test(win, &flag);
          return flag != 0 || tested != MPI_SUCCESS;
        },
        {name_of(fn), WorldRank(), 0, 0, false});
    return tested;
  });
  discard_parts(window->posted);
  return result;
}

int win_test(Fn fn, MPI_Win win, int* flag, Real real) {
  Inside inside;
  Window* window = inside ? find(win) : nullptr;
  if (!inside) return real();
  session.piggyback.keep_going();
  if (!window || window->posted.parts.empty()) return plain_call(fn, real);
  const int result = real();
  if (result != MPI_SUCCESS || *flag == 0) return plain_state(fn, [&] { return result; });
  complete_parts(fn, window->posted, [] { return MPI_SUCCESS; });
  discard_parts(window->posted);
  return result;
}

}  // namespace foretrace::capture
