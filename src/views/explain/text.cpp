#include <fmt/format.h>

#include <algorithm>

#include "explain/lanes.hpp"
#include "views/draw/json_text.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/text_table.hpp"
#include "views/draw/units.hpp"
#include "views/explain/report.hpp"

namespace foretrace::views {
namespace {

using explain::Explanation;

constexpr std::size_t kShown = 10;
constexpr std::size_t kCurvesShown = 5;
constexpr std::size_t kLongestShown = 5;
constexpr std::size_t kRoundsShown = 5;
constexpr std::size_t kChecksShown = 3;

double share(Time part, const Explanation& explanation) {
  return explanation.time == Time() ? 0 : to_seconds(part) / to_seconds(explanation.time);
}

std::string percent(Time part, const Explanation& explanation) {
  return format_percent(share(part, explanation));
}

// "0", "0, 3", "0 ... 63 (40 ranks)"
std::string ranks_text(const std::vector<WorldRank>& ranks) {
  if (ranks.empty()) return "";
  if (ranks.size() <= 4) {
    std::string text;
    for (const WorldRank rank : ranks)
      text += (text.empty() ? "" : ", ") + std::to_string(rank.value);
    return text;
  }
  return fmt::format("{} ... {} ({} ranks)", ranks.front().value, ranks.back().value, ranks.size());
}

std::string format_seconds(double seconds) {
  return format_picoseconds(seconds * 1e12);
}

std::string describe_region(const explain::Region& region) {
  if (!region.phase) return "before " + describe_place(region.place);
  return region.place.phase.empty() ? "in no phase" : "in phase " + escape_text(region.place.phase);
}

std::string headline(const Explanation& explanation, const std::string& where) {
  const auto gain = [&](Time with) {
    return format_percent(share(explanation.time - with, explanation));
  };
  const explain::Headline best = explain::headline_of(explanation);
  const std::string files =
      best.files ? fmt::format(", {} by faster files", gain(*best.files)) : std::string();
  return fmt::format(
      "{} on {} {}{}\n"
      "at most {} can be won by a faster network{}, {} by balance, {} by {}; {} if nobody waited\n",
      format_time(explanation.time), explanation.ranks, explanation.ranks == 1 ? "rank" : "ranks",
      where, gain(best.communication), files, gain(best.balance), gain(best.both),
      best.files ? "network and balance" : "both", gain(best.waits));
}

// What a late rank did too long, before the place.
std::string done_in(explain::DelayKind kind) {
  switch (kind) {
    case explain::DelayKind::computation:
      return "computation before ";
    case explain::DelayKind::transfer:
      return "transfer in ";
    case explain::DelayKind::call:
      break;
  }
  return {};
}

std::string where_of(const explain::Finding& finding) {
  if (finding.kind == "placement") return "processors of the ranks";
  if (finding.kind == "faster link")
    return "link between " + finding.link.front() + " and " + finding.link.back();
  const bool computing = finding.kind == "imbalance" && !finding.place.function.empty();
  return (computing ? "before " : "") + describe_place(finding.place) +
         (finding.whole_phase || finding.elsewhere ? " and elsewhere" : "");
}

std::string findings_section(const Explanation& explanation) {
  if (explanation.findings.empty())
    return "\nFindings\n  nothing that was tried shortens the run: no wait, imbalance or other "
           "calls\n";
  TextTable table({R, R, R, L, L, L, L});
  table.add({"gain", "", "enough", "what", "effort", "where", "ranks"});
  std::string checks;
  std::size_t shown = 0;
  for (const explain::Finding& finding : explanation.findings) {
    if (shown++ == kShown) break;
    const std::string what = finding.kind == "wait"
                                 ? std::string(explain::name_of(finding.wait_kind))
                             : finding.kind == "algorithm" ? "algorithm " + finding.change
                                                           : finding.kind;
    table.add({format_time(finding.gain), percent(finding.gain, explanation),
               finding.holds ? format_percent(finding.enough) : "", what,
               std::string(explain::name_of(finding.effort)), where_of(finding),
               ranks_text(finding.ranks)});
    if (shown <= kChecksShown && !finding.check.empty())
      checks += fmt::format("{}explain {}", checks.empty() ? "  alone: " : ", ", finding.check);
  }
  return "\nFindings: what the run would gain at most\n" + table.render(2) +
         (checks.empty() ? "" : checks + "\n");
}

std::string bounds_section(const Explanation& explanation) {
  TextTable table({L, R, R});
  const auto add = [&](const char* what, Time time) {
    table.add({what, format_time(time), percent(time, explanation)});
  };
  const explain::Bounds& bounds = explanation.bounds;
  add("as it is", explanation.time);
  add("no waits", bounds.no_waits);
  add("computation balanced", bounds.balanced);
  add("ideal network", bounds.ideal_network);
  add("both", bounds.balanced_ideal);
  add("no latency", bounds.zero_latency);
  add("infinite bandwidth", bounds.infinite_bandwidth);
  if (bounds.no_files) add("files in no time", *bounds.no_files);
  if (bounds.moving_always) add("messages move by themselves", *bounds.moving_always);
  add("computation twice as fast", bounds.half_compute);
  add("computation half as fast", bounds.double_compute);
  return "\nBounds: run time with one thing made perfect\n" + table.render(2);
}

std::string efficiency_section(const Explanation& explanation) {
  const explain::Efficiency& e = explanation.efficiency;
  return fmt::format(
      "\nEfficiency\n"
      "  parallel {} = load balance {} x serialisation {}{} x transfer {}\n",
      format_percent(e.parallel), format_percent(e.load_balance), format_percent(e.serialisation),
      explanation.bounds.no_files ? " x files " + format_percent(e.files) : std::string(),
      format_percent(e.transfer));
}

std::string phases_section(const Explanation& explanation) {
  if (explanation.phases.size() < 2) return {};
  const bool files = explanation.bounds.no_files.has_value();
  std::vector<Align> columns{R, R, R, R, R, R, R, L};
  std::vector<std::string> head{"time",          "",         "parallel", "balance",
                                "serialisation", "transfer", "ranks",    "phase"};
  const auto add_files = [files](auto& row, auto what) {
    if (files) row.insert(row.begin() + 5, what);
  };
  add_files(columns, R);
  add_files(head, "files");
  TextTable table(columns);
  table.add(head);
  for (std::size_t i = 0; i < std::min(kShown, explanation.phases.size()); ++i) {
    const explain::PhaseEfficiency& one = explanation.phases[i];
    const explain::Efficiency& e = one.efficiency;
    std::vector<std::string> row{
        format_time(one.time),           percent(one.time, explanation),
        format_percent(e.parallel),      format_percent(e.load_balance),
        format_percent(e.serialisation), format_percent(e.transfer),
        std::to_string(one.ranks),       one.phase.empty() ? "in no phase" : one.phase};
    add_files(row, format_percent(e.files));
    table.add(row);
  }
  return "\nEfficiency of each phase, on the rank that is in it the longest\n" + table.render(2);
}

std::string delays_section(const Explanation& explanation) {
  const explain::DelayCosts& delays = explanation.delays;
  if (delays.waits <= 0) return {};
  TextTable table({R, R, R, R, L});
  table.add({"waits", "direct", "indirect", "most by rank", "because of"});
  for (std::size_t i = 0; i < std::min(kShown, delays.costs.size()); ++i) {
    const explain::DelayCost& cost = delays.costs[i];
    const std::string ranks =
        cost.ranks.size() > 1 ? fmt::format(" and {} more", cost.ranks.size() - 1) : std::string();
    table.add({format_seconds(cost.sum()), format_seconds(cost.direct),
               format_seconds(cost.indirect), std::to_string(cost.most.value) + ranks,
               done_in(cost.kind) + describe_place(explanation.delay_places[i])});
  }
  constexpr double kLeastTold = 0.01;
  if (delays.unexplained > kLeastTold * delays.waits)
    table.add({format_seconds(delays.unexplained), "", "", "",
               "unexplained: the late rank did no more than the one that waited"});
  return "\nDelays: how long others waited, over all ranks, and whose fault it was\n" +
         table.render(2);
}

std::string curves_section(const Explanation& explanation) {
  std::vector<std::string> head;
  for (const double factor : explain::kSpeedUps)
    head.push_back(factor == 0 ? "no time" : format_ratio(factor) + " x");
  head.emplace_back("computation");
  TextTable table({R, R, R, R, R, R, R, L});
  table.add(head);
  std::size_t shown = 0;
  for (const explain::Region& region : explanation.regions) {
    if (region.curve.empty() || shown++ == kCurvesShown) continue;
    std::vector<std::string> row;
    for (const Time time : region.curve) row.push_back(format_time(time));
    row.push_back(describe_region(region) + (region.curve_estimated ? " (estimate)" : ""));
    table.add(row);
  }
  if (shown == 0) return {};
  return "\nVirtual speed-up: run time with one computation so many times as fast\n" +
         table.render(2);
}

std::string path_section(const Explanation& explanation) {
  const explain::PathSummary& path = explanation.path;
  TextTable parts({L, R, R});
  const auto add = [&](const char* what, Time time) {
    if (time != Time()) parts.add({what, format_time(time), percent(time, explanation)});
  };
  add("computation", path.parts.compute);
  add("overhead of messages", path.parts.overhead);
  add("latency of messages", path.parts.latency);
  add("bytes", path.parts.bytes);
  add("synchronisation", path.parts.synchronisation);
  add("files", path.parts.files);
  add("queues at links and ports", path.parts.queue);
  TextTable places({R, R, R, L});
  places.add({"time", "", "of it compute", "place"});
  for (std::size_t i = 0; i < std::min(kShown, path.by_place.size()); ++i) {
    const explain::Share& one = path.by_place[i];
    places.add({format_time(one.parts.sum()), percent(one.parts.sum(), explanation),
                format_time(one.parts.compute), describe_place(one.place)});
  }
  return fmt::format("\nCritical path, through {} message{}\n", path.messages,
                     path.messages == 1 ? "" : "s") +
         parts.render(2) + "\n" + places.render(2);
}

std::string waits_section(const Explanation& explanation) {
  if (explanation.waits.empty()) return {};
  TextTable table({R, R, L, L, L});
  table.add({"time", "times", "kind", "where", "because of"});
  for (std::size_t i = 0; i < std::min(kShown, explanation.waits.size()); ++i) {
    const explain::WaitGroup& group = explanation.waits[i];
    std::string cause;
    if (group.blamed)
      cause = fmt::format("rank {}: {}{}", group.blamed_rank.value, done_in(group.blamed_kind),
                          describe_place(*group.blamed));
    table.add({format_time(group.time), std::to_string(group.count),
               std::string(explain::name_of(group.kind)), describe_place(group.place), cause});
  }
  return "\nWaits, over all ranks\n" + table.render(2);
}

std::string singles_table(const std::vector<explain::SingleWait>& waits, std::size_t most,
                          const Explanation& explanation) {
  TextTable table({R, R, R, R, L});
  table.add({"rank", "wait", "run without it", "", "where"});
  for (std::size_t i = 0; i < std::min(most, waits.size()); ++i) {
    const explain::SingleWait& wait = waits[i];
    table.add({std::to_string(wait.rank.value), format_time(wait.wait),
               format_time(wait.time_without), percent(wait.time_without, explanation),
               describe_place(wait.place)});
  }
  return table.render(2);
}

std::string single_section(const Explanation& explanation) {
  if (explanation.best.empty()) return {};
  std::string text = "\nSingle waits whose absence shortens the run most\n" +
                     singles_table(explanation.best, kShown, explanation) +
                     "\nThe longest waits\n" +
                     singles_table(explanation.longest, kLongestShown, explanation);
  if (explanation.domino.empty()) return text;
  text += "\nDomino path, from the receiver back to the senders\n";
  for (const explain::Domino& step : explanation.domino)
    text += step.waits
                ? fmt::format("  rank {} waits {} in {}: {} without\n", step.rank.value,
                              format_time(step.wait), describe_place(step.place),
                              format_time(step.time_without))
                : fmt::format("  for rank {}, {}\n", step.rank.value, describe_place(step.place));
  return text;
}

std::string regions_section(const Explanation& explanation) {
  if (explanation.regions.empty()) return {};
  TextTable table({R, R, R, R, R, L});
  table.add({"mean", "most", "on rank", "run if balanced", "if twice as fast", "computation"});
  for (std::size_t i = 0; i < std::min(kShown, explanation.regions.size()); ++i) {
    const explain::Region& region = explanation.regions[i];
    table.add({format_time(region.mean), format_time(region.most),
               std::to_string(region.slowest.value), format_time(region.balanced),
               format_time(region.twice_as_fast), describe_region(region)});
  }
  return "\nComputation, by phase and call site\n" + table.render(2);
}

std::string balance_section(const Explanation& explanation) {
  const explain::BalanceOfMore& balance = explanation.balance;
  std::string text;
  if (!balance.together.empty()) {
    TextTable table({R, R, L});
    table.add({"run", "", "computation"});
    for (const auto& one : balance.together) {
      std::string places;
      for (const explain::Place& place : one.places)
        places += (places.empty() ? "before " : ", ") + describe_place(place);
      table.add({format_time(one.time), percent(one.time, explanation), places});
    }
    text += "\nThe best few balanced together\n" + table.render(2);
  }
  if (balance.nodes)
    text += fmt::format(
        "\nNodes: {}; their ranks compute for {}, those of node {} for {}\n"
        "  run {} if the ranks of each node compute equally long, {} if the nodes do\n",
        balance.nodes->count, format_time(balance.nodes->mean), balance.nodes->slowest,
        format_time(balance.nodes->most), format_time(balance.nodes->within),
        format_time(balance.nodes->between));
  if (balance.rounds > 1 && !balance.uneven_rounds.empty()) {
    TextTable table({R, R, R, R, R, R});
    table.add({"number", "from", "mean", "most", "on rank", "deviation"});
    for (std::size_t i = 0; i < std::min(kRoundsShown, balance.uneven_rounds.size()); ++i) {
      const explain::Round& round = balance.uneven_rounds[i];
      table.add({std::to_string(round.number), format_time(round.from), format_time(round.mean),
                 format_time(round.most), std::to_string(round.slowest.value),
                 format_seconds(round.deviation)});
    }
    text +=
        fmt::format(
            "\nComputation from one collective of all ranks to the next: the most uneven of {}\n",
            balance.rounds) +
        table.render(2);
  }
  return text;
}

std::string sensitivity_section(const Explanation& explanation) {
  const std::vector<explain::Sensitivity>& all = explanation.sensitivity;
  if (all.empty()) return {};
  const bool added = std::ranges::all_of(all, [](const auto& one) { return !one.meaning.empty(); });
  TextTable table = added ? TextTable({L, R, R, R, R, R, L}) : TextTable({L, R, R, R, R, R, R});
  if (added)
    table.add({"", "slope", "1 % longer with", "5 %", "10 %", "pieces", ""});
  else
    table.add({"", "value", "slope", "1 % longer at", "5 %", "10 %", "pieces"});
  for (const explain::Sensitivity& one : all) {
    const bool factor = one.unit == "times";
    const auto value = [&](double v) {
      return factor ? format_ratio(v) + " x"
                    : format_picoseconds(v * 1e12) + (one.unit == "s" ? "" : "/B");
    };
    std::vector<std::string> row{one.parameter};
    if (!added) row.push_back(value(one.value));
    row.push_back(factor ? format_seconds(one.slope) : format_ratio(one.slope));
    for (const auto& tolerance : one.tolerance)
      row.push_back(tolerance ? (added ? "+" : "") + value(*tolerance) : "-");
    row.push_back(std::to_string(one.pieces.size()));
    if (added) row.push_back(one.meaning);
    table.add(row);
  }
  return std::string("\nNetwork: how much longer the run takes for each unit ") +
         (added ? "that is added to the equations\n" : "more\n") + table.render(2);
}

}  // namespace

std::string describe_place(const explain::Place& place) {
  std::string text = place.function;
  if (!place.site.empty()) text += (text.empty() ? "" : " at ") + place.site;
  if (!place.phase.empty()) text += (text.empty() ? "phase " : " in phase ") + place.phase;
  return text.empty() ? "no phase" : escape_text(text);
}

std::string render_what_if(Time as_is, Time what_if, bool json) {
  if (json)
    return json_text({{"time", to_seconds(as_is)},
                      {"predicted_time", to_seconds(what_if)},
                      {"gain", to_seconds(as_is) - to_seconds(what_if)}});
  const double change =
      as_is == Time() ? 0 : (to_seconds(what_if) - to_seconds(as_is)) / to_seconds(as_is);
  return fmt::format("{} instead of {} ({:+.1f} %)\n", format_time(what_if), format_time(as_is),
                     100 * change);
}

std::string render_text_explanation(const Explanation& explanation, const std::string& where) {
  std::string text = headline(explanation, where);
  for (const std::string& note : explanation.notes) text += "note: " + note + "\n";
  text += findings_section(explanation);
  text += bounds_section(explanation);
  text += efficiency_section(explanation);
  text += phases_section(explanation);
  text += path_section(explanation);
  text += waits_section(explanation);
  text += delays_section(explanation);
  text += single_section(explanation);
  text += regions_section(explanation);
  text += balance_section(explanation);
  text += curves_section(explanation);
  text += sensitivity_section(explanation);
  return text;
}

}  // namespace foretrace::views
