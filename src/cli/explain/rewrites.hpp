// The operations of a run with other calls than it made, as `explain` is told by hand.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "cli/explain/what_if.hpp"
#include "explain/edits.hpp"
#include "explain/loaded_run.hpp"
#include "explain/rewrites.hpp"

namespace foretrace::cli {

class RewrittenRun {
 public:
  // The operations of `source`, edited, then rewritten as `what_if` says, barriers first.
  // `names` is the source that `run` was made from, which tells its names. `run` and `edits`
  // must live as long. Throws UsageError.
  RewrittenRun(std::unique_ptr<sim::Source> source, const sim::Source& names,
               const explain::Run& run, const explain::Edits& edits, const WhatIf& what_if);

  std::unique_ptr<sim::Source> open() const { return open_(); }
  // One line for each rewrite: "--merge-messages halo.c:37: 12 calls changed".
  const std::vector<std::string>& told() const { return told_; }

 private:
  void add(const std::string& option, explain::Rewrites rewrites);

  explain::LoadedRun loaded_;
  std::deque<explain::Rewrites> rewrites_;  // one over the other
  explain::Open open_;
  std::vector<std::string> told_;
};

}  // namespace foretrace::cli
