#include "results/query.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <sstream>
#include <unordered_map>

#include "base/error.hpp"
#include "results/graph_file.hpp"
#include "results/schema.hpp"
#include "stats/summary.hpp"

namespace foretrace::results {
namespace {

constexpr const char* kFrom =
    " FROM (SELECT l.*, d.command, d.message, d.started, d.elapsed, o.host, o.version, "
    "o.machine_checksum, o.program_checksum, s.name AS study_name FROM launches l "
    "LEFT JOIN details d ON d.launch = l.id LEFT JOIN origins o ON o.id = l.origin "
    "LEFT JOIN studies s ON s.id = l.study)";

std::vector<std::string> chosen_quantities(const Columns& columns, const Query& query) {
  if (query.columns.empty()) return columns.quantities;
  for (const std::string& name : query.columns)
    if (std::ranges::find(columns.quantities, name) == columns.quantities.end()) {
      std::string known;
      for (const std::string& each : columns.quantities) known += " " + each;
      throw UsageError("'" + name + "' is no quantity there; these are:" + known);
    }
  return query.columns;
}

// What --where may name, for the message about what it may not.
Written written_where(const Columns& columns, const std::string& where) {
  if (where.empty()) return {};
  Written out{"--where", {"program", "way", "kind", "machine", "ranks", "status"}};
  for (const auto* more : {&columns.parameters, &columns.quantities})
    out.columns.insert(out.columns.end(), more->begin(), more->end());
  for (const char* name : {"study_name", "host", "version", "started", "elapsed", "command",
                           "message", "machine_checksum", "program_checksum"})
    out.columns.emplace_back(name);
  return out;
}

bool is_nothing(const Cell& cell) {
  return std::holds_alternative<std::monostate>(cell);
}

// Nothing, then numbers, then texts, as SQL sorts; a whole number is a number.
bool less(const Cell& a, const Cell& b) {
  const auto x = number_of(a);
  const auto y = number_of(b);
  if (x && y) return *x < *y;
  return a.index() == b.index() ? a < b : a.index() < b.index();
}

void drop_empty_columns(Table& table) {
  if (table.rows.empty()) return;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool empty = std::ranges::all_of(table.rows, [i](const std::vector<Cell>& row) {
      const auto* text = std::get_if<std::string>(&row[i]);
      return is_nothing(row[i]) || (text && text->empty());
    });
    if (!empty) kept.push_back(i);
  }
  if (kept.size() == table.columns.size()) return;
  const auto pick = [&kept](auto& from) {
    std::remove_reference_t<decltype(from)> out;
    for (const std::size_t i : kept) out.push_back(std::move(from[i]));
    from = std::move(out);
  };
  pick(table.columns);
  for (std::vector<Cell>& row : table.rows) pick(row);
}

class TableReader {
 public:
  TableReader(const std::string& path, const Query& query)
      : database_(open_results(path)), query_(query) {
    database_.run("PRAGMA mmap_size = 1073741824");
    database_.allow_reading_only();
    const Columns columns = read_columns(database_);
    written_ = written_where(columns, query.where);
    for (const char* name : {"program", "way", "machine", "ranks"})
      table_.columns.push_back({name, ColumnKind::fixed});
    for (const std::string& name : columns.parameters)
      table_.columns.push_back({name, ColumnKind::parameter});
    keys_ = table_.columns.size();
    for (const std::string& name : chosen_quantities(columns, query)) quantities_.push_back(name);
    Statement notes(database_,
                    "SELECT launch, message FROM details WHERE message <> '' AND "
                    "launch IN (SELECT id FROM launches WHERE status = 'done')");
    while (notes.step()) notes_.emplace(notes.whole(0), notes.text(1));
  }

  Table run() {
    if (query_.launches)
      each_launch();
    else
      each_point();
    for (const std::string& name : quantities_)
      table_.columns.push_back({name, ColumnKind::quantity});
    sort_rows();
    drop_empty_columns(table_);
    return std::move(table_);
  }

 private:
  Statement select(const std::string& first) {
    std::string sql = "SELECT " + first;
    for (const Column& column : table_.columns) sql += ", " + quoted_name(column.name);
    for (const std::string& name : quantities_) sql += ", " + quoted_name(name);
    if (!notes_.empty()) sql += ", id";
    sql += kFrom;
    sql += " WHERE ";
    sql += query_.launches ? "1" : "status = 'done'";
    if (!query_.where.empty()) sql += " AND (\n" + query_.where + "\n)";
    return {database_, sql + " ORDER BY id", written_};
  }

