#include "base/lock_use.hpp"

#include <algorithm>

namespace foretrace {

Time LockUse::Span::left(Time from) const {
  const Time length = end - begin;
  if (used >= length) return {};
  const Time rest = end - std::max(from, begin);
  return (length - used).scaled(rest.seconds() / length.seconds());
}

bool LockUse::Span::is_full() const {
  return (end - begin - used).count_ps() <= (end - begin).count_ps() / 100;
}

// The first one that ends after it.
std::size_t LockUse::find(Time from) const {
  std::size_t at = 0;
  while (at < count_ && spans_[at].end <= from) ++at;
  return at;
}

Time LockUse::free_at(Time from) const {
  Time most_lost;
  for (std::size_t at = find(from); at < count_; ++at) {
    const Span& span = spans_[at];
    if (span.begin - from > most_lost || !span.is_full()) break;
    from = span.end;
    most_lost = Time::ps((span.end - span.begin).count_ps() / 100);
  }
  return from;
}

Time LockUse::add(Time from, Time length) {
  if (length <= Time()) return from;
  std::size_t at = find(from);
  Time now = from;
  for (; at < count_; ++at) {
    Span& span = spans_[at];
    const Time begin = std::max(now, span.begin);
    const Time gap = begin - now;
    if (length < gap) break;
    // Before what is left is spread over the gap as well.
    const Time left = span.left(begin);
    const Time taken = std::min(length - gap, left);
    const Time rest = span.end - begin;
    const Time end = begin + (taken < left ? rest.scaled(taken.seconds() / left.seconds()) : rest);
    span.begin = std::min(span.begin, now);
    span.used += gap + taken;
    length -= gap + taken;
    if (length == Time()) return taken == Time() ? begin : end;
    now = span.end;
  }
  insert(at, {now, now + length, length});
  return now + length;
}

void LockUse::insert(std::size_t at, const Span& span) {
  // One after the other without a gap: as one.
  if (at > 0 && spans_[at - 1].end == span.begin &&
      spans_[at - 1].used == spans_[at - 1].end - spans_[at - 1].begin) {
    spans_[at - 1].end = span.end;
    spans_[at - 1].used += span.used;
    return;
  }
  std::copy_backward(spans_.begin() + at, spans_.begin() + count_, spans_.begin() + count_ + 1);
  spans_[at] = span;
  if (++count_ == spans_.size()) join_nearest();
}

// The two with the least between them.
void LockUse::join_nearest() {
  std::size_t best = 1;
  const auto gap = [this](std::size_t at) { return spans_[at].begin - spans_[at - 1].end; };
  for (std::size_t at = 2; at < count_; ++at)
    if (gap(at) < gap(best)) best = at;
  spans_[best - 1].end = spans_[best].end;
  spans_[best - 1].used += spans_[best].used;
  std::copy(spans_.begin() + best + 1, spans_.begin() + count_, spans_.begin() + best);
  --count_;
}

}  // namespace foretrace
