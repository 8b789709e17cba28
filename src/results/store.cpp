#include "results/store.hpp"

#include <algorithm>
#include <cctype>

#include "base/error.hpp"
#include "base/utc_time.hpp"
#include "results/schema.hpp"

namespace foretrace::results {
namespace {

std::int64_t last_id(const Database& database) {
  Statement statement(database, "SELECT last_insert_rowid()");
  statement.step();
  return statement.whole(0);
}

}  // namespace

Store::Store(Database database) : database_(std::move(database)) {
  prepare_schema(database_);
  const Columns columns = read_columns(database_);
  for (const std::string& name : columns.parameters) columns_[lower(name)] = "parameter";
  for (const std::string& name : columns.quantities) columns_[lower(name)] = "quantity";
}

void Store::begin_study(const std::string& name, const std::string& file, const std::string& text,
                        const std::string& checksum) {
  Transaction transaction(database_);
  Statement insert(database_,
                   "INSERT OR IGNORE INTO studies(name, file, checksum, text, added) "
                   "VALUES(?, ?, ?, ?, ?)");
  insert.bind(1, name).bind(2, file).bind(3, checksum).bind(4, text).bind(5, utc_now()).step();
  Statement find(database_, "SELECT id FROM studies WHERE checksum = ?");
  find.bind(1, checksum).step();
  study_ = find.whole(0);
  find.reset();
  transaction.commit();
}

std::int64_t Store::origin_id(const Origin& origin) {
  const auto bind = [&](Statement& statement) {
    statement.bind(1, origin.host)
        .bind(2, origin.version)
        .bind(3, origin.machine_checksum)
        .bind(4, origin.program_checksum)
        .bind(5, origin.environment);
  };
  Statement find(database_,
                 "SELECT id FROM origins WHERE host = ? AND version = ? AND machine_checksum = ? "
                 "AND program_checksum = ? AND environment = ?");
  bind(find);
  if (find.step()) return find.whole(0);
  Statement insert(database_,
                   "INSERT INTO origins(host, version, machine_checksum, program_checksum, "
                   "environment) VALUES(?, ?, ?, ?, ?)");
  bind(insert);
  insert.step();
  return last_id(database_);
}

void Store::ensure_column(const std::string& name, const std::string& kind) {
  const auto known = columns_.find(lower(name));
  if (known != columns_.end()) {
    if (known->second != kind)
      throw Error(path() + ": '" + name + "' is a " + known->second + " there, and a " + kind +
                  " in this study; call it otherwise, or use another file");
    return;
  }
  // Another process may have added it meanwhile.
  Statement find(database_, "SELECT kind FROM columns WHERE name = ?");
  if (!find.bind(1, name).step()) {
    database_.run("ALTER TABLE launches ADD COLUMN " + quoted_name(name) +
                  (kind == "quantity" ? " REAL" : ""));
    Statement insert(
        database_, "INSERT INTO columns SELECT ?, ?, 1 + coalesce(max(position), 0) FROM columns");
    insert.bind(1, name).bind(2, kind).step();
  }
  columns_[lower(name)] = kind;
}

void Store::insert(const Launch& launch, std::int64_t origin, std::int64_t study) {
  std::string names = "point, launch, study, origin, program, way, kind, machine, ranks, status";
  std::string places = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?";
  for (const auto& [name, unused] : launch.parameters) {
    names += ", " + quoted_name(name);
    places += ", ?";
  }
  for (const auto& [name, unused] : launch.quantities) {
    names += ", " + quoted_name(name);
    places += ", ?";
  }
  Statement statement(database_, "INSERT INTO launches(" + names + ") VALUES(" + places + ")");
  statement.bind(1, launch.point)
      .bind(2, std::int64_t{launch.launch})
      .bind(3, study)
      .bind(4, origin)
      .bind(5, launch.program)
      .bind(6, launch.way)
      .bind(7, launch.kind)
      .bind(8, launch.machine)
      .bind(9, std::int64_t{launch.ranks})
      .bind(10, std::string(launch.done ? "done" : "failed"));
  int index = 11;
  for (const auto& [unused, value] : launch.parameters) statement.bind(index++, value);
  for (const auto& [unused, value] : launch.quantities) statement.bind(index++, value);
  statement.step();
  const std::int64_t id = last_id(database_);
  Statement details(database_,
                    "INSERT INTO details(launch, command, message, started, elapsed) "
                    "VALUES(?, ?, ?, ?, ?)");
  details.bind(1, id)
      .bind(2, launch.command)
      .bind(3, launch.message)
      .bind(4, launch.started)
      .bind(5, launch.elapsed)
      .step();
}

void Store::add(const Launch& launch, const Origin& origin) {
  const std::map<std::string, std::string> before = columns_;
  try {
    Transaction transaction(database_);
    for (const auto& [name, unused] : launch.parameters) ensure_column(name, "parameter");
    for (const auto& [name, unused] : launch.quantities) ensure_column(name, "quantity");
    insert(launch, origin_id(origin), study_);
    transaction.commit();
  } catch (...) {
    columns_ = before;
    throw;
  }
}

std::map<std::int64_t, int> Store::done() const {
  std::map<std::int64_t, int> out;
  Statement statement(database_,
                      "SELECT point, count(*) FROM launches WHERE status = 'done' GROUP BY point");
  while (statement.step()) out[statement.whole(0)] = static_cast<int>(statement.whole(1));
  return out;
}

void Store::merge(const std::string& path) {
  const Database other(path, Database::Mode::read);
  check_schema(other);
  const std::map<std::string, std::string> before = columns_;
  try {
    Transaction transaction(database_);
    std::map<std::int64_t, std::int64_t> studies;
    Statement study(other, "SELECT id, name, file, checksum, text, added FROM studies");
    while (study.step()) {
      Statement insert(database_,
                       "INSERT OR IGNORE INTO studies(name, file, checksum, text, added) "
                       "VALUES(?, ?, ?, ?, ?)");
      for (int i = 1; i <= 5; ++i) insert.bind(i, study.cell(i));
      insert.step();
      Statement find(database_, "SELECT id FROM studies WHERE checksum = ?");
      find.bind(1, study.cell(3)).step();
      studies[study.whole(0)] = find.whole(0);
    }
    std::map<std::int64_t, std::int64_t> origins;
    Statement origin(other,
                     "SELECT id, host, version, machine_checksum, program_checksum, environment "
                     "FROM origins");
    while (origin.step())
      origins[origin.whole(0)] = origin_id(
          {origin.text(1), origin.text(2), origin.text(3), origin.text(4), origin.text(5)});
    const Columns columns = read_columns(other);
    std::vector<std::string> names;
    std::string list;
    for (const auto& [kind, group] :
         {std::pair("parameter", &columns.parameters), {"quantity", &columns.quantities}})
      for (const std::string& name : *group) {
        ensure_column(name, kind);
        names.push_back(name);
        list += ", l." + quoted_name(name);
      }
    Statement row(other,
                  "SELECT l.study, l.origin, l.point, l.launch, l.program, l.way, l.kind, "
                  "l.machine, l.ranks, l.status, d.command, d.message, d.started, d.elapsed" +
                      list + " FROM launches l JOIN details d ON d.launch = l.id ORDER BY l.id");
    while (row.step()) merge_row(row, names, studies, origins);
    transaction.commit();
  } catch (...) {
    columns_ = before;
    throw;
  }
}

void Store::merge_row(Statement& row, const std::vector<std::string>& columns,
                      const std::map<std::int64_t, std::int64_t>& studies,
                      const std::map<std::int64_t, std::int64_t>& origins) {
  constexpr int kFirstColumn = 14;
  Launch launch;
  launch.point = row.whole(2);
  launch.launch = static_cast<int>(row.whole(3));
  launch.done = row.text(9) == "done";
  // A part that was merged before, and could not be removed; failures are told apart by their
  // start.
  Statement find(database_,
                 "SELECT 1 FROM launches l JOIN details d ON d.launch = l.id WHERE l.point = ? AND "
                 "l.launch = ? AND l.status = ? AND (l.status = 'done' OR d.started = ?)");
  if (find.bind(1, launch.point)
          .bind(2, std::int64_t{launch.launch})
          .bind(3, row.text(9))
          .bind(4, row.text(12))
          .step())
    return;
  launch.program = row.text(4);
  launch.way = row.text(5);
  launch.kind = row.text(6);
  launch.machine = row.text(7);
  launch.ranks = static_cast<int>(row.whole(8));
  launch.command = row.text(10);
  launch.message = row.text(11);
  launch.started = row.text(12);
  if (const Cell elapsed = row.cell(13); std::holds_alternative<double>(elapsed))
    launch.elapsed = std::get<double>(elapsed);
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (const Cell cell = row.cell(kFirstColumn + static_cast<int>(i));
        !std::holds_alternative<std::monostate>(cell))
      launch.parameters.emplace_back(columns[i], cell);
  insert(launch, origins.at(row.whole(1)), studies.at(row.whole(0)));
}

}  // namespace foretrace::results
