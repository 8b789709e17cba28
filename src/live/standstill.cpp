#include "live/standstill.hpp"

#include <algorithm>

namespace foretrace::live {
namespace {

constexpr std::uint64_t kBetweenClocks = 1024;
// A rank that computes between its looks makes fewer in a second; others wait for what it
// does then.
constexpr double kFewest = 5000;

}  // namespace

Standstill::Standstill(int ranks, int started)
    : states_(static_cast<std::size_t>(ranks), State::away),
      last_looks_(static_cast<std::size_t>(ranks)),
      going_on_(started) {
  std::fill_n(states_.begin(), started, State::goes_on);
}

void Standstill::become(WorldRank rank, State next) {
  going_on_ += (next == State::goes_on) - (state(rank) == State::goes_on);
  state(rank) = next;
  before_ = looks_;
}

bool Standstill::looks_in_vain(WorldRank rank) {
  if (state(rank) != State::looks) become(rank, State::looks);
  last_looks_[static_cast<std::size_t>(rank.value)] = ++looks_;
  if (looks_ == before_ + 1) since_ = std::chrono::steady_clock::now();
  if (told_ || going_on_ > 0 || (looks_ - before_) % kBetweenClocks != 0) return false;
  return told_ = is_long();
}

bool Standstill::is_long() {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - since_;
  if (passed < kLongEnough) return false;
  if (static_cast<double>(looks_ - before_) >= kFewest * passed.count() && all_look_on())
    return true;
  before_ = looks_;
  return false;
}

// One that has stopped looking computes.
bool Standstill::all_look_on() const {
  const std::uint64_t middle = before_ + (looks_ - before_) / 2;
  for (std::size_t r = 0; r < states_.size(); ++r)
    if (states_[r] == State::looks && last_looks_[r] < middle) return false;
  return true;
}

}  // namespace foretrace::live
