#include "results/database.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>

#include "base/error.hpp"

namespace foretrace::results {
namespace {

constexpr int kPatience = 60'000;  // ms to wait for another process that writes

int only_reading(void*, int action, const char*, const char*, const char*, const char*) {
  return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ||
                 action == SQLITE_RECURSIVE
             ? SQLITE_OK
             : SQLITE_DENY;
}

bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

// SQLite's message about a condition, for somebody who wrote a condition and no SQL.
std::string in_our_words(std::string_view message, const std::vector<std::string>& columns) {
  if (take(message, "no such column: ")) {
    std::string text = "there is no column '" + std::string(message) + "'; these are:";
    for (const std::string& each : columns) text += " " + each;
    return text + " (a text stands in quotes: '" + std::string(message) + "')";
  }
  if (take(message, "no such function: "))
    return "there is no function '" + std::string(message) + "'";
  if (message.starts_with("near \")\""))
    return "something is missing at its end, or a bracket is too many";
  if (take(message, "near \""))
    return "'" + std::string(message.substr(0, message.rfind("\": "))) +
           "' is not expected there; conditions are written as: ranks >= 8 and machine = "
           "'cray-t3d'";
  if (take(message, "unrecognized token: \"'")) return "a quote ' has no end";
  if (take(message, "unrecognized token: \""))
    return "'" + std::string(message.substr(0, message.rfind('"'))) + "' is no name and no number";
  if (message == "incomplete input") return "something is missing at its end";
  if (message == "not authorized") return "a condition can only read the columns";
  return std::string(message);
}

// What the code means to who has to do something about it.
std::string meaning(int code, const char* message) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "the disk is full; what was written before is kept: make room and go on";
    case SQLITE_NOTADB:
      return "this is no database of results";
    case SQLITE_CORRUPT:
      return "the database is damaged (" + std::string(message) + ")";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process writes to it";
    case SQLITE_READONLY:
      return "it cannot be written to";
    case SQLITE_IOERR:
      return "input or output failed (" + std::string(message) +
             "); what was written before is kept";
    default:
      return message;
  }
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const {
  sqlite3_close_v2(handle);
}

Database::Database(const std::string& path, Mode mode) : path_(path) {
  if (mode == Mode::read && !std::filesystem::exists(path))
    throw Error(path + ": no such file; foretrace study makes one");
  sqlite3* handle = nullptr;
  const int flags =
      (mode == Mode::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) |
      SQLITE_OPEN_NOMUTEX;  // one thread at a time has it
  const std::string file = mode == Mode::memory ? ":memory:" : path;
  const int code = sqlite3_open_v2(file.c_str(), &handle, flags, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) fail("cannot be opened");
  sqlite3_busy_timeout(handle, kPatience);
  // Double quotes are names, and nothing else, but in what users write (query.hpp).
  sqlite3_extended_result_codes(handle, 1);
}

void Database::run(const std::string& sql) {
  if (sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    fail("cannot be written");
}

void Database::allow_reading_only() {
  sqlite3_set_authorizer(handle(), only_reading, nullptr);
}

void Database::fail(const std::string& doing) const {
  if (!handle()) throw Error(path_ + ": " + doing + ": not enough memory");
  const int code = sqlite3_extended_errcode(handle());
  std::string why = meaning(code, sqlite3_errmsg(handle()));
  const int system = sqlite3_system_errno(handle());
  if (system == ENOSPC) why = meaning(SQLITE_FULL, "");
  if ((code & 0xff) == SQLITE_CANTOPEN && system != 0) why = std::strerror(system);
  throw Error(path_ + ": " + doing + ": " + why);
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Statement::Statement(const Database& database, const std::string& sql, Written written)
    : database_(database), written_(std::move(written)) {
  const std::string& what = written_.what;
  sqlite3_stmt* statement = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v2(database.handle(), sql.c_str(),
                                      static_cast<int>(sql.size()) + 1, &statement, &rest);
  statement_.reset(statement);
  if (code != SQLITE_OK) {
    const int reason = code & 0xff;
    if (!what.empty() && (reason == SQLITE_ERROR || reason == SQLITE_AUTH))
      throw UsageError(what + ": " +
                       in_our_words(sqlite3_errmsg(database.handle()), written_.columns));
    database.fail("cannot be read");
  }
  if (!statement || (rest && *rest != '\0')) {
    if (!what.empty()) throw UsageError(what + ": one condition is expected");
    throw Error(database.path() + ": a statement is not one");
  }
}

Statement& Statement::bind(int index, const Cell& cell) {
  sqlite3_stmt* statement = statement_.get();
  int code = SQLITE_OK;
  if (const auto* whole = std::get_if<std::int64_t>(&cell))
    code = sqlite3_bind_int64(statement, index, *whole);
  else if (const auto* number = std::get_if<double>(&cell))
    code = sqlite3_bind_double(statement, index, *number);
  else if (const auto* text = std::get_if<std::string>(&cell))
    code = sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_TRANSIENT,
                               SQLITE_UTF8);
  else
    code = sqlite3_bind_null(statement, index);
  if (code != SQLITE_OK) database_.fail("cannot be written");
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  if (!written_.what.empty() && (code & 0xff) == SQLITE_ERROR)
    throw UsageError(written_.what + ": " +
                     in_our_words(sqlite3_errmsg(database_.handle()), written_.columns));
  database_.fail(sqlite3_stmt_readonly(statement_.get()) ? "cannot be read" : "cannot be written");
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
}

int Statement::columns() const {
  return sqlite3_column_count(statement_.get());
}

std::string Statement::name(int column) const {
  return sqlite3_column_name(statement_.get(), column);
}

Cell Statement::cell(int column) const {
  sqlite3_stmt* statement = statement_.get();
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return static_cast<std::int64_t>(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_TEXT:
    case SQLITE_BLOB:
      return text(column);
    default:
      return {};
  }
}

std::int64_t Statement::whole(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::number(int column) const {
  const int type = sqlite3_column_type(statement_.get(), column);
  return type == SQLITE_INTEGER || type == SQLITE_FLOAT
             ? sqlite3_column_double(statement_.get(), column)
             : std::numeric_limits<double>::quiet_NaN();
}

std::string Statement::text(int column) const {
  const auto* begin = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  return begin
             ? std::string(begin,
                           static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column)))
             : std::string();
}

Transaction::Transaction(Database& database) : database_(database) {
  database.run("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  // Where the disk was full SQLite has rolled back already.
  if (!committed_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.run("COMMIT");
  committed_ = true;
}

std::string quoted_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace foretrace::results
