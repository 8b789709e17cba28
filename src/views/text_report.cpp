#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "views/notes.hpp"
#include "views/report.hpp"
#include "views/text_table.hpp"
#include "views/units.hpp"

namespace foretrace::views {
namespace {

using analysis::Profile;
using analysis::RankProfile;

constexpr Align L = Align::left;
constexpr Align R = Align::right;

bool cpu_only(const Profile& profile) {
  return profile.info.clock == trace::Clock::cpu;
}

double share(Time part, Time whole) {
  return whole == Time() ? 0 : to_seconds(part) / to_seconds(whole);
}

std::string program_section(const Profile& profile) {
  TextTable table({L, L});
  if (!profile.info.program.empty()) table.add({"program", profile.info.program});
  table.add({"trace", describe_trace(profile.info)});
  table.add({"ranks", std::to_string(profile.ranks)});
  table.add({cpu_only(profile) ? "CPU time" : "time", format_time(profile.time)});
  table.add({"serial time", format_time(profile.serial_time)});
  table.add({"speed-up", format_ratio(profile.speedup)});
  table.add({"efficiency",
             fmt::format("{}  (load balance {}, communication {})",
                         format_percent(profile.efficiency), format_percent(profile.load_balance),
                         format_percent(profile.communication_efficiency))});
  if (!cpu_only(profile)) table.add({"wait time", format_time(profile.wait) + " over all ranks"});
  table.add(
      {"messages", fmt::format("{}, {}", profile.messages, format_bytes(profile.message_bytes))});
  return table.render(0);
}

std::vector<std::string> rank_row(const std::string& label, const RankProfile& rank) {
  return {label,
          format_time(rank.time),
          format_time(rank.compute),
          format_time(rank.mpi),
          format_time(rank.wait),
          format_percent(rank.utilisation)};
}

// The smallest, mean and largest value of each column.
void add_rank_summary(const std::vector<RankProfile>& ranks, TextTable& table) {
  RankProfile low = ranks.front();
  RankProfile high = ranks.front();
  RankProfile sum;
  for (const RankProfile& r : ranks) {
    for (auto field :
         {&RankProfile::time, &RankProfile::compute, &RankProfile::mpi, &RankProfile::wait}) {
      low.*field = std::min(low.*field, r.*field);
      high.*field = std::max(high.*field, r.*field);
      sum.*field += r.*field;
    }
    low.utilisation = std::min(low.utilisation, r.utilisation);
    high.utilisation = std::max(high.utilisation, r.utilisation);
    sum.utilisation += r.utilisation;
  }
  const auto n = static_cast<std::int64_t>(ranks.size());
  for (auto field :
       {&RankProfile::time, &RankProfile::compute, &RankProfile::mpi, &RankProfile::wait})
    sum.*field = Time::ps((sum.*field).count_ps() / n);
  sum.utilisation /= static_cast<double>(n);
  table.add(rank_row("min", low));
  table.add(rank_row("mean", sum));
  table.add(rank_row("max", high));
}

std::string rank_section(const Profile& profile, int max_ranks) {
  if (profile.per_rank.empty()) return {};
  TextTable table({R, R, R, R, R, R});
  table.add({"rank", "time", "compute", "MPI", "of it wait", "utilisation"});
  const bool all = profile.ranks <= max_ranks;
  if (all)
    for (const RankProfile& r : profile.per_rank)
      table.add(rank_row(std::to_string(r.rank.value), r));
  if (profile.ranks > 1) add_rank_summary(profile.per_rank, table);
  std::string text = "\nRanks\n" + table.render(2);
  if (!all) text += fmt::format("  {} ranks: --json lists every one of them\n", profile.ranks);
  return text;
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
                 format_time(state.wait)});
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

// Where the time in MPI goes; CPU times alone tell nothing of that.
std::string site_section(const Profile& profile, std::size_t most) {
  if (profile.sites.empty() || cpu_only(profile)) return {};
  TextTable table({L, L, R, R, R});
  table.add({"function", "place", "calls", "time", "of it wait"});
  const std::size_t shown = std::min(most, profile.sites.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& site = profile.sites[i];
    table.add({site.function, site.place, std::to_string(site.calls), format_time(site.time),
               format_time(site.wait)});
  }
  std::string text = "\nCall sites, over all ranks\n" + table.render(2);
  if (shown < profile.sites.size())
    text +=
        fmt::format("  {} more: --json lists every one of them\n", profile.sites.size() - shown);
  return text;
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
  text += program_section(profile);
  text += rank_section(profile, options.max_ranks);
  text += state_section(profile);
  text += function_section(profile);
  text += site_section(profile, options.max_sites);
  text += phase_section(profile);
  text += mark_section(profile);
  return text;
}

}  // namespace foretrace::views
