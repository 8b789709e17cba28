#include "views/report/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "views/draw/html_table.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/notes.hpp"
#include "views/draw/page.hpp"
#include "views/draw/units.hpp"
#include "views/report/comparison.hpp"
#include "views/timeline/timeline.hpp"

namespace foretrace::views {
namespace {

using analysis::Profile;

constexpr int kMostBars = 256;          // more ranks are told by the least, the mean and the most
constexpr int kMostDrawn = 512;         // ranks of the matrix
constexpr std::size_t kMostLines = 50;  // of tables that are sorted by time
constexpr std::size_t kMostHistograms = 6;

constexpr std::string_view kStyle = R"(.bars { width: 24rem; }
.bars div, .key { display: inline-block; height: .8em; } .key { width: 1.4em; }
.compute { background: var(--c2); } .calls { background: var(--c1); } .waits { background: var(--c4); }
.matrix { display: block; max-width: min(40rem, 100%); height: auto; }
.matrix rect { fill: var(--c0); } .matrix .frame { fill: none; stroke: var(--rule); }
.histograms { display: flex; flex-wrap: wrap; gap: 1rem 2rem; }
.histograms figure { margin: 0; } .histograms rect { fill: var(--c0); }
svg text { font: 11px system-ui, sans-serif; fill: var(--soft); }
.big { font-size: 1.2rem; }
@media (max-width: 40rem) { body { padding: .6rem .7rem 3rem; } .bars { width: 8rem; } p { overflow-wrap: anywhere; } }
)";

// A place for the search of the time line.
std::string words_for(const std::string& function, const std::string& place) {
  return "call=" + function + (place.empty() ? "" : " at=\"" + place + "\"");
}

std::string place_text(const std::string& function, const std::string& place) {
  return place.empty() ? function : function + " " + place;
}

std::string summary(const Profile& profile, const std::string& timeline) {
  std::string out;
  for (const std::string& note : trace_note_list(profile.info, profile.complete, profile.damage))
    out += "<p><b>Note:</b> " + escape_html(note) + "</p>\n";
  out += "<p>" + escape_html(profile.info.program) + "<br>" +
         escape_html(describe_trace(profile.info)) + "</p>\n";
  const bool cpu = profile.info.clock == trace::Clock::cpu;
  out += fmt::format("<p class=\"big\"><b>{}</b>{} on {} rank{}", format_time(profile.time),
                     cpu ? " of CPU time" : "", profile.ranks, profile.ranks == 1 ? "" : "s");
  if (profile.speedup)
    out += fmt::format("; speed-up <b>{}</b>, efficiency <b>{}</b>", format_ratio(*profile.speedup),
                       format_percent(*profile.efficiency));
  out += "</p>\n";
  if (profile.efficiency && !profile.baseline && profile.load_balance)
    out += fmt::format("<p>The efficiency is load balance {} times communication {}.</p>\n",
                       format_percent(*profile.load_balance),
                       format_percent(*profile.communication_efficiency));
  if (!timeline.empty())
    out += "<p><a href=\"" + escape_html(timeline) +
           "\">Time line</a>: when each rank did what. Names in the tables below lead to their "
           "places in it.</p>\n";
  return out;
}

std::string ranks_section(const Profile& profile, const std::string& timeline) {
  if (profile.per_rank.empty()) return {};
  std::string out =
      "<h2>Ranks</h2>\n<p><span class=\"key compute\"></span> computing, <span class=\"key "
      "calls\"></span> in calls, <span class=\"key waits\"></span> waiting there.</p>\n"
      "<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><th>rank</th><th>time</th>"
      "<th>computing</th><th>in calls</th><th>waiting</th><th>others wait for it</th>"
      "<td></td></tr></thead>\n<tbody>\n";
  std::vector<analysis::RankProfile> shown = profile.per_rank;
  if (profile.ranks > kMostBars) {
    std::ranges::stable_sort(shown, std::greater<>(), &analysis::RankProfile::compute);
    shown.erase(shown.begin() + kMostBars / 2, shown.end() - kMostBars / 2);
  }
  for (const analysis::RankProfile& r : shown) {
    const Time wait = std::min(r.wait, r.mpi);
    const std::string rank = std::to_string(r.rank.value);
    const std::string address = found_in(timeline, "rank=" + rank);
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"t "
        "bars\">"
        "<div class=\"compute\" style=\"width:{:.2f}%\"></div><div class=\"calls\" "
        "style=\"width:{:.2f}%\"></div><div class=\"waits\" "
        "style=\"width:{:.2f}%\"></div></td></tr>\n",
        address.empty() ? rank : "<a href=\"" + escape_html(address) + "\">" + rank + "</a>",
        format_time(r.time), format_time(r.compute), format_time(r.mpi),
        wait_text(r.wait, profile.wait_known),
        profile.partners_known && profile.wait_known ? format_time(r.caused) : "unknown",
        99 * share(r.compute, profile.time), 99 * share(r.mpi - wait, profile.time),
        99 * share(wait, profile.time));
  }
  out += "</tbody></table></div>\n";
  if (profile.ranks > kMostBars)
    out += fmt::format(
        "<p>The {0} ranks that compute most and the {0} that compute least of {1}; "
        "all are in <code>report --json</code>.</p>\n",
        kMostBars / 2, profile.ranks);
  return out;
}

