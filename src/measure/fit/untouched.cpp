#include "measure/fit/untouched.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "mpi_api/stand_ins.hpp"
#include "stats/summary.hpp"

namespace foretrace::measure {
namespace {

// Nearer to 1 than this at all sizes, a factor is noise.
constexpr double kNoise = 0.03;

using Key = std::tuple<std::string, std::uint64_t, int, int>;  // function, bytes, ranks, launch

// More digits than launches agree in would look like knowledge. Never 0: some time it takes.
double rounded(double factor) {
  return std::max(std::round(factor * 1000), 1.0) / 1000;
}

// Of the blocks that nobody disturbed.
std::map<Key, double> middles(const SampleSet& set) {
  std::map<Key, std::vector<double>> blocks;
  for (const Sample& sample : set.samples)
    if (sample.kept)
      blocks[{sample.function, sample.bytes, sample.ranks, sample.launch}].push_back(
          sample.seconds);
  std::map<Key, double> times;
  for (const auto& [key, seconds] : blocks) times[key] = stats::median(seconds);
  return times;
}

}  // namespace

void set_untouched(const SampleSet& untouched, const SampleSet& written, double negligible,
                   machine::Functions& functions) {
  const std::map<Key, double> usual = middles(written);
  std::map<std::string, std::map<std::uint64_t, std::vector<double>>> factors;
  for (const auto& [key, seconds] : middles(untouched)) {
    const auto found = usual.find(key);
    if (found == usual.end() || found->second < negligible || seconds <= 0) continue;
    factors[std::get<0>(key)][std::get<1>(key)].push_back(seconds / found->second);
  }
  for (const auto& [name, by_bytes] : factors) {
    const auto function = functions.find(name);
    if (function == functions.end()) continue;
    std::vector<machine::SizeFactor> known;
    for (const auto& [bytes, of_launches] : by_bytes)
      known.push_back({Bytes(bytes), rounded(std::min(1.0, stats::median(of_launches)))});
    if (std::ranges::any_of(known, [](const auto& time) { return time.factor < 1 - kNoise; }))
      function->second.untouched = std::move(known);
  }
  for (auto& [name, function] : functions) {
    const std::string alike(mpi_api::stand_in_for(mpi_api::StandInKind::alike, name));
    const auto other = functions.find(alike);
    if (!factors.contains(name) && other != functions.end())
      function.untouched = other->second.untouched;
  }
}

}  // namespace foretrace::measure
