#include "sim/network/max_min.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <limits>

namespace foretrace::sim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// The load of a link is added up as it changes. It may be wrong by this much of
// the capacity; where that matters the link is looked at closely.
constexpr double kLoadError = 1e-9;

}  // namespace

MaxMin::Link MaxMin::add_link(double capacity) {
  assert(capacity > 0 && capacity < std::numeric_limits<double>::infinity() &&
         "a link without a limit needs no place here");
  links_.emplace_back();
  on_link_.emplace_back();
  links_.back().capacity = capacity;
  return static_cast<Link>(links_.size() - 1);
}

void MaxMin::add_flow(Flow flow, std::span<const Link> links) {
  if (flow >= flows_.size()) {
    flows_.resize(flow + 1);
    routes_.resize(flow + 1);
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
  flows_[flow] = {};
  routes_[flow] = {first, static_cast<std::uint32_t>(links.size()), kNone, 0, 0, 0};
  for (std::size_t i = 0; i < links.size(); ++i) hops_[first + i] = {links[i], 0};
}

void MaxMin::remove_flow(Flow flow) {
  assert(flows_[flow].weight == 0 && !flows_[flow].pending && "the flow has ended");
  free_hops_[routes_[flow].hops].push_back(routes_[flow].first_hop);
}

void MaxMin::set_weight(Flow flow, std::uint32_t weight) {
  if (!flows_[flow].pending && flows_[flow].weight == weight) return;
  routes_[flow].next_weight = weight;
  if (flows_[flow].pending) return;
  flows_[flow].pending = true;
  pending_.push_back(flow);
}

void MaxMin::link_flow(Flow flow) {
  std::uint64_t number = 0;
  for (Hop& hop : hops(flow)) {
    std::vector<std::uint64_t>& list = on_link_[hop.link];
    hop.place = static_cast<std::uint32_t>(list.size());
    list.push_back(std::uint64_t{flow} << 32 | number++);
  }
}

void MaxMin::unlink_flow(Flow flow) {
  for (const Hop& hop : hops(flow)) {
    std::vector<std::uint64_t>& list = on_link_[hop.link];
    const std::uint64_t last = list.back();
    list[hop.place] = last;
    hops_[routes_[last >> 32].first_hop + (last & UINT32_MAX)].place = hop.place;
    list.pop_back();
  }
}

void MaxMin::apply_weight(Flow flow) {
  FlowState& state = flows_[flow];
  FlowRoute& route = routes_[flow];
  state.pending = false;
  const std::uint32_t before = state.weight;
  if (route.next_weight == before) return;
  if (before == 0) link_flow(flow);
  const double more = static_cast<double>(route.next_weight) - static_cast<double>(before);
  for (const Hop& hop : hops(flow)) {
    LinkState& link = links_[hop.link];
    link.weight += route.next_weight - before;
    link.share = link.capacity / link.weight;
    link.load = link.weight == 0 ? 0 : link.load + more * state.rate;
  }
  route.last_weight = before;
  state.weight = route.next_weight;
  if (state.weight == 0) {
    unlink_flow(flow);
    if (route.bottleneck != kNone) --links_[route.bottleneck].bottleneck_of;
    route.bottleneck = kNone;
    state.rate = 0;
  }
  touched_.push_back(flow);
}

void MaxMin::touch(Flow flow) {
  FlowRoute& route = routes_[flow];
  route.old_rate = flows_[flow].rate;
  if (route.bottleneck != kNone) --links_[route.bottleneck].bottleneck_of;
  route.bottleneck = kNone;
  touched_.push_back(flow);
}

void MaxMin::enqueue(Link number, double key) {
  LinkState& link = links_[number];
  if (link.queued && link.key <= key) return;
  link.queued = true;
  link.exact = false;
  link.key = key;
  queue_.push_back({key, number});
  std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
}

void MaxMin::suspect(Link number) {
  LinkState& link = links_[number];
  if (!link.suspect) ++suspects_;
  link.suspect = true;
  enqueue(number, link.share);
}

void MaxMin::raise(Flow flow) {
  FlowState& state = flows_[flow];
  if (state.state != State::fixed) return;
  state.state = State::rising;
  ++rising_;
  touch(flow);
  // Of the links that it has for itself only the slowest can stop it.
  Link own = kNone;
  const double load = state.weight * state.rate;
  for (const Hop& hop : hops(flow)) {
    LinkState& link = links_[hop.link];
    link.rising += state.weight;
    link.load -= load;
    link.exact = false;
    if (link.weight != state.weight)
      enqueue(hop.link, link.share);
    else if (own == kNone || link.capacity < links_[own].capacity)
      own = hop.link;
  }
  if (own == kNone) return;
  own_.push_back({links_[own].share, own});
  first_own_ = std::min(first_own_, links_[own].share);
}

void MaxMin::enqueue_own() {
  for (const Entry& own : own_)
    if (links_[own.link].rising > 0) enqueue(own.link, own.key);
  own_.clear();
  first_own_ = kNever;
}

void MaxMin::release(Link number) {
  if (links_[number].bottleneck_of == 0) return;
  for (const std::uint64_t entry : on_link_[number]) {
    const auto flow = static_cast<Flow>(entry >> 32);
    if (routes_[flow].bottleneck == number && flows_[flow].state == State::fixed) raise(flow);
  }
}

// No level is below this: it counts those that do not rise with all their rate.
double MaxMin::bound_of(const LinkState& link) const {
  if (link.rising == 0) return link.share;
  return std::max(link.share, (link.capacity * (1 - kLoadError) - link.load) / link.rising);
}

// The level at which the link is full, when every flow that rises goes with the
// level, and those that do not, too, up to their rates; infinite if it does not
// become full.
double MaxMin::level_of(Link number) {
  LinkState& link = links_[number];
  below_.clear();
  double used = 0;
  double load = 0;
  std::uint32_t weight = 0;
  for (const std::uint64_t entry : on_link_[number]) {
    const FlowState& flow = flows_[entry >> 32];
    if (flow.state != State::stopped) weight += flow.weight;
    if (flow.state == State::rising) continue;
    const double all = flow.weight * flow.rate;
    load += all;
    if (flow.state == State::stopped)
      used += all;
    else
      below_.push_back(flow);
  }
  link.load = load;
  // The level grows as those whose rates it passes are counted with these.
  while (weight > 0) {
    const double level = (link.capacity - used) / weight;
    const std::size_t before = below_.size();
    for (std::size_t i = 0; i < below_.size();) {
      if (below_[i].rate >= level) {
        ++i;
        continue;
      }
      used += below_[i].weight * below_[i].rate;
      weight -= below_[i].weight;
      below_[i] = below_.back();
      below_.pop_back();
    }
    if (below_.size() == before) return level;
  }
  return kNever;
}

void MaxMin::stop(Flow flow, Link at, double level) {
  FlowState& state = flows_[flow];
  const bool rose = state.state == State::rising;
  if (!rose) touch(flow);
  FlowRoute& route = routes_[flow];
  const double before = route.old_rate;
  const bool same = std::abs(level - before) <= kEqual * before;
  if (!same) state.rate = level;
  state.state = State::stopped;
  route.bottleneck = at;
  ++links_[at].bottleneck_of;
  if (rose) --rising_;
  const double more = state.weight * (state.rate - before);
  const double load = rose ? state.weight * state.rate : more;
  for (const Hop& hop : hops(flow)) {
    LinkState& link = links_[hop.link];
    if (rose) link.rising -= state.weight;
    link.load += load;
    link.exact = false;
    if (hop.link == at) continue;
    if (more < 0 && link.bottleneck_of > 0) release(hop.link);
    if (more > 0) link.grew = solves_;
    // Looked at when all on it are known.
    if (link.rising == 0 && link.grew == solves_ && link.weight != state.weight &&
        link.load > link.capacity * (1 - kLoadError))
      suspect(hop.link);
  }
}

void MaxMin::fill(Link number, double level) {
  // Lists do not change here, states do: one that begins to rise on the way
  // puts the link into the queue again.
  const std::vector<std::uint64_t>& list = on_link_[number];
  const double faster = level * (1 + kEqual);
  for (const std::uint64_t entry : list) {
    const auto flow = static_cast<Flow>(entry >> 32);
    const FlowState& state = flows_[flow];
    if (state.state == State::rising || (state.state == State::fixed && state.rate > faster))
      stop(flow, number, level);
  }
}

// The first link of the queue: it is full at its level if no other has a lower one.
void MaxMin::look_at(const Entry& entry) {
  LinkState& link = links_[entry.link];
  const bool suspect = link.suspect;
  const auto later = [&](double key) {
    if ((queue_.empty() || key <= queue_.front().key) && key <= first_own_) return false;
    enqueue(entry.link, key);
    link.suspect = suspect;
    suspects_ += suspect;
    return true;
  };
  link.queued = false;
  link.suspect = false;
  suspects_ -= suspect;
  if (link.rising == 0 && !suspect) return;
  double level = entry.key;
  if (!link.exact) {
    if (later(bound_of(link))) return;
    level = level_of(entry.link);
    if (level == kNever) return;
    if (later(level)) {
      link.exact = true;
      return;
    }
  }
  fill(entry.link, level);
}

std::span<const MaxMin::Flow> MaxMin::solve() {
  ++solves_;
  first_own_ = kNever;
  touched_.clear();
  changed_.clear();
  for (const Flow flow : pending_) apply_weight(flow);
  // Only when all weights are known are the links' shares.
  pending_.swap(touched_);
  touched_.clear();
  for (const Flow flow : pending_) {
    const FlowRoute& route = routes_[flow];
    if (flows_[flow].weight > 0) raise(flow);
    for (const Hop& hop : hops(flow)) {
      if (flows_[flow].weight < route.last_weight)
        release(hop.link);
      else if (route.last_weight > 0)
        suspect(hop.link);  // fuller than before, whatever becomes of the rate
    }
  }
  pending_.clear();
  while (rising_ + suspects_ > 0) {
    if (queue_.empty() || first_own_ <= queue_.front().key) enqueue_own();
    std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
    const Entry entry = queue_.back();
    queue_.pop_back();
    const LinkState& link = links_[entry.link];
    if (link.queued && link.key == entry.key) look_at(entry);
  }
  own_.clear();
  first_own_ = kNever;
  for (const Entry& entry : queue_) links_[entry.link].queued = false;
  queue_.clear();
  for (const Flow flow : touched_) {
    flows_[flow].state = State::fixed;
    if (flows_[flow].rate != routes_[flow].old_rate) changed_.push_back(flow);
  }
  return changed_;
}

std::size_t MaxMin::memory() const {
  std::size_t bytes = flows_.capacity() * sizeof(FlowState) +
                      routes_.capacity() * sizeof(FlowRoute) + hops_.capacity() * sizeof(Hop) +
                      links_.capacity() * sizeof(LinkState);
  for (const auto& list : on_link_) bytes += sizeof(list) + list.capacity() * sizeof(list[0]);
  for (const auto& free : free_hops_) bytes += free.capacity() * sizeof(free[0]);
  bytes += (pending_.capacity() + touched_.capacity() + changed_.capacity()) * sizeof(Flow) +
           (queue_.capacity() + own_.capacity()) * sizeof(Entry) +
           below_.capacity() * sizeof(FlowState);
  return bytes;
}

}  // namespace foretrace::sim
