#include "study/study_file.hpp"

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "base/whole_file.hpp"
#include "results/schema.hpp"
#include "toml_file/reader.hpp"

namespace foretrace::study {
namespace {

using machine::TableReader;

constexpr std::size_t kMostValues = 100'000;
constexpr std::pair<std::string_view, Kind> kKinds[] = {
    {"measured", Kind::measured}, {"predict", Kind::predict}, {"simulate", Kind::simulate},
    {"live", Kind::live},         {"text", Kind::text},       {"model", Kind::model},
    {"command", Kind::command}};

int line_of(const toml::node& node) {
  return static_cast<int>(node.source().begin.line);
}

// A number that is whole, as such.
Cell number_cell(double value) {
  if (value == std::trunc(value) && std::fabs(value) < 9e15)
    return static_cast<std::int64_t>(value);
  return value;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file)
      : root_(machine::parse_toml(text, file)), top_(root_, file, "study") {
    study_.file = file;
    study_.text = text;
  }

  Study run() {
    top_.allow_only({"study", "parameters", "zip", "programs", "ways", "quantities"});
    if (const toml::table* table = top_.table("study")) settings(*table);
    if (study_.name.empty()) study_.name = name_of_file();
    if (const toml::table* table = top_.table("parameters"))
      for (const auto& [name, node] : sorted(*table)) parameter(name, *node);
    if (const toml::array* array = top_.array("zip"))
      for (const toml::node& node : *array) zip(node);
    if (const toml::table* table = top_.table("programs"))
      for (const auto& [name, node] : sorted(*table)) program(name, *node);
    if (const toml::table* table = top_.table("ways"))
      for (const auto& [name, node] : sorted(*table)) way(name, *node);
    if (study_.ways.empty()) top_.fail(nullptr, "there is no [ways.NAME]: nothing would be run");
    if (const toml::table* table = top_.table("quantities"))
      for (const auto& [name, node] : sorted(*table)) quantity(name, *node);
    for (const Way& way : study_.ways)
      if (way.kind == Kind::command &&
          std::ranges::find(study_.quantities, "time", &Quantity::name) == study_.quantities.end())
        throw Error(study_.file + ":" + std::to_string(way.line) + ": a way of the kind command " +
                    "needs [quantities] time = 'PATTERN': where the program prints its time, in s");
    return std::move(study_);
  }

 private:
  // toml++ sorts by name; a study goes by the order of its lines.
  static std::vector<std::pair<std::string, const toml::node*>> sorted(const toml::table& table) {
    std::vector<std::pair<std::string, const toml::node*>> out;
    for (const auto& [key, node] : table) out.emplace_back(std::string(key.str()), &node);
    std::ranges::stable_sort(out, [](const auto& a, const auto& b) {
      const auto x = a.second->source().begin;
      const auto y = b.second->source().begin;
      return x.line != y.line ? x.line < y.line : x.column < y.column;
    });
    return out;
  }

  [[noreturn]] void fail(const toml::node& node, const std::string& message) const {
    throw Error(study_.file + ":" + std::to_string(line_of(node)) + ": " + message);
  }

  std::string name_of_file() const {
    const std::size_t slash = study_.file.find_last_of('/');
    const std::string base =
        slash == std::string::npos ? study_.file : study_.file.substr(slash + 1);
    return base.substr(0, base.find('.'));
  }

