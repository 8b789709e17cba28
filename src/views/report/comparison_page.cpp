// The comparison as a page: what `foretrace compare -o FILE.html` writes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "views/draw/markup.hpp"
#include "views/draw/page.hpp"
#include "views/draw/plot_axis.hpp"
#include "views/draw/units.hpp"
#include "views/report/comparison.hpp"
#include "views/timeline/timeline.hpp"

namespace foretrace::views {
namespace {

using analysis::GroupComparison;
using analysis::GroupLine;
using analysis::GroupSide;

constexpr std::size_t kMostCompared = 60;
constexpr double kBarWidth = 180;

constexpr std::string_view kComparisonStyle = R"(.big { font-size: 1.2rem; }
.sides { border-left: .25rem solid var(--rule); padding-left: .8rem; }
.sides b { display: inline-block; min-width: 1.2em; }
.more { fill: var(--c1); } .less { fill: var(--c2); } rect.open { fill: var(--c5); opacity: .45; }
td.more { color: var(--c1); } td.less { color: var(--c2); } td.more, td.less { font-weight: 600; }
svg { display: block; } svg text { font: 12px system-ui, sans-serif; fill: var(--soft); }
svg .rule { stroke: var(--rule); } svg .end { stroke: var(--ink); stroke-width: 1.5; }
.runs { width: 100%; max-width: 34rem; height: auto; } .runs circle { fill: var(--c0); opacity: .75; }
td .scatter { display: block; color: var(--soft); font-size: .85em; }
h3 { font-family: inherit; } tbody th { white-space: nowrap; vertical-align: top; } .middle { text-align: center; white-space: nowrap; }
td svg { margin: .2rem 0; }
@media (max-width: 40rem) { body { padding: .6rem .7rem 3rem; } p { overflow-wrap: anywhere; } }
)";

// How the second side stands to the first, where that is known for certain.
const char* verdict(const GroupLine& line) {
  // Two runs alone have no interval; what they show is shown.
  if (line.intervals.difference && !line.intervals.differ()) return "open";
  return line.difference() > 0 ? "more" : line.difference() < 0 ? "less" : "open";
}

std::string from_to(const std::optional<stats::Interval>& interval,
                    std::string (*format)(double value)) {
  if (!interval) return "";
  if (std::isinf(interval->upper)) return fmt::format("over {}", format(interval->lower));
  return fmt::format("{} to {}", format(interval->lower), format(interval->upper));
}

std::string headline(const GroupComparison& both) {
  const GroupLine& time = both.time;
  if (!time.known()) return "";
  const std::string numbers = fmt::format("{} instead of {}", format_picoseconds(time.b.mean),
                                          format_picoseconds(time.a.mean));
  const std::string range = from_to(time.intervals.ratio, format_ratio);
  const std::string with = range.empty() ? "" : "; with 95 %: " + range + " times";
  if (time.difference() == 0)
    return fmt::format("B takes as long as A: <b>{}</b>", format_picoseconds(time.a.mean));
  if (time.intervals.difference && !time.intervals.differ())
    return fmt::format(
        "Whether B takes longer or less than A is <b>not known</b> from these runs: {}{}", numbers,
        with);
  return fmt::format("B takes <b>{} times</b> as long as A: {}{}", format_ratio(time.ratio()),
                     numbers, with);
}

// The times of all runs, one dot each.
std::string runs_plot(const GroupLine& time) {
  if (time.a.runs.size() + time.b.runs.size() < 3) return "";
  std::vector<double> all;
  for (const GroupSide* side : {&time.a, &time.b})
    for (const Time run : side->runs) all.push_back(static_cast<double>(run.count_ps()));
  const auto [low, high] = std::ranges::minmax_element(all);
  const double room = std::max(0.08 * (*high - *low), 0.01 * *high);
  const Axis axis{false, std::max(0.0, *low - room), *high + room, 40, 420};
  std::string out =
      "<svg class=\"runs\" role=\"img\" aria-label=\"Times of the single runs\" viewBox=\"0 0 440 "
      "96\">\n";
  for (const Tick& tick : y_ticks(axis)) {
    const double x = axis.place(tick.value);
    out += fmt::format(
        "<line class=\"rule\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"4\" y2=\"70\"/><text "
        "x=\"{0:.1f}\" y=\"88\" text-anchor=\"middle\">{1}</text>\n",
        x, format_picoseconds(tick.value));
  }
  double y = 20;
  for (const auto& [name, side] : {std::pair{"A", &time.a}, std::pair{"B", &time.b}}) {
    out += fmt::format("<text x=\"8\" y=\"{:.0f}\">{}</text>\n", y + 4, name);
    for (const Time run : side->runs)
      out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.0f}\" r=\"5\"><title>{}</title></circle>\n",
                         axis.place(static_cast<double>(run.count_ps())), y, format_time(run));
    const double mean = axis.place(side->mean);
    out += fmt::format(
        "<line class=\"end\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.0f}\" "
        "y2=\"{2:.0f}\"><title>mean {3}</title></line>\n",
        mean, y - 12, y + 12, format_picoseconds(side->mean));
    y += 34;
  }
  return out + "</svg>\n<p>A dot for each run; the line is their mean.</p>\n";
}

