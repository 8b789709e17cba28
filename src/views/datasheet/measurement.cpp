#include "views/datasheet/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "views/datasheet/numbers.hpp"
#include "views/draw/units.hpp"

namespace foretrace::views {
namespace {

using analysis::Datasheet;
using analysis::SheetFunction;
using machine::Regime;

constexpr std::string_view kLaunch = "launch_";
constexpr std::string_view kJumps = "jumps_";

// What the samples file calls it, what the sheet calls it; in this order.
constexpr std::pair<std::string_view, std::string_view> kFacts[] = {
    {"host", "host"},
    {"arguments", "measured as"},
    {"launches", "launches"},
    {"start", "ranks start by"},
    {"buffers", "buffers"},
    {"half_width", "half width of the intervals over launches"},
    {"half_width_target", "half width that was asked for"},
    {"timer_overhead", "time to read the timer"},
    {"clock_hosts", "hosts with clocks of their own"},
    {"clock_error", "error of the common clock"},
    {"oversubscribed", "more ranks than cores"},
};
// Said elsewhere on the sheet.
constexpr std::string_view kElsewhere[] = {
    "mpi_library",    "ranks",           "timer_resolution",    "date",
    "sync_threshold", "local_threshold", "sync_threshold_seen", "local_threshold_seen",
    "invalid"};

std::optional<double> number(const std::string& text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string fact_cell(std::string_view key, const std::string& value) {
  const std::optional<double> read = number(value);
  if (read && (key == "timer_overhead" || key == "clock_error")) return format_seconds(*read);
  if (read && key.starts_with("half_width")) return format_percent(*read);
  return value;
}

void add_facts(const Datasheet& sheet, SheetDocument& document) {
  SheetTable table;
  table.header = {"", ""};
  table.text_columns = 2;
  std::set<std::string_view> done(std::begin(kElsewhere), std::end(kElsewhere));
  for (const auto& [key, label] : kFacts) {
    done.insert(key);
    const std::string value = sheet.fact(std::string(key));
    if (!value.empty()) table.rows.push_back({std::string(label), fact_cell(key, value)});
  }
  for (const auto& [key, value] : sheet.facts)
    if (!done.contains(key) && !key.starts_with(kLaunch) && !key.starts_with(kJumps))
      table.rows.push_back({key, value});
  std::size_t blocks = 0;
  std::size_t kept = 0;
  for (const SheetFunction& each : sheet.functions) {
    blocks += each.blocks;
    kept += each.kept;
  }
  if (blocks > 0)
    table.rows.push_back(
        {"blocks in which no rank was switched out",
         fmt::format("{} of {} ({})", kept, blocks,
                     format_percent(static_cast<double>(kept) / static_cast<double>(blocks)))});
  document.blocks.push_back(std::move(table));
}

// "38.2 ns, 41 ns after": before and after the launch.
std::string state_cell(const std::map<std::string, std::string>& facts, const std::string& key,
                       std::string (*format)(double)) {
  const auto text = [&](const std::string& name) {
    const auto found = facts.find(name);
    const std::optional<double> value = found == facts.end() ? std::nullopt : number(found->second);
    return value ? format(*value) : std::string();
  };
  const std::string before = text(key);
  const std::string after = text(key + "_after");
  if (before.empty()) return kUnknown;
  return after.empty() || after == before ? before : before + ", " + after;
}

std::string plain_cell(double value) {
  return format_digits(value, 3);
}

void add_states(const Datasheet& sheet, SheetDocument& document) {
  std::map<int, std::map<std::string, std::string>> launches;
  for (const auto& [key, value] : sheet.facts) {
    if (!key.starts_with(kLaunch)) continue;
    const std::string rest = key.substr(kLaunch.size());
    const std::size_t end = rest.find('_');
    const std::optional<double> launch = number(rest.substr(0, end));
    if (launch && *launch >= 1 && *launch < 1e6 && end != std::string::npos)
      launches[static_cast<int>(*launch)][rest.substr(end + 1)] = value;
  }
  if (launches.empty()) return;
  document.blocks.push_back(Paragraph{
      "The state of the machine before each launch, and after it where that was another: the time "
      "in which a cache line goes to another core and back, the rate of copying, the load, the "
      "timer. Launches in another state than most are left out."});
  SheetTable table;
  table.header = {"launch", "state", "cache line", "copying", "load", "reading the timer", "took"};
  table.text_columns = 2;
  for (const auto& [launch, facts] : launches) {
    const auto state = facts.find("state");
    table.rows.push_back(
        {fmt::format("{}", launch), state == facts.end() ? std::string(kUnknown) : state->second,
         state_cell(facts, "bounce", format_seconds), state_cell(facts, "bandwidth", format_rate),
         state_cell(facts, "load", plain_cell), state_cell(facts, "timer_overhead", format_seconds),
         state_cell(facts, "seconds", format_seconds)});
  }
  document.blocks.push_back(std::move(table));
}

void add_thresholds(const Datasheet& sheet, SheetDocument& document) {
  SheetTable table;
  table.caption = "Where the library changes its ways, to the byte";
  table.header = {"", "found", "by launch, where they differ"};
  table.text_columns = 3;
  const auto row = [&](const char* meaning, const std::string& key) {
    const std::string value = sheet.fact(key);
    if (!value.empty()) table.rows.push_back({meaning, value + " B", sheet.fact(key + "_seen")});
  };
  row("last size that is complete at the sender with no receive posted, the receiver outside MPI",
      "local_threshold");
  row("first size whose sender waits for its receiver (S)", "sync_threshold");
  for (const auto& [key, value] : sheet.facts)
    if (key.starts_with(kJumps))
      table.rows.push_back(
          {fmt::format("the time of {} jumps after", key.substr(kJumps.size())), value + " B", ""});
  if (!table.rows.empty()) document.blocks.push_back(std::move(table));
}

std::string percent_cell(const std::optional<double>& share) {
  return share ? format_percent(*share) : std::string(kUnknown);
}

// What the sheet's intervals say they hold, each share once.
std::string coverages_of(const Datasheet& sheet) {
  std::set<double> shares;
  for (const SheetFunction& each : sheet.functions)
    for (const Regime& regime : each.function.regimes)
      if (const auto& interval = regime.equation.interval) shares.insert(interval->coverage);
  std::string out;
  for (const double share : shares) out += (out.empty() ? "" : " or ") + format_percent(share);
  return out;
}

std::optional<double> mean_of(const std::optional<machine::HeldOutError>& error) {
  return error ? std::optional(error->mean) : std::nullopt;
}
std::optional<double> max_of(const std::optional<machine::HeldOutError>& error) {
  return error ? std::optional(error->max) : std::nullopt;
}

std::string parameter_cell(const std::optional<machine::Parameter>& p, double unit,
                           const char* name) {
  if (!p) return kUnknown;
  if (!p->separable) return "not separable";
  const RoundedCoefficient rounded = round_coefficient({p->value / unit, p->error / unit}, 0);
  return rounded.value + (rounded.error.empty() ? "" : " ± " + rounded.error) + name;
}

void add_regimes_of_loggps(const machine::MachineModel& model, SheetDocument& document) {
  const auto time = [](const std::optional<machine::Parameter>& p) {
    return parameter_cell(p, 1e-6, " us");
  };
  SheetTable table;
  table.caption =
      "By message size; \"not separable\": the measurements cannot tell it from the others";
  table.header = {""};
  table.rows = {{"L"},
                {"o_s"},
                {"o_r"},
                {"g"},
                {"G"},
                {"the sender can compute"},
                {"the receiver can compute"}};
  for (const machine::LogGPSRegime& each : model.loggps_regimes) {
    Regime interval;
    interval.from = each.from;
    interval.to = each.to;
    table.header.push_back(format_interval(interval));
    const std::string cells[] = {time(each.latency),
                                 time(each.overhead_send),
                                 time(each.overhead_recv),
                                 time(each.gap),
                                 parameter_cell(each.gap_per_byte, 1e-9, " ns/B"),
                                 percent_cell(each.overlap_send),
                                 percent_cell(each.overlap_recv)};
    for (std::size_t i = 0; i < table.rows.size(); ++i) table.rows[i].push_back(cells[i]);
  }
  document.blocks.push_back(std::move(table));
  document.blocks.push_back(
      Paragraph{"The last two rows: the share of a transfer during which that rank can compute."});
}

}  // namespace

bool is_invalid(const Datasheet& sheet, const std::string& function) {
  std::istringstream names(sheet.fact("invalid"));
  for (std::string name; names >> name;)
    if (name == function) return true;
  return false;
}

void add_measurement(const Datasheet& sheet, SheetDocument& document) {
  if (sheet.facts.empty()) return;
  document.blocks.push_back(Heading{1, "Measurement"});
  add_facts(sheet, document);
  add_states(sheet, document);
  add_thresholds(sheet, document);
}

void add_errors(const Datasheet& sheet, SheetDocument& document) {
  SheetTable table;
  table.header = {"function", "mean",        "maximum",    "papers' forms: mean",
                  "maximum",  "other ranks", "blocks kept"};
  for (const SheetFunction& each : sheet.functions) {
    const machine::Function& f = each.function;
    const bool samples = each.blocks > 0;
    if (!f.held_out && !f.baseline_held_out && !samples && !f.extrapolation_error) continue;
    table.rows.push_back({f.name + (is_invalid(sheet, f.name) ? " (invalid)" : ""),
                          percent_cell(mean_of(f.held_out)), percent_cell(max_of(f.held_out)),
                          percent_cell(mean_of(f.baseline_held_out)),
                          percent_cell(max_of(f.baseline_held_out)),
                          percent_cell(f.extrapolation_error),
                          percent_cell(samples ? std::optional(static_cast<double>(each.kept) /
                                                               static_cast<double>(each.blocks))
                                               : std::nullopt)});
  }
  if (table.rows.empty()) return;
  const std::string coverages = coverages_of(sheet);
  document.blocks.push_back(Heading{1, "Errors"});
  document.blocks.push_back(Paragraph{
      "Relative errors of the equations at sizes that were left out of the fit and then predicted, "
      "mean and maximum, and beside them those of the papers' 12 forms (one in each interval, not "
      "used for any time). Then the relative error at the largest numbers of ranks when they are "
      "left out of the fit, and the share of blocks in which no rank was switched out." +
      (coverages.empty() ? ""
                         : " The intervals from minimum to maximum are made to hold " + coverages +
                               " of measured times.")});
  document.blocks.push_back(std::move(table));
}

void add_loggps(const Datasheet& sheet, SheetDocument& document) {
  const machine::LogGPS& p = sheet.model.loggps;
  SheetTable table;
  table.header = {"", "meaning", "value"};
  table.text_columns = 2;
  const auto row = [&](const char* name, const char* meaning, const std::optional<double>& time) {
    if (time) table.rows.push_back({name, meaning, format_seconds(*time)});
  };
  row("L", "latency", p.latency);
  row("o_s", "overhead of the sender", p.overhead_send);
  row("o_r", "overhead of the receiver", p.overhead_recv);
  row("g", "gap between messages", p.gap);
  if (p.gap_per_byte)
    table.rows.push_back({"G", "gap per byte", format_plain(*p.gap_per_byte * 1e9) + " ns/B"});
  if (p.sync_threshold)
    table.rows.push_back({"S", "messages from this size on wait for their receiver",
                          fmt::format("{} B", p.sync_threshold->count)});
  if (p.attended_from)
    table.rows.push_back({"P",
                          "sends from this size on are over only once their receiver is in a call",
                          fmt::format("{} B", p.attended_from->count)});
  if (const auto& hop = sheet.model.hop) {
    table.rows.push_back({"i", "start-up of a hop", parameter_cell(hop->startup, 1e-6, " us")});
    table.rows.push_back(
        {"t", "time per byte of a hop", parameter_cell(hop->per_byte, 1e-9, " ns/B")});
  }
  const bool regimes = !sheet.model.loggps_regimes.empty();
  document.blocks.push_back(Heading{1, "LogGPS parameters"});
  if (table.rows.empty() && !regimes)
    document.blocks.push_back(Paragraph{"The model holds none."});
  else if (!table.rows.empty())
    document.blocks.push_back(std::move(table));
  if (regimes) add_regimes_of_loggps(sheet.model, document);
}

// A column for each number of ranks that compute on a node.
void add_kernels_by_ranks(const machine::ComputeCosts& costs, SheetDocument& document) {
  std::set<int> counts;
  for (const auto& [name, times] : costs.kernels)
    for (const auto& [ranks, seconds] : times.by_ranks) counts.insert(ranks);
  if (counts.empty()) return;
  SheetTable table;
  table.header = {"ranks that compute on a node"};
  for (const int ranks : counts) table.header.push_back(std::to_string(ranks));
  for (const auto& [name, times] : costs.kernels) {
    if (times.by_ranks.empty()) continue;
    table.rows.push_back({name});
    for (const int ranks : counts) {
      const auto known = times.by_ranks.find(ranks);
      table.rows.back().push_back(known == times.by_ranks.end() ? ""
                                                                : format_seconds(known->second));
    }
  }
  document.blocks.push_back(std::move(table));
}

void add_computation(const Datasheet& sheet, SheetDocument& document) {
  SheetTable table;
  table.header = {"", "time"};
  const machine::ComputeCosts& costs = sheet.computation;
  if (sheet.model.compute_step > 0)
    table.rows.push_back({"compute step", format_seconds(sheet.model.compute_step)});
  if (costs.block) table.rows.push_back({"basic block", format_seconds(*costs.block)});
  if (costs.instruction) table.rows.push_back({"instruction", format_seconds(*costs.instruction)});
  for (const auto& [name, times] : costs.kernels)
    if (times.by_ranks.empty()) table.rows.push_back({name, format_seconds(times.seconds)});
  if (costs.kernels.empty() && !costs.block && !costs.instruction) return;
  document.blocks.push_back(Heading{1, "Computation"});
  document.blocks.push_back(
      Paragraph{"What one execution takes of each thing that compute times are counted in, or that "
                "machines are compared by."});
  if (!table.rows.empty()) document.blocks.push_back(std::move(table));
  add_kernels_by_ranks(costs, document);
}

// A row for each type, a column for each operation.
void add_reductions(const Datasheet& sheet, SheetDocument& document) {
  using machine::Combining;
  using machine::Operand;
  const machine::Reductions& known = sheet.model.reductions;
  if (known.empty()) return;
  const auto cell = [&known](machine::Reduction reduction) {
    const auto found = known.find(reduction);
    return found == known.end() ? std::string() : plain_cell(1e9 * found->second);
  };
  SheetTable table;
  table.header = {"ns/B", "sum", "prod", "min, max", "logical", "bit", "minloc, maxloc"};
  for (int of = 0; of < static_cast<int>(Operand::kCount); ++of) {
    const auto operand = static_cast<Operand>(of);
    std::vector<std::string> row{machine::name_of(operand)};
    bool any = false;
    for (int what = 0; what < static_cast<int>(Combining::kCount); ++what) {
      row.push_back(cell(machine::reduction_of(static_cast<Combining>(what), operand)));
      any = any || !row.back().empty();
    }
    if (any) table.rows.push_back(std::move(row));
  }
  const std::string other = cell(machine::Reduction::other);
  document.blocks.push_back(Heading{1, "Reductions"});
  document.blocks.push_back(
      Paragraph{"What combining a byte takes, in nanoseconds, by the type and the operation. " +
                (other.empty() ? std::string() : "Others take " + other + ". ") +
                "What is not there takes the time of a sum of doubles."});
  document.blocks.push_back(std::move(table));
}

std::string measured_with(const Datasheet& sheet, const SheetFunction& each) {
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : " ") + text; };
  if (is_invalid(sheet, each.function.name))
    add("Invalid: too little of what was measured survived.");
  if (const auto& measured = each.function.measured) {
    std::string ranks;
    for (const int p : measured->ranks) ranks += (ranks.empty() ? "" : ", ") + fmt::format("{}", p);
    const bool sizes = each.group != analysis::SheetGroup::no_data;
    add(fmt::format("Measured with p = {}{}.", ranks,
                    sizes
                        ? ", " + format_bytes(measured->from) + " to " + format_bytes(measured->to)
                        : std::string()));
  }
  if (each.blocks > 0) add(fmt::format("{} of {} blocks survived.", each.kept, each.blocks));
  if (std::ranges::any_of(each.measured, &analysis::MeasuredPoint::disturbed))
    add("Points of which no block survived are marked ! in the raw data.");
  if (const auto& error = each.function.held_out)
    add(fmt::format("At sizes that the fit did not see it errs by {} in the mean, {} at most{}.",
                    format_percent(error->mean), format_percent(error->max),
                    each.function.baseline_held_out
                        ? fmt::format(" (the papers' forms: {}, {})",
                                      format_percent(each.function.baseline_held_out->mean),
                                      format_percent(each.function.baseline_held_out->max))
                        : std::string()));
  if (const auto& error = each.function.extrapolation_error)
    add(fmt::format("Fitted without the largest numbers of ranks, it errs there by {}.",
                    format_percent(*error)));
  return out;
}

}  // namespace foretrace::views
