#include "analysis/links.hpp"

#include <algorithm>

namespace foretrace::analysis {
namespace {

using machine::LinkId;
using machine::NodeKind;
using machine::Topology;

double share_of(Time part, Time whole) {
  return whole <= Time()
             ? 0
             : static_cast<double>(part.count_ps()) / static_cast<double>(whole.count_ps());
}

std::int64_t count_carriers(const Topology& topology) {
  std::int64_t count = 0;
  for (int l = 0; l < topology.links(); ++l) {
    const LinkId link(l);
    count += topology.carrier(link) == link && topology.kind(topology.from(link)) != NodeKind::bus;
  }
  return count;
}

std::optional<BusyStretch> busiest(const LinkUse& use, Time bin_width, Time end) {
  const std::vector<Time>& bins = use.history;
  const auto top = std::ranges::max_element(bins);
  if (top == bins.end() || *top <= Time()) return std::nullopt;
  const auto busy_enough = [top](Time bin) { return bin + bin >= *top; };
  auto first = top;
  while (first != bins.begin() && busy_enough(*(first - 1))) --first;
  auto last = top;
  while (last + 1 != bins.end() && busy_enough(*(last + 1))) ++last;

  const auto edge = [&](auto bin) { return Time::ps((bin - bins.begin()) * bin_width.count_ps()); };
  BusyStretch stretch{edge(first), edge(last + 1), 0};
  // The last bin reaches beyond the run.
  if (end > stretch.from) stretch.to = std::min(stretch.to, end);
  Time busy;
  for (auto bin = first; bin <= last; ++bin) busy += *bin;
  stretch.share = share_of(busy, stretch.to - stretch.from);
  return stretch;
}

}  // namespace

LinksProfile profile_links(const NetworkUse& use, const Topology* topology) {
  std::vector<const LinkUse*> order;
  for (const LinkUse& link : use.links) order.push_back(&link);
  std::ranges::sort(order, [](const LinkUse* a, const LinkUse* b) {
    if (a->busy != b->busy) return a->busy > b->busy;
    return a->carrier < b->carrier;
  });
  LinksProfile profile;
  profile.time = use.time;
  profile.carriers = topology ? count_carriers(*topology) : 1;
  for (const LinkUse* link : order) {
    LinkProfile& out = profile.links.emplace_back();
    if (topology) {
      const machine::NodeId to = topology->to(link->carrier);
      out.to = topology->node_name(to);
      if (topology->kind(to) != NodeKind::bus)
        out.from = topology->node_name(topology->from(link->carrier));
    } else {
      out.to = "bus";
    }
    out.messages = link->messages;
    out.bytes = link->bytes;
    out.busy = link->busy;
    out.share = share_of(link->busy, use.time);
    out.busiest = busiest(*link, use.bin_width, use.time);
    out.contention = link->contention;
  }
  return profile;
}

}  // namespace foretrace::analysis
