// LookChoices: what a rank takes by looking at several places in turn (MPI_Test of several
// receives, MPI_Iprobe of named sources), and goes on from there: which of them has something first
// is this machine's doing.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "base/time.hpp"
#include "machine/choice_order.hpp"

namespace foretrace::capture {

class LookChoices {
 public:
  // A posted receive: its number, twice 0; or messages of a communicator: its key, source and tag.
  using Place = std::array<std::uint64_t, 3>;

  void looked_in_vain(const Place& place) {
    if (since_.try_emplace(place, newest_ + 1).second) ++newest_;
  }
  // Nothing comes of it any more.
  void withdraw(const Place& place) { since_.erase(place); }
  // The program has what was there, which came at `end` in virtual time. `looked`: by a look.
  void take(const Place& place, Time end, bool looked) {
    if (since_.empty()) return;
    const auto known = since_.find(place);
    // One that was not looked at before has passed over nothing.
    order_.take(known == since_.end() ? newest_ + 1 : known->second, end);
    if (known != since_.end()) since_.erase(known);
    const bool chose = looked && !since_.empty();
    if (chose) ++choices_;
    order_.finish(newest_, chose);
  }

  // How often there was another place that had been looked at.
  std::uint64_t choices() const { return choices_; }
  const machine::PassedOver& passed_over() const { return order_.passed_over(); }

 private:
  std::map<Place, std::uint64_t> since_;  // by place, the number of the first look in vain
  std::uint64_t newest_ = 0;              // of these
  std::uint64_t choices_ = 0;
  machine::ChoiceOrder order_;
};

}  // namespace foretrace::capture
