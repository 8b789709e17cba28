// Subcommand: one verb of the command line. Each lies in a file of its own,
// declares its options and does its work in run(); main picks and calls.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace foretrace::cli {

struct Subcommand {
  const char* name;
  const char* summary;
  // Declares options on `app`; returns what to do once they are parsed. The
  // result is the exit status.
  std::function<int()> (*declare)(CLI::App& app);
  const char* examples = "";  // command lines, one a line, at the end of --help
  // The same options; returns what throws for values that make no sense. It reads the files that
  // the options name, but no input, and runs nothing. nullptr: parsing tells all.
  std::function<void()> (*declare_to_check)(CLI::App& app) = nullptr;
};

extern const Subcommand kProfile;
extern const Subcommand kRecord;
extern const Subcommand kPredict;
extern const Subcommand kSimulate;
extern const Subcommand kMeasure;
extern const Subcommand kImport;
extern const Subcommand kMachines;
extern const Subcommand kCalc;
extern const Subcommand kModel;
extern const Subcommand kStudy;
extern const Subcommand kResults;
extern const Subcommand kFit;
extern const Subcommand kReport;
extern const Subcommand kTimeline;
extern const Subcommand kWatch;
extern const Subcommand kCompare;
extern const Subcommand kExplain;
extern const Subcommand kConvert;
extern const Subcommand kTopology;
extern const Subcommand kArchitecture;
extern const Subcommand kTraffic;
extern const Subcommand kCoverage;
extern const Subcommand kRegions;
extern const Subcommand kDatasheet;
extern const Subcommand kValidate;
extern const Subcommand kWrap;

}  // namespace foretrace::cli
