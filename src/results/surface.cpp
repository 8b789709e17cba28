#include "results/surface.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.hpp"

namespace foretrace::results {
namespace {

using Row = std::vector<Cell>;

bool is_key(const Column& column) {
  return column.kind == ColumnKind::fixed || column.kind == ColumnKind::parameter;
}

// Whether each value of column `given` has one value of `column` beside it.
bool follows(const Table& table, std::size_t column, std::size_t given) {
  std::map<std::string, std::string> seen;
  return std::ranges::all_of(table.rows, [&](const Row& row) {
    const std::string text = text_of(row[column]);
    return seen.try_emplace(text_of(row[given]), text).first->second == text;
  });
}

std::size_t numbers_in(const Table& table, std::size_t column) {
  std::set<double> numbers;
  for (const Row& row : table.rows)
    if (const auto number = number_of(row[column])) numbers.insert(*number);
  return numbers.size();
}

std::vector<double> rising(std::set<double> numbers) {
  return {numbers.begin(), numbers.end()};
}

// Whether four neighbours are there, so that there is something to see.
bool has_patch(const Surface& surface) {
  for (std::size_t row = 0; row + 1 < surface.y.size(); ++row)
    for (std::size_t column = 0; column + 1 < surface.x.size(); ++column)
      if (surface.at(column, row) && surface.at(column + 1, row) && surface.at(column, row + 1) &&
          surface.at(column + 1, row + 1))
        return true;
  return false;
}

Surface surface_of(const std::vector<const Row*>& rows, std::size_t x, std::size_t y,
                   std::size_t quantity) {
  Surface out;
  std::map<std::pair<double, double>, double> values;
  std::set<double> xs, ys;
  for (const Row* row : rows) {
    const auto at_x = number_of((*row)[x]);
    const auto at_y = number_of((*row)[y]);
    const auto value = number_of((*row)[quantity]);
    if (!at_x || !at_y || !value) continue;
    xs.insert(*at_x);
    ys.insert(*at_y);
    values[{*at_y, *at_x}] = *value;
  }
  out.x = rising(std::move(xs));
  out.y = rising(std::move(ys));
  for (const double row : out.y)
    for (const double column : out.x) {
      const auto found = values.find({row, column});
      out.values.push_back(found == values.end() ? std::nullopt : std::optional(found->second));
    }
  return out;
}

}  // namespace

std::vector<std::size_t> key_columns(const Table& table, const std::vector<std::size_t>& axes) {
  std::vector<std::size_t> keys;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    if (!is_key(column) || std::ranges::find(axes, i) != axes.end()) continue;
    const bool number = column.kind == ColumnKind::parameter || column.name == "ranks";
    if (!number ||
        std::ranges::none_of(axes, [&](std::size_t axis) { return follows(table, i, axis); }))
      keys.push_back(i);
  }
  return keys;
}

std::optional<std::pair<std::string, std::string>> axes_of(const Table& points) {
  const auto ranks = std::ranges::find(points.columns, "ranks", &Column::name);
  if (ranks == points.columns.end()) return std::nullopt;
  const auto at = static_cast<std::size_t>(ranks - points.columns.begin());
  if (numbers_in(points, at) < 2) return std::nullopt;
  for (std::size_t i = 0; i < points.columns.size(); ++i)
    if (points.columns[i].kind == ColumnKind::parameter && numbers_in(points, i) > 1 &&
        !follows(points, i, at))
      return std::pair("ranks", points.columns[i].name);
  return std::nullopt;
}

std::vector<Surface> surfaces_of(const Table& points, const std::string& x, const std::string& y,
                                 const std::vector<std::string>& quantities) {
  const std::size_t x_at = points.find(x);
  const std::size_t y_at = points.find(y);
  for (const std::size_t at : {x_at, y_at})
    if (numbers_in(points, at) == 0)
      throw UsageError("results: column '" + points.columns[at].name +
                       "' has no numbers to draw over");
  const std::vector<std::size_t> keys = key_columns(points, {x_at, y_at});
  std::map<std::vector<std::string>, std::vector<const Row*>> groups;
  for (const Row& row : points.rows) {
    std::vector<std::string> key;
    for (const std::size_t i : keys) key.push_back(text_of(row[i]));
    groups[key].push_back(&row);
  }
  std::vector<Surface> out;
  for (const auto& [key, rows] : groups)
    for (const std::string& name :
         quantities.empty() ? std::vector<std::string>{"time"} : quantities) {
      Surface surface = surface_of(rows, x_at, y_at, points.find(name));
      if (!has_patch(surface)) continue;
      surface.quantity = name;
      surface.x_name = x;
      surface.y_name = y;
      for (std::size_t i = 0; i < keys.size(); ++i)
        if (!key[i].empty()) surface.of.emplace_back(points.columns[keys[i]].name, key[i]);
      out.push_back(std::move(surface));
    }
  return out;
}

Surface thinned(const Surface& surface, std::size_t most) {
  if (surface.x.size() <= most && surface.y.size() <= most) return surface;
  const auto kept = [most](std::size_t count) {
    std::vector<std::size_t> out;
    const std::size_t steps = std::min(count, most) - 1;
    for (std::size_t i = 0; i <= steps; ++i)
      out.push_back((i * (count - 1) + steps / 2) / std::max<std::size_t>(steps, 1));
    return out;
  };
  const std::vector<std::size_t> columns = kept(surface.x.size());
  const std::vector<std::size_t> rows = kept(surface.y.size());
  Surface out{surface.of, surface.quantity, surface.x_name, surface.y_name, {}, {}, {}};
  for (const std::size_t column : columns) out.x.push_back(surface.x[column]);
  for (const std::size_t row : rows) {
    out.y.push_back(surface.y[row]);
    for (const std::size_t column : columns) out.values.push_back(surface.at(column, row));
  }
  return out;
}

std::pair<double, double> range_of(const Surface& surface) {
  std::vector<double> known;
  for (const auto& value : surface.values)
    if (value) known.push_back(*value);
  if (known.empty()) return {0, 0};
  const auto [low, high] = std::minmax_element(known.begin(), known.end());
  return {*low, *high};
}

std::optional<Surface> speedup_of(const Surface& times) {
  if (times.x_name != "ranks" || times.quantity != "time") return std::nullopt;
  Surface out = times;
  out.quantity = "speed-up";
  for (std::size_t row = 0; row < out.y.size(); ++row) {
    const auto& first = times.at(0, row);
    for (std::size_t column = 0; column < out.x.size(); ++column) {
      auto& value = out.values[row * out.x.size() + column];
      if (first && value && *value > 0)
        value = *first / *value;
      else
        value.reset();
    }
  }
  return has_patch(out) ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace foretrace::results
