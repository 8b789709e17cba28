#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "views/draw/notes.hpp"
#include "views/draw/text_table.hpp"
#include "views/draw/units.hpp"
#include "views/profile/call_profile.hpp"

namespace foretrace::views {
namespace {

using analysis::CallProfile;
using analysis::Spread;

Time sum(const CallProfile& profile, Time analysis::RankTotal::*field) {
  Time total;
  for (const analysis::RankTotal& rank : profile.per_rank) total += rank.*field;
  return total;
}

Time mean(Time time, std::uint64_t calls) {
  return calls == 0 ? Time() : Time::ps(time.count_ps() / static_cast<std::int64_t>(calls));
}

std::string bytes_or_dash(Bytes bytes) {
  return bytes.count == 0 ? "-" : format_bytes(bytes);
}

std::string per_rank(const Spread& spread) {
  return fmt::format("{} min, {} mean, {} max on rank {}, imbalance {}", format_time(spread.min),
                     format_time(spread.mean), format_time(spread.max), spread.slowest.value,
                     format_percent(spread.imbalance()));
}

std::string head(const CallProfile& profile) {
  TextTable table({L, L});
  if (!profile.program.empty()) table.add({"program", program_line(profile.program)});
  table.add({"profile",
             fmt::format("wall-clock times of this run under {}, from MPI_Init to MPI_Finalize",
                         profile.mpi)});
  table.add({"ranks", std::to_string(profile.ranks)});
  table.add({"time", format_time(profile.time.max)});
  table.add({"application", per_rank(profile.application)});
  table.add({"MPI", per_rank(profile.mpi_time)});
  const Time time = sum(profile, &analysis::RankTotal::time);
  table.add({"MPI share",
             fmt::format("{} of all ranks' time, {} calls",
                         format_percent(share(sum(profile, &analysis::RankTotal::mpi), time)),
                         profile.calls)});
  Time waiting;
  for (std::size_t i = 0; i < profile.classes.size(); ++i)
    if (analysis::may_wait(static_cast<analysis::CallClass>(i))) waiting += profile.classes[i];
  table.add({"may be waiting", fmt::format("{} in calls that end when others have acted",
                                           format_percent(share(waiting, time)))});
  table.add({"profiler", fmt::format("{} on the rank with most, in none of these times",
                                     format_time(profile.own.max))});
  return table.render(0);
}

std::string notes(const CallProfile& profile) {
  std::string text;
  if (profile.shares_cores) text += "WARNING: " + warning_of_cores() + '\n';
  if (!profile.complete) {
    text += "incomplete: the run ended before MPI_Finalize; this is what was known by then\n";
    for (const analysis::RankTotal& rank : profile.per_rank)
      if (!rank.end.empty()) text += fmt::format("rank {} {}\n", rank.rank.value, rank.end);
  }
  if (profile.lost > 0)
    text += fmt::format("{} calls are counted without their call site, message size or partner\n",
                        profile.lost);
  if (profile.several_threads)
    text +=
        "several threads: MPI's time is summed over them; the application's is the first "
        "thread's\n";
  return text;
}

std::string rank_section(const CallProfile& profile, std::size_t max_ranks) {
  TextTable table({R, R, R, R, R, L});
  table.add({"rank", "time", "application", "MPI", "MPI share", "host"});
  const bool all = profile.per_rank.size() <= max_ranks;
  if (all)
    for (const auto& r : profile.per_rank)
      table.add({std::to_string(r.rank.value), format_time(r.time), format_time(r.application),
                 format_time(r.mpi), format_percent(share(r.mpi, r.time)), r.host});
  if (profile.per_rank.size() > 1) {
    for (const auto& [label, field] :
         {std::pair("min", &Spread::min), {"mean", &Spread::mean}, {"max", &Spread::max}})
      table.add({label, format_time(profile.time.*field), format_time(profile.application.*field),
                 format_time(profile.mpi_time.*field)});
  }
  std::string text = "\nRanks\n" + table.render(2);
  if (!all)
    text += fmt::format("  {} ranks: --json lists every one of them\n", profile.per_rank.size());
  return text;
}

std::string rest_note(std::size_t shown, std::size_t all, const char* what) {
  return all <= shown
             ? ""
             : fmt::format("  {} more {}: --top or --json shows them\n", all - shown, what);
}

std::string class_section(const CallProfile& profile) {
  const Time all = sum(profile, &analysis::RankTotal::time);
  TextTable table({L, R, R});
  for (std::size_t i = 0; i < profile.classes.size(); ++i) {
    const auto of = static_cast<analysis::CallClass>(i);
    if (profile.classes[i] == Time()) continue;
    table.add({std::string(analysis::name_of(of)) + (analysis::may_wait(of) ? " *" : ""),
               format_time(profile.classes[i]), format_percent(share(profile.classes[i], all))});
  }
  const std::string lines = table.render(2);
  if (lines.empty()) return {};
  return "\nMPI time by what the call does, over all ranks (* may be waiting for others)\n" + lines;
}

std::string function_section(const CallProfile& profile, std::size_t top) {
  const Time all = sum(profile, &analysis::RankTotal::time);
  TextTable table({L, R, R, R, R, R, R, R, R});
  table.add(
      {"function", "calls", "time", "share", "mean", "longest", "imbalance", "sent", "received"});
  const std::size_t shown = std::min(top, profile.functions.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& f = profile.functions[i];
    const Bytes sent(f.moved.sent.count + f.moved.collective.count);
    table.add({f.name, std::to_string(f.calls), format_time(f.time),
               format_percent(share(f.time, all)), format_time(mean(f.time, f.calls)),
               format_time(f.longest), format_percent(f.ranks.imbalance()), bytes_or_dash(sent),
               bytes_or_dash(f.moved.received)});
  }
  return "\nFunctions, over all ranks (sent: of collectives their message size)\n" +
         table.render(2) + rest_note(shown, profile.functions.size(), "functions");
}

std::string site_section(const CallProfile& profile, std::size_t top) {
  TextTable table({R, L, R, R, R, R, R, L});
  table.add({"", "function", "calls", "time", "mean/rank", "max", "on rank", "called at"});
  const std::size_t shown = std::min(top, profile.sites.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& s = profile.sites[i];
    table.add({std::to_string(i + 1), s.function, std::to_string(s.calls), format_time(s.time),
               format_time(s.ranks.mean), format_time(s.ranks.max),
               std::to_string(s.ranks.slowest.value), format_frames(s.frames)});
  }
  return "\nCall sites (mean, max: over ranks)\n" + table.render(2) +
         rest_note(shown, profile.sites.size(), "call sites");
}

std::string waited_for_section(const CallProfile& profile, std::size_t top) {
  if (profile.waited_for.empty()) return {};
  TextTable table({L, R, R, R, R, R, R, L});
  table.add(
      {"function", "waited", "for rank", "its time", "most", "on rank", "calls", "called at"});
  const std::size_t shown = std::min(top, profile.waited_for.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& s = profile.sites[profile.waited_for[i].site];
    table.add({s.function, format_time(profile.waited_for[i].waited),
               std::to_string(s.ranks.fastest.value), format_time(s.ranks.min),
               format_time(s.ranks.max), std::to_string(s.ranks.slowest.value),
               std::to_string(s.calls), format_frames(s.frames)});
  }
  return "\nWho is waited for in collectives: the rank with the least time comes last\n" +
         table.render(2) + rest_note(shown, profile.waited_for.size(), "call sites") +
         "  waited: what the others spent beyond its time\n";
}

std::string sender_section(const CallProfile& profile, std::size_t top) {
  if (profile.senders.empty()) return {};
  TextTable table({R, R, R, R, R, L, L});
  table.add({"rank", "for rank", "time", "calls", "longest", "function", "called at"});
  const std::size_t shown = std::min(top, profile.senders.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& s = profile.senders[i];
    const auto& site = profile.sites[s.site];
    table.add({std::to_string(s.rank.value), sender_text(s), format_time(s.time),
               std::to_string(s.calls), format_time(s.longest), site.function,
               format_frames(site.frames)});
  }
  return "\nWho waits for whom in receives (time: in the call, until the message was there)\n" +
         table.render(2) + rest_note(shown, profile.senders.size(), "lines");
}

std::string comm_section(const CallProfile& profile, std::size_t top) {
  if (profile.comms.empty()) return {};
  TextTable table({L, R, R, R, R, R, R});
  table.add({"communicator", "ranks", "calls", "time", "sent", "received", "collective"});
  const std::size_t shown = std::min(top, profile.comms.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& c = profile.comms[i];
    table.add({c.name, std::to_string(c.size), std::to_string(c.calls), format_time(c.time),
               bytes_or_dash(c.moved.sent), bytes_or_dash(c.moved.received),
               bytes_or_dash(c.moved.collective)});
  }
  return "\nCommunicators, over all ranks\n" + table.render(2) +
         rest_note(shown, profile.comms.size(), "communicators");
}

std::string size_section(const CallProfile& profile, std::size_t top) {
  if (profile.sizes.empty()) return {};
  std::vector<analysis::SizeTotal> sizes = profile.sizes;
  std::stable_sort(sizes.begin(), sizes.end(),
                   [](const auto& x, const auto& y) { return x.bytes > y.bytes; });
  const std::size_t shown = std::min(top, sizes.size());
  TextTable table({L, L, L, R, R, R, R, R});
  table.add({"communicator", "function", "", "from", "to", "calls", "bytes", "time"});
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& s = sizes[i];
    table.add({s.comm.empty() ? "-" : s.comm, s.function, name_of(s.direction),
               format_bytes(s.from), format_bytes(s.to), std::to_string(s.calls),
               format_bytes(s.bytes), s.time == Time() ? "-" : format_time(s.time)});
  }
  return "\nMessage sizes, most bytes first\n" + table.render(2) +
         rest_note(shown, sizes.size(), "lines");
}

std::string matrix_section(const CallProfile& profile, std::size_t top) {
  if (profile.matrix.empty()) return {};
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  for (const auto& entry : profile.matrix) {
    messages += entry.messages;
    bytes += entry.bytes.count;
  }
  const auto n = static_cast<std::uint64_t>(profile.ranks);
  std::vector<analysis::MatrixEntry> pairs = profile.matrix;
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const auto& x, const auto& y) { return x.bytes > y.bytes; });
  const std::size_t shown = std::min(top, pairs.size());
  TextTable table({R, R, R, R});
  table.add({"from", "to", "messages", "bytes"});
  for (std::size_t i = 0; i < shown; ++i)
    table.add({std::to_string(pairs[i].from.value), std::to_string(pairs[i].to.value),
               std::to_string(pairs[i].messages), format_bytes(pairs[i].bytes)});
  return fmt::format("\nMessages between ranks: {} with {}; {} of {} pairs have any\n", messages,
                     format_bytes(Bytes(bytes)), pairs.size(), n * n) +
         table.render(2) + rest_note(shown, pairs.size(), "pairs");
}

}  // namespace

