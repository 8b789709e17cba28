#include "results/schema.hpp"

#include <algorithm>
#include <cctype>

#include "base/error.hpp"

namespace foretrace::results {
namespace {

// Of launches: narrow, so that a million are read in no time; long texts lie in details and
// origins. `columns` says which of the others are parameters, which quantities.
constexpr const char* kTables = R"(
CREATE TABLE foretrace(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE studies(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, file TEXT NOT NULL, checksum TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL, added TEXT NOT NULL);
CREATE TABLE origins(
  id INTEGER PRIMARY KEY, host TEXT NOT NULL, version TEXT NOT NULL,
  machine_checksum TEXT NOT NULL, program_checksum TEXT NOT NULL, environment TEXT NOT NULL,
  UNIQUE(host, version, machine_checksum, program_checksum, environment));
CREATE TABLE columns(
  name TEXT PRIMARY KEY COLLATE NOCASE, kind TEXT NOT NULL CHECK(kind IN ('parameter', 'quantity')),
  position INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE launches(
  id INTEGER PRIMARY KEY, point INTEGER NOT NULL, launch INTEGER NOT NULL,
  study INTEGER NOT NULL REFERENCES studies(id), origin INTEGER NOT NULL REFERENCES origins(id),
  program TEXT NOT NULL, way TEXT NOT NULL, kind TEXT NOT NULL, machine TEXT NOT NULL,
  ranks INTEGER NOT NULL, status TEXT NOT NULL CHECK(status IN ('done', 'failed')));
CREATE UNIQUE INDEX launches_once ON launches(point, launch) WHERE status = 'done';
CREATE TABLE details(
  launch INTEGER PRIMARY KEY REFERENCES launches(id), command TEXT NOT NULL, message TEXT NOT NULL,
  started TEXT NOT NULL, elapsed REAL NOT NULL);
INSERT INTO foretrace VALUES('schema', '1');
)";

bool has_table(const Database& database, const char* name) {
  Statement statement(database, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
  return statement.bind(1, std::string(name)).step();
}

}  // namespace

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

const std::vector<std::string>& fixed_columns() {
  static const std::vector<std::string> kColumns{
      "id",   "point",   "launch", "study",  "origin",   "program", "way",
      "kind", "machine", "ranks",  "status", "launches", "rowid"};
  return kColumns;
}

bool is_column_name(std::string_view name) {
  if (name.empty() || name.size() > 64) return false;
  const auto is_letter = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  if (!is_letter(name.front())) return false;
  if (!std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); }))
    return false;
  return std::ranges::count(fixed_columns(), lower(name)) == 0;
}

std::string column_of(const std::string& prefix, const std::string& name) {
  std::string out = prefix;
  for (const char c : name.substr(0, 64 - prefix.size()))
    out += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
  return out;
}

void check_schema(const Database& database) {
  if (!has_table(database, "foretrace"))
    throw Error(database.path() + ": this is no database of results");
  Statement statement(database, "SELECT value FROM foretrace WHERE name = 'schema'");
  const std::string version = statement.step() ? statement.text(0) : "";
  if (version != std::to_string(kSchemaVersion))
    throw Error(database.path() + ": schema " + (version.empty() ? "without a number" : version) +
                ", this version of Foretrace reads " + std::to_string(kSchemaVersion));
}

void prepare_schema(Database& database) {
  // Readers go on while a study writes, and a process that is killed leaves whole launches.
  database.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  Transaction transaction(database);
  Statement any(database, "SELECT count(*) FROM sqlite_master");
  if (any.step() && any.whole(0) == 0) database.run(kTables);
  check_schema(database);
  transaction.commit();
}

Columns read_columns(const Database& database) {
  Columns out;
  Statement statement(database, "SELECT name, kind FROM columns ORDER BY position");
  while (statement.step())
    (statement.text(1) == "parameter" ? out.parameters : out.quantities)
        .push_back(statement.text(0));
  return out;
}

}  // namespace foretrace::results
