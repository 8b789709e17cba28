#include "analysis/traffic.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "analysis/segments.hpp"

namespace foretrace::analysis {
namespace {

using trace::EventKind;

std::size_t bin_of(Time duration) {
  const auto ns = static_cast<std::uint64_t>(duration.count_ps() / 1000);
  const std::size_t bin = ns < 2 ? 0 : static_cast<std::size_t>(std::bit_width(ns)) - 1;
  return std::min(bin, Durations::kBins - 1);
}

void add(Durations& durations, Time time) {
  if (time == Time()) return;
  ++durations.count;
  ++durations.bins[bin_of(time)];
  durations.time += time;
}

bool sends(EventKind kind) {
  return kind == EventKind::send || kind == EventKind::isend || kind == EventKind::sendrecv;
}

}  // namespace

Traffic traffic_of(const trace::Trace& trace) {
  std::map<std::pair<int, int>, TrafficPair> pairs;
  std::vector<Durations> calls(trace.names.size());
  Durations compute;
  compute.state = kComputeState;
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    const auto& events = trace.ranks[rank];
    const auto from = static_cast<std::int32_t>(rank);
    for (const trace::Event& event : events) {
      if (!sends(event.kind) || !event.send.peer.valid()) continue;
      TrafficPair& pair = pairs[{from, event.send.peer.value}];
      pair.from = WorldRank(from);
      pair.to = event.send.peer;
      ++pair.messages;
      pair.bytes.count += event.send.bytes.count;
    }
    // A call may be several events.
    trace::NameId called = 0;
    Time length;
    const auto end_call = [&] {
      if (length > Time()) add(calls[called], length);
      length = Time();
    };
    visit_segments(events, [&](const Segment& segment) {
      if (segment.compute) return add(compute, segment.to - segment.from);
      const trace::Event& event = events[segment.event];
      if (event.count > 0 || event.name != called) end_call();
      called = event.name;
      length += segment.to - segment.from;
    });
    end_call();
  }
  Traffic traffic;
  for (auto& [key, pair] : pairs) traffic.pairs.push_back(pair);
  for (std::size_t name = 0; name < calls.size(); ++name) {
    if (calls[name].count == 0) continue;
    calls[name].state = trace.names[name];
    traffic.durations.push_back(calls[name]);
  }
  if (compute.count > 0) traffic.durations.push_back(compute);
  std::ranges::stable_sort(traffic.durations, std::greater<>(), &Durations::time);
  return traffic;
}

}  // namespace foretrace::analysis
