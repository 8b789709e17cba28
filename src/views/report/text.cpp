#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "views/draw/notes.hpp"
#include "views/draw/text_table.hpp"
#include "views/draw/units.hpp"
#include "views/report/report.hpp"

namespace foretrace::views {
namespace {

using analysis::Profile;
using analysis::RankProfile;

bool cpu_only(const Profile& profile) {
  return profile.info.clock == trace::Clock::cpu;
}

std::string program_section(const Profile& profile) {
  TextTable table({L, L});
  if (!profile.info.program.empty()) table.add({"program", program_line(profile.info.program)});
  table.add({"trace", describe_trace(profile.info)});
  table.add({"ranks", std::to_string(profile.ranks)});
  table.add({cpu_only(profile) ? "CPU time" : "time", format_time(profile.time)});
  table.add({"serial time", format_time(profile.serial_time)});
  if (profile.baseline) table.add({"baseline", format_time(*profile.baseline)});
  if (profile.speedup) {
    table.add({"speed-up", format_ratio(*profile.speedup)});
    // Only against the serial time is it the product of the two.
    const std::string factors =
        profile.baseline ? ""
                         : fmt::format("  (load balance {}, communication {})",
                                       format_percent(*profile.load_balance),
                                       format_percent(*profile.communication_efficiency));
    table.add({"efficiency", format_percent(*profile.efficiency) + factors});
  }
  if (profile.wait_known) table.add({"wait time", format_time(profile.wait) + " over all ranks"});
  table.add(
      {"messages", fmt::format("{}, {}", profile.messages, format_bytes(profile.message_bytes))});
  return table.render(0);
}

// Columns of the table of ranks that a time stands in.
constexpr std::array kRankTimes{&RankProfile::time, &RankProfile::compute, &RankProfile::mpi,
                                &RankProfile::wait, &RankProfile::caused};

// How many of them, the first ones, are known.
std::size_t known_rank_times(const Profile& profile) {
  if (cpu_only(profile)) return 2;
  if (!profile.wait_known) return 3;
  return profile.partners_known ? kRankTimes.size() : 4;
}

std::vector<std::string> rank_row(const std::string& label, const RankProfile& rank,
                                  std::size_t known) {
  std::vector<std::string> row{label};
  for (std::size_t i = 0; i < kRankTimes.size(); ++i)
    row.push_back(i < known ? format_time(rank.*kRankTimes[i]) : "-");
  row.push_back(format_percent(rank.utilisation));
  return row;
}

// The extreme value of each column, and below it whose it is: `better(x, y)` says that x is
// more extreme than y.
template <class Better>
void add_extreme(const char* label, const std::vector<RankProfile>& ranks, std::size_t known,
                 Better better, TextTable& table) {
  RankProfile extreme = ranks.front();
  std::vector<std::string> whose{"of rank"};
  const auto pick = [&](auto field) {
    WorldRank rank = ranks.front().rank;
    for (const RankProfile& r : ranks) {
      if (!better(r.*field, extreme.*field)) continue;
      extreme.*field = r.*field;
      rank = r.rank;
    }
    whose.push_back(std::to_string(rank.value));
  };
  for (const auto field : kRankTimes) pick(field);
  pick(&RankProfile::utilisation);
  std::fill(whose.begin() + 1 + static_cast<std::ptrdiff_t>(known), whose.end() - 1, "");
  table.add(rank_row(label, extreme, known));
  table.add(std::move(whose));
}

void add_rank_summary(const std::vector<RankProfile>& ranks, std::size_t known, TextTable& table) {
  RankProfile mean;
  for (const RankProfile& r : ranks) {
    for (const auto field : kRankTimes) mean.*field += r.*field;
    mean.utilisation += r.utilisation;
  }
  const auto n = static_cast<std::int64_t>(ranks.size());
  for (const auto field : kRankTimes) mean.*field = Time::ps((mean.*field).count_ps() / n);
  mean.utilisation /= static_cast<double>(n);
  add_extreme("min", ranks, known, std::less<>(), table);
  table.add(rank_row("mean", mean, known));
  add_extreme("max", ranks, known, std::greater<>(), table);
}

// Times that look contradictory (a long call, no wait) are explained where they stand.
constexpr const char* kWaitLegend =
    "  of it wait: beyond what the calls would take if nobody were late; what is left of MPI is "
    "the calls' own work\n"
    "  others wait: for this rank, which had not made its call yet\n";
constexpr const char* kMeasuredWaitLegend =
    "  of it wait: until the last rank that a call needed had made its own call; what is left of "
    "MPI is the\n"
    "  calls' own work and the messages' way\n"
    "  others wait: for this rank, which had not made its call yet\n";

std::string rank_section(const Profile& profile, int max_ranks) {
  if (profile.per_rank.empty()) return {};
  TextTable table({R, R, R, R, R, R, R});
  table.add({"rank", "time", "compute", "MPI", "of it wait", "others wait", "utilisation"});
  const bool all = profile.ranks <= max_ranks;
  const std::size_t known = known_rank_times(profile);
  if (all)
    for (const RankProfile& r : profile.per_rank)
      table.add(rank_row(std::to_string(r.rank.value), r, known));
  if (profile.ranks > 1) add_rank_summary(profile.per_rank, known, table);
  std::string text = "\nRanks\n" + table.render(2);
  if (!all) text += fmt::format("  {} ranks: --json lists every one of them\n", profile.ranks);
  if (profile.info.clock == trace::Clock::wall) return text + kMeasuredWaitLegend;
  return cpu_only(profile) ? text : text + kWaitLegend;
}

std::string state_section(const Profile& profile) {
  Time total;
  for (const RankProfile& r : profile.per_rank) total += r.time;
  std::vector<analysis::StateProfile> states = profile.states;
  std::stable_sort(states.begin(), states.end(),
                   [](const auto& x, const auto& y) { return x.time > y.time; });
  TextTable table({L, R, R, R});
  table.add({"state", "time", "share", "of it wait"});
  for (const auto& state : states)
    if (state.time != Time())
      table.add({state.name, format_time(state.time), format_percent(share(state.time, total)),
                 wait_text(state.wait, state.wait_known)});
  return "\nStates, over all ranks\n" + table.render(2);
}

std::string function_section(const Profile& profile) {
  if (profile.functions.empty()) return {};
  const auto bytes = [](Bytes b) { return b.count == 0 ? std::string("-") : format_bytes(b); };
  TextTable table({L, R, R, R, R});
  table.add({"function", "calls", "sent", "received", "collective"});
  for (const auto& function : profile.functions)
    table.add({function.name, std::to_string(function.calls), bytes(function.sent),
               bytes(function.received), bytes(function.collective)});
  return "\nCalls, over all ranks\n" + table.render(2);
}

// A table of the first rows of `rows`; says how many it leaves out. `add` makes one row.
template <class Row, class Add>
std::string first_rows(const std::string& title, TextTable table, const std::vector<Row>& rows,
                       std::size_t most, Add add) {
  const std::size_t shown = std::min(most, rows.size());
  for (std::size_t i = 0; i < shown; ++i) table.add(add(rows[i]));
  std::string text = "\n" + title + "\n" + table.render(2);
  if (shown < rows.size())
    text += fmt::format("  {} more: --json lists {}\n", rows.size() - shown,
                        rows.size() > kMostWaitPairs ? "more of them" : "every one of them");
  return text;
}

std::string call_text(const std::string& function, const std::string& place) {
  return place.empty() ? function : function + " " + place;
}

// Where the time in MPI goes; CPU times alone tell nothing of that.
std::string site_section(const Profile& profile, std::size_t most) {
  if (profile.sites.empty() || cpu_only(profile)) return {};
  TextTable table({L, L, R, R, R});
  table.add({"function", "place", "calls", "time", "of it wait"});
  return first_rows("Call sites, over all ranks", table, profile.sites, most, [](const auto& site) {
    return std::vector<std::string>{site.function, site.place, std::to_string(site.calls),
                                    format_time(site.time), wait_text(site.wait, site.wait_known)};
  });
}

std::string wait_section(const Profile& profile, std::size_t most) {
  if (profile.waits.empty()) return {};
  // Measured waits end when the other rank has come.
  const bool ways = profile.info.clock != trace::Clock::wall;
  TextTable table({R, R, L, R, R, R});
  std::vector<std::string> head{"rank", "for rank", "in", "times", "wait"};
  if (ways) head.push_back("of it late");
  table.add(head);
  const auto row = [ways](const analysis::WaitPair& pair) {
    std::vector<std::string> cells{std::to_string(pair.rank.value),
                                   pair.partner.valid() ? std::to_string(pair.partner.value) : "-",
                                   call_text(pair.function, pair.place), std::to_string(pair.count),
                                   format_time(pair.wait)};
    if (ways) cells.push_back(format_time(pair.late));
    return cells;
  };
  std::string text = first_rows("Who waits for whom", table, profile.waits, most, row);
  if (ways)
    text +=
        "  of it late: the other rank had not made its call yet; the rest is the messages' way\n";
  return text;
}

std::string collective_section(const Profile& profile, std::size_t most) {
  if (profile.collectives.empty() || cpu_only(profile)) return {};
  TextTable table({L, R, R, R, R, R});
  table.add({"function", "times", "last: rank", "so often", "first to last", "wait"});
  return first_rows("Collectives, and who came last most often (waits over all ranks)", table,
                    profile.collectives, most, [](const auto& c) {
                      return std::vector<std::string>{
                          call_text(c.function, c.place),
                          std::to_string(c.count),
                          c.last.valid() ? std::to_string(c.last.value) : "-",
                          std::to_string(c.last_count),
                          format_time(c.spread),
                          format_time(c.wait)};
                    });
}

std::string computation_section(const Profile& profile, std::size_t most) {
  if (profile.computation.empty()) return {};
  TextTable table({L, L, R, R, R, R, R, R, R});
  table.add({"after", "before", "ranks", "times", "mean", "max", "on rank", "max/mean", "costs"});
  const auto row = [](const analysis::ComputationProfile& gap) {
    return std::vector<std::string>{call_text(gap.after.function, gap.after.place),
                                    call_text(gap.before.function, gap.before.place),
                                    std::to_string(gap.ranks),
                                    std::to_string(gap.times),
                                    format_time(gap.mean),
                                    format_time(gap.max),
                                    std::to_string(gap.slowest.value),
                                    format_ratio(gap.ratio()),
                                    format_time(gap.cost)};
  };
  return first_rows("Computation between calls, by what its imbalance costs", table,
                    profile.computation, most, row) +
         "  mean, max: of the ranks that pass there, all times together; costs: what each time's "
         "slowest rank\n  computes beyond the mean\n";
}

std::string phase_section(const Profile& profile) {
  if (profile.phases.empty()) return {};
  TextTable table({L, R, R, R, R});
  table.add({"phase", "time", "mean", "slowest rank", "times entered"});
  for (const auto& phase : profile.phases)
    table.add({phase.name, format_time(phase.time), format_time(phase.mean),
               std::to_string(phase.slowest.value), std::to_string(phase.count)});
  return "\nPhases (time: the maximum over all ranks)\n" + table.render(2);
}

// What is to be said of the clocks of a measured run on several hosts.
std::string clock_notes(const Profile& profile) {
  std::string text;
  const trace::Clocks& clocks = profile.info.clocks;
  if (clocks.hosts > 1)
    text += fmt::format("note: {} hosts, whose clocks agree with rank 0's to within {}\n",
                        clocks.hosts, format_time(clocks.error));
  if (profile.clock_violations.value_or(0) > 0)
    text +=
        fmt::format("note: {} of {} messages are there before they were sent: the clocks differ\n",
                    *profile.clock_violations, profile.messages);
  return text;
}

// What is not known of a run's waits.
std::string wait_notes(const Profile& profile) {
  if (!profile.partners_known)
    return fmt::format(
        "note: the run has too many messages and waits to tell who waits for whom{}\n",
        profile.wait_known ? "" : ", and how long");
  if (profile.wait_unknown == Time()) return {};
  return fmt::format(
      "note: {} in calls of which nobody knows whether they waited; the wait times are without "
      "them\n",
      format_time(profile.wait_unknown));
}

std::string mark_section(const Profile& profile) {
  if (profile.marks.empty()) return {};
  TextTable table({L, R, R, R, R, R, R});
  table.add({"mark", "times", "first", "last", "least value", "mean", "most"});
  for (const auto& mark : profile.marks) {
    const bool values = mark.least != 0 || mark.most != 0;
    const auto value = [values](double v) { return values ? fmt::format("{:.6g}", v) : "-"; };
    table.add({mark.name, std::to_string(mark.count), format_time(mark.first),
               format_time(mark.last), value(mark.least), value(mark.mean), value(mark.most)});
  }
  return "\nMarks, over all ranks\n" + table.render(2);
}

}  // namespace

std::string render_text_report(const Profile& profile, const TextReportOptions& options) {
  std::string text = trace_notes(profile.info, profile.complete, profile.damage);
  text += clock_notes(profile);
  text += wait_notes(profile);
  text += program_section(profile);
  text += rank_section(profile, options.max_ranks);
  text += state_section(profile);
  text += function_section(profile);
  text += site_section(profile, options.max_lines);
  text += wait_section(profile, options.max_lines);
  text += collective_section(profile, options.max_lines);
  text += computation_section(profile, options.max_lines);
  text += phase_section(profile);
  text += mark_section(profile);
  return text;
}

}  // namespace foretrace::views
