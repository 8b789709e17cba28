#include "views/report/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "views/draw/json_text.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/notes.hpp"
#include "views/draw/text_table.hpp"
#include "views/draw/units.hpp"

namespace foretrace::views {
namespace {

using analysis::ComparedTime;
using analysis::CompareLevel;
using analysis::Comparison;
using json = nlohmann::ordered_json;

std::string describe(const analysis::Difference& difference) {
  if (!difference.rank.valid())
    return fmt::format("A has {}, B has {}", difference.a, difference.b);
  return fmt::format("rank {}, event {}: A has {}, B has {}", difference.rank.value,
                     difference.event, difference.a, difference.b);
}

// Which of the two times are known.
struct Known {
  bool a = true;
  bool b = true;

  bool both() const { return a && b; }
};

// Of what was recorded by the CPU clock nobody knows how long calls took.
Known known_of(const Comparison& comparison, std::size_t state) {
  if (comparison.states[state] == "COMPUTE") return {};
  return {comparison.a.clock != trace::Clock::cpu, comparison.b.clock != trace::Clock::cpu};
}

std::vector<std::string> cells(std::vector<std::string> first, const ComparedTime& time,
                               Known known = {}) {
  first.push_back(known.a ? format_time(time.a) : "-");
  first.push_back(known.b ? format_time(time.b) : "-");
  first.push_back(known.both() ? difference_text(time.difference()) : "-");
  first.push_back(known.both() ? format_ratio(time.ratio()) : "-");
  return first;
}

std::string notes(const Comparison& comparison, CompareLevel level) {
  std::string text;
  const auto about = [&](const char* which, const trace::TraceInfo& info, bool complete) {
    for (const std::string& note : trace_note_list(info, complete, {}))
      text += fmt::format("note: {}: {}\n", which, escape_text(note));
  };
  about("A", comparison.a, comparison.a_complete);
  about("B", comparison.b, comparison.b_complete);
  if (!comparison.with_events)
    text += "note: a profile knows no single calls: whether both runs made the same is not known\n";
  if (comparison.difference) {
    const bool ranks = !comparison.difference->rank.valid();
    text += std::string("note: the programs differ") + (ranks ? ": " : ", first at ") +
            escape_text(describe(*comparison.difference)) + "\n";
    text += level == CompareLevel::events
                ? "note: each rank is compared up to its first difference\n"
                : "note: the totals are those of different calls\n";
  }
  return text;
}

// The greatest difference first; what takes no time in either is left out.
template <class Row>
std::vector<Row> greatest_first(std::vector<Row> rows) {
  std::erase_if(rows, [](const Row& row) { return row.a == Time() && row.b == Time(); });
  std::ranges::stable_sort(rows, std::greater<>(), &Row::distance);
  return rows;
}

std::string level_table(const Comparison& comparison, CompareLevel level) {
  const auto& states = comparison.states;
  if (level == CompareLevel::events) {
    TextTable table({R, L, R, R, R, R, R});
    table.add({"rank", "state", "t1", "t2", "t2-t1", "t2/t1", "event"});
    for (const auto& e : greatest_first(comparison.events)) {
      auto row =
          cells({std::to_string(e.rank.value), states[e.state]}, e, known_of(comparison, e.state));
      row.push_back(std::to_string(e.event));
      table.add(std::move(row));
    }
    return table.render(0);
  }
  if (level == CompareLevel::ranks) {
    TextTable table({R, L, R, R, R, R});
    table.add({"rank", "state", "t1", "t2", "t2-t1", "t2/t1"});
    for (const auto& r : greatest_first(comparison.by_rank))
      table.add(
          cells({std::to_string(r.rank.value), states[r.state]}, r, known_of(comparison, r.state)));
    return table.render(0);
  }
  if (level == CompareLevel::phases) {
    if (comparison.by_phase.empty()) return "neither run has phases\n";
    TextTable table({L, R, R, R, R, R, R});
    table.add({"phase", "t1", "t2", "t2-t1", "t2/t1", "most: rank", "t2-t1"});
    for (const auto& p : greatest_first(comparison.by_phase)) {
      auto row = cells({p.name}, p);
      if (p.most.valid()) {
        row.push_back(std::to_string(p.most.value));
        row.push_back(difference_text(p.of_most.difference()));
      }
      table.add(std::move(row));
    }
    return table.render(0) + "a phase's time is the maximum over all ranks\n";
  }
  TextTable table({L, R, R, R, R, R, R});
  table.add({"state", "t1", "t2", "t2-t1", "t2/t1", "most: rank", "t2-t1"});
  for (const auto& s : greatest_first(comparison.by_state)) {
    const Known known = known_of(comparison, s.state);
    auto row = cells({states[s.state]}, s, known);
    if (s.most.valid() && known.both()) {
      row.push_back(std::to_string(s.most.value));
      row.push_back(difference_text(s.of_most.difference()));
    }
    table.add(std::move(row));
  }
  return table.render(0);
}

// Times of both runs over all ranks, and who is the slowest.
std::string program_table(const Comparison& comparison) {
  TextTable table({L, R, R, R, R});
  table.add({"program", "t1", "t2", "t2-t1", "t2/t1"});
  table.add(cells({"time"}, comparison.time));
  const auto rank = [](WorldRank slowest) {
    return slowest.valid() ? std::to_string(slowest.value) : "-";
  };
  table.add({"of rank", rank(comparison.a_slowest), rank(comparison.b_slowest)});
  table.add(cells({"serial time"}, comparison.serial_time));
  const auto wait = [](const std::optional<Time>& time) {
    return time ? format_time(*time) : "unknown";
  };
  if (comparison.a_wait && comparison.b_wait)
    table.add(cells({"wait time"}, {*comparison.a_wait, *comparison.b_wait}));
  else
    table.add({"wait time", wait(comparison.a_wait), wait(comparison.b_wait)});
  return table.render(0);
}

json times(const ComparedTime& time, Known known = {}) {
  const double ratio = time.ratio();
  const auto if_known = [](bool is_known, Time value) {
    return is_known ? json(to_seconds(value)) : json(nullptr);
  };
  return {{"t1", if_known(known.a, time.a)},
          {"t2", if_known(known.b, time.b)},
          {"difference", if_known(known.both(), time.difference())},
          {"ratio", std::isinf(ratio) || !known.both() ? json(nullptr) : json(ratio)}};
}

json with_times(json object, const ComparedTime& time, Known known) {
  object.update(times(time, known));
  return object;
}

json wait_times(const Comparison& comparison) {
  if (comparison.a_wait && comparison.b_wait)
    return times({*comparison.a_wait, *comparison.b_wait});
  const auto known = [](const std::optional<Time>& time) {
    return time ? json(to_seconds(*time)) : json(nullptr);
  };
  return {{"t1", known(comparison.a_wait)},
          {"t2", known(comparison.b_wait)},
          {"difference", nullptr},
          {"ratio", nullptr}};
}

json trace_object(const trace::TraceInfo& info, bool complete, WorldRank slowest) {
  return {{"program", info.program},
          {"origin", info.origin},
          {"clock", clock_name(info.clock)},
          {"machine", info.machine},
          {"ranks", info.ranks},
          {"complete", complete},
          {"slowest", rank_or_null(slowest)},
          {"notes", info.notes}};
}

}  // namespace

std::string render_text_comparison(const Comparison& comparison, CompareLevel level) {
  TextTable head({L, L});
  head.add({"A (t1)", describe_trace(comparison.a)});
  head.add({"B (t2)", describe_trace(comparison.b)});
  return notes(comparison, level) + head.render(0) + "\n" + program_table(comparison) + "\n" +
         level_table(comparison, level);
}

std::string render_json_comparison(const Comparison& comparison, CompareLevel level) {
  json result = {
      {"a", trace_object(comparison.a, comparison.a_complete, comparison.a_slowest)},
      {"b", trace_object(comparison.b, comparison.b_complete, comparison.b_slowest)},
      {"time", times(comparison.time)},
      {"serial_time", times(comparison.serial_time)},
      {"wait", wait_times(comparison)},
      {"same_structure",
       comparison.with_events ? json(!comparison.difference.has_value()) : json(nullptr)},
      {"difference", nullptr}};
  if (comparison.difference) {
    const auto& d = *comparison.difference;
    result["difference"] = {{"rank", d.rank.valid() ? json(d.rank.value) : json(nullptr)},
                            {"event", d.rank.valid() ? json(d.event) : json(nullptr)},
                            {"a", d.a},
                            {"b", d.b}};
  }
  const auto& states = comparison.states;
  json rows = json::array();
  if (level == CompareLevel::events) {
    for (const auto& e : comparison.events)
      rows.push_back(
          with_times({{"rank", e.rank.value}, {"state", states[e.state]}, {"event", e.event}}, e,
                     known_of(comparison, e.state)));
  } else if (level == CompareLevel::ranks) {
    for (const auto& r : comparison.by_rank)
      rows.push_back(with_times({{"rank", r.rank.value}, {"state", states[r.state]}}, r,
                                known_of(comparison, r.state)));
  } else if (level == CompareLevel::phases) {
    for (const auto& p : comparison.by_phase)
      rows.push_back(with_times({{"phase", p.name},
                                 {"rank", rank_or_null(p.most)},
                                 {"of_rank", to_seconds(p.of_most.difference())}},
                                p, {}));
  } else {
    for (const auto& s : comparison.by_state) {
      const Known known = known_of(comparison, s.state);
      rows.push_back(with_times(
          {{"state", states[s.state]},
           {"rank", known.both() ? rank_or_null(s.most) : json(nullptr)},
           {"of_rank", known.both() ? json(to_seconds(s.of_most.difference())) : json(nullptr)}},
          s, known));
    }
  }
  const char* key = level == CompareLevel::events   ? "events"
                    : level == CompareLevel::ranks  ? "ranks"
                    : level == CompareLevel::phases ? "phases"
                                                    : "states";
  result[key] = std::move(rows);
  return json_text(result);
}

}  // namespace foretrace::views
