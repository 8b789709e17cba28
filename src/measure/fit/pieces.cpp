#include "measure/fit/pieces.hpp"

#include <charconv>
#include <utility>

#include "base/error.hpp"
#include "stats/summary.hpp"

namespace foretrace::measure {
namespace {

using Middles = std::map<std::uint64_t, std::map<int, double>>;  // by size and launch

Middles middles_of(const std::vector<Sample>& samples) {
  std::map<std::uint64_t, std::map<int, std::vector<double>>> blocks;
  for (const Sample& sample : samples)
    if (sample.kept && sample.bytes > 0)
      blocks[sample.bytes][sample.launch].push_back(sample.seconds);
  Middles middles;
  for (const auto& [bytes, launches] : blocks)
    for (const auto& [launch, seconds] : launches) middles[bytes][launch] = stats::median(seconds);
  return middles;
}

// By how much `longer` takes longer, launch by launch.
std::vector<machine::SizeTime> differences(const Middles& longer, const Middles& shorter,
                                           double negligible) {
  std::vector<machine::SizeTime> known;
  for (const auto& [bytes, launches] : longer) {
    const auto beside = shorter.find(bytes);
    if (beside == shorter.end()) continue;
    std::vector<double> more;
    for (const auto& [launch, seconds] : launches)
      if (const auto other = beside->second.find(launch); other != beside->second.end())
        more.push_back(seconds - other->second);
    if (more.empty()) continue;
    const double middle = stats::median(more);
    // A launch does not know picoseconds.
    const auto whole_ns = Time::ns(static_cast<std::int64_t>(middle * 1e9 + 0.5));
    known.push_back({Bytes(bytes), middle < negligible ? Time() : whole_ns});
  }
  return known;
}

}  // namespace

machine::Pieces pieces_of(const std::map<std::string, std::vector<Sample>>& samples,
                          double negligible) {
  machine::Pieces pieces;
  const auto together = samples.find("together");
  if (together == samples.end()) return pieces;
  const Middles base = middles_of(together->second);
  for (const auto& [name, all] : samples) {
    const std::string one_end = "send/";
    if (!name.starts_with(one_end)) continue;
    const std::string length = name.substr(one_end.size());
    std::uint64_t piece = 0;
    const auto end = std::from_chars(length.data(), length.data() + length.size(), piece);
    if (end.ec != std::errc() || end.ptr != length.data() + length.size() || piece == 0)
      throw Error("samples: there are no pieces of '" + length + "' bytes");
    const Middles sent = middles_of(all);
    if (auto times = differences(sent, base, negligible); !times.empty())
      pieces.send.emplace(Bytes(piece), std::move(times));
    const auto both = samples.find("both/" + length);
    if (both == samples.end()) continue;
    if (auto times = differences(middles_of(both->second), sent, negligible); !times.empty())
      pieces.recv.emplace(Bytes(piece), std::move(times));
  }
  return pieces;
}

}  // namespace foretrace::measure
