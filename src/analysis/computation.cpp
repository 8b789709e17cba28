#include "analysis/computation.hpp"

#include <algorithm>
#include <tuple>

namespace foretrace::analysis {

std::size_t ComputationWalk::KeyHash::operator()(const Key& key) const noexcept {
  const auto mix = [](const Caller& caller) {
    return (std::uint64_t{caller.place} << 32 | caller.name) * 0x9e3779b97f4a7c15u;
  };
  const std::uint64_t hash = (mix(key.after) ^ mix(key.before) >> 17) * 0xd6e8feb86659fd93u;
  return hash ^ hash >> 32;
}

// Programs do the same again and again: what followed last time is looked at first.
std::uint32_t ComputationWalk::find(const Key& key) {
  if (last_gap_ < gaps_.size()) {
    const std::uint32_t likely = gaps_[last_gap_].next;
    if (gaps_[likely].key == key) return likely;
  }
  const auto [known, added] = ids_.try_emplace(key, static_cast<std::uint32_t>(gaps_.size()));
  if (added) gaps_.emplace_back().key = key;
  gaps_[last_gap_].next = known->second;
  return known->second;
}

void ComputationWalk::close(Gap& gap) {
  if (gap.rank < 0) return;
  if (gap.passed > kMostPassages) gap.rest.add(gap.own_rest);
  if (gap.whole.ranks == 0 || gap.own > gap.whole.max) gap.slowest = WorldRank(gap.rank);
  gap.whole.add(gap.own);
  gap.times = std::max(gap.times, gap.passed);
  gap.rank = -1;
  gap.passed = 0;
  gap.own = gap.own_rest = Time();
}

void ComputationWalk::call(trace::NameId name, PlaceId place) {
  const Caller here{name, place};
  if (last_.name == UINT32_MAX) {
    last_ = here;
    since_call_ = Time();
    return;
  }
  const std::uint32_t id = find({last_, here});
  Gap& gap = gaps_[id];
  if (gap.rank != rank_) {
    close(gap);
    gap.rank = rank_;
  }
  if (gap.passed < kMostPassages) {
    if (gap.passages.size() == gap.passed) gap.passages.emplace_back();
    gap.passages[gap.passed].add(since_call_);
  } else {
    gap.own_rest += since_call_;
  }
  ++gap.passed;
  gap.own += since_call_;
  since_call_ = Time();
  last_ = here;
  last_gap_ = id;
}

void ComputationWalk::end_rank() {
  last_ = Caller();
  since_call_ = Time();
  ++rank_;
}

std::vector<ComputationProfile> ComputationWalk::finish(const std::vector<std::string>& names,
                                                        const PlaceIds& places) {
  std::vector<ComputationProfile> list;
  const auto place = [&](const Caller& caller) {
    return CallPlace{names.at(caller.name), places.text(caller.place)};
  };
  for (Gap& gap : gaps_) {
    close(gap);
    if (gap.whole.sum == Time()) continue;
    ComputationProfile profile;
    profile.after = place(gap.key.after);
    profile.before = place(gap.key.before);
    profile.times = gap.times;
    profile.ranks = gap.whole.ranks;
    profile.total = gap.whole.sum;
    profile.mean = Time::ps(gap.whole.sum.count_ps() / gap.whole.ranks);
    profile.max = gap.whole.max;
    profile.slowest = gap.slowest;
    for (const Passage& passage : gap.passages) profile.cost += passage.cost();
    if (gap.rest.ranks > 0) profile.cost += gap.rest.cost();
    list.push_back(std::move(profile));
  }
  std::ranges::stable_sort(list, [](const auto& x, const auto& y) {
    return std::tie(x.cost, x.total) > std::tie(y.cost, y.total);
  });
  return list;
}

}  // namespace foretrace::analysis
