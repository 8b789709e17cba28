#include "explain/times_without.hpp"

#include <algorithm>
#include <bit>

#include "explain/what_if.hpp"

namespace foretrace::explain {

using sim::Link;
using sim::Moment;
using sim::MomentId;

std::uint32_t MarkedMoments::number() {
  std::uint32_t count = 0;
  for (Word& word : words_) {
    word.before = count;
    count += static_cast<std::uint32_t>(std::popcount(word.bits));
  }
  return count;
}

std::uint32_t MarkedMoments::before(MomentId id) const {
  const Word& word = words_[id / 64];
  return word.before + static_cast<std::uint32_t>(std::popcount(word.bits & (bit(id) - 1)));
}

namespace {

MarkedMoments leaves_with_waits(const sim::Dependences& graph) {
  MarkedMoments waits(graph.size());
  for (MomentId id = 0; id < graph.size(); ++id)
    if (const Moment moment = graph[id];
        moment.kind == sim::MomentKind::leave && moment.wait() > Time())
      waits.mark(id);
  return waits;
}

// Of the lengths that were laid over each of several places the largest: a tree whose node n
// stands for all places below it, with nodes 2n and 2n + 1 as its children.
class Layers {
 public:
  explicit Layers(std::size_t places) : places_(places), largest_(2 * places) {}

  // Over the places [first, last).
  void lay(Time length, std::size_t first, std::size_t last) {
    for (first += places_, last += places_; first < last; first /= 2, last /= 2) {
      if (first % 2 == 1) raise(first++, length);
      if (last % 2 == 1) raise(--last, length);
    }
  }
  std::vector<Time> take() {
    for (std::size_t node = 1; node < places_; ++node) {
      raise(2 * node, largest_[node]);
      raise(2 * node + 1, largest_[node]);
    }
    largest_.erase(largest_.begin(), largest_.begin() + static_cast<std::ptrdiff_t>(places_));
    largest_.shrink_to_fit();
    return std::move(largest_);
  }

 private:
  void raise(std::size_t node, Time length) { largest_[node] = std::max(largest_[node], length); }

  std::size_t places_;
  std::vector<Time> largest_;
};

}  // namespace

TimesWithout::TimesWithout(const Run& run)
    : waits_(leaves_with_waits(run.graph)), as_it_is_(run.time) {
  const sim::Dependences& graph = run.graph;
  const std::uint32_t count = waits_.number();
  Layers ways(count);
  for (const MomentId end : run.ends)
    if (end != sim::kNoMoment) ways.lay(graph[end].at, waits_.before(end + 1), count);
  each_tail(run, [&](MomentId id, Time tail) {
    if (tail < Time()) return;
    const Moment moment = graph[id];
    const std::uint32_t here = waits_.before(id);
    const auto links = graph.links(id);
    if (links.empty()) ways.lay(moment.at + tail, 0, here);
    for (const Link& link : links)
      ways.lay(graph[link.from].at + link.takes + tail, waits_.before(link.from + 1), here);
    if (waits_[id]) ways.lay(moment.alone + tail, here, here + 1);
  });
  times_ = ways.take();
}

}  // namespace foretrace::explain
