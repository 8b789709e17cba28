#include "sim/dependences.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"

namespace foretrace::sim {

using machine::Dependence;

void Dependences::begin(int ranks, bool fixed) {
  *this = Dependences();
  fixed_ = fixed;
  states_.resize(static_cast<std::size_t>(ranks));
}

void Dependences::finish() {
  for (RankState& state : states_) {
    const RankState last = std::exchange(state, {});
    state.first = last.first;
    state.leave = last.leave;
  }
  flying_ = {};
  collectives_ = {};
}

MomentId Dependences::append(const Moment& moment, std::span<Link> links) {
  if (moments_.size() >= kNoMoment || parts_.size() + links.size() >= UINT32_MAX)
    throw Error("the run has more dependences than fit; explain a shorter one");
  settle(links, moment.at);
  const auto id = static_cast<MomentId>(moments_.size());
  decltype(moments_)::Row row{};
  row[MomentColumn::kAt] = static_cast<std::uint64_t>(moment.at.count_ps());
  row[MomentColumn::kFirstLink] = links_.size();
  row[MomentColumn::kRank] = static_cast<std::uint64_t>(moment.rank.value + 1);
  row[MomentColumn::kKind] = static_cast<std::uint64_t>(moment.kind);
  row[MomentColumn::kOperation] = moment.operation;
  if (moment.kind == MomentKind::leave) {
    row[MomentColumn::kBack] = id - moment.enter;
    row[MomentColumn::kAlone] = alone_.number_of({moment.alone - at(moment.enter)});
  }
  moments_.push_back(row);
  for (const Link& link : links) {
    const bool reaches = at(link.from) + link.takes == moment.at;
    const std::uint32_t parts = parts_.number_of(
        {reaches ? Time() : link.takes, link.overhead, link.latency, link.bytes, link.kind});
    links_.push_back({id - link.from, reaches ? std::uint64_t{1} : 0, parts});
  }
  return id;
}

namespace {

std::uint64_t mixed(std::uint64_t hash, Time time) {
  return (hash ^ static_cast<std::uint64_t>(time.count_ps())) * 0x9e3779b97f4a7c15u;
}

}  // namespace

std::uint64_t Dependences::LinkParts::hash() const {
  auto hash = static_cast<std::uint64_t>(kind);
  for (const Time part : {takes, overhead, latency, bytes}) hash = mixed(hash, part);
  return hash;
}

std::uint64_t Dependences::Alone::hash() const {
  return mixed(0, time);
}

// Makes `when` the latest of the links. What is missing was spent waiting for a link
// or a port that somebody else used, or for a moment to poll.
void Dependences::settle(std::span<Link> links, Time when) {
  Link* last = nullptr;
  const auto end_of = [this](const Link& link) { return at(link.from) + link.takes; };
  for (Link& link : links) {
    if (end_of(link) > when) {
      link.takes = when - at(link.from);
      fixed_ = false;
    }
    // Ports make messages late, not their receivers.
    const bool better = !last || (last->kind == LinkKind::own && link.kind != LinkKind::own) ||
                        (end_of(link) > end_of(*last) &&
                         (last->kind == LinkKind::own) == (link.kind == LinkKind::own));
    if (better) last = &link;
  }
  if (!last) return;
  const bool reached =
      std::ranges::any_of(links, [&](const Link& link) { return end_of(link) == when; });
  if (reached) return;
  last->takes = when - at(last->from);
  fixed_ = false;
}

void Dependences::enter(WorldRank rank, std::uint32_t operation, Time when) {
  RankState& mine = state(rank);
  Moment moment;
  moment.at = when;
  moment.alone = when;
  moment.rank = rank;
  moment.operation = operation;
  Link link;
  link.kind = LinkKind::compute;
  link.from = mine.leave;
  if (mine.leave != kNoMoment) link.takes = when - at(mine.leave);
  mine.enter = append(moment, mine.leave == kNoMoment ? std::span<Link>() : std::span(&link, 1));
  if (mine.first == kNoMoment || (*this)[mine.first].operation != operation)
    mine.first = mine.enter;
  mine.links.clear();
}

void Dependences::leave(WorldRank rank, Time when, Time alone, Time rest) {
  RankState& mine = state(rank);
  const Moment enter = (*this)[mine.enter];
  Moment moment = enter;
  moment.kind = MomentKind::leave;
  moment.at = when;
  moment.alone = alone;
  moment.enter = mine.enter;
  for (Link& link : mine.links) {
    link.takes += rest;
    link.overhead += rest;
  }
  if (mine.links.empty()) {
    Link own;
    own.from = mine.enter;
    own.takes = when - enter.at;
    own.overhead = std::min(own.takes, alone - enter.at);
    mine.links.push_back(own);
  }
  mine.leave = append(moment, mine.links);
  mine.links.clear();
}

void Dependences::end_request(WorldRank rank, std::uint64_t request, Time when,
                              std::span<Link> links) {
  Posted& posted = state(rank).posted.at(request);
  Moment moment = (*this)[posted.enter];
  moment.kind = MomentKind::request;
  moment.at = when;
  moment.alone = when;
  posted.end = append(moment, links);
}

MomentId Dependences::take_request(WorldRank rank, std::uint64_t request) {
  auto& all = state(rank).posted;
  const auto found = all.find(request);
  if (found == all.end()) return kNoMoment;
  const MomentId end = found->second.end;
  all.erase(found);
  return end;
}

MomentId Dependences::posted(WorldRank rank, std::uint64_t request) const {
  return state(rank).posted.at(request).enter;
}

void Dependences::arrive(Way way, WorldRank rank, std::uint64_t request, Time when) {
  const std::span<Link> links(way.links, static_cast<std::size_t>(way.count));
  for (Link& link : links) {
    Time left = when - way.at;
    link.takes += left;
    const auto add = [&left](Time& part, Time most) {
      const Time more = std::min(left, most);
      part += more;
      left -= more;
    };
    add(link.overhead, way.beyond.overhead);
    add(link.latency, way.beyond.latency);
    add(link.bytes, way.beyond.bytes);
  }
  if (request != 0) return end_request(rank, request, when, links);
  for (const Link& link : links) add(rank, link);
}

void Dependences::join(trace::CommId comm, std::size_t size, Dependence dependence, WorldRank root,
                       WorldRank rank, std::uint64_t request) {
  RankState& mine = state(rank);
  const std::uint64_t number = mine.joined[comm]++;
  Instance& instance = collectives_[comm][number];
  instance.dependence = dependence;
  instance.size = size;
  instance.entered.push_back(mine.enter);
  if (rank == root) instance.root = mine.enter;
  if (request == 0) return;
  post(rank, request);
  mine.instances[request] = number;
}

void Dependences::release(trace::CommId comm, WorldRank rank, std::uint64_t request,
                          const Link& cost, Time end) {
  RankState& mine = state(rank);
  std::uint64_t number = mine.joined[comm] - 1;
  if (request != 0) {
    number = mine.instances.at(request);
    mine.instances.erase(request);
  }
  const MomentId own = request != 0 ? posted(rank, request) : mine.enter;
  Instances& instances = collectives_[comm];
  Instance& instance = instances.at(number);
  std::vector<Link> links;
  const auto after = [&](MomentId from) {
    links.push_back(cost);
    links.back().from = from;
    links.back().kind = LinkKind::collective;
  };
  // The latest start of several, which members have in common.
  const auto gather = [&](std::span<const MomentId> starts) {
    std::vector<Link> all;
    Moment latest;
    latest.kind = MomentKind::latest;
    for (const MomentId start : starts) {
      if (start == kNoMoment) continue;
      all.emplace_back();
      all.back().from = start;
      all.back().kind = LinkKind::gather;
      latest.at = std::max(latest.at, at(start));
    }
    latest.alone = latest.at;
    instance.latest = append(latest, all);
  };
  const bool is_root = own == instance.root;
  switch (instance.dependence) {
    case Dependence::all_for_all:
      if (instance.latest == kNoMoment) gather(instance.entered);
      after(instance.latest);
      break;
    case Dependence::all_for_root:
      after(own);
      if (!is_root) after(instance.root);
      break;
    case Dependence::root_for_all:
      if (is_root) gather(instance.entered);
      after(is_root ? instance.latest : own);
      break;
    case Dependence::prefix:
      gather(std::array{instance.latest, own});
      after(instance.latest);
      break;
  }
  if (request != 0)
    end_request(rank, request, end, links);
  else
    mine.links = links;
  if (++instance.released == instance.size) instances.erase(number);
}

}  // namespace foretrace::sim
