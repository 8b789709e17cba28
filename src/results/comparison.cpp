#include "results/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "base/error.hpp"

namespace foretrace::results {
namespace {

std::optional<std::size_t> place_of(const Table& table, const std::string& name) {
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (table.columns[i].name == name) return i;
  return std::nullopt;
}

bool known_everywhere(const Table& table, std::size_t column) {
  return std::ranges::none_of(table.rows, [column](const std::vector<Cell>& row) {
    return std::holds_alternative<std::monostate>(row[column]);
  });
}

std::set<std::string> texts_in(const Table& table, const std::string& name) {
  std::set<std::string> texts;
  if (const auto column = place_of(table, name))
    for (const std::vector<Cell>& row : table.rows) texts.insert(text_of(row[*column]));
  return texts;
}

// One program against another one: a first design and its alternative.
bool are_two_programs(const Table& a, const Table& b) {
  const std::set<std::string> left = texts_in(a, "program");
  const std::set<std::string> right = texts_in(b, "program");
  return left.size() == 1 && right.size() == 1 && left != right;
}

std::vector<Column> common_keys(const Table& a, const Table& b) {
  std::vector<Column> keys;
  for (const Column& column : a.columns) {
    if (column.kind != ColumnKind::fixed && column.kind != ColumnKind::parameter) continue;
    if (column.name == "way") continue;
    if (column.name == "machine" &&
        (texts_in(a, "machine").size() < 2 || texts_in(b, "machine").size() < 2))
      continue;
    if (column.name == "program" && are_two_programs(a, b)) continue;
    const auto other = place_of(b, column.name);
    if (other && known_everywhere(a, *place_of(a, column.name)) && known_everywhere(b, *other))
      keys.push_back(column);
  }
  return keys;
}

using Row = std::vector<Cell>;

// Rows that are alike in all keys, in the order of the table.
struct Rows {
  std::vector<std::vector<const Row*>> groups;
  std::unordered_map<std::string, std::size_t> places;  // of groups, by the texts of the keys

  const std::vector<const Row*>* find(const std::string& key) const {
    const auto found = places.find(key);
    return found == places.end() ? nullptr : &groups[found->second];
  }
};

std::vector<std::size_t> places_of(const Table& table, const std::vector<Column>& keys) {
  std::vector<std::size_t> out;
  for (const Column& key : keys) out.push_back(table.find(key.name));
  return out;
}

std::string key_of(const Row& row, const std::vector<std::size_t>& places) {
  std::string out;
  for (const std::size_t place : places) {
    append_text(out, row[place]);
    out += '\0';
  }
  return out;
}

Rows rows_by_key(const Table& table, const std::vector<std::size_t>& places) {
  Rows out;
  for (const Row& row : table.rows) {
    const auto [place, fresh] = out.places.try_emplace(key_of(row, places), out.groups.size());
    if (fresh) out.groups.emplace_back();
    out.groups[place->second].push_back(&row);
  }
  return out;
}

std::vector<std::string> common_quantities(const Table& a, const Table& b) {
  std::vector<std::string> out;
  for (const Column& column : a.columns)
    if (column.kind == ColumnKind::quantity &&
        (column.name == "time" || column.name.starts_with("phase_")) && place_of(b, column.name))
      out.push_back(column.name);
  return out;
}

void summarise(ComparedQuantity& quantity) {
  double logs = 0;
  double errors = 0;
  double worst = -1;
  for (std::size_t i = 0; i < quantity.points.size(); ++i) {
    const double ratio = quantity.points[i].ratio;
    logs += std::log(ratio);
    errors += std::fabs(ratio - 1);
    if (std::fabs(std::log(ratio)) > worst) {
      worst = std::fabs(std::log(ratio));
      quantity.worst = i;
      quantity.worst_error = ratio - 1;
    }
  }
  const auto count = static_cast<double>(quantity.points.size());
  quantity.mean_ratio = std::exp(logs / count);
  quantity.mean_error = errors / count;
}

}  // namespace

Comparison compare(const Table& a, const Table& b, const std::vector<std::string>& quantities) {
  if (a.rows.empty() || b.rows.empty())
    throw Error("there is nothing to compare: " +
                std::string(a.rows.empty() ? "the first" : "the second") + " side has no points");
  Comparison out;
  out.keys = common_keys(a, b);
  const std::vector<std::size_t> keys_a = places_of(a, out.keys);
  const Rows left = rows_by_key(a, keys_a);
  const Rows right = rows_by_key(b, places_of(b, out.keys));
  std::vector<const std::vector<const Row*>*> partners;
  for (const auto& rows : left.groups)
    partners.push_back(right.find(key_of(*rows.front(), keys_a)));
  for (const std::string& name : quantities.empty() ? common_quantities(a, b) : quantities) {
    const std::size_t in_a = a.find(name);
    const std::size_t in_b = b.find(name);
    ComparedQuantity compared;
    compared.name = name;
    for (std::size_t group = 0; group < left.groups.size(); ++group) {
      if (!partners[group]) continue;
      const auto& rows = left.groups[group];
      if (rows.size() > 1 && partners[group]->size() > 1)
        throw Error(
            "several points of both sides are alike in all that both know; pick some with "
            "--where");
      for (const Row* x : rows)
        for (const Row* y : *partners[group]) {
          const auto first = number_of((*x)[in_a]);
          const auto second = number_of((*y)[in_b]);
          if (!first || !second || !(*first > 0) || !(*second > 0)) continue;
          ComparedPoint point{{}, *first, *second, *second / *first};
          for (const std::size_t place : keys_a) point.keys.push_back((*x)[place]);
          compared.points.push_back(std::move(point));
        }
    }
    if (compared.points.empty()) continue;
    summarise(compared);
    out.quantities.push_back(std::move(compared));
  }
  out.only_a = a.rows.size();
  out.only_b = b.rows.size();
  for (std::size_t group = 0; group < left.groups.size(); ++group)
    if (partners[group]) {
      out.only_a -= left.groups[group].size();
      out.only_b -= partners[group]->size();
    }
  if (out.quantities.empty())
    throw Error("there is nothing to compare: no point has a figure on both sides");
  return out;
}

Table ratios_of(const Comparison& comparison) {
  Table out;
  out.columns = comparison.keys;
  std::map<std::vector<std::string>, std::vector<Cell>> rows;
  for (const ComparedQuantity& quantity : comparison.quantities) {
    const std::size_t column = out.columns.size();
    out.columns.push_back({quantity.name, ColumnKind::quantity});
    for (const ComparedPoint& point : quantity.points) {
      std::vector<std::string> key;
      for (const Cell& cell : point.keys) key.push_back(text_of(cell));
      std::vector<Cell>& row = rows.try_emplace(key, point.keys).first->second;
      if (row.size() > column)
        throw UsageError(
            "several points of one side belong to the same point of the other; pick some with "
            "--where");
      row.resize(column);
      row.emplace_back(point.ratio);
    }
  }
  for (auto& [unused, row] : rows) {
    row.resize(out.columns.size());
    out.rows.push_back(std::move(row));
  }
  return out;
}

}  // namespace foretrace::results
