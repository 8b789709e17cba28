// Marks: the moments that a program marked, by name, and the numbers that it
// said with them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "trace/trace.hpp"

namespace foretrace::analysis {

struct MarkProfile {
  std::string name;
  std::uint64_t count = 0;  // over all ranks
  Time first;               // when it was passed for the first and the last time
  Time last;
  double least = 0;  // of its values
  double mean = 0;
  double most = 0;
};

// Marks as they come, rank by rank.
class MarkCounter {
 public:
  // Of an event that is no mark: nothing.
  void take(const trace::Event& event);
  // In the order of `names`, which the events' names are indices of.
  std::vector<MarkProfile> finish(const std::vector<std::string>& names) const;

 private:
  std::vector<MarkProfile> by_name_;
};

// In the order of the trace's names.
std::vector<MarkProfile> profile_marks(const trace::Trace& trace);

}  // namespace foretrace::analysis
