#include "shared/horizon.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

#include "shared/heap.hpp"
#include "shared/shared_memory.hpp"

namespace foretrace::live::horizon {
namespace {

constexpr std::size_t kMostRanks = 256;
constexpr std::size_t kContexts = 1024;  // of those that are the same, entries are counted together
constexpr std::int64_t kNever = INT64_MAX;

// What one rank says of itself, and waits for. Times in picoseconds.
struct State {
  std::atomic<std::int64_t> floor{0};
  // Its promise, if `rest` is not 0. The other fields are written before that.
  std::atomic<std::int64_t> rest{0};
  std::atomic<bool> patient{false};
  std::atomic<bool> for_collective{false};
  std::atomic<std::uint32_t> posting{0};
  std::int64_t enter = 0;
  std::int64_t gives_up = 0;
  std::int64_t events_by = 0;
  // Under the table's lock.
  std::atomic<std::int64_t> wanted{kNever};  // kNever: it does not wait
  bool if_others_go_on = false;
  std::int64_t ended_at = kNever;  // the look that it sleeps in
};

struct Table {
  std::size_t ranks = 0;
  Time least_transfer;
  std::array<State, kMostRanks> states;
  std::atomic<std::uint32_t> lock{0};
  std::atomic<std::int64_t> least_wanted{kNever};
  std::atomic<std::uint64_t> all_entries{0};
  std::array<std::atomic<std::uint64_t>, kContexts> entries{};
};

Table* table() {
  const std::uint64_t place = SharedMemory::header().horizon.load(std::memory_order_acquire);
  return place == 0 ? nullptr : SharedMemory::at<Table>(place);
}

State& state_of(Table& table, int rank) {
  return table.states[static_cast<std::size_t>(rank)];
}

// The least of some times, and the least of all but that one's.
struct Least {
  std::int64_t time = kNever;
  std::size_t rank = 0;
  std::int64_t of_others = kNever;

  void add(std::int64_t other, std::size_t of) {
    if (other < time) {
      of_others = time;
      time = other;
      rank = of;
    } else {
      of_others = std::min(of_others, other);
    }
  }
  std::int64_t without(std::size_t other) const { return other == rank ? of_others : time; }
};

// How far all are.
struct Views {
  Least floors;
  Least rests;  // and where a rank has promised more, that
  std::size_t going_on = 0;
  std::size_t who = 0;  // the last of them