const char* name_of(trace::Direction direction) {
  switch (direction) {
    case trace::Direction::sent:
      return "sent";
    case trace::Direction::received:
      return "received";
    case trace::Direction::collective:
      return "collective";
    case trace::Direction::none:
      break;
  }
  return "";
}

std::string format_frames(const std::vector<analysis::CallFrame>& frames) {
  std::string text;
  for (const analysis::CallFrame& frame : frames) {
    if (!text.empty()) text += " < ";
    text += frame.place;
    if (!frame.function.empty()) text += " " + frame.function;
  }
  return text.empty() ? "not known" : text;
}

std::string sender_text(const analysis::SenderTotal& of) {
  return of.sender.valid() ? std::to_string(of.sender.value) : "several";
}

std::string warning_of_cores() {
  return "there were more ranks than processor cores, so ranks waited for each other's time slices "
         "in whatever call they were: counts and bytes are right, times and waiting are not the "
         "program's; profile with no more ranks than cores";
}

std::string render_call_profile_text(const CallProfile& profile, const CallProfileText& options) {
  std::string text = notes(profile) + head(profile);
  text += rank_section(profile, options.max_ranks);
  text += class_section(profile);
  text += function_section(profile, options.top);
  text += site_section(profile, options.top);
  text += waited_for_section(profile, options.top);
  text += sender_section(profile, options.top);
  text += comm_section(profile, options.top);
  text += size_section(profile, options.top);
  text += matrix_section(profile, options.top);
  return text;
}

}  // namespace foretrace::views
