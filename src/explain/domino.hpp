// Domino paths (Kanbe et al. 2003, section 3.1 and figure 3): which wait, if it were
// zero, shortens the run most; and the chain of senders that leads to it.
#pragma once

#include <vector>

#include "explain/run.hpp"
#include "explain/times_without.hpp"
#include "explain/waits.hpp"

namespace foretrace::explain {

struct DominoPath {
  // From the receiver whose wait is taken away to the sender that it waited for, and
  // so on: moments where calls leave (waits) and enter (senders), in turn.
  std::vector<sim::MomentId> moments;
  Time time;  // of the run without the last wait of the path
};

// The path that ends in the least run time; empty where no wait's absence shortens
// the run.
DominoPath find_domino_path(const Run& run, const std::vector<Wait>& waits,
                            const TimesWithout& times);

}  // namespace foretrace::explain
