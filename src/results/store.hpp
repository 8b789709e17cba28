// Store: where a study's launches are kept. Only added to, one whole launch at a time, so that a
// process that is killed at any moment loses at most the launch under way.
//
// Between study, which runs things, and query.hpp, which reads what was kept.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "results/database.hpp"

namespace foretrace::results {

// What was run, where, and with what.
struct Origin {
  std::string host;
  std::string version;           // Foretrace's
  std::string machine_checksum;  // of the machine model or the model's file; may be empty
  std::string program_checksum;
  std::string environment;  // what of the environment matters, as JSON
};

struct Launch {
  std::int64_t point = 0;  // identity of what was run: checksum of all that decides the result
  int launch = 0;          // the how-many-th of its point, from 0
  std::string program, way, kind, machine;
  int ranks = 0;
  bool done = true;     // else it failed
  std::string command;  // as a shell would take it
  std::string message;  // why it failed; if it is done, what is to be said of it, a line each
  std::string started;  // UTC, 2026-11-23T13:00:00Z
  double elapsed = 0;   // seconds of the real clock
  std::vector<std::pair<std::string, Cell>> parameters;
  std::vector<std::pair<std::string, double>> quantities;
};

class Store {
 public:
  // Opens or makes the file. Throws Error.
  explicit Store(const std::string& path) : Store(Database(path, Database::Mode::change)) {}
  explicit Store(Database database);
  // What was kept; the store is over.
  Database take() { return std::move(database_); }

  // The study whose launches come now.
  void begin_study(const std::string& name, const std::string& file, const std::string& text,
                   const std::string& checksum);

  // Adds it as a whole. Throws Error; then nothing of it is there.
  void add(const Launch& launch, const Origin& origin);

  // By point, the launches that are done.
  std::map<std::int64_t, int> done() const;

  // Adds the launches of another file that are not here. Throws Error; then nothing was added.
  void merge(const std::string& path);

  const std::string& path() const { return database_.path(); }

 private:
  std::int64_t origin_id(const Origin& origin);
  void ensure_column(const std::string& name, const std::string& kind);
  void insert(const Launch& launch, std::int64_t origin, std::int64_t study);
  void merge_row(Statement& row, const std::vector<std::string>& columns,
                 const std::map<std::int64_t, std::int64_t>& studies,
                 const std::map<std::int64_t, std::int64_t>& origins);

  Database database_;
  std::int64_t study_ = 0;
  std::map<std::string, std::string> columns_;  // by name in lower case: its kind
};

}  // namespace foretrace::results