std::string functions_section(const Profile& profile, const std::string& timeline) {
  std::vector<analysis::FunctionProfile> functions = profile.functions;
  std::ranges::stable_sort(functions, std::greater<>(), &analysis::FunctionProfile::time);
  HtmlTable table({"function", "calls", "time", "waiting", "sent", "received", "collective"}, 1);
  for (const auto& f : functions)
    table.add_linked({f.name, std::to_string(f.calls), format_time(f.time),
                      wait_text(f.wait, profile.wait_known && f.wait_known), format_bytes(f.sent),
                      format_bytes(f.received), format_bytes(f.collective)},
                     found_in(timeline, words_for(f.name, "")));
  return functions.empty() ? "" : "<h2>Functions</h2>\n" + table.finish();
}

std::string sites_section(const Profile& profile, const std::string& timeline) {
  HtmlTable table({"call site", "calls", "time", "waiting"}, 1);
  for (std::size_t i = 0; i < std::min(kMostLines, profile.sites.size()); ++i) {
    const auto& s = profile.sites[i];
    table.add_linked({place_text(s.function, s.place), std::to_string(s.calls), format_time(s.time),
                      wait_text(s.wait, profile.wait_known && s.wait_known)},
                     found_in(timeline, words_for(s.function, s.place)));
  }
  return profile.sites.empty() ? "" : "<h2>Call sites</h2>\n" + table.finish();
}

std::string phases_section(const Profile& profile, const std::string& timeline) {
  if (profile.phases.empty()) return {};
  HtmlTable table({"phase", "times", "most of a rank", "on rank", "mean", "most / mean"}, 1);
  for (const auto& p : profile.phases)
    table.add_linked(
        {p.name, std::to_string(p.count), format_time(p.time), std::to_string(p.slowest.value),
         format_time(p.mean), p.mean == Time() ? "-" : format_ratio(share(p.time, p.mean))},
        found_in(timeline, "phase=\"" + p.name + "\""));
  return "<h2>Phases</h2>\n<p>A phase's time includes the phases inside it.</p>\n" + table.finish();
}

std::string balance_section(const Profile& profile, const std::string& timeline) {
  if (profile.computation.empty()) return {};
  HtmlTable table({"computed before", "after", "ranks", "times", "mean", "most", "on rank",
                   "most / mean", "costs"},
                  2);
  for (std::size_t i = 0; i < std::min(kMostLines, profile.computation.size()); ++i) {
    const auto& c = profile.computation[i];
    table.add_linked(
        {place_text(c.before.function, c.before.place), place_text(c.after.function, c.after.place),
         std::to_string(c.ranks), std::to_string(c.times), format_time(c.mean), format_time(c.max),
         std::to_string(c.slowest.value), format_ratio(share(c.max, c.mean)), format_time(c.cost)},
        c.slowest.valid() ? found_in(timeline, fmt::format("compute rank={}", c.slowest.value))
                          : "");
  }
  return "<h2>Balance</h2>\n<p>Computation between calls. Costs: what the run could gain at most "
         "if the ranks shared it evenly.</p>\n" +
         table.finish();
}

std::string waits_section(const Profile& profile, const std::string& timeline) {
  if (profile.waits.empty()) return {};
  HtmlTable table({"in", "rank", "for rank", "times", "waiting", "of it late"}, 1);
  for (std::size_t i = 0; i < std::min(kMostLines, profile.waits.size()); ++i) {
    const auto& w = profile.waits[i];
    table.add_linked({place_text(w.function, w.place), std::to_string(w.rank.value),
                      w.partner.valid() ? std::to_string(w.partner.value) : "-",
                      std::to_string(w.count), format_time(w.wait), format_time(w.late)},
                     found_in(timeline, fmt::format("{} rank={} wait>0s",
                                                    words_for(w.function, w.place), w.rank.value)));
  }
  return "<h2>Who waits for whom</h2>\n<p>Late: the other rank had not made its call yet.</p>\n" +
         table.finish();
}

