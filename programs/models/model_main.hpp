// What every model program's main() does: options, simulation, figures.
//
// Options are `--name value`; all programs have --ranks and --loggps. Wrong use ends with
// status 2, a failed run with 1, each with one line on standard error.
#pragma once

#include <sys/resource.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "machine/loggps.hpp"
#include "machine/machine_model.hpp"
#include "machine/timing.hpp"
#include "sim/engine.hpp"
#include "sim/model/model_program.hpp"
#include "sim/sink.hpp"

namespace models {

using namespace foretrace;

// Whole numbers from 0 (ranks: 1) to 2^31 - 1, with defaults; --loggps.
class Options {
 public:
  explicit Options(std::string purpose) : purpose_(std::move(purpose)) {
    add("ranks", &ranks, "ranks");
  }
  void add(std::string name, int* value, std::string help) {
    entries_.push_back({std::move(name), value, std::move(help)});
  }
  // Throws UsageError. False: the help was printed.
  bool parse(int argc, char** argv);

  int ranks = 1024;
  std::string loggps = "L=2us,o=500ns,g=100ns,G=0.08ns,S=65536";

 private:
  struct Entry {
    std::string name;
    int* value;
    std::string help;
  };
  std::string purpose_;
  std::vector<Entry> entries_;
};

inline bool Options::parse(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help") {
      std::printf("%s\n", purpose_.c_str());
      for (const Entry& entry : entries_)
        std::printf("  --%-10s %s (%d)\n", entry.name.c_str(), entry.help.c_str(), *entry.value);
      std::printf("  --%-10s the network (%s)\n", "loggps", loggps.c_str());
      return false;
    }
    if (i + 1 == argc) throw UsageError(word + ": expected a value after it; see --help");
    const char* value = argv[++i];
    if (word == "--loggps") {
      loggps = value;
      continue;
    }
    const Entry* found = nullptr;
    for (const Entry& entry : entries_)
      if (word == "--" + entry.name) found = &entry;
    if (!found) throw UsageError("unknown option '" + word + "'; see --help");
    const char* end = value + std::strlen(value);
    const auto [stop, error] = std::from_chars(value, end, *found->value);
    if (error != std::errc() || stop != end || *found->value < (found->value == &ranks ? 1 : 0))
      throw UsageError(word + ": expected a whole number, found '" + value + "'");
  }
  return true;
}

// Simulates on LogGPS alone and prints what it was and what it took.
inline void simulate_and_print(sim::ModelProgram& program, const Options& options) {
  const machine::MachineModel none;
  const machine::Timing timing(none, machine::Bound::avg);
  sim::SimulateOptions how;
  how.network.kind = sim::NetworkKind::loggps;
  how.network.loggps =
      machine::loggps_times(none, machine::parse_loggps(options.loggps), machine::Bound::avg);
  sim::NullSink sink;
  const sim::SimulateResult result = sim::simulate(program, timing, how, sink);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double ranks = program.ranks();
  const auto messages = static_cast<double>(result.stats.messages);
  std::printf("ranks          %d\n", program.ranks());
  std::printf("time           %.9f s\n", result.time.seconds());
  std::printf("messages       %.0f, %.3g each second\n", messages, messages / result.stats.seconds);
  std::printf("simulated in   %.3f s\n", result.stats.seconds);
  std::printf("bytes a rank   %.0f (engine %.0f, coroutines %.0f)\n",
              static_cast<double>(usage.ru_maxrss) * 1024 / ranks,
              static_cast<double>(result.stats.peak_bytes) / ranks,
              static_cast<double>(program.memory()) / ranks);
}

// main() around `run`, which parses and simulates.
template <class Run>
int run_main(Run run) {
  try {
    run();
    return 0;
  } catch (const UsageError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace models
