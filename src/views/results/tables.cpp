#include "views/results/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "views/draw/json_text.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/text_table.hpp"
#include "views/draw/units.hpp"

namespace foretrace::views {
namespace {

using results::Cell;
using results::Column;
using results::ColumnKind;
using results::Table;

nlohmann::ordered_json json_of(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return *whole;
  if (const auto* value = std::get_if<double>(&cell)) return *value;
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return nullptr;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

bool is_text(const Table& table, std::size_t column) {
  return std::ranges::any_of(table.rows, [column](const auto& row) {
    return std::holds_alternative<std::string>(row[column]);
  });
}

std::string lines_of(const std::string& start, const std::vector<std::string>& notes) {
  std::string out;
  for (const std::string& note : notes) out += start + plain_text(note) + "\n";
  return out;
}

}  // namespace

std::string result_text(const Column& column, const Cell& cell) {
  if (const auto* value = std::get_if<double>(&cell)) {
    if (column.kind == ColumnKind::quantity && is_time(column.name) && *value >= 0)
      return format_picoseconds(*value * 1e12);
    return fmt::format("{:.6g}", *value);
  }
  return plain_text(results::text_of(cell));
}

bool is_time(const std::string& column) {
  for (const char* name : {"time", "serial_time", "wait", "time_min", "time_max"})
    if (column == name) return true;
  return column.starts_with("phase_") || column.starts_with("state_");
}

std::string render_text_results(const Table& table, bool brief) {
  std::vector<std::size_t> columns;
  std::vector<Align> aligned;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& name = table.columns[i].name;
    const bool extra = name.starts_with("state_") || name == "load_balance" || name == "messages" ||
                       name == "message_bytes" || name == "serial_time";
    if (brief && table.columns[i].kind == ColumnKind::quantity && extra) continue;
    if (table.columns[i].kind == ColumnKind::note) continue;
    columns.push_back(i);
    aligned.push_back(is_text(table, i) ? Align::left : Align::right);
  }
  TextTable out(aligned);
  std::vector<std::string> head;
  for (const std::size_t i : columns) head.push_back(table.columns[i].name);
  out.add(head);
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const std::size_t i : columns) cells.push_back(result_text(table.columns[i], row[i]));
    out.add(cells);
  }
  return out.render(0) + lines_of("note: ", table.notes());
}

std::string render_csv_results(const Table& table) {
  std::string out;
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    out += (i ? "," : "") + csv_cell(table.columns[i].name);
  out += "\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i) out += ',';
      if (const auto* text = std::get_if<std::string>(&row[i]))
        out += csv_cell(*text);
      else
        results::append_text(out, row[i]);
    }
    out += '\n';
  }
  return out;
}

std::string render_json_results(const Table& table) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json entry;
    for (std::size_t i = 0; i < row.size(); ++i) entry[table.columns[i].name] = json_of(row[i]);
    all.push_back(std::move(entry));
  }
  return json_text(all);
}

std::string render_text_summary(const results::Summary& summary) {
  std::string out = fmt::format("{} launches of {} points", summary.launches, summary.points);
  if (summary.failed > 0) out += fmt::format(", {} failed", summary.failed);
  out += "\n";
  const auto list = [&out](const char* what, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    out += what;
    for (std::size_t i = 0; i < texts.size(); ++i) out += (i ? ", " : "") + plain_text(texts[i]);
    out += "\n";
  };
  list("studies: ", summary.studies);
  list("hosts: ", summary.hosts);
  list("versions: ", summary.versions);
  for (const auto& [message, count] : summary.failures)
    out += fmt::format("failed {} times: {}\n", count, plain_text(message));
  return out;
}

std::string render_text_comparison(const results::Comparison& comparison, const std::string& a,
                                   const std::string& b) {
  std::string out;
  TextTable summary(
      {Align::left, Align::right, Align::right, Align::right, Align::right, Align::left});
  summary.add({"quantity", "points", "mean ratio", "mean error", "worst error", "worst at"});
  for (const auto& quantity : comparison.quantities) {
    const auto& worst = quantity.points[quantity.worst];
    std::string at;
    for (std::size_t i = 0; i < comparison.keys.size(); ++i)
      at += (i ? ", " : "") + comparison.keys[i].name + "=" + results::text_of(worst.keys[i]);
    summary.add({quantity.name, std::to_string(quantity.points.size()),
                 format_ratio(quantity.mean_ratio), format_percent(quantity.mean_error),
                 fmt::format("{:+.1f} %", 100 * quantity.worst_error), plain_text(at)});
  }
  const auto& first = comparison.quantities.front();
  std::vector<Align> aligned(comparison.keys.size() + 3, Align::right);
  TextTable table(aligned);
  std::vector<std::string> head;
  for (const Column& key : comparison.keys) head.push_back(key.name);
  head.insert(head.end(), {a, b, "ratio"});
  table.add(head);
  for (const auto& point : first.points) {
    std::vector<std::string> row;
    for (const Cell& key : point.keys) row.push_back(plain_text(results::text_of(key)));
    const Column column{first.name, ColumnKind::quantity};
    row.insert(row.end(), {result_text(column, point.a), result_text(column, point.b),
                           format_ratio(point.ratio)});
    table.add(row);
  }
  out += first.name + " of " + plain_text(a) + " and " + plain_text(b) +
         "; ratio: " + plain_text(b) + " / " + plain_text(a) + "\n\n" + table.render(0) + "\n" +
         summary.render(0);
  if (comparison.only_a + comparison.only_b > 0)
    out += fmt::format("\nnot on both sides: {} points of {}, {} of {}\n", comparison.only_a,
                       plain_text(a), comparison.only_b, plain_text(b));
  out += lines_of("note: " + plain_text(a) + ": ", comparison.notes_a);
  out += lines_of("note: " + plain_text(b) + ": ", comparison.notes_b);
  return out;
}

std::string render_json_comparison(const results::Comparison& comparison, const std::string& a,
                                   const std::string& b) {
  nlohmann::ordered_json out{
      {"a", a}, {"b", b}, {"only_a", comparison.only_a}, {"only_b", comparison.only_b}};
  out["notes_a"] = comparison.notes_a;
  out["notes_b"] = comparison.notes_b;
  out["quantities"] = nlohmann::ordered_json::object();
  for (const auto& quantity : comparison.quantities) {
    nlohmann::ordered_json points = nlohmann::ordered_json::array();
    for (const auto& point : quantity.points) {
      nlohmann::ordered_json entry;
      for (std::size_t i = 0; i < comparison.keys.size(); ++i)
        entry[comparison.keys[i].name] = json_of(point.keys[i]);
      entry["a"] = point.a;
      entry["b"] = point.b;
      entry["ratio"] = point.ratio;
      points.push_back(std::move(entry));
    }
    out["quantities"][quantity.name] = {{"mean_ratio", quantity.mean_ratio},
                                        {"mean_error", quantity.mean_error},
                                        {"worst_error", quantity.worst_error},
                                        {"worst", points[quantity.worst]},
                                        {"points", points}};
  }
  return json_text(out);
}

std::string render_csv_comparison(const results::Comparison& comparison) {
  std::string out = "quantity";
  for (const Column& key : comparison.keys) out += "," + csv_cell(key.name);
  out += ",a,b,ratio\n";
  for (const auto& quantity : comparison.quantities)
    for (const auto& point : quantity.points) {
      out += csv_cell(quantity.name);
      for (const Cell& key : point.keys) out += "," + csv_cell(results::text_of(key));
      out += fmt::format(",{},{},{}\n", point.a, point.b, point.ratio);
    }
  return out;
}

}  // namespace foretrace::views
