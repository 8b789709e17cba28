// Looks between work wait for those who are behind: what others do until then in virtual time, they
// have done. docs/theory.md says when.
#include <algorithm>

#include "base/ticks.hpp"
#include "capture/host/idle_polls.hpp"
#include "capture/predict/piggyback.hpp"

namespace foretrace::capture {

void Piggyback::let_others_catch_up(Time now) {
  constexpr std::int64_t kAtLeastNs = 300'000'000;
  constexpr std::int64_t kAtMostNs = 2'000'000'000;
  constexpr std::int64_t kForLettersNs = 10'000'000;
  if (on_host_.empty()) return;
  board_.note_look();
  std::int64_t seen = -1;
  std::int64_t until = 0;         // somebody is behind
  std::int64_t moment_until = 0;  // nobody is, but somebody waits
  for (unsigned spin = 0;; ++spin) {
    const Board::Others others = board_.others(left_behind_);
    const bool behind = others.least < now.count_ps();
    if (!behind && others.waiting == still_waiting_) return;
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
    progress();
    give_way(spin);
  }
}

bool Piggyback::paces_looks() const {
  return on_host_.size() == partners_.size() && !has_left_behind_;
}

}  // namespace foretrace::capture
