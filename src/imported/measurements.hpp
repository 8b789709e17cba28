// What was read from other people's files, before anything is fitted: samples as
// `measure` has them, and how those of each function were made.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/core/samples.hpp"

namespace foretrace::imported {

struct Measurements {
  std::vector<measure::Sample> samples;
  std::map<std::string, std::string, std::less<>> methods;  // by function
  std::vector<std::string> notes;  // one line each: what was left out, and why
  double resolution = 0;           // seconds: times below it say nothing; 0: not known
  // Messages of so many bytes and more wait for their receiver; where the files tell.
  std::optional<std::uint64_t> sync_threshold = {};

  void add(const std::string& function, int ranks, std::uint64_t bytes, int launch,
           double seconds) {
    samples.push_back({function, ranks, bytes, launch, seconds, true});
  }
};

}  // namespace foretrace::imported
