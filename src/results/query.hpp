// Reading what studies kept: rows of launches, or one row a point with the medians over its
// launches.
//
// From a file to plain tables; comparison.hpp sets two of them side by side, views draw them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/database.hpp"

namespace foretrace::results {

enum class ColumnKind { fixed, parameter, count, note, quantity };

struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::fixed;
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;

  // The column's place. Throws UsageError with all that there are.
  std::size_t find(const std::string& name) const;
  // What its rows' commands said of their figures, each once.
  std::vector<std::string> notes() const;
};

std::optional<std::size_t> place_of(const Table& table, std::string_view name);

struct Query {
  std::string where;                 // a condition in SQL over the columns of `results`; "": all
  bool launches = false;             // each launch, failed ones too, instead of medians
  std::vector<std::string> columns;  // quantities; empty: all
};

// For reading: a database, or FILE.graph (graph_file.hpp). Throws Error.
Database open_results(const std::string& path);

// program, way, machine, ranks, the parameters, launches (their number) or status, notes (a line
// each; of a point's first launch that has some), quantities; columns in which every row has
// nothing are left out. Sorted by all but the quantities. Throws Error, UsageError.
Table read_table(const std::string& path, const Query& query);

// What was kept, in numbers, and where it came from.
struct Summary {
  std::int64_t launches = 0, failed = 0, points = 0;
  std::vector<std::string> studies;  // name and file
  std::vector<std::string> hosts;
  std::vector<std::string> versions;
  std::vector<std::pair<std::string, std::int64_t>> failures;  // messages, how often
};
Summary read_summary(const std::string& path);

// What was asked, where it was run, and what did not come of it.
struct Account {
  struct Study {
    std::string name, file, text, added;
  };
  struct Place {
    std::string host, version, environment;  // environment: JSON
    std::int64_t launches = 0;
    std::string first, last;  // when launches were started, UTC
    double elapsed = 0;       // seconds of the real clock, of all launches together
  };
  // A point of which no launch is done.
  struct Unfinished {
    std::string program, way, machine;
    std::int64_t ranks = 0, failed = 0;
    std::string command, message;  // of the last launch
  };
  std::vector<Study> studies;
  std::vector<Place> places;
  std::int64_t launches = 0, failed = 0;
  std::vector<Unfinished> unfinished;
};
// Of the launches for which `where` holds (as in Query); all studies. Throws Error, UsageError.
Account read_account(const std::string& path, const std::string& where);

// A whole number is one, too; nothing and texts are none.
std::optional<double> number_of(const Cell& cell);
// "" for nothing; numbers so that they read back as the same.
std::string text_of(const Cell& cell);
void append_text(std::string& out, const Cell& cell);

}  // namespace foretrace::results
