// CoreChoice: whether the ranks of a live run had better all run on one core, by trying.
//
// Where ranks compute little between two calls, one core may be several times quicker than all:
// to wake a process on another core takes some microseconds, on a virtual machine some twenty, and
// finds its caches cold. Where they compute much, all cores are quicker.
#pragma once

#include <algorithm>
#include <chrono>

namespace foretrace::live {

class CoreChoice {
 public:
  using Span = std::chrono::nanoseconds;

  // What ranks posted since the last time took so long, each. Whether they are to be together from
  // now on.
  bool together_after(Span each) {
    if (tries_) {
      tries_ = false;
      const bool was_together = !together_;
      const Span together = together_ ? each : before_;
      const Span apart = together_ ? before_ : each;
      // On one core ranks share its caches, so that what they compute takes longer.
      together_ = 3 * together < 2 * apart;
      left_ = rest_ = together_ == was_together ? std::min(rest_ * 2, kMostRest) : kLeastRest;
    } else if (left_ > 0) {
      --left_;
    } else if (together_ ? each > kQuick : each < kSlow) {
      tries_ = true;
      before_ = each;
      together_ = !together_;
    }
    return together_;
  }

 private:
  // Quicker than this it will hardly go on several cores, and slower than this hardly on one.
  static constexpr Span kQuick{3'000}, kSlow{100'000};
  // So many samples between two trials: what the ranks do may have changed.
  static constexpr int kLeastRest = 8, kMostRest = 256;

  bool together_ = false;
  bool tries_ = false;
  Span before_{};  // how long it took before the trial
  int rest_ = kLeastRest;
  int left_ = 1;  // the first sample is of the ranks' start
};

}  // namespace foretrace::live
