#include "pyramid/rank_times.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace foretrace::pyramid {
namespace {

constexpr std::size_t kSlices = 8;
constexpr std::array<double, 7> kLimits{0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 1};
constexpr std::size_t kMostGroups = 12;

double overlap(std::int64_t from, std::int64_t to, double until) {
  return std::max(0.0, std::min(static_cast<double>(to), until) - static_cast<double>(from));
}

void add(const EventWalk& event, double until, ClassTimes& times) {
  const Class class_ = event.shape->class_;
  times[0] += overlap(event.start, event.enter, until);
  times[class_ == 0 ? Class(0) : static_cast<Class>(class_ + 1)] +=
      overlap(event.enter, event.ready, until);
  times[class_] += overlap(event.ready, event.leave, until);
}

// What a rank does in the slices of an interval: times by class, one slice after another.
using Features = std::vector<double>;

Features features_of(const OpenFile& file, std::uint64_t rank, double from, double to) {
  const double slice = (to - from) / kSlices;
  Features all;
  all.reserve(kSlices * std::tuple_size_v<ClassTimes>);
  RankTimes times(file, rank);
  ClassTimes before = times.upto(from);
  for (std::size_t i = 1; i <= kSlices; ++i) {
    const ClassTimes after = times.upto(from + static_cast<double>(i) * slice);
    for (std::size_t c = 0; c < after.size(); ++c) all.push_back(after[c] - before[c]);
    before = after;
  }
  return all;
}

// The part of the time in which two ranks do something else; no further than `enough`.
double distance(const Features& a, const Features& b, double span,
                double enough = std::numeric_limits<double>::infinity()) {
  const double most = enough * 2 * span;
  double sum = 0;
  for (std::size_t i = 0; i < a.size() && sum <= most; ++i) sum += std::abs(a[i] - b[i]);
  return sum / (2 * span);
}

// The groups under one limit: a rank joins the first one whose first rank it is like.
struct Grouping {
  double limit = 0;
  std::vector<Features> firsts;
  std::vector<AlikeGroup> groups;

  bool too_many() const { return groups.size() > kMostGroups; }
  void add(std::uint32_t rank, const Features& does, double span) {
    if (too_many()) return;
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (distance(firsts[i], does, span, limit) <= limit) {
        groups[i].ranks.push_back(rank);
        return;
      }
    groups.push_back({{rank}, 0});
    firsts.push_back(does);
    if (too_many()) firsts.clear();
  }
};

}  // namespace

void RankTimes::seek(double time) {
  const auto pieces = file_.pieces(rank_);
  const auto after = std::upper_bound(
      pieces.begin(), pieces.end(), time,
      [](double t, const Piece& piece) { return t < static_cast<double>(piece.at); });
  const auto found = static_cast<std::size_t>(after - pieces.begin());
  const std::size_t begin = (found > 0 ? found - 1 : 0) / kPiecesPerBefore * kPiecesPerBefore;
  if (walk_ && begin <= begin_) return;
  Bytes bytes = file_.before(rank_, begin);
  const Before before = Before::read(bytes);
  times_.fill(0);
  for (std::size_t c = 0; c < before.times.size(); ++c)
    times_[c] = static_cast<double>(before.times[c]);
  walk_.emplace(Bytes{file_.stream(rank_, begin, pieces.size()), file_.path()}, file_.shapes(),
                pieces[begin].at);
  begin_ = begin;
  more_ = walk_->next();
}

ClassTimes RankTimes::upto(double time) {
  if (file_.pieces(rank_).empty()) return times_;
  seek(time);
  constexpr double kAll = std::numeric_limits<double>::infinity();
  for (; more_ && static_cast<double>(walk_->leave) <= time; more_ = walk_->next())
    add(*walk_, kAll, times_);
  ClassTimes now = times_;
  if (more_) add(*walk_, time, now);
  return now;
}

std::vector<AlikeGroup> alike(const OpenFile& file, double from, double to) {
  std::array<Grouping, kLimits.size()> all;
  for (std::size_t i = 0; i < all.size(); ++i) all[i].limit = kLimits[i];
  const auto ranks = static_cast<std::uint32_t>(file.ranks().size());
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const Features does = features_of(file, rank, from, to);
    for (Grouping& each : all) each.add(rank, does, to - from);
  }
  // Under the last limit all are alike.
  Grouping& best = *std::find_if(all.begin(), all.end() - 1,
                                 [](const Grouping& each) { return !each.too_many(); });
  const auto larger = [](const AlikeGroup& a, const AlikeGroup& b) {
    return a.ranks.size() != b.ranks.size() ? a.ranks.size() > b.ranks.size()
                                            : a.ranks[0] < b.ranks[0];
  };
  const auto usual = static_cast<std::size_t>(
      std::min_element(best.groups.begin(), best.groups.end(), larger) - best.groups.begin());
  for (std::size_t i = 0; i < best.groups.size(); ++i)
    best.groups[i].apart = distance(best.firsts[usual], best.firsts[i], to - from);
  std::sort(best.groups.begin(), best.groups.end(), larger);
  return std::move(best.groups);
}

std::vector<RankMeasure> rank_measures(const OpenFile& file, double from, double to) {
  std::vector<RankMeasure> all;
  for (std::uint64_t rank = 0; rank < file.ranks().size(); ++rank) {
    RankTimes times(file, rank);
    const ClassTimes before = times.upto(from);
    const ClassTimes after = times.upto(to);
    RankMeasure measure;
    measure.compute = after[0] - before[0];
    for (std::size_t c = 1; c < after.size(); ++c) {
      measure.calls += after[c] - before[c];
      if (c % 2 == 0) measure.wait += after[c] - before[c];
    }
    all.push_back(measure);
  }
  return all;
}

}  // namespace foretrace::pyramid
