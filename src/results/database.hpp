// Database, Statement: SQLite with errors that name the file, and what they mean.
//
// The one place that includes sqlite3.h's functions; schema.hpp says what lies in the file.
// Private to src/results.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace foretrace::results {

// A cell: nothing, a whole number, a number, a text.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;

class Database {
 public:
  enum class Mode {
    read,    // must be there
    change,  // made if it is not there
    memory,  // of no file; `path` stands for it in messages
  };
  // Throws Error, also where the file is no database.
  Database(const std::string& path, Mode mode);

  // Statements without a result. Throws Error.
  void run(const std::string& sql);
  // From now on statements can only read: what a user wrote cannot change anything.
  void allow_reading_only();

  const std::string& path() const { return path_; }
  sqlite3* handle() const { return handle_.get(); }
  // Throws what the last fault means: "PATH: the disk is full ...".
  [[noreturn]] void fail(const std::string& doing) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// What a user wrote into a statement, for errors.
struct Written {
  std::string what;                  // what errors call it: "--where"; "": nothing was written
  std::vector<std::string> columns;  // that it may name
};

class Statement {
 public:
  // Throws Error; UsageError for what a user wrote, also for several statements.
  Statement(const Database& database, const std::string& sql, Written written = {});

  // Parameters count from 1.
  Statement& bind(int index, const Cell& cell);
  // To the next row; false: none. Throws Error.
  bool step();
  void reset();

  int columns() const;
  std::string name(int column) const;
  Cell cell(int column) const;
  std::int64_t whole(int column) const;
  double number(int column) const;  // NaN where there is none
  std::string text(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  const Database& database_;
  Written written_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// All or nothing: rolled back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool committed_ = false;
};

// "name" as SQL writes it, whatever is in it.
std::string quoted_name(std::string_view name);

}  // namespace foretrace::results
