// Running the points of a study, and keeping what comes out (results/store.hpp).
//
// What measures runs alone, one after the other, in random order; what is virtual runs in
// parallel. A launch is kept as soon as it is over, so a run that is stopped goes on where it was.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "study/expand.hpp"

namespace foretrace::study {

struct Progress {
  std::size_t done = 0,
              total = 0;    // launches; more may follow where a measurement is not steady yet
  double seconds_left = 0;  // an estimate; below zero: none yet
};

struct RunSettings {
  std::string tool;     // foretrace itself
  std::string version;  // its
  std::string output;   // the database
  int jobs = 0;         // virtual launches at once; 0: as many as there are processors
  int part = 0;         // this is part K of N, which writes a file of its own and merges it at
  int parts = 1;        // its end
  std::function<void(const Progress&)> progress;  // never by two threads at once
  std::function<void(const std::string&)> tell;   // a line to the user
};

struct RunResult {
  std::size_t launches = 0;           // done now
  std::size_t known = 0;              // points that were done before
  std::size_t failed = 0;             // launches
  std::size_t unsteady = 0;           // measured points whose interval stayed too wide
  std::vector<std::string> failures;  // the first ones, a line each
};

// The jobs that are this part's: those that share a recording are in one part.
std::vector<Job> jobs_of_part(const std::vector<Job>& jobs, int part, int parts);

// Throws Error for what ends the whole run: a full disk, another study at work on the file.
RunResult run(const Study& study, const std::vector<Job>& jobs, const RunSettings& settings);

// For a signal's handler, before the signal ends this process: ends what run() has started, which
// does not return any more.
void end_launches();

// Points that are done, in the file and in parts that were left over; for --dry-run.
std::size_t count_done(const std::vector<Job>& jobs, const std::string& output);

}  // namespace foretrace::study
