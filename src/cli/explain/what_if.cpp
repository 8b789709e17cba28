#include "cli/explain/what_if.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "base/error.hpp"
#include "explain/balance.hpp"

namespace foretrace::cli {
namespace {

using explain::Call;

// Which calls a name means.
class Names {
 public:
  Names(const explain::Run& run, const sim::Source& source) {
    for (const explain::PlaceKey& place : run.places)
      texts_.push_back({std::string(source.name(place.name)),
                        place.site == 0 ? std::string() : source.describe_site(place.site),
                        run.phases[place.phase]});
  }

  explain::CallSet called(const std::string& option, const std::string& name) const {
    std::set<explain::PlaceId> places;
    for (explain::PlaceId id = 0; id < texts_.size(); ++id)
      if (!name.empty() && std::ranges::count(texts_[id], name) > 0) places.insert(id);
    if (places.empty()) refuse(option, name);
    return [places](const Call& call) { return places.contains(call.place); };
  }

  explain::PlaceSet places(const std::string& option, const std::string& name) const {
    called(option, name);
    return [name](const explain::Place& place) {
      return place.function == name || place.site == name || place.phase == name;
    };
  }

 private:
  [[noreturn]] void refuse(const std::string& option, const std::string& name) const {
    std::set<std::string> known;
    for (const auto& place : texts_)
      for (const std::string& text : place)
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

  std::vector<std::array<std::string, 3>> texts_;  // by place: function, call site, phase
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
