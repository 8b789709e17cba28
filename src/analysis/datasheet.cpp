#include "analysis/datasheet.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "stats/summary.hpp"

namespace foretrace::analysis {
namespace {

using machine::Bound;
using machine::Function;
using machine::MachineModel;
using machine::Regime;
using machine::Term;

constexpr std::size_t kMostTableRanks = 5;
// A model of so many functions has tables of fewer ranks, so that a person can still read them.
constexpr std::size_t kManyFunctions = 24;
constexpr std::size_t kMostTableRanksOfMany = 3;
constexpr std::size_t kMostCurves = 4;
constexpr std::size_t kMostSurfaceRanks = 16;
constexpr int kPointsPerDoubling = 4;
constexpr int kPointToPointRanks = 2;

// The order of the thesis's tables; what is not here follows by name.
constexpr std::array<std::string_view, 24> kOrder{
    "send",         "ssend",    "rsend",     "bsend",    "isend1",  "isend2",
    "isendoverlap", "recv",     "recvmin",   "irecv1",   "irecv2",  "irecvoverlap",
    "sendrecv",     "pingpong", "allsend",   "alltoall", "gather",  "allgather",
    "scatter",      "reduce",   "allreduce", "bcast",    "barrier", "comm_dup"};

SheetGroup group_of(const Function& function) {
  if (function.function_class == "barrier" || function.function_class == "local")
    return depends_on_bytes(function) ? SheetGroup::collective : SheetGroup::no_data;
  const bool two =
      function.function_class == "point-to-point" || function.function_class == "one-sided";
  if (two && !depends_on_ranks(function)) return SheetGroup::point_to_point;
  // Measured over sizes, even if it turned out not to depend on them.
  const bool sizes = function.measured && function.measured->from < function.measured->to;
  return sizes || depends_on_bytes(function) ? SheetGroup::collective : SheetGroup::no_data;
}

// At most `most` of the values, evenly chosen, the first and the last among them.
std::vector<int> thinned(const std::vector<int>& values, std::size_t most) {
  if (values.size() <= most) return values;
  std::vector<int> out;
  for (std::size_t i = 0; i < most; ++i)
    out.push_back(values[i * (values.size() - 1) / (most - 1)]);
  return out;
}

template <class Value>
std::vector<Value> ascending(std::vector<Value> values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
  return values;
}

std::vector<int> default_ranks(int measured, std::size_t functions) {
  const int last = measured > 0 ? measured : 16;
  std::vector<int> ranks;
  for (std::int64_t p = 2; p < last; p *= 2) ranks.push_back(static_cast<int>(p));
  ranks.push_back(last);
  return thinned(ranks, functions > kManyFunctions ? kMostTableRanksOfMany : kMostTableRanks);
}

std::vector<Bytes> default_bytes() {
  std::vector<Bytes> bytes;
  for (const std::uint64_t each : {8, 64, 1024, 8192, 65536, 1048576}) bytes.emplace_back(each);
  return bytes;
}

KnownRange range_of(const MachineModel& model, const SheetFunction& sheet) {
  KnownRange range;
  if (sheet.group != SheetGroup::point_to_point) range.most_ranks = model.ranks;
  range.least_bytes = sheet.function.regimes.front().from;
  range.most_bytes = sheet.function.regimes.back().to;
  if (const auto& measured = sheet.function.measured) {
    if (sheet.group != SheetGroup::point_to_point) {
      range.least_ranks = measured->ranks.front();
      range.most_ranks = measured->ranks.back();
    }
    if (sheet.group != SheetGroup::no_data) {
      range.least_bytes = measured->from;
      range.most_bytes = measured->to;
    }
    return range;
  }
  if (sheet.measured.empty()) return range;
  // A message between two ranks is the same whatever others there are.
  if (sheet.group != SheetGroup::point_to_point) {
    range.least_ranks = sheet.measured.front().ranks;
    range.most_ranks = sheet.measured.back().ranks;
  }
  const auto [least, most] = std::ranges::minmax(sheet.measured, {}, &MeasuredPoint::bytes);
  range.least_bytes = least.bytes;
  range.most_bytes = most.bytes;
  return range;
}

std::vector<MeasuredPoint> measured_points(const MachineModel& model, const Function& function,
                                           std::span<const SheetSample> samples) {
  struct Seconds {
    std::vector<double> kept, disturbed;
  };
  std::map<std::pair<int, Bytes>, Seconds> points;
  for (const SheetSample& sample : samples)
    if (sample.function == function.name) {
      Seconds& point = points[{sample.ranks, sample.bytes}];
      (sample.kept ? point.kept : point.disturbed).push_back(sample.seconds);
    }
  std::vector<MeasuredPoint> out;
  for (const auto& [point, all] : points) {
    const std::vector<double>& seconds = all.kept.empty() ? all.disturbed : all.kept;
    out.push_back({point.first, point.second, seconds.size(), stats::median(seconds),
                   stats::quantile(seconds, 0.25), stats::quantile(seconds, 0.75),
                   evaluate_seconds(model, function, point.first, point.second, Bound::avg),
                   all.kept.empty()});
  }
  return out;
}

void add_times(const Datasheet& all, SheetFunction& sheet) {
  const std::vector<int> two{kPointToPointRanks};
  const std::vector<Bytes> none{Bytes(0)};
  const bool pair = sheet.group == SheetGroup::point_to_point;
  for (const int ranks : pair ? two : all.ranks)
    for (const Bytes bytes : sheet.group == SheetGroup::no_data ? none : all.bytes)
      sheet.times.push_back(time_of(all, sheet, ranks, bytes));
}

// Logarithmically spaced whole numbers from `from` to `to`, both included.
std::vector<std::uint64_t> spaced(std::uint64_t from, std::uint64_t to) {
  const double doublings = std::log2(static_cast<double>(to) / static_cast<double>(from));
  const int steps = std::max(1, static_cast<int>(std::ceil(doublings * kPointsPerDoubling)));
  std::vector<std::uint64_t> out{from};
  for (int i = 1; i < steps; ++i) {
    const double value = static_cast<double>(from) * std::exp2(doublings * i / steps);
    const auto whole = static_cast<std::uint64_t>(std::llround(value));
    if (whole > out.back() && whole < to) out.push_back(whole);
  }
  if (to > from) out.push_back(to);
  return out;
}

CurvePoint curve_point(const MachineModel& model, const Function& function, int ranks, Bytes bytes,
                       std::uint64_t x) {
  const auto at = [&](Bound bound) {
    return evaluate_seconds(model, function, ranks, bytes, bound);
  };
  return {static_cast<double>(x), at(Bound::min), at(Bound::avg), at(Bound::max)};
}

void add_curves(const Datasheet& all, SheetFunction& sheet) {
  std::vector<int> ranks = all.ranks;
  std::uint64_t least = UINT64_MAX;
  std::uint64_t most = 1;
  const auto see = [&](Bytes bytes) {
    if (bytes.count == 0) return;  // has no place on a logarithmic axis
    least = std::min(least, bytes.count);
    most = std::max(most, bytes.count);
  };
  if (sheet.measured.empty()) {
    for (const Bytes bytes : all.bytes) see(bytes);
  } else {
    ranks.clear();
    for (const MeasuredPoint& point : sheet.measured) {
      if (ranks.empty() || ranks.back() != point.ranks) ranks.push_back(point.ranks);
      see(point.bytes);
    }
  }
  if (sheet.group == SheetGroup::no_data) {
    const int last = *std::ranges::max_element(ranks);
    if (last <= kPointToPointRanks) return;  // one point is no curve
    sheet.curves.push_back(
        curve_over_ranks(all.model, sheet.function, Bytes(0), kPointToPointRanks, last));
    return;
  }
  if (least == UINT64_MAX) return;
  if (sheet.group == SheetGroup::point_to_point) ranks = {kPointToPointRanks};
  if (sheet.group == SheetGroup::collective && ranks.size() > 1)
    for (const int each : thinned(ranks, kMostSurfaceRanks))
      sheet.surface.push_back(
          curve_over_bytes(all.model, sheet.function, each, Bytes(least), Bytes(most)));
  for (const int each : thinned(ranks, kMostCurves))
    sheet.curves.push_back(
        curve_over_bytes(all.model, sheet.function, each, Bytes(least), Bytes(most)));
}

bool comes_before(SheetGroup group_a, std::string_view a, SheetGroup group_b, std::string_view b) {
  const auto key = [](SheetGroup group, std::string_view name) {
    return std::tuple(group, std::ranges::find(kOrder, name) - kOrder.begin(), name);
  };
  return key(group_a, a) < key(group_b, b);
}

// One row for each point of a function that the sheets lay out as `group`.
void add_compared(std::span<const Datasheet> sheets, const std::string& name, SheetGroup group,
                  std::vector<ComparedCall>& out) {
  const std::vector<int> two{kPointToPointRanks};
  const std::vector<Bytes> none{Bytes(0)};
  for (const int ranks : group == SheetGroup::point_to_point ? two : sheets.front().ranks)
    for (const Bytes bytes : group == SheetGroup::no_data ? none : sheets.front().bytes) {
      ComparedCall row{name, group, ranks, bytes, {}, {}};
      for (const Datasheet& sheet : sheets) {
        const SheetFunction* found = sheet.find(name);
        row.times.push_back(found ? std::optional(time_of(sheet, *found, ranks, bytes))
                                  : std::nullopt);
        const std::optional<SheetTime>& first = row.times.front();
        const std::optional<SheetTime>& own = row.times.back();
        const bool both = first && own && first->avg > 0 && own->avg > 0;
        row.ratios.push_back(both ? std::optional(own->avg / first->avg) : std::nullopt);
      }
      out.push_back(std::move(row));
    }
}

template <class Predicate>
bool any_term(const Function& function, Predicate predicate) {
  for (const Regime& regime : function.regimes)
    for (const machine::TermSum& sum : regime.equation.sums())
      if (std::ranges::any_of(sum.terms, predicate)) return true;
  return false;
}

}  // namespace

std::string Datasheet::fact(const std::string& key) const {
  const auto found = facts.find(key);
  return found == facts.end() ? "" : found->second;
}

SheetTime time_of(const Datasheet& sheet, const SheetFunction& function, int ranks, Bytes bytes) {
  const auto at = [&](Bound bound) {
    return evaluate_seconds(sheet.model, function.function, ranks, bytes, bound);
  };
  return {ranks,          bytes,          at(Bound::min),
          at(Bound::avg), at(Bound::max), !function.known.holds(ranks, bytes)};
}

const SheetFunction* Datasheet::find(std::string_view name) const {
  const auto found = std::ranges::find_if(
      functions, [&](const SheetFunction& sheet) { return sheet.function.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

bool depends_on_ranks(const Function& function) {
  return function.corrections.size() > 1 ||
         any_term(function, [](const Term& t) { return machine::depends_on_ranks(t.factor); }) ||
         std::ranges::any_of(function.regimes,
                             [](const Regime& r) { return r.equation.sums().size() > 1; });
}

bool depends_on_bytes(const Function& function) {
  return function.regimes.size() > 1 ||
         std::ranges::any_of(function.corrections,
                             [](const auto& row) { return row.factors.size() > 1; }) ||
         any_term(function, [](const Term& t) { return machine::depends_on_data(t.factor); });
}

bool has_errors(const Function& function) {
  return any_term(function, [](const Term& t) { return t.coefficient.error != 0; }) ||
         std::ranges::any_of(function.regimes,
                             [](const Regime& r) { return r.equation.interval.has_value(); });
}

SheetCurve curve_over_bytes(const MachineModel& model, const Function& function, int ranks,
                            Bytes least, Bytes most) {
  SheetCurve curve;
  curve.ranks = ranks;
  const std::vector<Regime>& regimes = function.regimes;
  for (std::size_t i = 0; i < regimes.size(); ++i) {
    // The first and the last regime also stand for what lies outside.
    const Bytes from = i == 0 ? least : std::max(least, regimes[i].from);
    const Bytes to = i + 1 == regimes.size() ? most : std::min(most, regimes[i].to);
    if (from > to) continue;
    curve.pieces.emplace_back();
    for (const std::uint64_t bytes : spaced(from.count, to.count))
      curve.pieces.back().push_back(curve_point(model, function, ranks, Bytes(bytes), bytes));
  }
  return curve;
}

SheetCurve curve_over_ranks(const MachineModel& model, const Function& function, Bytes bytes,
                            int least, int most) {
  SheetCurve curve;
  curve.pieces.emplace_back();
  for (const std::uint64_t ranks :
       spaced(static_cast<std::uint64_t>(least), static_cast<std::uint64_t>(most)))
    curve.pieces.back().push_back(
        curve_point(model, function, static_cast<int>(ranks), bytes, ranks));
  return curve;
}

Datasheet make_datasheet(const MachineModel& model, const SheetSource& source,
                         const SheetOptions& options) {
  Datasheet sheet;
  sheet.facts = source.facts;
  sheet.computation = source.computation;
  sheet.invalid_reasons = source.invalid_reasons;
  sheet.model = model;
  sheet.ranks = ascending(options.ranks.empty() ? default_ranks(model.ranks, model.functions.size())
                                                : options.ranks);
  sheet.bytes = ascending(options.bytes.empty() ? default_bytes() : options.bytes);
  for (const auto& [name, function] : model.functions) {
    if (function.regimes.empty()) continue;
    SheetFunction each;
    each.function = function;
    each.group = group_of(function);
    each.measured = measured_points(model, function, source.samples);
    for (const SheetSample& sample : source.samples)
      if (sample.function == name) {
        ++each.blocks;
        if (sample.kept) ++each.kept;
      }
    const auto meaning = source.meanings.find(name);
    if (meaning != source.meanings.end()) each.meaning = meaning->second;
    each.known = range_of(model, each);
    sheet.knows_sizes = sheet.knows_sizes || function.measured || !each.measured.empty();
    sheet.has_samples = sheet.has_samples || !each.measured.empty();
    add_times(sheet, each);
    add_curves(sheet, each);
    sheet.functions.push_back(std::move(each));
  }
  std::ranges::sort(sheet.functions, [](const SheetFunction& a, const SheetFunction& b) {
    return comes_before(a.group, a.function.name, b.group, b.function.name);
  });
  for (const auto& [path, own] : model.paths) {
    Datasheet inner = make_datasheet(machine::on_path(model, path), {}, {sheet.ranks, sheet.bytes});
    std::erase_if(inner.functions, [&own = own](const SheetFunction& each) {
      return !own.functions.contains(each.function.name);
    });
    sheet.paths.push_back({path, std::move(inner.functions)});
  }
  return sheet;
}

SheetOptions common_options(std::span<const MachineModel> models, SheetOptions options) {
  if (!options.ranks.empty()) return options;
  int most = 0;  // that all of them know
  std::size_t functions = 0;
  for (const MachineModel& model : models) {
    if (model.ranks > 0) most = most == 0 ? model.ranks : std::min(most, model.ranks);
    functions = std::max(functions, model.functions.size());
  }
  options.ranks = default_ranks(most, functions);
  return options;
}

int common_ranks(std::span<const Datasheet> sheets) {
  int best = sheets.front().ranks.front();
  for (const int p : sheets.front().ranks)
    if (std::ranges::all_of(sheets, [&](const Datasheet& sheet) {
          return sheet.model.ranks == 0 || p <= sheet.model.ranks;
        }))
      best = p;
  return best;
}

std::vector<ComparedCall> compare_datasheets(std::span<const Datasheet> sheets) {
  // A function that the sheets lay out differently gets all ranks and all sizes.
  std::map<std::string, SheetGroup> groups;
  for (const Datasheet& sheet : sheets)
    for (const SheetFunction& each : sheet.functions) {
      const auto [at, fresh] = groups.emplace(each.function.name, each.group);
      if (!fresh && at->second != each.group) at->second = SheetGroup::collective;
    }
  std::vector<std::pair<std::string, SheetGroup>> order(groups.begin(), groups.end());
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return comes_before(a.second, a.first, b.second, b.first);
  });
  std::vector<ComparedCall> out;
  for (const auto& [name, group] : order) add_compared(sheets, name, group, out);
  return out;
}

}  // namespace foretrace::analysis
