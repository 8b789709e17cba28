#include "analysis/activity.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <utility>

#include "analysis/segments.hpp"
#include "analysis/waiting.hpp"

namespace foretrace::analysis {
namespace {

using trace::Event;
using trace::EventKind;

constexpr std::size_t kActivities = static_cast<std::size_t>(Activity::kCount);
using Sums = std::array<std::int64_t, kActivities>;  // ps by activity

// Where column c starts: floor(end * c / columns) without overflow.
std::int64_t column_start(std::int64_t end, std::int64_t columns, std::int64_t c) {
  return end / columns * c + end % columns * c / columns;
}

// One row of columns that time is added to.
class RowSums {
 public:
  RowSums(Time end, int columns)
      : end_(end.count_ps()), columns_(columns), sums_(static_cast<std::size_t>(columns)) {}

  void add(Activity activity, Time from, Time to) {
    const std::int64_t last = std::min(to.count_ps(), end_);
    std::int64_t at = from.count_ps();
    if (at >= last) return;
    std::int64_t column = static_cast<std::int64_t>(
        static_cast<double>(at) / static_cast<double>(end_) * static_cast<double>(columns_));
    column = std::clamp<std::int64_t>(column, 0, columns_ - 1);
    while (column > 0 && column_start(end_, columns_, column) > at) --column;
    while (at < last) {
      const std::int64_t stop = std::min(last, column_start(end_, columns_, column + 1));
      if (stop > at) {
        sums_[static_cast<std::size_t>(column)][static_cast<std::size_t>(activity)] += stop - at;
        at = stop;
      }
      ++column;
    }
  }

  const std::vector<Sums>& sums() const { return sums_; }

 private:
  std::int64_t end_;
  std::int64_t columns_;
  std::vector<Sums> sums_;
};

Activity dominant(const Sums& sums, std::size_t first) {
  const auto most = std::max_element(sums.begin() + static_cast<std::ptrdiff_t>(first), sums.end());
  return *most == 0 ? Activity::none : static_cast<Activity>(most - sums.begin());
}

// How long calls waited. Those of a measured run are found when all of it was taken.
class CallWaits {
 public:
  // The run must live as long.
  explicit CallWaits(RunEvents& run)
      : run_(run), measured_(run.info().clock == trace::Clock::wall), finder_(run.info().clock) {}

  void take(const Event& event) {
    if (measured_) finder_.take(event, run_.comm(event), run_.names().at(event.name));
  }
  void end_rank() { finder_.end_rank(); }
  void finish() {
    found_.resize(static_cast<std::size_t>(run_.ranks()));
    finder_.finish([&](const Waited& waited) {
      found_[static_cast<std::size_t>(waited.rank.value)].emplace_back(waited.event, waited.wait);
    });
  }
  // Of a rank's segments in their order.
  Time of(int rank, const Segment& segment) {
    if (!measured_ || segment.compute) return segment.wait;
    std::deque<std::pair<std::size_t, Time>>& next = found_[static_cast<std::size_t>(rank)];
    while (!next.empty() && next.front().first < segment.event) next.pop_front();
    return next.empty() || next.front().first != segment.event ? Time() : next.front().second;
  }

 private:
  RunEvents& run_;
  bool measured_;
  WaitFinder finder_;
  std::vector<std::deque<std::pair<std::size_t, Time>>> found_;  // by rank: event, wait
};

void add_segment(const Event& event, const Segment& segment, RowSums& row) {
  if (segment.compute) {
    row.add(Activity::compute, segment.from, segment.to);
    return;
  }
  row.add(Activity::wait, segment.from, segment.from + segment.wait);
  row.add(activity_of(event), segment.from + segment.wait, segment.to);
}

// The column of a moment; the last one of what lies at the end.
std::size_t column_of(Time at, const ActivityGrid& grid) {
  const double per_column =
      static_cast<double>(std::max<std::int64_t>(grid.end.count_ps(), 1)) / grid.columns;
  const auto column = static_cast<std::size_t>(static_cast<double>(at.count_ps()) / per_column);
  return std::min(column, static_cast<std::size_t>(grid.columns) - 1);
}

}  // namespace

Activity activity_of(const Event& event) {
  switch (event.kind) {
    case EventKind::send:
      return Activity::send;
    case EventKind::recv:
    case EventKind::probe:
      return Activity::recv;
    case EventKind::sendrecv:
      return Activity::sendrecv;
    case EventKind::isend:
    case EventKind::irecv:
    case EventKind::icollective:
      return Activity::post;
    case EventKind::complete:
      return Activity::complete;
    case EventKind::collective:
      return event.collective == machine::Cost::barrier ? Activity::barrier : Activity::collective;
    default:
      return Activity::other;
  }
}

ActivityGrid activity_grid(RunEvents& run, int columns, int max_rows) {
  ActivityGrid grid;
  grid.columns = columns;
  const int ranks = run.ranks();
  grid.ranks_per_row = std::max(1, (ranks + max_rows - 1) / max_rows);
  CallWaits waits(run);
  for (int rank = 0; rank < ranks; ++rank) {
    const Time end = read_rank(
        run, rank, [&](const Event& event) { waits.take(event); },
        [](const Event&, const Segment&) {});
    waits.end_rank();
    grid.end = std::max(grid.end, end);
  }
  waits.finish();

  grid.marked.resize(static_cast<std::size_t>(columns));
  MarkCounter marks;
  const auto take_mark = [&](const Event& event) {
    if (event.kind != EventKind::mark) return;
    marks.take(event);
    grid.marked[column_of(event.enter, grid)] = true;
  };
  std::vector<Sums> all(static_cast<std::size_t>(columns));
  for (int first = 0; first < ranks; first += grid.ranks_per_row) {
    RowSums row(grid.end, columns);
    for (int rank = first; rank < std::min(ranks, first + grid.ranks_per_row); ++rank) {
      const Time stop = read_rank(run, rank, take_mark, [&](const Event& event, Segment segment) {
        segment.wait = waits.of(rank, segment);
        add_segment(event, segment, row);
      });
      row.add(Activity::none, stop, grid.end);
    }
    std::vector<Activity>& line = grid.rows.emplace_back();
    for (std::size_t column = 0; column < all.size(); ++column) {
      line.push_back(dominant(row.sums()[column], 0));
      for (std::size_t i = 0; i < kActivities; ++i) all[column][i] += row.sums()[column][i];
    }
  }
  for (const Sums& sums : all) grid.all.push_back(dominant(sums, 1));
  grid.marks = marks.finish(run.names());
  return grid;
}

}  // namespace foretrace::analysis