// Darker: more bytes, on a logarithmic scale.
std::string matrix_section(const Profile& profile, const analysis::Traffic& traffic) {
  if (traffic.pairs.empty()) return {};
  std::string out = "<h2>Messages between ranks</h2>\n";
  if (profile.ranks > kMostDrawn)
    return out + fmt::format("<p>{} pairs of ranks exchange messages.</p>\n", traffic.pairs.size());
  std::uint64_t most = 0;
  for (const auto& pair : traffic.pairs) most = std::max(most, pair.bytes.count);
  const int cell = std::max(2, 560 / std::max(profile.ranks, 1));
  const int side = cell * profile.ranks;
  out += fmt::format(
      "<p>A line for each sender, a column for each receiver; the darker, the more bytes "
      "(logarithmic).</p>\n<svg class=\"matrix\" role=\"img\" aria-label=\"Bytes between ranks\" "
      "viewBox=\"-40 -20 {0} {0}\" width=\"{0}\">\n"
      "<rect class=\"frame\" width=\"{1}\" height=\"{1}\"/>\n<text x=\"0\" y=\"-6\">to rank 0 ... "
      "{2}</text>\n<text x=\"-36\" y=\"12\">from</text>\n",
      side + 60, side, profile.ranks - 1);
  const double scale = std::log2(1.0 + static_cast<double>(most));
  for (const auto& pair : traffic.pairs)
    out += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" opacity=\"{:.3f}\"><title>{} to {}: {} "
        "messages, {}</title></rect>\n",
        pair.to.value * cell, pair.from.value * cell, cell, cell,
        0.15 +
            0.85 * (most == 0 ? 1 : std::log2(1.0 + static_cast<double>(pair.bytes.count)) / scale),
        pair.from.value, pair.to.value, pair.messages, format_bytes(pair.bytes));
  return out + "</svg>\n";
}

std::string histogram(const analysis::Durations& of) {
  constexpr int kWidth = 270, kHeight = 110;
  const auto used = [](std::uint64_t count) { return count > 0; };
  const auto first = std::ranges::find_if(of.bins, used) - of.bins.begin();
  const auto last = static_cast<std::ptrdiff_t>(analysis::Durations::kBins) - 1 -
                    (std::find_if(of.bins.rbegin(), of.bins.rend(), used) - of.bins.rbegin());
  const std::uint64_t most = *std::ranges::max_element(of.bins);
  const double width = static_cast<double>(kWidth) / static_cast<double>(last - first + 1);
  const auto limit = [](std::ptrdiff_t bin) {
    return bin == 0 ? std::string("0 s")
                    : format_picoseconds(std::ldexp(1000.0, static_cast<int>(bin)));
  };
  std::string out = fmt::format(
      "<figure><figcaption>{0}: {1} times, {2}</figcaption>\n<svg role=\"img\" "
      "aria-label=\"Durations of {0}\" viewBox=\"0 0 {3} {4}\" width=\"{3}\">\n",
      escape_html(of.state), of.count, format_time(of.time), kWidth, kHeight + 16);
  for (auto bin = first; bin <= last; ++bin) {
    const std::uint64_t count = of.bins[static_cast<std::size_t>(bin)];
    const double height =
        count == 0
            ? 0
            : std::max(1.0, kHeight * static_cast<double>(count) / static_cast<double>(most));
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{} from {} to "
        "{}</title></rect>\n",
        static_cast<double>(bin - first) * width + 0.5, kHeight - height, std::max(1.0, width - 1),
        height, count, limit(bin), limit(bin + 1));
  }
  return out + fmt::format(
                   "<text x=\"0\" y=\"{0}\">{1}</text><text x=\"{2}\" y=\"{0}\" "
                   "text-anchor=\"end\">{3}</text></svg></figure>\n",
                   kHeight + 13, limit(first), kWidth, limit(last + 1));
}

std::string durations_section(const analysis::Traffic& traffic) {
  if (traffic.durations.empty()) return {};
  std::string out =
      "<h2>Durations</h2>\n<p>How many last how long, by powers of two.</p>\n<div "
      "class=\"histograms\">\n";
  for (std::size_t i = 0; i < std::min(kMostHistograms, traffic.durations.size()); ++i)
    out += histogram(traffic.durations[i]);
  return out + "</div>\n";
}

}  // namespace

std::string render_html_report(const Profile& profile, const analysis::Traffic& traffic,
                               const std::string& timeline,
                               const analysis::GroupComparison* against) {
  std::string style(kStyle);
  std::string compared;
  if (against != nullptr) {
    style += comparison_style();
    compared = "<h2>Beside other runs</h2>\n<p>A: the other ones. B: this run.</p>\n" +
               render_comparison_part(*against);
  }
  return begin_page("Report of a run", style) + summary(profile, timeline) + compared +
         ranks_section(profile, timeline) + phases_section(profile, timeline) +
         waits_section(profile, timeline) + balance_section(profile, timeline) +
         functions_section(profile, timeline) + sites_section(profile, timeline) +
         matrix_section(profile, traffic) + durations_section(traffic) + end_page();
}

}  // namespace foretrace::views
