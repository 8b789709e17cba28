// Study: what STUDY.toml asks for (docs/study.md): programs, parameters, ways, quantities.
//
// From text to plain structs; expand.hpp makes the points of it. Runs nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/database.hpp"

namespace foretrace::study {

using results::Cell;

struct Parameter {
  std::string name;
  std::vector<Cell> values;  // at least one
};

struct Program {
  std::string name;
  std::vector<std::string> command;  // words with {parameters}
  std::string ranks;                 // a number, or "{p}"
  int line = 0;
};

// command: the program alone, without an MPI; it prints its (virtual) time.
enum class Kind { measured, predict, simulate, live, text, model, command };
std::string_view name_of(Kind kind);

struct Way {
  std::string name;
  Kind kind = Kind::predict;
  std::vector<std::string> programs;        // names; empty: all (not for text and model)
  std::string machine;                      // may have {parameters}; empty: none
  std::string file;                         // of text and model
  std::string at;                           // of model: "p={p},n={n}"
  std::vector<std::string> options;         // for the command
  std::vector<std::string> record_options;  // of simulate, for the recording
  int line = 0, options_line = 0, record_options_line = 0;  // those of the way, where not given
};

struct Quantity {
  std::string name;
  std::string pattern;  // a regular expression with one group: a number that the program prints
};

struct Study {
  std::string file, name, text;
  std::vector<Parameter> parameters;
  std::vector<std::vector<std::string>> zips;  // parameters whose values go together
  std::vector<std::string> where;              // conditions, all of which a point has to meet
  int where_line = 0;
  std::vector<Program> programs;
  std::vector<Way> ways;
  std::vector<Quantity> quantities;
  // Of measured ways: launches until the 95 % interval of the median is within `precision` of it.
  int least_launches = 5;
  int most_launches = 30;
  double precision = 0.05;
  double busy_limit = 0.1;       // share of the processors that others may use beside a measurement
  double quiet_seconds = 10;     // how long to wait for that
  double timeout_seconds = 600;  // of one launch
  std::uint64_t seed = 1;        // of the random order
};

// Throws Error "FILE:LINE: ...".
Study read_study(const std::string& path);
Study parse_study(std::string_view text, const std::string& file);

// The names in braces, each once: "{n} x {m}" has n and m. Throws Error that begins with `where`.
std::vector<std::string> names_in(std::string_view text, const std::string& where);
// With the values in place of the names.
std::string filled_in(std::string_view text, const std::map<std::string, std::string>& values);

// As a shell splits words, with quotes and backslashes but nothing else. Throws Error that begins
// with `where`.
std::vector<std::string> split_words(std::string_view text, const std::string& where);

}  // namespace foretrace::study
