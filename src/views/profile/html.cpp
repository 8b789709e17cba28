#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "views/draw/html_table.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/page.hpp"
#include "views/draw/units.hpp"
#include "views/profile/call_profile.hpp"

namespace foretrace::views {
namespace {

using analysis::CallProfile;

// More ranks than these are listed, not drawn.
constexpr int kMostDrawn = 256;
constexpr std::size_t kMostPairs = 10'000;

constexpr const char* kStyle = R"(.bars { width: 22rem; }
.bars div { display: inline-block; height: .8em; }
.app { background: var(--c2); } .mpi { background: var(--c1); }
.matrix { display: block; max-width: min(46rem, 100%); height: auto; }
.matrix rect { fill: var(--c0); }
.matrix .frame { fill: none; stroke: var(--rule); }
.matrix text { font: 11px system-ui, sans-serif; fill: var(--soft); }
@media (max-width: 40rem) {
  body { padding: .6rem .7rem 3rem; }
  p { overflow-wrap: anywhere; }
  table { font-size: .8rem; }
  th, td { padding-right: .5rem; }
  td.t { white-space: normal; overflow-wrap: anywhere; min-width: 6em; }
  .bars { min-width: 6rem; width: 8rem; }
}
)";

std::string ranks_section(const CallProfile& profile) {
  std::string out =
      "<h2>Ranks</h2>\n<p>Green: the application, brown: MPI.</p>\n<div class=\"wide\"><table>\n"
      "<thead><tr><th>rank</th><th>time</th><th>application</th><th>MPI</th><th>profiler</th>"
      "<th class=\"t\"></th><th class=\"t\">host</th></tr></thead>\n<tbody>\n";
  for (const analysis::RankTotal& r : profile.per_rank)
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"t bars\">"
        "<div class=\"app\" style=\"width:{:.2f}%\"></div><div class=\"mpi\" "
        "style=\"width:{:.2f}%\"></div></td><td class=\"t\">{}</td></tr>\n",
        r.rank.value, format_time(r.time), format_time(r.application), format_time(r.mpi),
        format_time(r.own), 100 * share(r.application, profile.time.max),
        100 * std::min(share(r.mpi, profile.time.max), 1.0),
        escape_html(r.end.empty() ? r.host : r.host + ": " + r.end));
  return out + "</tbody></table></div>\n";
}

std::string functions_section(const CallProfile& profile) {
  HtmlTable table({"function", "class", "calls", "time", "mean over ranks", "most", "on rank",
                   "longest call", "messages", "sent", "received", "collective"},
                  2);
  for (const auto& f : profile.functions)
    table.add({f.name, analysis::name_of(f.kind), std::to_string(f.calls), format_time(f.time),
               format_time(f.ranks.mean), format_time(f.ranks.max),
               std::to_string(f.ranks.slowest.value), format_time(f.longest),
               std::to_string(f.moved.messages), format_bytes(f.moved.sent),
               format_bytes(f.moved.received), format_bytes(f.moved.collective)});
  return "<h2>Functions</h2>\n" + table.finish();
}

std::string sites_section(const CallProfile& profile) {
  HtmlTable table({"function", "calls", "time", "min over ranks", "mean", "most", "on rank",
                   "longest call", "called at"},
                  1, true);
  for (const auto& s : profile.sites)
    table.add({s.function, std::to_string(s.calls), format_time(s.time), format_time(s.ranks.min),
               format_time(s.ranks.mean), format_time(s.ranks.max),
               std::to_string(s.ranks.slowest.value), format_time(s.longest),
               format_frames(s.frames)});
  return "<h2>Call sites</h2>\n" + table.finish();
}

std::string waited_for_section(const CallProfile& profile) {
  if (profile.waited_for.empty()) return {};
  HtmlTable table(
      {"function", "waited", "for rank", "its time", "most", "on rank", "calls", "called at"}, 1,
      true);
  for (const auto& w : profile.waited_for) {
    const auto& s = profile.sites[w.site];
    table.add({s.function, format_time(w.waited), std::to_string(s.ranks.fastest.value),
               format_time(s.ranks.min), format_time(s.ranks.max),
               std::to_string(s.ranks.slowest.value), std::to_string(s.calls),
               format_frames(s.frames)});
  }
  return "<h2>Who is waited for in collectives</h2>\n<p>Where everybody waits for everybody, the "
         "rank with the least time comes last. Waited: what the others spent beyond its "
         "time.</p>\n" +
         table.finish();
}

std::string senders_section(const CallProfile& profile) {
  if (profile.senders.empty()) return {};
  HtmlTable table({"rank", "for rank", "time", "calls", "longest", "function", "called at"}, 0,
                  true);
  const std::size_t shown = std::min(profile.senders.size(), kMostPairs);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& s = profile.senders[i];
    const auto& site = profile.sites[s.site];
    table.add({std::to_string(s.rank.value), sender_text(s), format_time(s.time),
               std::to_string(s.calls), format_time(s.longest), site.function,
               format_frames(site.frames)});
  }
  std::string out =
      "<h2>Who waits for whom in receives</h2>\n<p>Time: in the call, until the message of the "
      "other rank was there.</p>\n" +
      table.finish();
  if (shown < profile.senders.size())
    out += fmt::format("<p>{} more lines are in the JSON.</p>\n", profile.senders.size() - shown);
  return out;
}

