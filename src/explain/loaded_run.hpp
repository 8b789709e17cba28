// LoadedRun: all operations of a run in memory, with their call sites, to be read any
// number of times; so that a rewrite can look ahead and behind.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/memory_source.hpp"

namespace foretrace::explain {

class LoadedRun {
 public:
  // Reads all of `source`, which must not react to results, and keeps it for its call sites.
  explicit LoadedRun(std::unique_ptr<sim::Source> source);

  // From the beginning; the run must live as long. All of them have the same numbers for
  // names, communicators and call sites.
  std::unique_ptr<sim::Source> open() const;
  // The number of `name`, new or known.
  trace::NameId add_name(std::string_view name) { return program_->add_name(name); }

 private:
  class Reader;

  std::unique_ptr<sim::Source> source_;
  std::shared_ptr<sim::Program> program_;
  std::vector<std::vector<trace::SiteId>> sites_;  // by rank and call
};

}  // namespace foretrace::explain
