// The points of a study: every combination of its parameters, for each program and each way.
//
// Between the file (study_file.hpp) and what runs them (run.hpp). Looks at the files that the
// commands name, to tell them apart by their checksums; runs nothing.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "study/study_file.hpp"

namespace foretrace::study {

// What a replay needs first: one for each program with its arguments and ranks.
struct Recording {
  std::int64_t point = 0;            // its identity
  std::vector<std::string> command;  // without the name of the trace, which "{trace}" stands for
};

struct Job {
  std::int64_t point = 0;  // identity: checksum of all that decides the result
  Kind kind = Kind::predict;
  std::string program, way, machine;
  int ranks = 0;
  std::vector<std::pair<std::string, Cell>> parameters;  // those that this job uses
  // Arguments of foretrace (of Kind::command: all words); "{trace}" stands for a file.
  std::vector<std::string> command;
  std::optional<Recording> recording;
  bool measures = false;  // takes times of this machine: nothing may run beside it
  std::string machine_checksum, program_checksum;
  std::vector<std::string> option_checksums;  // of the files that its options name
};

struct Expansion {
  std::vector<Job> jobs;            // each once
  std::size_t combinations = 0;     // of the parameters, before the conditions
  std::size_t left_out = 0;         // by the conditions
  std::vector<std::string> unused;  // parameters that nothing depends on
};

// What the tool says of words of a study; each throws UsageError. The file of a name, of a machine
// or of an analytical model; whether a sub-command takes such words; the files that an option's
// word means, which decide the result, too.
struct Tool {
  std::function<std::string(const std::string&)> machine;
  std::function<std::string(const std::string&)> model;
  // May be none.
  std::function<void(const std::vector<std::string>&)> check_command = {};
  std::function<std::vector<std::string>(const std::string&)> files_of = {};
};

// Throws Error "FILE:LINE: ..." for a point that makes no sense.
Expansion expand(const Study& study, const Tool& tool);

// The number of a text, for identities and checksums: XXH3, 64 bits.
std::int64_t checksum_of(std::string_view text);
std::string hex_of(std::int64_t checksum);

}  // namespace foretrace::study
