#include "cli/explain/rewrites.hpp"

#include <utility>

#include "base/error.hpp"
#include "explain/merge_messages.hpp"
#include "explain/posting.hpp"

namespace foretrace::cli {
namespace {

std::pair<std::string, std::string> place_and_algorithm(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw UsageError("--collective " + text + ": expected SITE=ALGORITHM, as solve.c:12=ring");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

RewrittenRun::RewrittenRun(std::unique_ptr<sim::Source> source, const sim::Source& names,
                           const explain::Run& run, const explain::Edits& edits,
                           const WhatIf& what_if)
    : loaded_(std::move(source)) {
  open_ = [this, &run, &edits]() -> std::unique_ptr<sim::Source> {
    return std::make_unique<explain::EditedSource>(loaded_.open(), run, edits);
  };
  if (open_()->messages_race())
    throw UsageError(
        "calls can only be changed where it is known which messages meet; use --wildcards "
        "recorded");
  const auto places = [&](const std::string& option, const std::string& name) {
    return places_of(option, name, run, names);
  };
  if (what_if.remove_barriers) add("--remove-barriers", explain::without_barriers(*open_()));
  for (const std::string& name : what_if.merge)
    add("--merge-messages " + name,
        explain::with_merged_messages(loaded_, open_, places("--merge-messages", name)));
  for (const std::string& name : what_if.nonblocking)
    add("--nonblocking " + name,
        explain::with_posted_messages(loaded_, open_, places("--nonblocking", name)));
  for (const std::string& text : what_if.collective) {
    const auto [name, algorithm] = place_and_algorithm(text);
    add("--collective " + text,
        explain::with_algorithm_at(open_, places("--collective", name), algorithm));
  }
}

void RewrittenRun::add(const std::string& option, explain::Rewrites rewrites) {
  const std::uint64_t changed = rewrites.changed();
  told_.push_back(option + ": " +
                  (changed == 0   ? std::string("nothing to change")
                   : changed == 1 ? std::string("1 call changed")
                                  : std::to_string(changed) + " calls changed"));
  rewrites_.push_back(std::move(rewrites));
  const explain::Rewrites& added = rewrites_.back();
  open_ = [before = open_, &added]() -> std::unique_ptr<sim::Source> {
    return std::make_unique<explain::RewrittenSource>(before(), added);
  };
}

}  // namespace foretrace::cli