  void settings(const toml::table& table) {
    const TableReader reader(table, study_.file, "study");
    reader.allow_only({"name", "where", "launches", "precision", "busy_limit", "quiet_seconds",
                       "timeout", "seed"});
    study_.name = reader.text("name").value_or("");
    if (const toml::node* node = table.get("where")) {
      study_.where = texts(*node, "where");
      study_.where_line = line_of(*node);
    }
    if (const toml::node* node = table.get("launches")) {
      const toml::array* range = node->as_array();
      if (!range) fail(*node, "'launches' must be [LEAST, MOST], such as [5, 30]");
      const auto least = range->size() == 2 ? (*range)[0].value<std::int64_t>() : std::nullopt;
      const auto most = range->size() == 2 ? (*range)[1].value<std::int64_t>() : std::nullopt;
      if (!least || !most || *least < 1 || *most < *least || *most > 100'000)
        fail(*range, "'launches' must be [LEAST, MOST], whole numbers from 1 on, such as [5, 30]");
      study_.least_launches = static_cast<int>(*least);
      study_.most_launches = static_cast<int>(*most);
    }
    study_.precision = reader.non_negative("precision").value_or(study_.precision);
    study_.busy_limit = reader.non_negative("busy_limit").value_or(study_.busy_limit);
    study_.quiet_seconds = reader.seconds("quiet_seconds").value_or(study_.quiet_seconds);
    study_.timeout_seconds = reader.seconds("timeout").value_or(study_.timeout_seconds);
    study_.seed = static_cast<std::uint64_t>(reader.non_negative("seed").value_or(1));
  }

  std::vector<std::string> texts(const toml::node& node, const std::string& what) const {
    if (const auto one = node.value_exact<std::string>()) return {*one};
    const toml::array* array = node.as_array();
    if (!array) fail(node, "'" + what + "' must be a text or a list of texts");
    std::vector<std::string> out;
    for (const toml::node& each : *array) {
      const auto text = each.value_exact<std::string>();
      if (!text) fail(each, "'" + what + "' must be a list of texts");
      out.push_back(*text);
    }
    return out;
  }

  void check_column(const std::string& name, const toml::node& node) const {
    if (!results::is_column_name(name))
      fail(node, "'" + name + "' is no name for a column of results: letters, digits and _, and " +
                     "none that every row has (program, way, kind, status, ...)");
  }

  void parameter(const std::string& name, const toml::node& node) {
    // What every row has; these two are the same there.
    if (name != "machine" && name != "ranks") check_column(name, node);
    Parameter out{name, {}};
    if (const toml::array* array = node.as_array()) {
      for (const toml::node& each : *array) value(each, out);
    } else if (const toml::table* table = node.as_table()) {
      range(*table, out);
    } else {
      value(node, out);
    }
    if (out.values.empty()) fail(node, "'" + name + "' has no value");
    study_.parameters.push_back(std::move(out));
  }

  void value(const toml::node& node, Parameter& out) const {
    if (const auto text = node.value_exact<std::string>())
      out.values.emplace_back(*text);
    else if (const auto whole = node.value_exact<std::int64_t>())
      out.values.emplace_back(*whole);
    else if (const auto number = node.value_exact<double>(); number && std::isfinite(*number))
      out.values.push_back(number_cell(*number));
    else
      fail(node, "a value of '" + out.name + "' must be a number or a text");
  }

  // {from, to, step} or {from, to, factor}; the end is there if it is met.
  void range(const toml::table& table, Parameter& out) const {
    const TableReader reader(table, study_.file, out.name);
    reader.allow_only({"from", "to", "step", "factor"});
    const auto from = reader.number("from");
    const auto to = reader.number("to");
    const auto step = reader.number("step");
    const auto factor = reader.number("factor");
    if (!from || !to || (step && factor))
      fail(table, "a range is {from, to, step} or {from, to, factor}");
    if (*from > *to) fail(table, "a range goes upwards: 'from' must not be above 'to'");
    const double slack = 1e-9 * std::max(std::fabs(*from), std::fabs(*to));
    if (factor ? !(*factor > 1 && *from > 0) : !(step.value_or(1) > 0))
      fail(table, "a range needs step > 0, or factor > 1 and from > 0");
    for (std::size_t i = 0;; ++i) {
      const auto n = static_cast<double>(i);
      const double each = factor ? *from * std::pow(*factor, n) : *from + n * step.value_or(1);
      if (each > *to + slack) return;
      if (i >= kMostValues) fail(table, "a range has more than 100,000 values");
      // Powers that come out whole but for rounding.
      const double near = std::round(each);
      out.values.push_back(
          number_cell(std::fabs(each - near) < 1e-9 * std::fabs(each) ? near : each));
    }
  }

  void zip(const toml::node& node) {
    std::vector<std::string> names = texts(node, "zip");
    if (names.size() < 2) fail(node, "a zip names two parameters or more: zip = [[\"p\", \"n\"]]");
    std::size_t length = 0;
    for (const std::string& name : names) {
      const auto found = std::ranges::find(study_.parameters, name, &Parameter::name);
      if (found == study_.parameters.end()) fail(node, "there is no parameter '" + name + "'");
      for (const auto& other : study_.zips)
        if (std::ranges::count(other, name) != 0) fail(node, "'" + name + "' is in two zips");
      if (std::ranges::count(names, name) != 1) fail(node, "'" + name + "' is there twice");
      if (length != 0 && found->values.size() != length)
        fail(node, "parameters that go together must have equally many values; '" + name +
                       "' has " + std::to_string(found->values.size()) + ", those before it " +
                       std::to_string(length));
      length = found->values.size();
    }
    study_.zips.push_back(std::move(names));
  }

  // Words, from a text or a list.
  std::vector<std::string> words(const toml::node& node, const std::string& what) const {
    std::vector<std::string> out;
    if (const auto text = node.value_exact<std::string>())
      out = split_words(*text, study_.file + ":" + std::to_string(line_of(node)) + ": " + what);
    else
      out = texts(node, what);
    for (const std::string& word : out) check_names(word, node, what);
    return out;
  }

  std::string word(const TableReader& reader, const std::string& key) const {
    const auto text = reader.text(key);
    if (text) check_names(*text, *reader.raw().get(key), key);
    return text.value_or("");
  }

  void check_names(const std::string& text, const toml::node& node, const std::string& what) const {
    const std::string where = study_.file + ":" + std::to_string(line_of(node)) + ": " + what;
    for (const std::string& name : names_in(text, where))
      if (std::ranges::find(study_.parameters, name, &Parameter::name) == study_.parameters.end())
        throw Error(where + ": there is no parameter '" + name + "'");
  }

  void program(const std::string& name, const toml::node& node) {
    if (!node.is_table()) fail(node, "[programs." + name + "] must be a table");
    const TableReader reader(*node.as_table(), study_.file, "programs." + name);
    reader.allow_only({"command", "ranks"});
    Program out{name, {}, "1", line_of(node)};
    const toml::node* command = reader.raw().get("command");
    if (!command) reader.fail(nullptr, "'command' is missing: what to run");
    out.command = words(*command, "command");
    if (out.command.empty()) reader.fail(command, "'command' is empty");
    if (const toml::node* ranks = reader.raw().get("ranks")) {
      const auto number = ranks->value_exact<std::int64_t>();
      const auto text = ranks->value_exact<std::string>();
      if (!number && !text) reader.fail(ranks, "'ranks' must be a number, or a text as \"{p}\"");
      out.ranks = number ? std::to_string(*number) : *text;
      check_names(out.ranks, *ranks, "ranks");
    }
    study_.programs.push_back(std::move(out));
  }

  void way(const std::string& name, const toml::node& node) {
    if (!node.is_table()) fail(node, "[ways." + name + "] must be a table");
    const TableReader reader(*node.as_table(), study_.file, "ways." + name);
    reader.allow_only({"kind", "programs", "machine", "options", "record_options", "file", "at"});
    Way out;
    out.name = name;
    out.line = line_of(node);
    out.kind = kind(reader, name);
    if (const toml::node* list = reader.raw().get("programs")) {
      out.programs = texts(*list, "programs");
      for (const std::string& each : out.programs)
        if (std::ranges::find(study_.programs, each, &Program::name) == study_.programs.end())
          reader.fail(list, "there is no [programs." + each + "]");
    }
    out.machine = word(reader, "machine");
    out.file = word(reader, "file");
    out.at = word(reader, "at");
    std::tie(out.options, out.options_line) = options(reader, "options", out.line);
    std::tie(out.record_options, out.record_options_line) =
        options(reader, "record_options", out.line);
    check_way(reader, out);
    study_.ways.push_back(std::move(out));
  }

  // A way's words, and their line.
  std::pair<std::vector<std::string>, int> options(const TableReader& reader, const char* key,
                                                   int line_of_way) const {
    const toml::node* node = reader.raw().get(key);
    if (!node) return {{}, line_of_way};
    return {words(*node, key), line_of(*node)};
  }

  Kind kind(const TableReader& reader, const std::string& name) const {
    const std::string word = reader.text("kind").value_or(name);
    for (const auto& [each, kind] : kKinds)
      if (each == word) return kind;
    std::string known;
    for (const auto& [each, unused] : kKinds)
      known += (known.empty() ? "" : ", ") + std::string(each);
    reader.fail(reader.raw().get("kind"), "'kind' must be one of " + known);
  }

  void check_way(const TableReader& reader, const Way& way) const {
    const bool of_file = way.kind == Kind::text || way.kind == Kind::model;
    if (of_file && way.file.empty()) reader.fail(nullptr, "'file' is missing: what to evaluate");
    if (!of_file && !way.file.empty())
      reader.fail(reader.raw().get("file"), "'file' is for the kinds text and model");
    if (!of_file && study_.programs.empty())
      reader.fail(nullptr, "there is no [programs.NAME] to run");
    if (of_file && !way.programs.empty())
      reader.fail(reader.raw().get("programs"), "'programs' is not for the kinds text and model");
    if (way.kind != Kind::model && !way.at.empty())
      reader.fail(reader.raw().get("at"), "'at' is for the kind model");
    if (way.kind != Kind::simulate && !way.record_options.empty())
      reader.fail(reader.raw().get("record_options"), "'record_options' is for the kind simulate");
    for (const Kind kind : {Kind::measured, Kind::command})
      if (way.kind == kind && !way.machine.empty())
        reader.fail(reader.raw().get("machine"),
                    "a way of the kind " + std::string(name_of(kind)) +
                        " runs the program as it is; it has no machine");
    if (way.kind == Kind::command && !way.options.empty())
      reader.fail(reader.raw().get("options"), "'options' belong into the program's command here");
    if (way.kind == Kind::predict && way.machine.empty())
      reader.fail(nullptr, "'machine' is missing: what to predict for");
  }

  void quantity(const std::string& name, const toml::node& node) {
    check_column(name, node);
    const auto pattern = node.value_exact<std::string>();
    if (!pattern) fail(node, "'" + name + "' must be a text: a regular expression with one group");
    if (std::ranges::find(study_.parameters, name, &Parameter::name) != study_.parameters.end())
      fail(node, "'" + name + "' is a parameter already");
    try {
      if (std::regex(*pattern).mark_count() != 1)
        fail(node, "'" + name + "' needs one group in brackets: the number");
    } catch (const std::regex_error&) {
      fail(node, "'" + *pattern + "' is no regular expression");
    }
    study_.quantities.push_back({name, *pattern});
  }

  toml::table root_;
  TableReader top_;
  Study study_;
};

}  // namespace

std::string_view name_of(Kind kind) {
  for (const auto& [name, each] : kKinds)
    if (each == kind) return name;
  return "";
}

Study parse_study(std::string_view text, const std::string& file) {
  return Reader(text, file).run();
}

Study read_study(const std::string& path) {
  return parse_study(read_whole_file(path, "the study"), path);
}

}  // namespace foretrace::study