  bool others_go_on(std::size_t rank) const {
    return going_on > 1 || (going_on == 1 && who != rank);
  }
};

// Floors before rests: what a rank has sent before its floor has ended the receiver's rest.
Views view_all(const Table& table) {
  Views views;
  std::array<std::int64_t, kMostRanks> floors;  // NOLINT(*-member-init): as many as there are ranks
  for (std::size_t r = 0; r < table.ranks; ++r) {
    floors[r] = table.states[r].floor.load(std::memory_order_seq_cst);
    views.floors.add(floors[r], r);
  }
  for (std::size_t r = 0; r < table.ranks; ++r) {
    const State& state = table.states[r];
    const std::int64_t rest = state.rest.load(std::memory_order_seq_cst);
    views.rests.add(std::max(floors[r], rest), r);
    if (floors[r] == kNever || (rest != 0 && state.patient.load(std::memory_order_relaxed)))
      continue;
    ++views.going_on;
    views.who = r;
  }
  return views;
}

bool is_reached(const State& state, const Views& views, std::size_t rank) {
  if (views.rests.without(rank) < state.wanted) return false;
  return !state.if_others_go_on || views.others_go_on(rank) ||
         views.floors.without(rank) >= state.wanted;
}

void let_go_on_who_waits(Table& table) {
  std::array<int, kMostRanks> woken{};
  std::size_t count = 0;
  {
    const ShortLock lock(table.lock);
    const Views views = view_all(table);
    std::int64_t least_wanted = kNever;
    for (std::size_t r = 0; r < table.ranks; ++r) {
      State& state = table.states[r];
      if (state.wanted == kNever) continue;
      if (!is_reached(state, views, r)) {
        least_wanted = std::min(least_wanted, state.wanted.load());
        continue;
      }
      state.wanted = kNever;
      if (stop_awaiting(static_cast<int>(r))) woken[count++] = static_cast<int>(r);
    }
    table.least_wanted.store(least_wanted, std::memory_order_seq_cst);
  }
  for (std::size_t i = 0; i < count; ++i) let_go_on(woken[i]);
}

bool sleeps(std::size_t rank) {
  return SharedMemory::slot(static_cast<int>(rank)).awaits.load(std::memory_order_seq_cst) != 0;
}

// Where all ranks sleep in looks that wait, and the engine has nothing to come, that one is ended
// which would give up first, at the moment when the last of them began. The rank, if so; its state
// tells when.
std::optional<std::size_t> end_first(Table& table) {
  std::int64_t now = 0;
  std::int64_t events_by = 0;
  std::size_t first = 0;
  for (std::size_t r = 0; r < table.ranks; ++r) {
    const State& state = table.states[r];
    if (state.rest.load(std::memory_order_seq_cst) == 0 ||
        !state.patient.load(std::memory_order_relaxed) || !sleeps(r))
      return std::nullopt;
    now = std::max(now, state.enter);
    events_by = std::max(events_by, state.events_by);
    if (state.gives_up < table.states[first].gives_up) first = r;
  }
  State& state = table.states[first];
  if (state.gives_up < now || events_by > now) return std::nullopt;
  state.rest.store(0, std::memory_order_seq_cst);
  state.ended_at = now;
  state.wanted = kNever;
  return first;
}

}  // namespace

void begin(int ranks, Time least_transfer) {
  if (static_cast<std::size_t>(ranks) > kMostRanks) return;
  const std::uint64_t place = heap::allocate(sizeof(Table));
  if (place == 0) return;
  Table& table = *new (SharedMemory::at<Table>(place)) Table;
  table.ranks = static_cast<std::size_t>(ranks);
  table.least_transfer = least_transfer;
  SharedMemory::header().horizon.store(place, std::memory_order_release);
}

bool exists() {
  return table() != nullptr;
}

void raise(int rank, Time floor) {
  Table* const all = table();
  if (!all) return;
  std::atomic<std::int64_t>& own = state_of(*all, rank).floor;
  std::int64_t before = own.load(std::memory_order_relaxed);
  do {
    if (floor.count_ps() <= before) return;
  } while (!own.compare_exchange_weak(before, floor.count_ps(), std::memory_order_seq_cst));
  if (floor.count_ps() >= all->least_wanted.load(std::memory_order_seq_cst))
    let_go_on_who_waits(*all);
}

View of(int rank) {
  const Table* const all = table();
  if (!all) return {};
  const Views views = view_all(*all);
  const auto own = static_cast<std::size_t>(rank);
  return {Time::ps(views.rests.without(own)), Time::ps(views.floors.without(own)),
          views.others_go_on(own)};
}

Time least_transfer() {
  const Table* const all = table();
  return all ? all->least_transfer : Time();
}

void enter(std::uint32_t context) {
  Table* const all = table();
  if (!all) return;
  all->entries[context % kContexts].fetch_add(1, std::memory_order_seq_cst);
  all->all_entries.fetch_add(1, std::memory_order_seq_cst);
  for (std::size_t r = 0; r < all->ranks; ++r) {
    State& state = all->states[r];
    if (state.rest.load(std::memory_order_seq_cst) != 0 &&
        state.for_collective.load(std::memory_order_relaxed))
      state.rest.store(0, std::memory_order_seq_cst);
  }
}

std::uint64_t entries(std::uint32_t context) {
  const Table* const all = table();
  return all ? all->entries[context % kContexts].load(std::memory_order_seq_cst) : UINT64_MAX;
}

std::uint64_t all_entries() {
  const Table* const all = table();
  return all ? all->all_entries.load(std::memory_order_seq_cst) : 0;
}

void promise(int rank, std::uint32_t posting, const Rest& rest) {
  Table* const all = table();
  if (!all || rest.until == Time()) return;
  State& state = state_of(*all, rank);
  state.enter = rest.enter.count_ps();
  state.gives_up = rest.gives_up.count_ps();
  state.events_by = rest.events_by.count_ps();
  state.patient.store(rest.gives_up > rest.enter, std::memory_order_relaxed);
  state.for_collective.store(rest.entries.has_value(), std::memory_order_relaxed);
  state.posting.store(posting, std::memory_order_relaxed);
  state.rest.store(rest.until.count_ps(), std::memory_order_seq_cst);
  const bool answered =
      SharedMemory::slot(rank).answered.load(std::memory_order_seq_cst) == awaited_posting(posting);
  if (answered ||
      (rest.entries && *rest.entries != all->all_entries.load(std::memory_order_seq_cst)))
    state.rest.store(0, std::memory_order_seq_cst);
}

void goes_on_at(int rank, std::uint32_t posting, Time clock) {
  Table* const all = table();
  if (!all) return;
  State& state = state_of(*all, rank);
  if (state.rest.load(std::memory_order_seq_cst) != 0 &&
      state.posting.load(std::memory_order_relaxed) == posting)
    state.rest.store(0, std::memory_order_seq_cst);
  raise(rank, clock);
}

void disturb(int rank) {
  if (Table* const all = table()) state_of(*all, rank).rest.store(0, std::memory_order_seq_cst);
}

Awaited await(int rank, const Wish& wish) {
  Table* const all = table();
  if (!all) return Awaited::nothing;
  std::optional<std::size_t> ended;
  {
    const ShortLock lock(all->lock);
    State& state = state_of(*all, rank);
    if (wish.horizon) {
      state.if_others_go_on = wish.if_others_go_on;
      state.wanted = wish.horizon->count_ps();
      if (state.wanted < all->least_wanted.load(std::memory_order_relaxed))
        all->least_wanted.store(state.wanted, std::memory_order_seq_cst);
    }
    const auto own = static_cast<std::size_t>(rank);
    if (wish.horizon && is_reached(state, view_all(*all), own)) return Awaited::own;
    if (wish.rest.gives_up > wish.rest.enter) ended = end_first(*all);
    if (ended && *ended != own && !stop_awaiting(static_cast<int>(*ended))) {
      // The simulator has come to the same.
      all->states[*ended].ended_at = kNever;
      ended.reset();
    }
  }
  if (wish.rest.until.count_ps() >= all->least_wanted.load(std::memory_order_seq_cst))
    let_go_on_who_waits(*all);
  if (!ended) return Awaited::nothing;
  if (*ended == static_cast<std::size_t>(rank)) return Awaited::own;
  let_go_on(static_cast<int>(*ended));
  return Awaited::another;
}

bool others_bring(int rank, Time wanted) {
  Table* const all = table();
  if (!all) return false;
  for (std::size_t r = 0; r < all->ranks; ++r) {
    const State& state = all->states[r];
    const std::int64_t there = std::max(state.floor.load(std::memory_order_relaxed),
                                        state.rest.load(std::memory_order_relaxed));
    if (static_cast<int>(r) != rank && there < wanted.count_ps() &&
        state.wanted.load(std::memory_order_relaxed) == kNever && !goes_on(static_cast<int>(r)))
      return false;
  }
  return true;
}

std::optional<Time> wake_up(int rank) {
  Table* const all = table();
  if (!all) return std::nullopt;
  const ShortLock lock(all->lock);
  State& state = state_of(*all, rank);
  state.wanted = kNever;
  state.rest.store(0, std::memory_order_seq_cst);
  const std::int64_t ended = std::exchange(state.ended_at, kNever);
  return ended == kNever ? std::nullopt : std::optional(Time::ps(ended));
}

}  // namespace foretrace::live::horizon
