// LookRow: calls in a row that look for something and find nothing (MPI_Test, MPI_Iprobe, ...), in
// a run that is over or on its way. Whether such a row is waiting or work shows at its end
// (docs/theory.md, Looks in vain).
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace foretrace::machine {

// A loop that computes no more than that between two looks does nothing else.
inline constexpr Time kIdleComputation = Time::ns(250);

class LookRow {
 public:
  // Whether a look, or `count` in one, may be idle: what it computed and what it takes count only
  // if its row ends without finding anything. Never the row's first. `compute`: before them, as
  // measured; `announced`: they have steps, that is, the program says or counts that it computes.
  bool may_be_idle(Time compute, std::uint32_t count, bool announced) const {
    return is_open_ && !announced && compute.count_ps() <= count * kIdleComputation.count_ps();
  }
  // Whether a look comes after work, not right after another call. As above.
  static bool is_between_work(Time compute, bool announced) {
    return announced || compute > kIdleComputation;
  }
  bool is_open() const { return is_open_; }
  void found_nothing() { is_open_ = true; }
  // A look finds something, or another call is made.
  void end() { is_open_ = false; }

 private:
  bool is_open_ = false;
};

}  // namespace foretrace::machine
