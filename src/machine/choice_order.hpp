// ChoiceOrder: for how long messages lay there while a rank took others that came later. The calls
// that choose (MPI_Waitany and its kin) take what came first where the program ran; in virtual time
// that may be another one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/time.hpp"

namespace foretrace::machine {

// Messages that were taken after others that came later, and the sum of these differences.
struct PassedOver {
  std::uint64_t messages = 0;
  Time lay;
};

class ChoiceOrder {
 public:
  // A receive that a call completes: the rank's `serial`-th request, whose transfer ended at `end`.
  void take(std::uint64_t serial, Time end) {
    // Of the choices since it was posted the first one took the latest message.
    const auto since = std::ranges::lower_bound(choices_, serial, {}, &Choice::newest);
    if (since != choices_.end() && since->latest > end) {
      ++passed_over_.messages;
      passed_over_.lay += since->latest - end;
    }
    latest_ = std::max(latest_, end);
  }
  // The call is over; `newest`: the latest of the rank's requests. `chose`: what it took was not
  // the program's choice.
  void finish(std::uint64_t newest, bool chose) {
    const Time latest = latest_;
    latest_ = Time();
    if (!chose || latest == Time()) return;
    while (!choices_.empty() && choices_.back().latest <= latest) choices_.pop_back();
    if (choices_.empty() || choices_.back().newest < newest) choices_.push_back({newest, latest});
  }

  const PassedOver& passed_over() const { return passed_over_; }

 private:
  struct Choice {
    std::uint64_t newest;  // request by then
    Time latest;           // end of what was taken
  };
  std::vector<Choice> choices_;  // ascending by `newest`, descending by `latest`
  Time latest_;                  // of the call at hand
  PassedOver passed_over_;
};

// Whether they lay there for a hundredth of the run's time, which is told.
inline bool is_told(const PassedOver& what, Time run) {
  constexpr double kLeastShare = 0.01;
  return what.messages > 0 && what.lay.seconds() >= kLeastShare * run.seconds();
}
// `by`: what takes them, "MPI_Waitany".
inline std::string note_of_choices(int rank, const PassedOver& what, const char* by) {
  char line[320];
  std::snprintf(line, sizeof line,
                "rank %d takes %llu %s by %s and the like after others that come later, "
                "by %.3g s in all: that is the order of here; a live run (simulate -n) takes them "
                "in the target's",
                rank, static_cast<unsigned long long>(what.messages),
                what.messages == 1 ? "message" : "messages", by, what.lay.seconds());
  return line;
}

}  // namespace foretrace::machine
