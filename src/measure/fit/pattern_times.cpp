#include "measure/fit/pattern_times.hpp"

#include <algorithm>
#include <map>

#include "stats/summary.hpp"

namespace foretrace::measure {

std::vector<machine::PatternTimes> pattern_times(const std::vector<Sample>& samples,
                                                 const std::set<std::string>& invalid) {
  std::vector<machine::PatternTimes> patterns;
  for (const char* name : {"exchange_ring", "exchange_mesh"}) {
    if (invalid.contains(name)) continue;
    int ranks = 0;
    for (const Sample& sample : samples)
      if (sample.function == name) ranks = std::max(ranks, sample.ranks);
    if (ranks == 0) continue;
    struct Seconds {
      std::vector<double> kept, all;
    };
    std::map<std::uint64_t, Seconds> by_bytes;
    for (const Sample& sample : samples) {
      if (sample.function != name || sample.ranks != ranks) continue;
      Seconds& seconds = by_bytes[sample.bytes];
      seconds.all.push_back(sample.seconds);
      if (sample.kept) seconds.kept.push_back(sample.seconds);
    }
    machine::PatternTimes& pattern = patterns.emplace_back();
    pattern.name = name;
    pattern.ranks = ranks;
    for (auto& [bytes, seconds] : by_bytes)
      pattern.times.push_back(
          {Bytes(bytes), stats::median(seconds.kept.empty() ? seconds.all : seconds.kept)});
  }
  return patterns;
}

}  // namespace foretrace::measure