// A bar from no difference to the mean's, with its interval.
std::string bar(const GroupLine& line, double most) {
  const double middle = kBarWidth / 2;
  const auto place = [&](double ps) {
    return middle + (most > 0 ? std::clamp(ps / most, -1.0, 1.0) * (middle - 2) : 0);
  };
  const double x = place(line.difference());
  std::string out = fmt::format(
      "<svg width=\"{0}\" height=\"18\" viewBox=\"0 0 {0} 18\" aria-hidden=\"true\"><line "
      "class=\"rule\" x1=\"{1}\" x2=\"{1}\" y1=\"0\" y2=\"18\"/><rect class=\"{2}\" x=\"{3:.1f}\" "
      "y=\"4\" width=\"{4:.1f}\" height=\"10\"/>",
      kBarWidth, middle, verdict(line), std::min(x, middle), std::fabs(x - middle));
  if (line.intervals.difference) {
    const double from = place(line.intervals.difference->lower);
    const double to = place(line.intervals.difference->upper);
    out += fmt::format(
        "<path class=\"end\" d=\"M{0:.1f} 9H{1:.1f}M{0:.1f} 5v8M{1:.1f} 5v8\" fill=\"none\"/>",
        from, to);
  }
  return out + "</svg>";
}

std::string side_cell(const GroupSide& side) {
  if (side.runs.empty()) return "<td>-</td>";
  std::string scatter;
  if (side.runs.size() > 1)
    scatter = " <span class=\"scatter\">&plusmn; " + format_picoseconds(side.deviation) + "</span>";
  return "<td>" + format_picoseconds(side.mean) + scatter + "</td>";
}

// How far lines reach from no difference, at most.
double reach(const std::vector<GroupLine>& lines) {
  double most = 0;
  for (const GroupLine& line : lines) {
    if (!line.known()) continue;
    most = std::max(most, std::fabs(line.difference()));
    if (const auto& interval = line.intervals.difference)
      most = std::max({most, std::fabs(interval->lower), std::fabs(interval->upper)});
  }
  return most;
}

// `tag`: of the title. `words`: what the time line's search finds of a line, before its name in
// quotes.
std::string section(const char* tag, const std::string& title, const std::string& about,
                    const std::vector<GroupLine>& all, const std::string& timeline,
                    const std::string& words) {
  std::vector<GroupLine> lines = by_difference(all);
  if (lines.empty()) return "";
  const double most = reach(lines);
  const std::size_t shown = std::min(lines.size(), kMostCompared);
  const bool intervals = std::ranges::any_of(
      lines, [](const GroupLine& line) { return line.intervals.difference.has_value(); });
  std::string out = fmt::format("<{0}>{1}</{0}>\n<p>{2}</p>\n", tag, title, about);
  out +=
      "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"" + title +
      " of A and B\"><table>\n<thead><tr><td></td><th>A</th><th>B</th><th class=\"middle\">shorter "
      "&nbsp;|&nbsp; longer</th><th>B - A</th>";
  if (intervals) out += "<th>95 %</th>";
  out += "<th>B / A</th>";
  if (intervals) out += "<th>95 %</th>";
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < shown; ++i) {
    const GroupLine& line = lines[i];
    std::string name = escape_html(line.name);
    if (!timeline.empty() && line.name != "COMPUTE")
      name = "<a href=\"" + escape_html(found_in(timeline, words + "=\"" + line.name + "\"")) +
             "\">" + name + "</a>";
    out += "<tr><th scope=\"row\" class=\"t\">" + name + "</th>" + side_cell(line.a) +
           side_cell(line.b);
    if (line.known()) {
      out += fmt::format("<td class=\"t\">{}</td><td class=\"{}\">{}</td>", bar(line, most),
                         verdict(line), difference_text(line.difference()));
      if (intervals) out += "<td>" + from_to(line.intervals.difference, difference_text) + "</td>";
      out += "<td>" + format_ratio(line.ratio()) + "</td>";
      if (intervals) out += "<td>" + from_to(line.intervals.ratio, format_ratio) + "</td>";
    } else {
      out += fmt::format("<td colspan=\"{}\" class=\"t\">not known</td>", intervals ? 5 : 3);
    }
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  if (shown < lines.size())
    out +=
        fmt::format("<p>{} more are in <code>compare --json</code>.</p>\n", lines.size() - shown);
  const std::string chance = chance_note(lines);
  return chance.empty() ? out : out + "<p>" + chance + ".</p>\n";
}

// What both sides are, and how they stand to each other.
std::string heading(const GroupComparison& both) {
  std::string out;
  for (const std::string& note : group_notes(both))
    out += "<p><b>Note:</b> " + escape_html(note) + "</p>\n";
  const auto side = [](const char* name, const analysis::RunGroup& runs) {
    return fmt::format("<b>{}</b> {}, {}", name, escape_html(runs.front().times.info.program),
                       escape_html(describe_group(runs)));
  };
  out += "<p class=\"sides\">" + side("A", both.a) + "<br>" + side("B", both.b) + "</p>\n";
  return out + "<p class=\"big\">" + headline(both) + ".</p>\n";
}

std::string sections(const char* tag, const GroupComparison& both, const std::string& timeline) {
  return section(tag, "Program", "Over all ranks, but for the time of the run itself.",
                 {both.time, both.serial_time, both.wait}, "", "") +
         section(tag, "Phases",
                 "A phase's time is the maximum over all ranks, and includes the phases inside it.",
                 both.by_phase, timeline, "phase") +
         section(tag, "States", "Computation and the time in each function, over all ranks.",
                 both.by_state, timeline, "call");
}

}  // namespace

std::string_view comparison_style() {
  return kComparisonStyle;
}

std::string render_comparison_part(const GroupComparison& both) {
  return heading(both) + runs_plot(both.time) + sections("h3", both, "");
}

std::string render_html_comparison(const GroupComparison& both, const std::string& timeline) {
  std::string out = begin_page("Two sides compared", kComparisonStyle) + heading(both);
  if (!timeline.empty())
    out += "<p><a href=\"" + escape_html(timeline) +
           "\">Time lines</a> of both over each other. Names in the tables below lead to their "
           "places in them.</p>\n";
  return out + runs_plot(both.time) + sections("h2", both, timeline) + end_page();
}

}  // namespace foretrace::views
