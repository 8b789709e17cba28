#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <span>

#include "views/datasheet/calculation.hpp"
#include "views/datasheet/datasheet.hpp"

namespace foretrace::views {
namespace {

using analysis::Datasheet;
using analysis::SheetFunction;
using analysis::SheetGroup;
using machine::Bound;

// Names of files and of gnuplot's functions: letters, digits and "_", no two alike.
std::vector<std::string> plain_names(const Datasheet& sheet) {
  std::set<std::string> taken;
  std::vector<std::string> names;
  for (const SheetFunction& each : sheet.functions) {
    std::string name;
    for (const char c : each.function.name)
      name += std::isalnum(static_cast<unsigned char>(c)) && static_cast<unsigned char>(c) < 0x80
                  ? c
                  : '_';
    // "functions" is the file that holds them all.
    while (name == "functions" || !taken.insert(name).second) name += "_";
    names.push_back(name);
  }
  return names;
}

// A floating-point constant: gnuplot divides and multiplies whole numbers as such.
std::string constant(double value) {
  std::string text = fmt::format("{}", value);  // reads back as the same number
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

// What follows a coefficient.
const char* product_with(machine::Factor factor) {
  using machine::Factor;
  switch (factor) {
    case Factor::one:
      return "";
    case Factor::p:
      return "*p";
    case Factor::ln_p:
      return "*log(p)";
    case Factor::p2:
      return "*p*p";
    case Factor::d:
      return "*d";
    case Factor::p_d:
      return "*p*d";
    case Factor::ln_p_d:
      return "*log(p)*d";
    case Factor::p2_d:
      return "*p*p*d";
    case Factor::ceil_log2_p:
      return "*steps(p)";
    case Factor::p_minus_1:
      return "*(p-1)";
    case Factor::share:
      return "*(p-1.0)/p";
    case Factor::ceil_log2_p_d:
      return "*steps(p)*d";
    case Factor::share_d:
      return "*(p-1.0)/p*d";
    case Factor::p_minus_1_d:
      return "*(p-1)*d";
  }
  return "";
}

std::string sum_of(const machine::TermSum& sum, std::uint64_t element, Bound bound) {
  std::string out;
  for (const machine::Term& term : sum.terms) {
    const double value = term.coefficient.at(bound);
    if (value == 0) continue;
    if (!out.empty()) out += " + ";
    out += constant(value) + product_with(term.factor);
    if (element != 1 && machine::depends_on_data(term.factor)) out += fmt::format("/{}.0", element);
  }
  return out.empty() ? "0.0" : out;
}

// One regime's time in the model's unit, never below zero.
std::string expression(const machine::Equation& e, std::uint64_t element, Bound bound) {
  // An interval is relative to the equation's own time.
  const Bound each = e.interval ? Bound::avg : bound;
  std::string scale;
  if (e.interval && bound != Bound::avg)
    scale = constant(bound == Bound::min ? e.interval->low : e.interval->high) + "*";
  const std::vector<machine::TermSum> sums = e.sums();
  if (sums.size() == 1) return scale + "atleast0(" + sum_of(sums[0], element, each) + ")";
  return fmt::format("{}atleast0(poweroftwo(p) ? {} : {})", scale, sum_of(sums[0], element, each),
                     sum_of(sums[1], element, each));
}

// x <= x0 ? y0 : x <= x1 ? between(x, x0, y0, x1, y1) : ... : yn, of (xi, yi) ascending, one or
// more.
std::string curve_through(const char* x, const std::vector<std::pair<double, std::string>>& known) {
  std::string out;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto& [at, value] = known[i];
    out += fmt::format("{} <= {} ? ", x, constant(at));
    out += i == 0 ? value
                  : fmt::format("between({}, {}, {}, {}, {})", x, constant(known[i - 1].first),
                                known[i - 1].second, constant(at), value);
    out += " : \\\n    ";
  }
  return out + known.back().second;
}

// m<name>(p,d), by the logarithms of what is known.
std::string factors(const std::vector<machine::Correction>& known, const std::string& name) {
  std::string out;
  std::vector<std::pair<double, std::string>> rows;
  for (const machine::Correction& row : known) {
    const std::string own = fmt::format("m{}_{}", name, row.ranks);
    std::vector<std::pair<double, std::string>> logarithms;
    for (const machine::SizeFactor& each : row.factors)
      logarithms.emplace_back(std::max(static_cast<double>(each.bytes.count), 0.5),
                              constant(std::log(each.factor)));
    out += fmt::format("{}(d) = {}\n", own, curve_through("d", logarithms));
    rows.emplace_back(row.ranks, own + "(d)");
  }
  return out + fmt::format("m{}(p,d) = exp({})\n", name, curve_through("p", rows));
}

std::string equations(const Datasheet& sheet, const SheetFunction& each, const std::string& name,
                      Bound bound) {
  std::string out = constant(sheet.model.time_unit) +
                    (each.function.corrections.empty() ? "" : fmt::format("*m{}(p,d)", name)) +
                    "*(";
  const auto& regimes = each.function.regimes;
  for (std::size_t i = 0; i < regimes.size(); ++i) {
    if (i + 1 < regimes.size()) out += fmt::format("d <= {}.0 ? ", regimes[i].to.count);
    out += expression(regimes[i].equation, sheet.model.element.count, bound);
    if (i + 1 < regimes.size()) out += " : \\\n    ";
  }
  return out + ")";
}

// t<name>, least_<name>, most_<name>, and where there are factors m<name>. Beyond the measured
// ranks the bounds are at least as wide as the error of extrapolation.
std::string definitions(const Datasheet& sheet, const SheetFunction& each,
                        const std::string& name) {
  const auto& corrections = each.function.corrections;
  std::string out = corrections.empty() ? "" : factors(corrections, name);
  out += fmt::format("t{}(p,d) = {}\n", name, equations(sheet, each, name, Bound::avg));
  const std::string least = equations(sheet, each, name, Bound::min);
  const std::string most = equations(sheet, each, name, Bound::max);
  const auto& error = each.function.extrapolation_error;
  const auto& measured = each.function.measured;
  const int last = measured ? measured->ranks.back() : sheet.model.ranks;
  if (!error || last == 0 || each.group == SheetGroup::point_to_point)
    return out + fmt::format("least_{0}(p,d) = {1}\nmost_{0}(p,d) = {2}\n", name, least, most);
  const std::string beyond =
      fmt::format("p < {} || p > {}", measured ? measured->ranks.front() : 1, last);
  const std::string factor = constant(1 + *error);
  return out + fmt::format(
                   "least_{0}(p,d) = {1} ? smaller({2}, \\\n    t{0}(p,d)/{3}) : {2}\n"
                   "most_{0}(p,d) = {1} ? larger({4}, \\\n    t{0}(p,d)*{3}) : {4}\n",
                   name, beyond, least, factor, most);
}

// In a comment no line may end early.
std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\\') c = ' ';
  return text;
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : one_line(text)) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

NamedText functions_file(const Datasheet& sheet, const std::vector<std::string>& names) {
  std::string out =
      "# " + one_line("Times of " + sheet.model.name) +
      "\n# t<function>(p,d): seconds; p ranks, d bytes. least_ and most_: "
      "minimum\n# and maximum. Load it and type: print "
      "tbcast(8,1024)\n\natleast0(t) = t > 0 ? t : 0.0\n"
      "smaller(a,b) = a < b ? a : b\nlarger(a,b) = a > b ? a : b\n"
      "# straight over log(x)\n"
      "between(x,a,u,b,v) = u + (v - u)*(log(x) - log(a))/(log(b) - log(a))\n"
      "# steps of a tree over p ranks; 1e-9 against rounding of the logarithms\n"
      "steps(p) = ceil(log(p)/log(2.0) - 1e-9)\npoweroftwo(p) = p == 2.0**steps(p)\n\n";
  for (std::size_t i = 0; i < names.size(); ++i)
    out += definitions(sheet, sheet.functions[i], names[i]);
  return {"functions.gp", out};
}

// One block for each number of ranks, so that `index` picks it.
NamedText data_file(const SheetFunction& each, const std::string& name) {
  std::string out =
      "# ranks bytes median lower_quartile upper_quartile samples equation (seconds)\n";
  const bool measured = !each.measured.empty();
  if (!measured) out += "# nothing measured lies beside the model\n";
  int last = -1;
  for (const analysis::MeasuredPoint& m : each.measured) {
    if (last != -1 && last != m.ranks && each.group == SheetGroup::collective) out += "\n\n";
    last = m.ranks;
    out += fmt::format("{} {} {} {} {} {} {}\n", m.ranks, m.bytes.count, m.median, m.low, m.high,
                       m.samples, m.fitted);
  }
  return {name + ".dat", out};
}

// Over the sizes from `low` to `high` and all ranks; "" for one number of ranks.
std::string surface_script(const SheetFunction& each, const std::string& name, double low,
                           double high) {
  if (each.surface.size() < 2) return "";
  std::string out = fmt::format(
      "set output '{0}_surface.svg'\nset logscale xyz\nset xlabel 'bytes'\nset ylabel 'ranks'\n"
      "set zlabel 'time in s' rotate parallel\nset isosamples 40\nset hidden3d\n"
      "splot [{1}:{2}][{3}:{4}] t{0}(y,x) with lines title 'equation'",
      name, low, high, each.surface.front().ranks, each.surface.back().ranks);
  if (!each.measured.empty())
    out += fmt::format(", \\\n     '{}.dat' using 2:1:3 with points title 'measured'", name);
  return out + "\n";
}

NamedText script_file(const Datasheet& sheet, const SheetFunction& each, const std::string& name) {
  const bool over_ranks = each.group == SheetGroup::no_data;
  std::string out = fmt::format(
      "# gnuplot {0}.gp draws {0}.svg\nload 'functions.gp'\nset terminal svg size 800,500 dynamic "
      "background 'white'\nset output '{0}.svg'\nset title {1} noenhanced\nset key left top\n"
      "set logscale xy\nset xlabel '{2}'\nset ylabel 'time in s'\nset format '%g'\nset grid\nset "
      "samples 800\n",
      name, quoted(each.function.name + ", " + sheet.model.name), over_ranks ? "ranks" : "bytes");
  double low = INFINITY;
  double high = 0;
  for (const analysis::SheetCurve& curve : each.curves)
    for (const auto& piece : curve.pieces)
      for (const analysis::CurvePoint& p : piece) {
        low = std::min(low, p.x);
        high = std::max(high, p.x);
      }
  if (!(low < high)) high = (low = std::isfinite(low) ? low : 1) * 2;
  out += fmt::format("set xrange [{}:{}]\nplot ", low, high);
  bool first = true;
  for (const analysis::SheetCurve& curve : each.curves) {
    const std::string arguments = over_ranks ? "x,0" : fmt::format("{},x", curve.ranks);
    const std::string label = each.group == SheetGroup::collective
                                  ? fmt::format("p = {}", curve.ranks)
                                  : std::string("equation");
    out += fmt::format("{}t{}({}) title '{}'", first ? "" : ", \\\n     ", name, arguments, label);
    first = false;
  }
  if (!each.measured.empty())
    out += fmt::format(", \\\n     '{}.dat' using {}:3:4:5 with yerrorbars title 'measured'", name,
                       over_ranks ? 1 : 2);
  if (first) return {name + ".gp", "# nothing to draw\n"};
  return {name + ".gp", out + "\n" + surface_script(each, name, low, high)};
}

}  // namespace

