#include "measure/fit/star.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <vector>

#include "base/error.hpp"
#include "machine/loggps.hpp"

namespace foretrace::measure {
namespace {

// Of one pair of ranks, bytes a second; 0: not known.
double pair_bandwidth(const machine::MachineModel& model, const machine::LogGPSTimes& times) {
  if (!model.loggps_regimes.empty()) {
    const auto& longest = model.loggps_regimes.back().gap_per_byte;
    if (longest && longest->separable && longest->value > 0) return 1 / longest->value;
  }
  return times.gap_per_byte > 0 ? 1 / times.gap_per_byte : 0;
}

// Of all ranks at once, of each host.
double host_bandwidth(const machine::MachineModel& model, int ranks, int most) {
  for (const machine::PatternTimes& pattern : model.patterns) {
    if (pattern.name != "exchange_ring" || pattern.ranks != ranks) continue;
    const auto& [bytes, seconds] = pattern.times.back();
    return seconds > 0 ? 2.0 * most * static_cast<double>(bytes.count) / seconds : 0;
  }
  return 0;
}

// Bytes that pass a link at once after a pause, as a token bucket lets them: a message of d takes
// a + (d - burst) / bandwidth from where the bucket is empty, and a below. 0: there is no such
// number that all sizes agree on. An error of a few percent in a long message's time is as many
// bytes as pass at once: sizes up to kFar times those are asked.
std::uint64_t burst_of(const machine::MachineModel& model, double bandwidth) {
  const machine::Function* const pingpong = model.find("pingpong");
  if (!pingpong) return 0;
  constexpr Bytes kSmall{8};
  constexpr std::uint64_t kFirst = 4096, kLast = 1 << 20, kLeast = 1024;
  constexpr double kLimited = 0.75;  // what passes at once has less of a message than this
  constexpr double kAgree = 0.2;
  constexpr double kFar = 6;
  const auto one_way = [&](Bytes bytes) {
    return evaluate_seconds(model, *pingpong, 2, bytes, machine::Bound::avg) / 2;
  };
  // Eager ones, whose times have no request and no answer; longer ones where these are too few.
  const std::optional<Bytes> threshold = model.loggps.sync_threshold;
  std::vector<double> found;
  bool eager = true;
  for (std::uint64_t bytes = kFirst; bytes <= kLast; bytes *= 2) {
    Bytes size(bytes);
    if (eager && threshold && bytes >= threshold->count) {
      eager = false;
      size = Bytes(std::max<std::uint64_t>(threshold->count, 1) - 1);
    }
    if (!found.empty() && static_cast<double>(size.count) > kFar * found.front()) break;
    const double burst =
        static_cast<double>(size.count) - (one_way(size) - one_way(kSmall)) * bandwidth;
    if (burst < kLimited * static_cast<double>(size.count)) found.push_back(burst);
    if (!eager && found.size() >= 2) break;
  }
  if (found.size() < 2) return 0;
  std::ranges::sort(found);
  const double middle = found[found.size() / 2];
  if (middle < kLeast || found.front() < middle * (1 - kAgree) ||
      found.back() > middle * (1 + kAgree))
    return 0;
  return static_cast<std::uint64_t>(middle);
}

}  // namespace

Hosts parse_hosts(std::string_view text) {
  Hosts hosts;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    std::int32_t host = 0;
    const auto [next, code] = std::from_chars(at, end, host);
    if (code != std::errc() || host < 0 || (next != end && *next != ' '))
      throw Error(
          "samples: '# hosts_of_ranks' must be the number of each rank's host, with blanks "
          "between them; found '" +
          std::string(text) + "'");
    hosts.push_back(host);
    at = next == end ? end : next + 1;
  }
  return hosts;
}

std::uint64_t parse_header(std::string_view text) {
  std::uint64_t header = 0;
  const auto [next, code] = std::from_chars(text.data(), text.data() + text.size(), header);
  if (code != std::errc() || next != text.data() + text.size())
    throw Error("samples: '# header' must be a number of bytes; found '" + std::string(text) + "'");
  return header;
}

std::optional<machine::ModelTopology> measured_star(const Hosts& hosts,
                                                    const machine::MachineModel& model,
                                                    std::uint64_t header) {
  std::map<std::int32_t, int> ranks_of;
  for (const std::int32_t host : hosts) ++ranks_of[host];
  if (ranks_of.size() < 2) return std::nullopt;
  int most = 0;
  for (const auto& [host, ranks] : ranks_of) most = std::max(most, ranks);
  const auto times = machine::loggps_times(model, {}, machine::Bound::avg);
  const double bandwidth = std::max(pair_bandwidth(model, times),
                                    host_bandwidth(model, static_cast<int>(hosts.size()), most));
  if (bandwidth <= 0) return std::nullopt;

  machine::TopologySpec star;
  star.name = "measured: " + std::to_string(ranks_of.size()) + " hosts, taken as on one switch";
  star.shape = {machine::TopologyKind::crossbar, {static_cast<int>(ranks_of.size())}, {}};
  star.header = header;
  const std::uint64_t burst = burst_of(model, bandwidth);
  // The L of an empty message has its header's time where that does not pass at once.
  const double headers = burst > 0 ? 0 : static_cast<double>(header) / bandwidth;
  const double latency = std::max(0.0, times.latency.seconds() - headers);
  star.link = {Time::ps(Time::from_seconds(latency).count_ps() / 2), bandwidth};
  if (burst > 0) star.link.burst = burst + header;
  star.ranks_per_node = most;
  machine::ModelTopology topology;
  topology.spec = std::move(star);
  return topology;
}

}  // namespace foretrace::measure
