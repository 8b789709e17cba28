#include "results/scaling.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "results/schema.hpp"

namespace foretrace::results {
namespace {

using Texts = std::vector<std::string>;

double number_at(const std::vector<Cell>& row, std::optional<std::size_t> column) {
  if (!column) return 0;
  if (const auto* whole = std::get_if<std::int64_t>(&row[*column]))
    return static_cast<double>(*whole);
  const auto* real = std::get_if<double>(&row[*column]);
  return real ? *real : 0;
}

std::string text_at(const std::vector<Cell>& row, std::optional<std::size_t> column) {
  return column ? text_of(row[*column]) : "";
}

class Grouping {
 public:
  explicit Grouping(const Table& table)
      : table_(table),
        ranks_(place_of(table, "ranks")),
        way_(place_of(table, "way")),
        machine_(place_of(table, "machine")),
        low_(place_of(table, "time_min")),
        high_(place_of(table, "time_max")),
        time_(place_of(table, "time")) {
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (table.columns[i].kind == ColumnKind::quantity &&
          table.columns[i].name.starts_with(kPhase)) {
        phases_.push_back(i);
        out_.phases.push_back(table.columns[i].name.substr(kPhase.size()));
      }
  }

  Scaling run() {
    choose_keys();
    std::map<Texts, std::vector<const std::vector<Cell>*>> rows;
    std::vector<Texts> order;    // as the table has them
    std::vector<Texts> general;  // those that leave something open
    for (const auto& row : table_.rows) {
      if (number_at(row, time_) <= 0 || number_at(row, ranks_) <= 0) {
        ++out_.left_out;
        continue;
      }
      const auto [place, fresh] = rows.try_emplace(keys_of(row));
      place->second.push_back(&row);
      if (!fresh) continue;
      order.push_back(place->first);
      if (std::ranges::find(place->first, "") != place->first.end())
        general.push_back(place->first);
    }
    for (const Texts& key : order) {
      const bool open = std::ranges::find(key, "") != key.end();
      if (open && std::ranges::any_of(
                      order, [&](const Texts& each) { return each != key && covers(key, each); }))
        continue;
      ScalingGroup group;
      for (std::size_t i = 0; i < keys_.size(); ++i)
        if (!key[i].empty()) group.of.emplace_back(table_.columns[keys_[i]].name, key[i]);
      for (const auto* row : rows[key]) add(group, *row);
      for (const Texts& each : general)
        if (each != key && covers(each, key))
          for (const auto* row : rows[each]) add(group, *row);
      finish(group);
      out_.groups.push_back(std::move(group));
    }
    out_.replaced = replaced_.size();
    return std::move(out_);
  }

 private:
  // The program, and the parameters that vary otherwise than with the ranks.
  void choose_keys() {
    for (std::size_t i = 0; i < table_.columns.size(); ++i) {
      const Column& column = table_.columns[i];
      if (column.name != "program" && column.kind != ColumnKind::parameter) continue;
      std::set<std::string> values;
      std::map<double, std::set<std::string>> by_ranks;
      bool is_ranks = true;
      for (const auto& row : table_.rows) {
        const std::string text = text_of(row[i]);
        const double ranks = number_at(row, ranks_);
        if (text.empty() || ranks <= 0) continue;
        values.insert(text);
        by_ranks[ranks].insert(text);
        is_ranks = is_ranks && number_at(row, i) == ranks;
      }
      if (column.name == "program") {
        keys_.push_back(i);
        continue;
      }
      if (values.size() < 2 || is_ranks) continue;
      if (std::ranges::all_of(by_ranks, [](const auto& each) { return each.second.size() == 1; }))
        out_.grown.push_back(column.name);
      else
        keys_.push_back(i);
    }
  }

  Texts keys_of(const std::vector<Cell>& row) const {
    Texts out;
    for (const std::size_t i : keys_) out.push_back(text_of(row[i]));
    return out;
  }

  // Whether they agree in all that `general` knows.
  static bool covers(const Texts& general, const Texts& special) {
    for (std::size_t i = 0; i < general.size(); ++i)
      if (!general[i].empty() && general[i] != special[i]) return false;
    return true;
  }

  void add(ScalingGroup& group, const std::vector<Cell>& row) {
    const std::string way = text_at(row, way_);
    const std::string machine = text_at(row, machine_);
    auto series = std::ranges::find_if(group.series, [&](const ScalingSeries& each) {
      return each.way == way && each.machine == machine;
    });
    if (series == group.series.end())
      series = group.series.insert(series, ScalingSeries{way, machine, {}, {}});
    ScalingPoint point;
    point.ranks = static_cast<std::int64_t>(number_at(row, ranks_));
    point.time = point.low = point.high = number_at(row, time_);
    const double low = number_at(row, low_);
    const double high = number_at(row, high_);
    if (low > 0 && low <= point.time && high >= point.time) {
      point.low = low;
      point.high = high;
    }
    for (const std::size_t i : phases_)
      point.phases.push_back(std::holds_alternative<std::monostate>(row[i])
                                 ? std::nullopt
                                 : std::optional(number_at(row, i)));
    const auto same = std::ranges::find(series->points, point.ranks, &ScalingPoint::ranks);
    if (same == series->points.end()) {
      series->points.push_back(std::move(point));
    } else {
      // Rows of equal keys come in the order in which they were run.
      *same = std::move(point);
      replaced_.insert(&row);
    }
  }

  static void finish(ScalingGroup& group) {
    std::set<std::int64_t> all;
    std::ranges::sort(group.series, {}, [](const ScalingSeries& series) {
      return std::pair(series.way, series.machine);
    });
    for (ScalingSeries& series : group.series) {
      std::ranges::sort(series.points, {}, &ScalingPoint::ranks);
      const ScalingPoint& first = series.points.front();
      for (ScalingPoint& point : series.points) {
        all.insert(point.ranks);
        point.speedup = first.time / point.time;
        point.efficiency =
            point.speedup * static_cast<double>(first.ranks) / static_cast<double>(point.ranks);
      }
    }
    for (ScalingSeries& series : group.series)
      for (const std::int64_t ranks : all)
        if (std::ranges::find(series.points, ranks, &ScalingPoint::ranks) == series.points.end())
          series.missing.push_back(ranks);
  }

  const Table& table_;
  std::optional<std::size_t> ranks_, way_, machine_, low_, high_, time_;
  std::vector<std::size_t> phases_, keys_;
  std::set<const std::vector<Cell>*> replaced_;
  Scaling out_;
};

}  // namespace

Scaling scaling_of(const Table& points) {
  return Grouping(points).run();
}

}  // namespace foretrace::results