std::string render_gnuplot_plot(const Datasheet& sheet, const PlotRange& range,
                                const std::string& name) {
  const std::vector<std::string> names = plain_names(sheet);
  std::string out =
      functions_file(sheet, names).text +
      fmt::format(
          "\nset terminal svg size 800,500 dynamic background 'white'\n"
          "set output {}\nset title {} noenhanced\nset key left top noenhanced\n"
          "set logscale xy\nset xlabel '{}'\nset ylabel 'time in s'\n"
          "set format '%g'\nset grid\nset samples 800\n",
          quoted(name + ".svg"), quoted(sheet.model.name), range.over_bytes() ? "bytes" : "ranks");
  const std::uint64_t least = std::max<std::uint64_t>(range.bytes.front().count, 1);
  out += range.over_bytes() ? fmt::format("plot [{}:{}] ", least, range.bytes.back().count)
                            : fmt::format("plot [{}:{}] ", range.ranks.front(), range.ranks.back());
  const char* between = "";
  const auto add = [&](const std::string& call, const std::string& label) {
    out += fmt::format("{}{} title {}", between, call, quoted(label));
    between = ", \\\n     ";
  };
  for (std::size_t i = 0; i < names.size(); ++i) {
    const machine::Function& function = sheet.functions[i].function;
    if (!range.over_bytes()) {
      add(fmt::format("t{}(x,{})", names[i], range.bytes.front().count), function.name);
      continue;
    }
    const bool one = range.ranks.size() == 1 || !analysis::depends_on_ranks(function);
    for (const int ranks : one ? std::span(range.ranks).first(1) : std::span(range.ranks))
      add(fmt::format("t{}({},x)", names[i], ranks),
          one ? function.name : fmt::format("{}, p = {}", function.name, ranks));
  }
  return out + "\n";
}

std::vector<NamedText> render_gnuplot_datasheet(const Datasheet& sheet) {
  const std::vector<std::string> names = plain_names(sheet);
  std::vector<NamedText> files{functions_file(sheet, names)};
  for (std::size_t i = 0; i < names.size(); ++i) {
    files.push_back(data_file(sheet.functions[i], names[i]));
    files.push_back(script_file(sheet, sheet.functions[i], names[i]));
  }
  return files;
}

}  // namespace foretrace::views
