// Looks between work wait for those who are behind: what others do until then in virtual time, they
// have done. docs/theory.md says when.
#include <algorithm>

#include "base/ticks.hpp"
#include "capture/host/idle_polls.hpp"
#include "capture/predict/piggyback.hpp"

namespace foretrace::capture {
namespace {

// What a rank may compute while it waits for those behind: so much, and a fourth of what it
// computes otherwise. Who is over that goes ahead of them by some time, which grows as long as it
// is over.
constexpr std::int64_t kFreeNs = 100'000'000;
constexpr std::int64_t kMostAheadPs = 1'000'000'000'000;
constexpr std::int64_t kLeastAheadPs = 1'000'000;

}  // namespace

bool Piggyback::paces_too_much() const {
  const std::int64_t others = now_on(CLOCK_THREAD_CPUTIME_ID) - pacing_ns_;
  return pacing_ns_ > kFreeNs + others / 4;
}

void Piggyback::pace(std::int64_t begin_ns) {
  pacing_ns_ += now_on(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
  if (paces_too_much())
    ahead_ps_ = std::min(ahead_ps_ + std::max(ahead_ps_ / 4, kLeastAheadPs), kMostAheadPs);
  else
    ahead_ps_ -= std::max(ahead_ps_ / 16, std::min(ahead_ps_, kLeastAheadPs));
  most_ahead_ps_ = std::max(most_ahead_ps_, ahead_ps_);
}

void Piggyback::let_others_catch_up(Time now) {
  constexpr std::int64_t kAtLeastNs = 300'000'000;
  constexpr std::int64_t kAtMostNs = 2'000'000'000;
  constexpr std::int64_t kForLettersNs = 10'000'000;
  if (on_host_.empty()) return;
  board_.note_look();
  struct Pace {
    Piggyback& of;
    std::int64_t begin_ns = -1;
    ~Pace() {
      if (begin_ns >= 0) of.pace(begin_ns);
    }
  } pace{*this};
  std::int64_t seen = -1;
  std::int64_t until = 0;         // somebody is behind
  std::int64_t moment_until = 0;  // nobody is, but somebody waits
  for (unsigned spin = 0;; ++spin) {
    const Board::Others others = board_.others(left_behind_);
    const bool behind = others.least < now.count_ps() - ahead_ps_;
    // By and by it goes back to where all are waited for.
    if (spin == 0 && !behind && ahead_ps_ > 0) {
      ahead_ps_ -= ahead_ps_ / 256 + 1;
      return;
    }
    if (!behind && (others.waiting == still_waiting_ || ahead_ps_ > 0)) return;
    if (spin == 0) pace.begin_ns = now_on(CLOCK_THREAD_CPUTIME_ID);
    const std::int64_t here = monotonic_ns();
    if (behind && others.least != seen) {
      seen = others.least;
      // So long it really computes, at least.
      until = here + std::min(kAtLeastNs + (now.count_ps() - seen) / 1000, kAtMostNs);
    } else if (behind && here > until) {
      board_.leave_behind(seen, left_behind_);
      has_left_behind_ = true;
    } else if (!behind && moment_until == 0) {
      moment_until = here + (yields_ ? 1'000'000 : 200'000);
    } else if (!behind && here > moment_until &&
               (here > moment_until + kForLettersNs || !board_.waits_beside_letters())) {
      still_waiting_ = others.waiting;
      return;
    }
    // A nap in there may be long, and whoever is behind is to be seen as soon as it goes on.
    end_idle_row();
    {
      const OwnPolls own;
      progress();
    }
    give_way(spin);
  }
}

bool Piggyback::paces_looks() const {
  return on_host_.size() == partners_.size() && !has_left_behind_ && most_ahead_ps_ == 0;
}

}  // namespace foretrace::capture