  // Cells are compared where there are few of them: among the values that a column has.
  void sort_rows() {
    const std::size_t count = table_.rows.size();
    std::vector<std::size_t> places(keys_ * count);  // by row, in it by column: that of its value
    for (std::size_t column = 0; column < keys_; ++column) {
      std::map<Cell, std::size_t, decltype(&less)> values(&less);
      std::vector<const std::size_t*> place_of(count);
      for (std::size_t row = 0; row < count; ++row)
        place_of[row] = &values.try_emplace(table_.rows[row][column]).first->second;
      std::size_t next = 0;
      for (auto& [unused, place] : values) place = next++;
      for (std::size_t row = 0; row < count; ++row) places[row * keys_ + column] = *place_of[row];
    }
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto key = [&](std::size_t row) { return std::span(places).subspan(row * keys_, keys_); };
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return std::ranges::lexicographical_compare(key(a), key(b));
    });
    std::vector<std::vector<Cell>> sorted;
    sorted.reserve(count);
    for (const std::size_t row : order) sorted.push_back(std::move(table_.rows[row]));
    table_.rows = std::move(sorted);
  }

  void each_launch() {
    Statement statement = select("status");
    while (statement.step()) {
      std::vector<Cell> row;
      for (std::size_t i = 0; i < keys_; ++i)
        row.push_back(statement.cell(static_cast<int>(i + 1)));
      row.push_back(statement.cell(0));
      row.push_back(note_of(statement));
      for (std::size_t i = 0; i < quantities_.size(); ++i)
        row.push_back(statement.cell(static_cast<int>(i + 1 + keys_)));
      table_.rows.push_back(std::move(row));
    }
    table_.columns.push_back({"status", ColumnKind::count});
    table_.columns.push_back({"notes", ColumnKind::note});
  }

  // Of the launch that was read.
  Cell note_of(const Statement& statement) const {
    if (notes_.empty()) return {};
    const auto found =
        notes_.find(statement.whole(static_cast<int>(1 + keys_ + quantities_.size())));
    return found == notes_.end() ? Cell() : Cell(found->second);
  }

  // All values of all launches lie in one array: a vector for each point and quantity would be
  // millions of them.
  void each_point() {
    Statement statement = select("point");
    std::unordered_map<std::int64_t, std::size_t> places;
    std::vector<std::size_t> point_of;  // by launch
    std::vector<double> values;         // by launch, in it by quantity; NaN: none
    std::vector<Cell> note_of_point;
    while (statement.step()) {
      const auto [place, fresh] = places.try_emplace(statement.whole(0), table_.rows.size());
      if (fresh) {
        std::vector<Cell>& row = table_.rows.emplace_back();
        row.reserve(keys_ + 2 + quantities_.size());
        for (std::size_t i = 0; i < keys_; ++i)
          row.push_back(statement.cell(static_cast<int>(i + 1)));
        note_of_point.emplace_back();
      }
      point_of.push_back(place->second);
      if (Cell& note = note_of_point[place->second]; is_nothing(note)) note = note_of(statement);
      for (std::size_t i = 0; i < quantities_.size(); ++i)
        values.push_back(statement.number(static_cast<int>(i + 1 + keys_)));
    }
    add_medians(point_of, values, note_of_point);
    table_.columns.push_back({"launches", ColumnKind::count});
    table_.columns.push_back({"notes", ColumnKind::note});
  }

  void add_medians(const std::vector<std::size_t>& point_of, const std::vector<double>& values,
                   const std::vector<Cell>& notes) {
    std::vector<std::size_t> begins(table_.rows.size() + 1, 0);
    for (const std::size_t point : point_of) ++begins[point + 1];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    std::vector<std::size_t> launches(point_of.size());
    std::vector<std::size_t> next(begins.begin(), begins.end() - 1);
    for (std::size_t i = 0; i < point_of.size(); ++i) launches[next[point_of[i]]++] = i;
    std::vector<double> known;
    for (std::size_t point = 0; point < table_.rows.size(); ++point) {
      const auto begin = launches.begin() + static_cast<std::ptrdiff_t>(begins[point]);
      const auto end = launches.begin() + static_cast<std::ptrdiff_t>(begins[point + 1]);
      std::vector<Cell>& row = table_.rows[point];
      row.emplace_back(static_cast<std::int64_t>(end - begin));
      row.push_back(notes[point]);
      for (std::size_t quantity = 0; quantity < quantities_.size(); ++quantity) {
        known.clear();
        for (auto launch = begin; launch != end; ++launch)
          if (const double value = values[*launch * quantities_.size() + quantity]; value == value)
            known.push_back(value);
        Cell& cell = row.emplace_back();
        if (!known.empty()) cell = stats::median(known);
      }
    }
  }

  Database database_;
  const Query& query_;
  Written written_;
  Table table_;
  std::size_t keys_ = 0;
  std::vector<std::string> quantities_;
  std::unordered_map<std::int64_t, std::string> notes_;  // by launch; few have some
};

std::vector<std::string> list_of(const Database& database, const std::string& sql) {
  std::vector<std::string> out;
  Statement statement(database, sql);
  while (statement.step()) out.push_back(statement.text(0));
  return out;
}

