#include "sim/network/max_min.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <functional>
#include <utility>

namespace foretrace::sim {
namespace {

using Fixed = MaxMin::Fixed;

constexpr Fixed kAny = static_cast<Fixed>(1) << 126;
// What rounding down leaves between levels that are equal.
constexpr Fixed kSame = 4096;
// fill() takes for so many hops of flows what it takes to follow one flow to its next bottleneck
// (measured: 10 ns each, and 0.5 us),
constexpr std::size_t kHopsOfAMove = 64;
// and for a link what it takes for so many.
constexpr std::size_t kHopsOfALink = 4;

// A float of what is not negative orders as its bits do; what orders links need not be exact.
std::uint64_t entry_of(Fixed level, MaxMin::Link link) {
  const float about = static_cast<float>(static_cast<std::uint64_t>(level >> 64)) * 0x1p64F +
                      static_cast<float>(static_cast<std::uint64_t>(level));
  return std::uint64_t{std::bit_cast<std::uint32_t>(about)} << 32 | link;
}

// std::pop_heap, without the branch at each level that no processor foresees.
std::uint64_t take_lowest(std::vector<std::uint64_t>& heap) {
  const std::uint64_t lowest = heap.front();
  const std::uint64_t last = heap.back();
  heap.pop_back();
  const std::size_t size = heap.size();
  if (size == 0) return lowest;
  std::uint64_t* const h = heap.data();
  std::size_t place = 0;
  for (std::size_t child = 1; child < size; child = 2 * place + 1) {
    child += static_cast<std::size_t>(child + 1 < size && h[child + 1] < h[child]);
    h[place] = h[child];
    place = child;
  }
  for (; place > 0 && last < h[(place - 1) / 2]; place = (place - 1) / 2)
    h[place] = h[(place - 1) / 2];
  h[place] = last;
  return lowest;
}

// Of what is left, for each. The compiler's division of such numbers takes several times as long.
Fixed share_of(Fixed left, std::uint32_t weight) {
  if (left <= 0) return 0;
  if (weight == 1) return left;
  const auto high = static_cast<std::uint64_t>(left >> 64);
  const auto low = static_cast<std::uint64_t>(left);
  const std::uint64_t middle = (high % weight) << 32 | low >> 32;
  const std::uint64_t last = (middle % weight) << 32 | (low & UINT32_MAX);
  return (static_cast<Fixed>(high / weight) << 64) + (static_cast<Fixed>(middle / weight) << 32) +
         last / weight;
}

}  // namespace

MaxMin::Link MaxMin::add_link(long double capacity) {
  assert(capacity > 0 && "a link carries something");
  links_.emplace_back();
  on_link_.emplace_back();
  crossings_.emplace_back();
  members_from_.emplace_back();
  const long double units = std::ldexp(std::min(capacity, kMost), kFractionBits);
  links_.back().capacity = std::max(static_cast<Fixed>(units), static_cast<Fixed>(1));
  return static_cast<Link>(links_.size() - 1);
}

void MaxMin::add_flow(Flow flow, std::span<const Link> links) {
  if (flow >= flows_.size()) {
    flows_.resize(flow + 1);
    bottleneck_.resize(flow + 1, kNone);
  }
  if (links.size() >= free_hops_.size()) free_hops_.resize(links.size() + 1);
  std::vector<std::uint32_t>& free = free_hops_[links.size()];
  std::uint32_t first = static_cast<std::uint32_t>(hops_.size());
  if (free.empty()) {
    hops_.resize(hops_.size() + links.size());
  } else {
    first = free.back();
    free.pop_back();
  }
  flows_[flow] = {first, static_cast<std::uint32_t>(links.size())};
  for (std::size_t i = 0; i < links.size(); ++i) hops_[first + i] = {links[i], 0};
}

void MaxMin::remove_flow(Flow flow) {
  assert(flows_[flow].weight == 0 && !flows_[flow].pending && "the flow has ended");
  free_hops_[flows_[flow].hops].push_back(flows_[flow].first_hop);
}

void MaxMin::set_weight(Flow flow, std::uint32_t weight) {
  FlowState& state = flows_[flow];
  if (!state.pending && state.weight == weight) return;
  state.next_weight = weight;
  if (state.pending) return;
  state.pending = true;
  pending_.push_back(flow);
}

double MaxMin::rate(Flow flow) const {
  const Link at = bottleneck_[flow];
  return at == kNone ? 0 : std::ldexp(static_cast<double>(links_[at].level), -kFractionBits);
}

void MaxMin::link_flow(Flow flow) {
  std::uint64_t number = 0;
  for (Hop& hop : hops(flow)) {
    std::vector<std::uint64_t>& list = on_link_[hop.link];
    hop.place = static_cast<std::uint32_t>(list.size());
    list.push_back(std::uint64_t{flow} << 32 | number++);
  }
  all_hops_ += flows_[flow].hops;
}

void MaxMin::unlink_flow(Flow flow) {
  for (const Hop& hop : hops(flow)) {
    std::vector<std::uint64_t>& list = on_link_[hop.link];
    const std::uint64_t last = list.back();
    list[hop.place] = last;
    hops_[flows_[last >> 32].first_hop + (last & UINT32_MAX)].place = hop.place;
    list.pop_back();
  }
  all_hops_ -= flows_[flow].hops;
}

void MaxMin::touch(Flow flow) {
  if (flows_[flow].touched) return;
  flows_[flow].touched = true;
  touched_.push_back(flow);
}

void MaxMin::note(Link number) {
  LinkState& link = links_[number];
  if (link.noted) return;
  link.noted = true;
  link.before = link.members > 0 ? link.level : -1;
  noted_.push_back(number);
}

void MaxMin::enqueue(Link number) {
  LinkState& link = links_[number];
  if (link.queued) return;
  link.queued = true;
  const Fixed level = link.members > 0 ? link.level : share_of(link.capacity, link.weight);
  queue_.push_back(entry_of(level, number));
  std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
}

// The members of another link, which are on this one, load it by so much more at that level.
inline void MaxMin::load(Link number, Fixed more, Fixed level) {
  LinkState& link = links_[number];
  link.room -= more;
  if (level > link.fastest) link.fastest = level;
  if (!link.queued && ((link.members > 0) | (link.room < 0))) enqueue(number);
}

void MaxMin::cross(Link members_of, Link number, std::uint32_t weight, bool more) {
  std::vector<Crossing>& list = crossings_[members_of];
  const auto found = std::ranges::find(list, number, &Crossing::link);
  if (found == list.end()) {
    list.push_back({number, weight});
    members_from_[number].push_back(members_of);
  } else if (more) {
    found->weight += weight;
  } else if ((found->weight -= weight) == 0) {
    *found = list.back();
    list.pop_back();
    std::vector<Link>& from = members_from_[number];
    *std::ranges::find(from, members_of) = from.back();
    from.pop_back();
  }
}

void MaxMin::join(Flow flow, Link at) {
  if (links_[at].quiet) wake(at);
  FlowState& state = flows_[flow];
  LinkState& link = links_[at];
  note(at);
  bottleneck_[flow] = at;
  if (link.members == 0) {
    link.level = share_of(link.room, state.weight);
    link.quiet_up_to = kAny;
  }
  link.members += state.weight;
  for (const Hop& hop : hops(flow)) {
    if (hop.link == at) continue;
    if (links_[hop.link].quiet) {
      link.quiet_up_to = std::min(link.quiet_up_to, links_[hop.link].quiet_share);
    } else {
      cross(at, hop.link, state.weight, true);
      load(hop.link, link.level * state.weight, link.level);
    }
  }
  enqueue(at);
}

void MaxMin::leave(Flow flow) {
  FlowState& state = flows_[flow];
  const Link at = bottleneck_[flow];
  LinkState& link = links_[at];
  note(at);
  bottleneck_[flow] = kNone;
  link.members -= state.weight;
  for (const Hop& hop : hops(flow)) {
    if (hop.link == at || links_[hop.link].quiet) continue;
    cross(at, hop.link, state.weight, false);
    load(hop.link, -link.level * state.weight, 0);
  }
  enqueue(at);
}

// Where a new flow would be slowest, if all others stayed as they are.
MaxMin::Link MaxMin::best_offer(Flow flow) {
  Link best = kNone;
  Fixed least = 0;
  for (const Hop& hop : hops(flow)) {
    const LinkState& link = links_[hop.link];
    const Fixed offer = link.quiet ? share_of(link.capacity, link.weight)
                                   : share_of(link.room, link.members + flows_[flow].weight);
    if (best != kNone && offer >= least) continue;
    best = hop.link;
    least = offer;
  }
  return best;
}

void MaxMin::apply_weight(Flow flow) {
  FlowState& state = flows_[flow];
  state.pending = false;
  const std::uint32_t before = state.weight;
  if (state.next_weight == before) return;
  touch(flow);
  const Link at = bottleneck_[flow];
  if (at != kNone) leave(flow);
  if (before == 0) link_flow(flow);
  state.weight = state.next_weight;
  for (const Hop& hop : hops(flow)) {
    LinkState& link = links_[hop.link];
    link.weight += state.weight - before;
    if (link.weight > link.reserved) reserve(hop.link);
    if (link.weight > 0) continue;
    assert((link.quiet || link.room == link.capacity) && "sums are exact");
    link.quiet = true;
  }
  if (state.weight == 0)
    unlink_flow(flow);
  else
    join(flow, at != kNone ? at : best_offer(flow));
}

// With some to spare: more flows, up to these, do not make it less quiet. A flow that has the link
// for itself as a rule meets no faster one.
void MaxMin::set_aside(LinkState& link) {
  link.reserved = link.weight + link.weight / 4 + (link.weight > 1);
  link.quiet_share = share_of(link.capacity, link.reserved);
}

void MaxMin::reserve(Link number) {
  LinkState& link = links_[number];
  set_aside(link);
  if (!link.quiet) return;
  for (const std::uint64_t entry : on_link_[number]) {
    const Link at = bottleneck_[entry >> 32];
    if (at == kNone) continue;
    LinkState& members = links_[at];
    members.quiet_up_to = std::min(members.quiet_up_to, link.quiet_share);
    if (members.level > members.quiet_up_to) enqueue(at);
  }
}

void MaxMin::wake(Link number) {
  LinkState& link = links_[number];
  link.quiet = false;
  link.room = link.capacity;
  link.fastest = 0;
  for (const std::uint64_t entry : on_link_[number]) {
    const Link at = bottleneck_[entry >> 32];
    if (at == kNone) continue;
    const std::uint32_t weight = flows_[entry >> 32].weight;
    cross(at, number, weight, true);
    load(number, links_[at].level * weight, links_[at].level);
  }
}

// Wakes the quiet links of its members that may be full now, or soon.
void MaxMin::wake_for(Link members_of) {
  LinkState& link = links_[members_of];
  const Fixed soon = link.level + link.level / 4;
  link.quiet_up_to = kAny;
  for (const std::uint64_t entry : on_link_[members_of]) {
    const auto flow = static_cast<Flow>(entry >> 32);
    if (bottleneck_[flow] != members_of) continue;
    for (const Hop& hop : hops(flow)) {
      LinkState& other = links_[hop.link];
      if (!other.quiet) continue;
      if (other.quiet_share < soon) reserve(hop.link);
      if (other.quiet_share < (other.weight > 1 ? soon : link.level))
        wake(hop.link);
      else
        link.quiet_up_to = std::min(link.quiet_up_to, other.quiet_share);
    }
  }
}

// What its others leave for each member; -1: it has none.
inline Fixed MaxMin::level_of(const LinkState& link) {
  return link.members > 0 ? share_of(link.room, link.members) : -1;
}

// The members of another link that are on this one.
void MaxMin::take_in(Link number, Link members_of) {
  const auto& from = crossings_[members_of];
  std::uint32_t left = std::ranges::find(from, number, &Crossing::link)->weight;
  for (std::size_t i = 0; left > 0; ++i) {
    const auto flow = static_cast<Flow>(on_link_[number][i] >> 32);
    if (bottleneck_[flow] != members_of) continue;
    left -= flows_[flow].weight;
    touch(flow);
    leave(flow);
    join(flow, number);
    ++taken_;
  }
}

// The flows that are faster than its level have their bottleneck here. Returns the level then.
Fixed MaxMin::take_in_faster(Link number, Fixed level) {
  LinkState& link = links_[number];
  const auto is_slow = [&](Link at) { return links_[at].level <= level + same_; };
  faster_.clear();
  link.fastest = 0;
  for (const Link at : members_from_[number]) {
    link.fastest = std::max(link.fastest, links_[at].level);
    if (!is_slow(at)) faster_.push_back(at);
  }
  const auto slower = [this](Link a, Link b) {
    return links_[a].level != links_[b].level ? links_[a].level < links_[b].level : a > b;
  };
  // The level grows with each: as a rule the others are below it then.
  bool is_heap = false;
  while (!faster_.empty()) {
    if (is_heap)
      std::ranges::pop_heap(faster_, slower);
    else
      std::swap(*std::ranges::max_element(faster_, slower), faster_.back());
    const Link at = faster_.back();
    faster_.pop_back();
    if (is_slow(at)) break;
    take_in(number, at);
    level = level_of(link);
    if (is_heap) continue;
    std::erase_if(faster_, is_slow);
    std::ranges::make_heap(faster_, slower);
    is_heap = true;
  }
  return level;
}

void MaxMin::set_level(Link number, Fixed level) {
  LinkState& link = links_[number];
  const Fixed more = level - link.level;
  if (more > same_ || more < -same_) {
    note(number);
    link.level = level;
    for (const Crossing& crossing : crossings_[number])
      load(crossing.link, more * crossing.weight, level);
  }
  if (link.level > link.quiet_up_to) wake_for(number);
}

void MaxMin::look_at(Link number) {
  LinkState& link = links_[number];
  if (link.members > 0 || link.room < 0) {
    Fixed level = level_of(link);
    if (link.fastest > level + same_) level = take_in_faster(number, level);
    set_level(number, level);
  }
  link.queued = false;
}

void MaxMin::begin_fill() {
  for (const std::uint64_t entry : queue_) links_[entry & UINT32_MAX].queued = false;
  queue_.clear();
  offers_.clear();
  open_.resize(links_.size());
  slots_.resize(links_.size());
  ++fills_;
  for (Link number = 0; number < links_.size(); ++number) {
    LinkState& link = links_[number];
    if (link.weight > 0 || link.members > 0) note(number);
    crossings_[number].clear();
    members_from_[number].clear();
    link.members = 0;
    link.room = link.capacity;
    link.fastest = 0;
    link.quiet = true;
    link.quiet_up_to = kAny;
    open_[number] = link.weight;
    if (link.weight > 0) offers_.push_back({share_of(link.capacity, link.weight), number});
  }
  std::make_heap(offers_.begin(), offers_.end());
}

// The flows on it that have no rate yet are its members.
void MaxMin::fill_link(Link number, Fixed level) {
  LinkState& link = links_[number];
  link.level = level;
  link.members = std::exchange(open_[number], 0);
  link.quiet = false;
  std::vector<Crossing>& crossings = crossings_[number];
  for (const std::uint64_t entry : on_link_[number]) {
    const auto flow = static_cast<Flow>(entry >> 32);
    FlowState& state = flows_[flow];
    if (state.filled == fills_) continue;
    state.filled = fills_;
    if (bottleneck_[flow] != number) touch(flow);
    bottleneck_[flow] = number;
    for (const Hop& hop : hops(flow)) {
      if (hop.link == number) continue;
      LinkState& other = links_[hop.link];
      other.room -= level * state.weight;
      other.fastest = level;
      open_[hop.link] -= state.weight;
      std::uint32_t& slot = slots_[hop.link];
      if (slot < crossings.size() && crossings[slot].link == hop.link) {
        crossings[slot].weight += state.weight;
      } else {
        slot = static_cast<std::uint32_t>(crossings.size());
        crossings.push_back({hop.link, state.weight});
      }
    }
  }
}

// Which links are quiet, and who crosses those that are not.
void MaxMin::end_fill() {
  for (LinkState& link : links_) {
    if (link.weight == 0 || link.members > 0) continue;
    set_aside(link);
    const Fixed soon = link.weight > 1 ? link.fastest + link.fastest / 4 : link.fastest;
    link.quiet = link.quiet_share >= soon;
  }
  for (Link number = 0; number < links_.size(); ++number) {
    LinkState& link = links_[number];
    std::erase_if(crossings_[number], [&](const Crossing& crossing) {
      const LinkState& other = links_[crossing.link];
      if (other.quiet)
        link.quiet_up_to = std::min(link.quiet_up_to, other.quiet_share);
      else
        members_from_[crossing.link].push_back(number);
      return other.quiet;
    });
  }
}

// All rates from nothing: the link that leaves the least for each of its flows is their bottleneck;
// without them the others leave as much or more.
void MaxMin::fill() {
  begin_fill();
  while (!offers_.empty()) {
    const Offer offer = offers_.front();
    std::pop_heap(offers_.begin(), offers_.end());
    offers_.pop_back();
    if (open_[offer.link] == 0) continue;
    const Fixed level = share_of(links_[offer.link].room, open_[offer.link]);
    if (level == offer.level) {
      fill_link(offer.link, level);
    } else {
      offers_.push_back({level, offer.link});
      std::push_heap(offers_.begin(), offers_.end());
    }
  }
  end_fill();
}

MaxMin::Changes MaxMin::solve() {
  for (const Flow flow : touched_) flows_[flow].touched = false;
  for (const Link link : noted_) links_[link].noted = false;
  touched_.clear();
  noted_.clear();
  for (const Flow flow : pending_) apply_weight(flow);
  pending_.clear();
  same_ = kSame;
  taken_ = 0;
  // So many looks are not known to happen. What is cruder comes to an end earlier.
  const std::size_t many = 64 * (links_.size() + 64);
  for (std::size_t looks = 1; !queue_.empty(); ++looks) {
    if (looks % many == 0) same_ *= 2;
    const auto link = static_cast<Link>(take_lowest(queue_));
    look_at(link);
    if (taken_ * kHopsOfAMove > all_hops_ + kHopsOfALink * links_.size()) {
      fill();
      break;
    }
  }
  std::erase_if(noted_, [this](Link number) {
    LinkState& link = links_[number];
    if (link.members > 0 && link.level != link.before) return false;
    link.noted = false;
    return true;
  });
  return {touched_, noted_};
}

std::size_t MaxMin::memory() const {
  std::size_t bytes = flows_.capacity() * sizeof(FlowState) +
                      bottleneck_.capacity() * sizeof(Link) + hops_.capacity() * sizeof(Hop) +
                      links_.capacity() * sizeof(LinkState);
  for (const auto& list : on_link_) bytes += sizeof(list) + list.capacity() * sizeof(list[0]);
  for (const auto& list : crossings_) bytes += sizeof(list) + list.capacity() * sizeof(list[0]);
  for (const auto& list : members_from_) bytes += sizeof(list) + list.capacity() * sizeof(list[0]);
  for (const auto& free : free_hops_) bytes += free.capacity() * sizeof(free[0]);
  bytes += (pending_.capacity() + touched_.capacity()) * sizeof(Flow) +
           (noted_.capacity() + faster_.capacity()) * sizeof(Link) +
           queue_.capacity() * sizeof(queue_[0]) + offers_.capacity() * sizeof(Offer) +
           (open_.capacity() + slots_.capacity()) * sizeof(std::uint32_t);
  return bytes;
}

}  // namespace foretrace::sim
