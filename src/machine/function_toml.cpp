#include "machine/function_toml.hpp"

#include <algorithm>
#include <array>
#include <climits>

#include "mpi_api/function_class.hpp"
#include "toml_file/text.hpp"

namespace foretrace::machine {
namespace {

// VALUE, or [VALUE, ERROR] with an error of 0 or more.
Coefficient coefficient_in(const TableReader& reader, const toml::node& node,
                           std::string_view key) {
  if (!node.is_array()) return {reader.number_in(node, key), 0};
  const toml::array& pair = *node.as_array();
  if (pair.size() != 2)
    reader.fail(&node, "'" + std::string(key) + "' must be VALUE or [VALUE, ERROR]");
  const Coefficient c{reader.number_in(pair[0], key), reader.number_in(pair[1], key)};
  if (c.error < 0)
    reader.fail(&node, "the error of '" + std::string(key) + "' must not be negative");
  return c;
}

Coefficient read_coefficient(const TableReader& reader, std::string_view key) {
  const toml::node* node = reader.raw().get(key);
  return node ? coefficient_in(reader, *node, key) : Coefficient{};
}

std::vector<Term> read_terms(const TableReader& reader, std::string_view key) {
  std::vector<Term> terms;
  const toml::table* table = reader.table(key);
  if (!table) return terms;
  for (Factor factor : kFactors)
    if (const toml::node* node = table->get(name_of(factor)))
      terms.push_back({factor, coefficient_in(reader, *node, name_of(factor))});
  for (const auto& [name, node] : *table) {
    if (parse_factor(name.str())) continue;
    std::string known;
    for (Factor factor : kFactors)
      known += (known.empty() ? "\"" : ", \"") + std::string(name_of(factor)) + "\"";
    reader.fail(&node, "a term cannot multiply '" + std::string(name.str()) + "'; known: " + known);
  }
  if (terms.empty())
    reader.fail(table, "'" + std::string(key) + "' needs a term, such as \"1\" = 2.5");
  return terms;
}

void read_papers_form(const TableReader& reader, Equation& equation) {
  equation.constant = read_coefficient(reader, "c");
  equation.startup = read_coefficient(reader, "s");
  equation.data = read_coefficient(reader, "k");
  if (const auto f = reader.text("f")) {
    const auto form = parse_startup_form(*f);
    if (!form) reader.fail(reader.raw().get("f"), "f must be \"p\", \"ln p\" or \"p^2\"");
    equation.startup_form = *form;
  } else if (reader.raw().get("s")) {
    reader.fail(reader.raw().get("s"), "'s' needs 'f', the form that it multiplies");
  }
  if (const auto g = reader.text("g")) {
    const auto form = parse_data_form(*g);
    if (!form)
      reader.fail(reader.raw().get("g"), "g must be \"d\", \"p d\", \"ln p d\" or \"p^2 d\"");
    equation.data_form = *form;
  } else if (reader.raw().get("k")) {
    reader.fail(reader.raw().get("k"), "'k' needs 'g', the form that it multiplies");
  }
}

std::optional<PredictionInterval> read_prediction(const TableReader& reader) {
  const toml::array* pair = reader.array("interval");
  const auto coverage = reader.non_negative("coverage");
  if (!pair) {
    if (coverage) reader.fail(reader.raw().get("coverage"), "'coverage' needs 'interval'");
    return std::nullopt;
  }
  if (pair->size() != 2) reader.fail(pair, "'interval' must be [LOW, HIGH]");
  PredictionInterval interval{reader.number_in((*pair)[0], "interval"),
                              reader.number_in((*pair)[1], "interval"), coverage.value_or(0)};
  if (interval.low < 0 || interval.low > 1 || interval.high < 1)
    reader.fail(pair,
                "'interval' must be [LOW, HIGH], multiples of the time: LOW from 0 to 1, HIGH 1 or "
                "more");
  if (interval.coverage > 1)
    reader.fail(reader.raw().get("coverage"), "'coverage' is a share and must not be above 1");
  return interval;
}

Regime read_regime(const TableReader& reader) {
  reader.allow_only({"bytes", "c", "s", "f", "k", "g", "terms", "other_terms", "interval",
                     "coverage", "q", "chi_squared", "degrees_of_freedom", "residual",
                     "other_state"});
  Regime regime;
  read_interval(reader, regime.from, regime.to);
  Equation& equation = regime.equation;
  read_papers_form(reader, equation);
  equation.terms = read_terms(reader, "terms");
  equation.other_terms = read_terms(reader, "other_terms");
  if (equation.is_papers_form()) {
    if (const toml::node* other = reader.raw().get("other_terms"))
      reader.fail(other, "'other_terms' needs 'terms', which hold for the powers of two");
  } else {
    for (const char* key : {"c", "s", "f", "k", "g"})
      if (const toml::node* node = reader.raw().get(key))
        reader.fail(node, "'" + std::string(key) + "' and 'terms' exclude each other; remove one");
  }
  equation.interval = read_prediction(reader);
  regime.other_state = reader.non_negative("other_state").value_or(1);
  if (regime.other_state <= 0)
    reader.fail(reader.raw().get("other_state"),
                "'other_state' is a multiple of the time and must be above 0");
  regime.q = reader.non_negative("q");
  if (regime.q && *regime.q > 1)
    reader.fail(reader.raw().get("q"), "'q' is a probability and must not be above 1");
  regime.chi_squared = reader.non_negative("chi_squared");
  if (const auto freedom = reader.bytes("degrees_of_freedom")) {
    if (freedom->count > INT_MAX)
      reader.fail(reader.raw().get("degrees_of_freedom"), "'degrees_of_freedom' is too large");
    regime.degrees_of_freedom = static_cast<int>(freedom->count);
  }
  regime.residual = reader.non_negative("residual");
  return regime;
}

std::vector<Regime> read_regimes(const TableReader& reader, const toml::array& tables,
                                 const std::string& kind, const std::string& function) {
  std::vector<Regime> regimes;
  for (const toml::node& node : tables) {
    if (!node.is_table()) reader.fail(&node, "'" + kind + "' must be a table");
    const std::string where = kind + " of '" + function + "'";
    Regime regime = read_regime(TableReader(*node.as_table(), reader.file(), where));
    if (!regimes.empty()) {
      const Bytes previous = regimes.back().to;
      if (previous.count == UINT64_MAX || regime.from.count != previous.count + 1)
        reader.fail(&node, "the " + kind + "s of '" + function +
                               "' must follow each other: this one has to begin one byte after the "
                               "end of the one before");
    }
    regimes.push_back(std::move(regime));
  }
  return regimes;
}

std::optional<MeasuredRange> read_measured(const TableReader& reader) {
  const toml::array* ranks = reader.array("measured_ranks");
  const toml::array* bytes = reader.array("measured_bytes");
  if (!ranks && !bytes) return std::nullopt;
  if (!ranks || !bytes)
    reader.fail(ranks ? ranks : bytes, "'measured_ranks' and 'measured_bytes' need each other");
  if (ranks->empty()) reader.fail(ranks, "'measured_ranks' must name at least one number");
  MeasuredRange range;
  for (const toml::node& node : *ranks) {
    const auto value = node.value_exact<std::int64_t>();
    if (!value || *value < 1 || *value > INT_MAX ||
        (!range.ranks.empty() && *value <= range.ranks.back()))
      reader.fail(&node, "'measured_ranks' must be ascending whole numbers, 1 or more");
    range.ranks.push_back(static_cast<int>(*value));
  }
  if (bytes->size() != 2) reader.fail(bytes, "'measured_bytes' must be [FROM, TO]");
  range.from = reader.bytes_in((*bytes)[0], "measured_bytes");
  range.to = reader.bytes_in((*bytes)[1], "measured_bytes");
  if (range.to < range.from) reader.fail(bytes, "'measured_bytes' ends before it begins");
  return range;
}

std::optional<HeldOutError> read_held_out(const TableReader& reader, std::string_view key) {
  const toml::array* pair = reader.array(key);
  if (!pair) return std::nullopt;
  if (pair->size() != 2) reader.fail(pair, "'" + std::string(key) + "' must be [MEAN, MAX]");
  const HeldOutError error{reader.number_in((*pair)[0], key), reader.number_in((*pair)[1], key)};
  if (error.mean < 0 || error.max < 0)
    reader.fail(pair, "'" + std::string(key) + "' must not be negative");
  return error;
}

// [[BYTES, FACTOR], ...], none of a size below `least`.
std::vector<SizeFactor> read_factors(const TableReader& reader, const std::string& key,
                                     Bytes least) {
  std::vector<SizeFactor> known;
  const toml::array* pairs = reader.array(key);
  if (!pairs) return known;
  for (const toml::node& node : *pairs) {
    const toml::array* pair = node.as_array();
    if (!pair || pair->size() != 2)
      reader.fail(&node, "'" + key + "' must be [[BYTES, FACTOR], ...]");
    const SizeFactor each{reader.bytes_in((*pair)[0], key), reader.number_in((*pair)[1], key)};
    if (each.factor <= 0)
      reader.fail(&node, "a factor of '" + key + "' is a multiple of the time and must be above 0");
    if (each.bytes < least || (!known.empty() && each.bytes <= known.back().bytes))
      reader.fail(&node, "the sizes of '" + key + "' must be ascending, " +
                             std::to_string(least.count) + " or more");
    known.push_back(each);
  }
  return known;
}

std::vector<Correction> read_corrections(const TableReader& reader, const std::string& function) {
  std::vector<Correction> known;
  const toml::array* tables = reader.array("correction");
  if (!tables) return known;
  for (const toml::node& node : *tables) {
    if (!node.is_table()) reader.fail(&node, "'correction' must be a table");
    const TableReader own(*node.as_table(), reader.file(), "correction of '" + function + "'");
    own.allow_only({"ranks", "factors"});
    const toml::node* ranks = own.raw().get("ranks");
    const auto value = ranks ? ranks->value_exact<std::int64_t>() : std::nullopt;
    if (!value || *value < 1 || *value > INT_MAX ||
        (!known.empty() && *value <= known.back().ranks))
      own.fail(ranks, "needs 'ranks', a whole number of 1 or more, ascending");
    known.push_back({static_cast<int>(*value), read_factors(own, "factors", Bytes(0))});
    if (known.back().factors.empty()) own.fail(nullptr, "needs 'factors': [[BYTES, FACTOR], ...]");
  }
  return known;
}

std::string pair_text(double first, double second) {
  return "[" + number(first) + ", " + number(second) + "]";
}

std::string pair_text(const Coefficient& c) {
  return pair_text(c.value, c.error);
}

std::string factors_text(const std::vector<SizeFactor>& known) {
  std::string text;
  for (const SizeFactor& each : known)
    text += (text.empty() ? "[[" : ", [") + std::to_string(each.bytes.count) + ", " +
            number(each.factor) + "]";
  return text + "]";
}

void format_coefficient(std::string& out, const char* key, const Coefficient& c) {
  out += std::string(key) + " = " + pair_text(c) + "\n";
}

void format_terms(std::string& out, const char* key, const std::vector<Term>& terms) {
  if (terms.empty()) return;
  out += key;
  out += " = { ";
  for (std::size_t i = 0; i < terms.size(); ++i)
    out += (i > 0 ? ", " : "") + quoted(std::string(name_of(terms[i].factor))) + " = " +
           pair_text(terms[i].coefficient);
  out += " }\n";
}

void format_equation(std::string& out, const Equation& equation) {
  if (equation.is_papers_form()) {
    format_coefficient(out, "c", equation.constant);
    if (equation.startup.value != 0 || equation.startup.error != 0) {
      format_coefficient(out, "s", equation.startup);
      out += "f = \"" + std::string(name_of(equation.startup_form)) + "\"\n";
    }
    if (equation.data.value != 0 || equation.data.error != 0) {
      format_coefficient(out, "k", equation.data);
      out += "g = \"" + std::string(name_of(equation.data_form)) + "\"\n";
    }
  }
  format_terms(out, "terms", equation.terms);
  format_terms(out, "other_terms", equation.other_terms);
  if (const auto& interval = equation.interval) {
    out += "interval = " + pair_text(interval->low, interval->high) + "\n";
    if (interval->coverage > 0) out += "coverage = " + number(interval->coverage) + "\n";
  }
}

void format_regime(std::string& out, const std::string& table, const Regime& regime) {
  out += "[[" + table + "]]\n" + format_interval(regime.from, regime.to);
  format_equation(out, regime.equation);
  if (regime.other_state != 1) out += "other_state = " + number(regime.other_state) + "\n";
  if (regime.q) out += "q = " + number(*regime.q) + "\n";
  if (regime.chi_squared) out += "chi_squared = " + number(*regime.chi_squared) + "\n";
  if (regime.degrees_of_freedom)
    out += "degrees_of_freedom = " + std::to_string(*regime.degrees_of_freedom) + "\n";
  if (regime.residual) out += "residual = " + number(*regime.residual) + "\n";
}

}  // namespace

void read_interval(const TableReader& reader, Bytes& from, Bytes& to) {
  const toml::array* range = reader.array("bytes");
  if (!range) return;
  if (range->empty() || range->size() > 2)
    reader.fail(range, "'bytes' must be [FROM, TO], or [FROM] for everything above");
  from = reader.bytes_in((*range)[0], "bytes");
  if (range->size() == 2) to = reader.bytes_in((*range)[1], "bytes");
  if (to < from) reader.fail(range, "'bytes' ends before it begins");
}

std::string format_interval(Bytes from, Bytes to) {
  std::string out = "bytes = [" + std::to_string(from.count);
  if (to.count != UINT64_MAX) out += ", " + std::to_string(to.count);
  return out + "]\n";
}

Function read_function(const TableReader& reader) {
  reader.allow_only({"name", "class", "method", "valid", "measured_ranks", "measured_bytes",
                     "held_out", "extrapolation_error", "baseline_held_out", "untouched",
                     "correction", "regime", "baseline"});
  Function function;
  const auto name = reader.text("name");
  if (!name) reader.fail(nullptr, "needs a 'name'");
  function.name = *name;
  function.function_class =
      reader.text("class").value_or(std::string(mpi_api::function_class_of(*name)));
  constexpr std::array<std::string_view, 7> kClasses{
      "", "point-to-point", "one-sided", "collective", "barrier", "file", "local"};
  if (std::ranges::find(kClasses, function.function_class) == kClasses.end())
    reader.fail(reader.raw().get("class"),
                "'class' must be \"point-to-point\", \"one-sided\", \"collective\", \"barrier\", "
                "\"file\" or \"local\"");
  function.method = reader.text("method").value_or("");
  if (const toml::node* node = reader.raw().get("valid")) {
    const auto value = node->value_exact<bool>();
    if (!value) reader.fail(node, "'valid' must be true or false");
    function.valid = *value;
  }
  function.measured = read_measured(reader);
  function.held_out = read_held_out(reader, "held_out");
  function.extrapolation_error = reader.non_negative("extrapolation_error");
  function.baseline_held_out = read_held_out(reader, "baseline_held_out");
  function.untouched = read_factors(reader, "untouched", Bytes(1));
  function.corrections = read_corrections(reader, *name);
  const toml::array* regimes = reader.array("regime");
  if (!regimes || regimes->empty())
    reader.fail(nullptr, "'" + *name + "' needs at least one [[function.regime]]");
  function.regimes = read_regimes(reader, *regimes, "regime", *name);
  if (const toml::array* baseline = reader.array("baseline")) {
    function.baseline = read_regimes(reader, *baseline, "baseline", *name);
    for (std::size_t i = 0; i < function.baseline.size(); ++i)
      if (!function.baseline[i].equation.is_papers_form())
        reader.fail(baseline->get(i), "a [[function.baseline]] of '" + *name +
                                          "' has no 'terms': it is in the papers' form");
  }
  return function;
}

std::string format_function(const Function& function, const std::string& prefix) {
  const std::string table = prefix + "function";
  std::string out = "\n[[" + table + "]]\nname = " + quoted(function.name) + "\n";
  if (!function.function_class.empty()) out += "class = " + quoted(function.function_class) + "\n";
  if (!function.method.empty()) out += "method = " + quoted(function.method) + "\n";
  if (!function.valid) out += "valid = false\n";
  if (const auto& measured = function.measured) {
    out += "measured_ranks = [";
    for (std::size_t i = 0; i < measured->ranks.size(); ++i)
      out += (i > 0 ? ", " : "") + std::to_string(measured->ranks[i]);
    out += "]\nmeasured_bytes = [" + std::to_string(measured->from.count) + ", " +
           std::to_string(measured->to.count) + "]\n";
  }
  const auto held_out = [&out](const char* key, const std::optional<HeldOutError>& error) {
    if (error) out += std::string(key) + " = " + pair_text(error->mean, error->max) + "\n";
  };
  held_out("held_out", function.held_out);
  if (function.extrapolation_error)
    out += "extrapolation_error = " + number(*function.extrapolation_error) + "\n";
  held_out("baseline_held_out", function.baseline_held_out);
  if (!function.untouched.empty()) out += "untouched = " + factors_text(function.untouched) + "\n";
  for (const Regime& regime : function.regimes) format_regime(out, table + ".regime", regime);
  for (const Correction& row : function.corrections)
    out += "[[" + table + ".correction]]\nranks = " + std::to_string(row.ranks) +
           "\nfactors = " + factors_text(row.factors) + "\n";
  for (const Regime& regime : function.baseline) format_regime(out, table + ".baseline", regime);
  return out;
}

}  // namespace foretrace::machine