std::int64_t count_of(const Database& database, const std::string& sql) {
  Statement statement(database, sql);
  return statement.step() ? statement.whole(0) : 0;
}

}  // namespace

std::optional<std::size_t> place_of(const Table& table, std::string_view name) {
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (table.columns[i].name == name) return i;
  return std::nullopt;
}

Database open_results(const std::string& path) {
  if (std::filesystem::path(path).extension() == ".graph") return database_of_graph(path);
  Database database(path, Database::Mode::read);
  check_schema(database);
  return database;
}

std::size_t Table::find(const std::string& name) const {
  std::string known;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return i;
    known += " " + columns[i].name;
  }
  throw UsageError("there is no column '" + name + "'; these are:" + known);
}

std::vector<std::string> Table::notes() const {
  std::vector<std::string> out;
  const auto column = std::ranges::find(columns, ColumnKind::note, &Column::kind);
  if (column == columns.end()) return out;
  for (const std::vector<Cell>& row : rows) {
    std::istringstream lines(text_of(row[static_cast<std::size_t>(column - columns.begin())]));
    for (std::string line; std::getline(lines, line);)
      if (std::ranges::find(out, line) == out.end()) out.push_back(line);
  }
  return out;
}

Table read_table(const std::string& path, const Query& query) {
  return TableReader(path, query).run();
}

Summary read_summary(const std::string& path) {
  const Database database = open_results(path);
  Summary out;
  out.launches = count_of(database, "SELECT count(*) FROM launches");
  out.failed = count_of(database, "SELECT count(*) FROM launches WHERE status = 'failed'");
  out.points = count_of(database, "SELECT count(DISTINCT point) FROM launches");
  out.studies = list_of(database, "SELECT name || ' (' || file || ')' FROM studies ORDER BY id");
  out.hosts = list_of(database, "SELECT DISTINCT host FROM origins ORDER BY host");
  out.versions = list_of(database, "SELECT DISTINCT version FROM origins ORDER BY version");
  Statement failures(database,
                     "SELECT message, count(*) FROM launches l JOIN details d ON d.launch = l.id "
                     "WHERE status = 'failed' GROUP BY message ORDER BY count(*) DESC, message");
  while (failures.step()) out.failures.emplace_back(failures.text(0), failures.whole(1));
  return out;
}

Account read_account(const std::string& path, const std::string& where) {
  Database database = open_results(path);
  database.allow_reading_only();
  const std::string condition = where.empty() ? "1" : "(\n" + where + "\n)";
  const Written written = written_where(read_columns(database), where);
  Account out;
  Statement study(database, "SELECT name, file, text, added FROM studies ORDER BY id");
  while (study.step())
    out.studies.push_back({study.text(0), study.text(1), study.text(2), study.text(3)});
  Statement place(database,
                  "SELECT o.host, o.version, o.environment, sum(n), min(first), max(last), "
                  "sum(spent), sum(lost) FROM (SELECT origin AS place, count(*) AS n, "
                  "min(started) AS first, max(started) AS last, sum(elapsed) AS spent, "
                  "sum(status = 'failed') AS lost" +
                      std::string(kFrom) + " WHERE " + condition +
                      " GROUP BY origin) JOIN origins o ON o.id = place "
                      "GROUP BY o.host, o.version, o.environment ORDER BY min(first), o.id",
                  written);
  while (place.step()) {
    Account::Place each{place.text(0),
                        place.text(1),
                        place.text(2),
                        place.whole(3),
                        place.text(4),
                        place.text(5),
                        0};
    each.elapsed = number_of(place.cell(6)).value_or(0);
    out.launches += each.launches;
    out.failed += place.whole(7);
    out.places.push_back(std::move(each));
  }
  // Of several rows of a group SQLite takes the bare columns from that of max(id).
  Statement failed(database,
                   "SELECT program, way, machine, ranks, count(*), command, message, max(id)" +
                       std::string(kFrom) + " WHERE " + condition +
                       " AND status = 'failed' AND point NOT IN (SELECT point FROM launches WHERE "
                       "status = 'done') GROUP BY point ORDER BY max(id)",
                   written);
  while (failed.step())
    out.unfinished.push_back({failed.text(0), failed.text(1), failed.text(2), failed.whole(3),
                              failed.whole(4), failed.text(5), failed.text(6)});
  return out;
}

std::optional<double> number_of(const Cell& cell) {
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  return std::nullopt;
}

void append_text(std::string& out, const Cell& cell) {
  char buffer[32];
  if (const auto* whole = std::get_if<std::int64_t>(&cell))
    out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, *whole).ptr);
  else if (const auto* number = std::get_if<double>(&cell))
    out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, *number).ptr);
  else if (const auto* text = std::get_if<std::string>(&cell))
    out += *text;
}

std::string text_of(const Cell& cell) {
  std::string out;
  append_text(out, cell);
  return out;
}

}  // namespace foretrace::results