std::string comms_section(const CallProfile& profile) {
  if (profile.comms.empty()) return {};
  HtmlTable table(
      {"communicator", "ranks", "calls", "time", "messages", "sent", "received", "collective"}, 1);
  for (const auto& c : profile.comms)
    table.add({c.name, std::to_string(c.size), std::to_string(c.calls), format_time(c.time),
               std::to_string(c.moved.messages), format_bytes(c.moved.sent),
               format_bytes(c.moved.received), format_bytes(c.moved.collective)});
  return "<h2>Communicators</h2>\n" + table.finish();
}

std::string sizes_section(const CallProfile& profile) {
  if (profile.sizes.empty()) return {};
  HtmlTable table({"communicator", "function", "direction", "from", "to", "calls", "bytes", "time"},
                  3);
  for (const auto& s : profile.sizes)
    table.add({s.comm.empty() ? "-" : s.comm, s.function, name_of(s.direction),
               format_bytes(s.from), format_bytes(s.to), std::to_string(s.calls),
               format_bytes(s.bytes), s.time == Time() ? "-" : format_time(s.time)});
  return "<h2>Message sizes</h2>\n" + table.finish();
}

// Darker: more bytes, on a logarithmic scale.
std::string matrix_picture(const CallProfile& profile) {
  std::uint64_t most = 0;
  for (const auto& entry : profile.matrix) most = std::max(most, entry.bytes.count);
  const int cell = std::max(2, 640 / std::max(profile.ranks, 1));
  const int side = cell * profile.ranks;
  std::string out = fmt::format(
      "<svg class=\"matrix\" viewBox=\"-40 -20 {0} {0}\" width=\"{0}\">\n"
      "<rect class=\"frame\" width=\"{1}\" height=\"{1}\"/>\n<text x=\"0\" y=\"-6\">to rank 0 ... "
      "{2}</text>\n<text x=\"-36\" y=\"12\">from</text>\n",
      side + 60, side, profile.ranks - 1);
  for (const auto& entry : profile.matrix)
    out += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" opacity=\"{:.3f}\"><title>{} to {}: {} "
        "messages, {}</title></rect>\n",
        entry.to.value * cell, entry.from.value * cell, cell, cell,
        0.15 + 0.85 * (most == 0 ? 1
                                 : std::log2(1.0 + static_cast<double>(entry.bytes.count)) /
                                       std::log2(1.0 + static_cast<double>(most))),
        entry.from.value, entry.to.value, entry.messages, format_bytes(entry.bytes));
  return out + "</svg>\n";
}

std::string matrix_section(const CallProfile& profile) {
  if (profile.matrix.empty()) return {};
  std::string out = "<h2>Messages between ranks</h2>\n";
  if (profile.ranks <= kMostDrawn)
    out += "<p>Each square is a pair of ranks; the darker, the more bytes (logarithmic).</p>\n" +
           matrix_picture(profile);
  HtmlTable table({"from", "to", "messages", "bytes"}, 0);
  const std::size_t shown = std::min(profile.matrix.size(), kMostPairs);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& entry = profile.matrix[i];
    table.add({std::to_string(entry.from.value), std::to_string(entry.to.value),
               std::to_string(entry.messages), format_bytes(entry.bytes)});
  }
  out += "<details><summary>All pairs</summary>\n" + table.finish();
  if (shown < profile.matrix.size())
    out += fmt::format("<p>{} more pairs are in the JSON.</p>\n", profile.matrix.size() - shown);
  return out + "</details>\n";
}

std::string summary(const CallProfile& profile) {
  std::string out;
  if (profile.shares_cores)
    out += fmt::format("<p><b>Warning:</b> {}.</p>\n", escape_html(warning_of_cores()));
  if (!profile.complete)
    out +=
        "<p><b>Incomplete:</b> the run ended before MPI_Finalize; this is what was known by "
        "then.</p>\n";
  HtmlTable table({"", "min", "mean", "max", "on rank", "imbalance"}, 1);
  const auto line = [&](const char* name, const analysis::Spread& of) {
    table.add({name, format_time(of.min), format_time(of.mean), format_time(of.max),
               std::to_string(of.slowest.value), format_percent(of.imbalance())});
  };
  line("time", profile.time);
  line("application", profile.application);
  line("MPI", profile.mpi_time);
  line("the profiler itself, in none of these", profile.own);
  out += fmt::format(
             "<p>{}<br>{} ranks under {}, {} MPI calls. Wall-clock times of this run.</p>\n",
             escape_html(profile.program), profile.ranks, escape_html(profile.mpi), profile.calls) +
         table.finish();
  Time mpi;
  for (const Time time : profile.classes) mpi += time;
  HtmlTable classes({"MPI time by what the call does", "time", "share of MPI", ""}, 1, true);
  for (std::size_t i = 0; i < profile.classes.size(); ++i) {
    const auto of = static_cast<analysis::CallClass>(i);
    if (profile.classes[i] == Time()) continue;
    classes.add({analysis::name_of(of), format_time(profile.classes[i]),
                 format_percent(share(profile.classes[i], mpi)),
                 analysis::may_wait(of) ? "may be waiting for others" : ""});
  }
  return out + classes.finish();
}

}  // namespace

std::string render_call_profile_html(const CallProfile& profile) {
  return begin_page("Profile of MPI calls", kStyle) + summary(profile) + ranks_section(profile) +
         functions_section(profile) + sites_section(profile) + waited_for_section(profile) +
         senders_section(profile) + comms_section(profile) + sizes_section(profile) +
         matrix_section(profile) + end_page();
}

}  // namespace foretrace::views
