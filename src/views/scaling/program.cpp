#include "views/scaling/program.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "views/draw/json_text.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/text_table.hpp"
#include "views/draw/units.hpp"

namespace foretrace::views {
namespace {

using scaling::Estimate;
using scaling::ProgramLaw;
using scaling::SiteLaw;

struct Sum {
  double value = 0, low = 0, high = 0;
  double untold = 0;  // of forms that the runs cannot tell apart
  double last = 0;

  void add(const Estimate& part) {
    value += part.value;
    low += part.low;
    high += part.high;
    if (!part.identifiable) untold += part.value;
  }
};

Sum communication_of(const ProgramLaw& law) {
  Sum out;
  for (const SiteLaw& site : law.sites) {
    out.add(site.own);
    out.add(site.wait);
    out.last += site.last;
  }
  return out;
}

std::string time_text(double seconds) {
  return format_picoseconds(seconds * 1e12);
}

std::string share(double part, double whole) {
  return whole > 0 ? format_percent(part / whole) : "";
}

std::string interval(double low, double high) {
  return time_text(low) + " to " + time_text(high);
}

nlohmann::ordered_json json_of(const Estimate& estimate) {
  return {{"value", estimate.value},
          {"interval", {estimate.low, estimate.high}},
          {"identifiable", estimate.identifiable},
          {"form", estimate.form},
          {"missed", estimate.missed}};
}

nlohmann::ordered_json json_of(const SiteLaw& site) {
  nlohmann::ordered_json out;
  out["function"] = site.function;
  out["place"] = site.place;
  out["time"] = site.value();
  out["identifiable"] = site.identifiable();
  out["at_most_ranks"] = site.last;
  out["calls"] = json_of(site.calls);
  out["bytes"] = json_of(site.bytes);
  out["members"] = json_of(site.members);
  out["on_sheet"] = site.on_sheet;
  out["own"] = json_of(site.own);
  out["wait"] = json_of(site.wait);
  return out;
}

// Of what would have been told wrongly from the runs before the largest, what costs most there.
std::string missed_text(const ProgramLaw& law) {
  std::string name;
  double worst = 0, missed = 0;
  int more = -1;
  const auto look = [&](const std::string& of, const Estimate& part) {
    if (part.missed == 0) return;
    ++more;
    if (part.missed * part.value <= worst) return;
    worst = part.missed * part.value;
    missed = part.missed;
    name = of;
  };
  for (const SiteLaw& site : law.sites) {
    const std::string of =
        site.function + (site.place.empty() ? "" : " at " + plain_text(site.place));
    look("the own time of " + of, site.own);
    look("the waiting of " + of, site.wait);
  }
  look("the computation", law.compute);
  if (worst == 0) return "";
  return fmt::format(
      "Told from those before, {} on the most ranks would have been off by {}{}: the interval "
      "allows for as much with each such step.\n",
      name, format_percent(missed),
      more > 0 ? fmt::format(" ({} more times in --json)", more) : std::string());
}

}  // namespace

std::string render_text_program_law(const ProgramLawReport& report, std::size_t most) {
  const ProgramLaw& law = report.law;
  const Sum sum = communication_of(law);
  const double all = sum.value + law.compute.value;
  const double last = sum.last + law.last_compute;
  std::string out = plain_text(report.program) + "\n";
  out += fmt::format("{} runs with {} to {} ranks; {}\n\n", law.ranks.size(), law.ranks.front(),
                     law.ranks.back(),
                     report.machine.empty() ? std::string("laws alone, without a data sheet")
                                            : "data sheet: " + plain_text(report.machine));
  TextTable table({Align::left, Align::left, Align::right, Align::right, Align::right, Align::right,
                   Align::right, Align::right, Align::left});
  table.add({"function", "called at", fmt::format("at {}", law.ranks.back()), "share",
             fmt::format("at {}", law.at), "share", "waiting", "95 % interval", ""});
  const auto row = [&](const std::string& name, const std::string& place, double before,
                       const Sum& part, const std::string& wait) {
    table.add({name, place, time_text(before), share(before, last), time_text(part.value),
               share(part.value, all), wait, interval(part.low, part.high),
               2 * part.untold > part.value ? "not told apart" : ""});
  };
  std::size_t shown = 0;
  for (const SiteLaw& site : law.sites) {
    if (most > 0 && shown++ >= most) break;
    Sum part;
    part.add(site.own);
    part.add(site.wait);
    row(site.function, plain_text(site.place), site.last, part, time_text(site.wait.value));
  }
  row("communication", "", sum.last, sum, "");
  Sum compute;
  compute.add(law.compute);
  row("computation", "", law.last_compute, compute, "");
  out += table.render(0);
  if (most > 0 && law.sites.size() > most)
    out += fmt::format("{} more calls in --json\n", law.sites.size() - most);
  out += "\nTimes are the mean over the ranks, waiting included.\n";
  if (sum.untold > 0)
    out += fmt::format(
        "{} of the communication follows laws that these runs cannot tell from "
        "others; a run at more ranks helps.\n",
        share(sum.untold, sum.value));
  out += missed_text(law);
  for (const std::string& note : law.notes) out += note + "\n";
  return out;
}

std::string render_json_program_law(const ProgramLawReport& report) {
  const ProgramLaw& law = report.law;
  const Sum sum = communication_of(law);
  nlohmann::ordered_json out;
  out["program"] = report.program;
  out["machine"] = report.machine;
  out["ranks"] = law.ranks;
  out["at"] = {{"p", law.at}};
  out["communication"] = {{"value", sum.value},
                          {"interval", {sum.low, sum.high}},
                          {"not_identifiable", sum.untold},
                          {"at_most_ranks", sum.last}};
  out["computation"] = json_of(law.compute);
  out["computation"]["at_most_ranks"] = law.last_compute;
  out["sites"] = nlohmann::ordered_json::array();
  for (const SiteLaw& site : law.sites) out["sites"].push_back(json_of(site));
  out["notes"] = law.notes;
  return json_text(out);
}

}  // namespace foretrace::views
