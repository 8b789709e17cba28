#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/activity.hpp"
#include "analysis/marks.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/notes.hpp"
#include "views/draw/units.hpp"
#include "views/timeline/timeline.hpp"

namespace foretrace::views {
namespace {

using analysis::Activity;
using analysis::ActivityGrid;

struct Mark {
  char character;
  const char* meaning;
};

// By Activity.
constexpr std::array<Mark, static_cast<std::size_t>(Activity::kCount)> kMarks{{
    {' ', ""},
    {'#', "computing"},
    {'.', "waiting"},
    {'s', "send"},
    {'r', "receive"},
    {'x', "sendrecv"},
    {'i', "isend, irecv"},
    {'w', "wait, test"},
    {'b', "barrier"},
    {'c', "collective"},
    {'o', "other call"},
}};

const Mark& mark_of(Activity activity) {
  return kMarks[static_cast<std::size_t>(activity)];
}

// The smallest of 1, 2, 5 times a power of ten that is >= `least` picoseconds.
std::int64_t tick_step(double least) {
  std::int64_t power = 1;
  while (static_cast<double>(power) * 10 <= least) power *= 10;
  for (std::int64_t factor : {1, 2, 5, 10})
    if (static_cast<double>(power * factor) >= least) return power * factor;
  return power * 10;
}

// Two lines: labels, and ticks below them. Labels need about 12 characters.
std::string time_axis(const ActivityGrid& grid, std::size_t indent) {
  const auto columns = static_cast<std::size_t>(grid.columns);
  std::string labels(indent + columns, ' ');
  std::string ticks(indent + columns, '-');
  std::fill_n(ticks.begin(), indent, ' ');
  const double per_column =
      static_cast<double>(grid.end.count_ps()) / static_cast<double>(grid.columns);
  const std::int64_t step = tick_step(std::max(1.0, per_column * 12));
  for (std::int64_t at = 0; at < grid.end.count_ps() || at == 0; at += step) {
    const auto column = per_column == 0
                            ? std::size_t{0}
                            : static_cast<std::size_t>(static_cast<double>(at) / per_column + 0.5);
    if (column >= columns) break;
    ticks[indent + column] = '|';
    const std::string label = format_time(Time::ps(at));
    if (column + label.size() <= columns) labels.replace(indent + column, label.size(), label);
  }
  labels.erase(labels.find_last_not_of(' ') + 1);
  return labels + "\n" + ticks + "\n";
}

std::string row_label(int row, const ActivityGrid& grid, int ranks) {
  const int first = row * grid.ranks_per_row;
  const int last = std::min(ranks, first + grid.ranks_per_row) - 1;
  return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

std::string legend(const std::vector<bool>& used) {
  std::string text;
  for (std::size_t i = 1; i < kMarks.size(); ++i) {
    if (!used[i]) continue;
    if (!text.empty()) text += "  ";
    text += fmt::format("{} {}", kMarks[i].character, kMarks[i].meaning);
  }
  return text;
}

// Where any rank passed a mark of the program's own.
std::string mark_row(const ActivityGrid& grid) {
  std::string row;
  for (const bool marked : grid.marked) row += marked ? '^' : ' ';
  row.erase(row.find_last_not_of(' ') + 1);
  return row;
}

std::string mark_legend(const std::vector<analysis::MarkProfile>& marks) {
  std::string text;
  for (const auto& mark : marks)
    text +=
        (text.empty() ? "^ " : ", ") + fmt::format("{} ({})", escape_text(mark.name), mark.count);
  return text + "\n";
}

}  // namespace

std::string render_text_timeline(analysis::RunEvents& run, const TextTimelineOptions& options) {
  const int ranks = run.ranks();
  const int max_rows = std::max(1, options.max_rows);
  // Labels are at most as wide as the last row's ("960-1023") or "All".
  const int per_row = std::max(1, (ranks + max_rows - 1) / max_rows);
  const std::string widest =
      per_row > 1 ? fmt::format("{}-{}", ranks - 1, ranks - 1) : std::to_string(ranks - 1);
  const std::size_t label_width = std::max<std::size_t>(3, widest.size());
  const int columns = std::max(40, options.width) - static_cast<int>(label_width) - 1;
  const ActivityGrid grid = analysis::activity_grid(run, columns, max_rows);

  std::vector<bool> used(kMarks.size(), false);
  const auto line = [&](const std::string& label, const std::vector<Activity>& activities) {
    std::string text = fmt::format("{:>{}} ", label, label_width);
    for (Activity activity : activities) {
      used[static_cast<std::size_t>(activity)] = true;
      text += mark_of(activity).character;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };

  std::string text = trace_notes(run.info(), run.sealed(), run.damage());
  text += fmt::format("{} rank{}, {}; a column is {}\n", ranks, ranks == 1 ? "" : "s",
                      format_time(grid.end), format_time(Time::ps(grid.end.count_ps() / columns)));
  text += time_axis(grid, label_width + 1);
  for (std::size_t row = 0; row < grid.rows.size(); ++row)
    text += line(row_label(static_cast<int>(row), grid, ranks), grid.rows[row]);
  text += line("All", grid.all);
  if (!grid.marks.empty()) text += fmt::format("{:>{}} {}\n", "^", label_width, mark_row(grid));
  text += fmt::format("\n{}\n", legend(used));
  if (!grid.marks.empty()) text += mark_legend(grid.marks);
  if (grid.ranks_per_row > 1)
    text += fmt::format("a row stands for {} neighbouring ranks\n", grid.ranks_per_row);
  return text;
}

}  // namespace foretrace::views
