// Standstill: notices that for a while no rank has done anything but look, in vain, for
// messages or ends of requests (loops that poll), while all others wait.
//
// It is told what ranks do in the order in which the engine takes it up. It decides
// nothing: such a program may still do something else.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/ids.hpp"

namespace foretrace::live {

class Standstill {
 public:
  static constexpr std::chrono::seconds kLongEnough{15};

  // Of the ranks, the first `started` are there, or will be.
  Standstill(int ranks, int started);

  void starts(WorldRank rank) { become(rank, State::goes_on); }
  void leaves(WorldRank rank) { become(rank, State::away); }
  // The engine has an operation of the rank's that is no look.
  void asks(WorldRank rank) { become(rank, State::waits); }
  // It is over, or a look that found something.
  void goes_on(WorldRank rank) { become(rank, State::goes_on); }
  // A look found nothing. True, once, where that has been all for long enough.
  bool looks_in_vain(WorldRank rank);

 private:
  enum class State : std::uint8_t { away, waits, looks, goes_on };

  State& state(WorldRank rank) { return states_[static_cast<std::size_t>(rank.value)]; }
  void become(WorldRank rank, State next);
  bool all_look_on() const;
  bool is_long();

  std::vector<State> states_;
  std::vector<std::uint64_t> last_looks_;        // by rank: the number of its last look
  int going_on_;                                 // ranks in that state
  std::uint64_t looks_ = 0;                      // in vain
  std::uint64_t before_ = 0;                     // of them, until anybody last did anything else
  std::chrono::steady_clock::time_point since_;  // then
  bool told_ = false;
};

}  // namespace foretrace::live
