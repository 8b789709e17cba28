#include "measure/fit/rewrite.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "stats/summary.hpp"

namespace foretrace::measure {
namespace {

using machine::SizeTime;

// Whether the straight line from `from` to `to` tells what lies between, but for noise.
bool is_straight(std::vector<SizeTime>::const_iterator from,
                 std::vector<SizeTime>::const_iterator to) {
  constexpr double kNoise = 0.05;
  const Time tick = Time::ns(20);
  return std::all_of(std::next(from), to, [&](const SizeTime& each) {
    const Time line = machine::time_at(std::array{*from, *to}, each.bytes);
    const Time off = std::max(line - each.time, each.time - line);
    return off <= std::max(tick, each.time.scaled(kNoise));
  });
}

// Those between which lines tell the others.
std::vector<SizeTime> corners(const std::vector<SizeTime>& all) {
  std::vector<SizeTime> few;
  for (auto at = all.begin(); at != all.end();) {
    few.push_back(*at);
    auto next = std::next(at);
    while (next != all.end() && std::next(next) != all.end() && is_straight(at, std::next(next)))
      ++next;
    at = next;
  }
  return few;
}

}  // namespace

std::vector<machine::SizeTime> rewrite_times(const std::vector<Sample>& samples,
                                             double negligible) {
  std::map<std::uint64_t, std::map<int, std::vector<double>>> blocks;  // by size and launch
  for (const Sample& sample : samples)
    if (sample.kept && sample.bytes > 0)
      blocks[sample.bytes][sample.launch].push_back(sample.seconds);
  std::vector<machine::SizeTime> known;
  for (const auto& [bytes, launches] : blocks) {
    std::vector<double> middles;
    for (const auto& [launch, seconds] : launches) middles.push_back(stats::median(seconds));
    const double middle = stats::median(middles);
    // A launch does not know picoseconds.
    const auto whole_ns = Time::ns(static_cast<std::int64_t>(middle * 1e9 + 0.5));
    known.push_back({Bytes(bytes), middle < negligible ? Time() : whole_ns});
  }
  return corners(known);
}

}  // namespace foretrace::measure
