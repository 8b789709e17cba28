// CountsTable: the lists of counts that a writer has defined, found by what they hold.
//
// Holds at most kMostCounts. When all places are taken, the list that was not used for longest
// makes room, so that a program whose every call has other counts costs no memory. Private to
// src/trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/counts.hpp"

namespace foretrace::trace {

class CountsTable {
 public:
  // The list's number, from 0; `added` if it is new, or has got another's place. False if there is
  // no memory for it.
  bool find_or_add(const Counts& counts, std::uint32_t& number, bool& added) noexcept;
  bool empty() const { return places_.empty(); }

 private:
  struct Place {
    Counts counts;
    std::uint64_t used = 0;
  };

  std::vector<Place> places_;
  std::uint64_t uses_ = 0;
};

}  // namespace foretrace::trace
