#include "cli/explain/what_if.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/error.hpp"
#include "explain/balance.hpp"
#include "explain/places.hpp"

namespace foretrace::cli {
namespace {

using explain::Call;

// Which calls a name means.
class Names {
 public:
  Names(const explain::Run& run, const sim::Source& source) : run_(run) {
    const explain::Places places(run, source);
    for (explain::PlaceId id = 0; id < run.places.size(); ++id)
      places_.push_back(places.describe(id));
  }

  explain::CallSet called(const std::string& option, const std::string& name) const {
    std::set<explain::PlaceId> places;
    for (explain::PlaceId id = 0; id < places_.size(); ++id)
      if (!name.empty() && is_named(run_, places_[id], name)) places.insert(id);
    if (places.empty()) refuse(option, name);
    return [places](const Call& call) { return places.contains(call.place); };
  }

  explain::PlaceSet places(const std::string& option, const std::string& name) const {
    called(option, name);
    return [&run = run_, name](const explain::Place& place) { return is_named(run, place, name); };
  }

 private:
  [[noreturn]] void refuse(const std::string& option, const std::string& name) const {
    std::set<std::string> known;
    for (const explain::Place& place : places_)
      for (const std::string& text : {place.function, place.site, phase_option(place)})
        if (!text.empty()) known.insert(text);
    constexpr std::size_t kMostTold = 20;
    std::string list;
    std::size_t told = 0;
    for (const std::string& text : known) {
      if (told++ == kMostTold) {
        list += ", ...";
        break;
      }
      list += (list.empty() ? "" : ", ") + text;
    }
    throw UsageError(option + " " + name +
                     ": the run has no such phase, call site or function; it has " + list);
  }

  const explain::Run& run_;
  std::vector<explain::Place> places_;
};

}  // namespace

double factor_of(const std::string& option, const std::string& text, const std::string& example) {
  const std::size_t equals = text.rfind('=');
  double factor = 0;
  if (equals != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + equals + 1, end, factor);
    if (error == std::errc() && rest == end && factor > 0 && factor <= 1e9) return factor;
  }
  throw UsageError(option + " " + text + ": expected a name and a factor above 0, as " + example);
}

explain::Edits edits_of(const WhatIf& what_if, const explain::Run& run, const sim::Source& source) {
  const Names names(run, source);
  explain::Edits edits;
  for (const std::string& name : what_if.zero_wait)
    explain::take_waits_away(run, names.called("--zero-wait", name), edits);
  for (const std::string& name : what_if.balance)
    explain::equalise(run, names.called("--balance", name), edits);
  for (const std::string& text : what_if.speed) {
    const double factor = factor_of("--speed", text, "solve=2");
    const std::string name = text.substr(0, text.rfind('='));
    explain::speed_up(run, names.called("--speed", name), factor, edits);
  }
  return edits;
}

explain::PlaceSet places_of(const std::string& option, const std::string& name,
                            const explain::Run& run, const sim::Source& source) {
  return Names(run, source).places(option, name);
}

}  // namespace foretrace::cli
