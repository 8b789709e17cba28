#include "results/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "base/error.hpp"

namespace foretrace::results {
namespace {

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

using Row = std::vector<Cell>;

// What tells points apart. Programs need not have the same parameters: one that a point of a
// program does not know is none of this program's keys.
struct Keys {
  std::vector<Column> columns;
  std::set<std::pair<std::string, std::string>> unknown;  // program, column
};

Keys common_keys(const Table& a, const Table& b) {
  Keys keys;
  const bool two_programs = are_two_programs(a, b);
  std::set<std::string> programs{""};
  if (!two_programs) {
    programs = texts_in(a, "program");
    programs.merge(texts_in(b, "program"));
    if (programs.empty()) programs.insert("");
  }
  for (const Column& column : a.columns) {
    if (column.kind != ColumnKind::fixed && column.kind != ColumnKind::parameter) continue;
    if (column.name == "way") continue;
    if (column.name == "machine" &&
        (texts_in(a, "machine").size() < 2 || texts_in(b, "machine").size() < 2))
      continue;
    if (column.name == "program" && two_programs) continue;
    if (!place_of(b, column.name)) continue;
    std::set<std::string> without;
    for (const Table* table : {&a, &b}) {
      const std::size_t place = *place_of(*table, column.name);
      const auto program = two_programs ? std::nullopt : place_of(*table, "program");
      for (const Row& row : table->rows)
        if (std::holds_alternative<std::monostate>(row[place]))
          without.insert(program ? text_of(row[*program]) : "");
    }
    if (!without.empty() && without.size() >= programs.size()) continue;
    keys.columns.push_back(column);
    for (const std::string& program : without) keys.unknown.emplace(program, column.name);
  }
  return keys;
}

// Rows that are alike in all keys, in the order of the table.
struct Rows {
  std::vector<std::vector<const Row*>> groups;
  std::unordered_map<std::string, std::size_t> places;  // of groups, by the texts of the keys

  const std::vector<const Row*>* find(const std::string& key) const {
    const auto found = places.find(key);
    return found == places.end() ? nullptr : &groups[found->second];
  }
};

// The texts of a row's keys, for one table.
class KeyOf {
 public:
  KeyOf(const Table& table, const Keys& keys) : program_(place_of(table, "program")) {
    for (const Column& key : keys.columns) {
      Key each{table.find(key.name), {}};
      for (const auto& [program, column] : keys.unknown)
        if (column == key.name) each.not_of.insert(program);
      keys_.push_back(std::move(each));
    }
  }

  std::string operator()(const Row& row) const {
    std::string out;
    for (const Key& key : keys_) {
      if (key.not_of.empty() || !program_ || !key.not_of.contains(text_of(row[*program_])))
        append_text(out, row[key.place]);
      out += '\0';
    }
    return out;
  }

 private:
  struct Key {
    std::size_t place;
    std::set<std::string> not_of;  // programs
  };
  std::optional<std::size_t> program_;
  std::vector<Key> keys_;
};

Rows rows_by_key(const Table& table, const KeyOf& key_of) {
  Rows out;
  for (const Row& row : table.rows) {
    const auto [place, fresh] = out.places.try_emplace(key_of(row), out.groups.size());
    if (fresh) out.groups.emplace_back();
    out.groups[place->second].push_back(&row);
  }
  return out;
}

// Columns in which rows that are alike in their keys differ.
std::string differing(const Table& table, const std::vector<const Row*>& rows) {
  std::string out;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    if (column.kind != ColumnKind::fixed && column.kind != ColumnKind::parameter) continue;
    if (std::ranges::any_of(rows, [&](const Row* row) { return (*row)[i] != (*rows[0])[i]; }))
      out += (out.empty() ? "" : ", ") + column.name;
  }
  return out.empty() ? "nothing but what was run" : out;
}

[[noreturn]] void refuse_several(const Table& a, const std::vector<const Row*>& left,
                                 const Table& b, const std::vector<const Row*>& right) {
  throw Error("several points of both sides belong together; on the first side they differ in " +
              differing(a, left) + ", on the second in " + differing(b, right) +
              ": pick some with --where");
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

// The side that has several machines, where they tell no points apart: its points need theirs to be
// known by. 0: the first; 2: none.
std::size_t side_of_machines(const Table& a, const Table& b, const Keys& keys) {
  if (std::ranges::find(keys.columns, "machine", &Column::name) != keys.columns.end()) return 2;
  if (texts_in(a, "machine").size() > 1) return 0;
  return texts_in(b, "machine").size() > 1 ? 1 : 2;
}

}  // namespace

Comparison compare(const Table& a, const Table& b, const std::vector<std::string>& quantities) {
  if (a.rows.empty() || b.rows.empty())
    throw Error("there is nothing to compare: " +
                std::string(a.rows.empty() ? "the first" : "the second") + " side has no points");
  Comparison out;
  out.notes_a = a.notes();
  out.notes_b = b.notes();
  const Keys keys = common_keys(a, b);
  out.keys = keys.columns;
  std::vector<std::size_t> shown;
  for (const Column& key : keys.columns) shown.push_back(a.find(key.name));
  const std::size_t machines = side_of_machines(a, b, keys);
  if (machines < 2) out.keys.push_back({"machine", ColumnKind::fixed});
  const std::size_t machine = machines < 2 ? (machines == 0 ? a : b).find("machine") : 0;
  const KeyOf key_of_left(a, keys);
  const Rows left = rows_by_key(a, key_of_left);
  const Rows right = rows_by_key(b, KeyOf(b, keys));
  std::vector<const std::vector<const Row*>*> partners;
  for (const auto& rows : left.groups) partners.push_back(right.find(key_of_left(*rows.front())));
  for (const std::string& name : quantities.empty() ? common_quantities(a, b) : quantities) {
    const std::size_t in_a = a.find(name);
    const std::size_t in_b = b.find(name);
    ComparedQuantity compared;
    compared.name = name;
    for (std::size_t group = 0; group < left.groups.size(); ++group) {
      if (!partners[group]) continue;
      const auto& rows = left.groups[group];
      if (rows.size() > 1 && partners[group]->size() > 1)
        refuse_several(a, rows, b, *partners[group]);
      for (const Row* x : rows)
        for (const Row* y : *partners[group]) {
          const auto first = number_of((*x)[in_a]);
          const auto second = number_of((*y)[in_b]);
          if (!first || !second || !(*first > 0) || !(*second > 0)) continue;
          ComparedPoint point{{}, *first, *second, *second / *first};
          for (const std::size_t place : shown) point.keys.push_back((*x)[place]);
          if (machines < 2) point.keys.push_back((*(machines == 0 ? x : y))[machine]);
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
