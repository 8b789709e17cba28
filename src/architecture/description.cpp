#include "architecture/description.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "architecture/numbers.hpp"
#include "base/whole_file.hpp"
#include "toml_file/reader.hpp"
#include "topology/shape.hpp"

namespace foretrace::architecture {
namespace {

using machine::TableReader;

constexpr std::size_t kMostFiles = 64;

bool is_name(std::string_view text) {
  if (text.empty()) return false;
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

class Reader {
 public:
  Reader(Description& into, const std::string& file, const std::string& library)
      : into_(into), file_(file), library_(library) {}

  void read(const toml::table& root, bool is_first) {
    const TableReader reader(root, file_, "architecture file");
    reader.allow_only({"architecture", "entity", "composite"});
    const toml::table* head = reader.table("architecture");
    if (is_first && !head)
      throw Error(file_ +
                  ":1: not an architecture: it has no [architecture] table; add one with a "
                  "'name'");
    if (head) read_head(TableReader(*head, file_, "[architecture]"), is_first);
    if (const toml::table* entities = reader.table("entity"))
      for (const auto& [key, node] : *entities) read_entity(std::string(key.str()), node);
    if (const toml::table* composites = reader.table("composite"))
      for (const auto& [key, node] : *composites) read_composite(std::string(key.str()), node);
  }

 private:
  Source where(const toml::node& node) const {
    return {file_, static_cast<int>(node.source().begin.line)};
  }

  void check_name(const TableReader& reader, const toml::node& node, const std::string& name,
                  const char* what) const {
    if (!is_name(name))
      reader.fail(&node, std::string(what) + " '" + name +
                             "' must be a name of letters, digits, '_' and '-'");
  }

  std::string required(const TableReader& reader, std::string_view key) const {
    const auto text = reader.text(key);
    if (!text || text->empty()) reader.fail(nullptr, "needs '" + std::string(key) + "'");
    return *text;
  }

  void read_head(const TableReader& reader, bool is_first) {
    reader.allow_only({"name", "machine", "include", "latency", "bandwidth"});
    if (is_first) {
      into_.name = reader.text("name").value_or(file_);
      into_.machine = reader.text("machine").value_or("machine");
      read_speed(reader, into_.latency, into_.bytes_per_second);
    }
    const toml::array* includes = reader.array("include");
    if (!includes) return;
    for (const toml::node& node : *includes) {
      const auto name = node.value_exact<std::string>();
      if (!name) reader.fail(&node, "'include' must hold names of files");
      include(reader, node, *name);
    }
  }

  void include(const TableReader& reader, const toml::node& node, const std::string& name) {
    namespace fs = std::filesystem;
    std::error_code error;
    fs::path path = fs::path(file_).parent_path() / name;
    if (!fs::is_regular_file(path, error) && !library_.empty()) path = fs::path(library_) / name;
    if (!fs::is_regular_file(path, error))
      reader.fail(&node, "there is no '" + name + "' beside this file" +
                             (library_.empty() ? "" : " or in " + library_) + "; correct the name");
    const std::string found = path.lexically_normal().string();
    if (std::ranges::find(into_.files, found) != into_.files.end()) return;
    if (into_.files.size() >= kMostFiles)
      reader.fail(&node, "more than " + std::to_string(kMostFiles) + " files");
    into_.files.push_back(found);
    const toml::table root = machine::parse_toml(read_whole_file(found, "the architecture"), found);
    Reader(into_, found, library_).read(root, false);
  }

  void read_speed(const TableReader& reader, std::optional<Time>& latency,
                  std::optional<double>& bandwidth) const {
    if (const toml::node* node = reader.raw().get("latency")) {
      const auto text = node->value_exact<std::string>();
      if (text) latency = machine::parse_latency(*text);
      if (!latency)
        reader.fail(node, "'latency' must be a time with its unit, for example \"100ns\"");
    }
    if (const toml::node* node = reader.raw().get("bandwidth")) {
      const auto text = node->value_exact<std::string>();
      if (text) bandwidth = machine::parse_bandwidth(*text);
      if (!bandwidth)
        reader.fail(node, "'bandwidth' must be a rate with its unit, for example \"10GB/s\"");
    }
  }

  Written written(const TableReader& reader, const toml::node& node, const std::string& key) const {
    Written value;
    value.where = where(node);
    if (const auto number = node.value_exact<std::int64_t>()) {
      value.number = static_cast<double>(*number);
    } else if (const auto real = node.value_exact<double>(); real && std::isfinite(*real)) {
      value.kind = Written::Kind::real;
      value.number = *real;
    } else if (const auto truth = node.value_exact<bool>()) {
      value.kind = Written::Kind::truth;
      value.number = *truth ? 1 : 0;
    } else if (const auto text = node.value_exact<std::string>()) {
      value.kind = Written::Kind::text;
      value.text = *text;
    } else if (const toml::array* array = node.as_array()) {
      value.kind = Written::Kind::array;
      for (const toml::node& entry : *array) value.array.push_back(reader.number_in(entry, key));
    } else if (const toml::table* table = node.as_table()) {
      value.kind = Written::Kind::file;
      const TableReader from(*table, file_, "parameter '" + key + "'");
      from.allow_only({"file"});
      value.text = (std::filesystem::path(file_).parent_path() / required(from, "file")).string();
    } else {
      reader.fail(&node, "parameter '" + key +
                             "' must be a number, a text, an array or { file = \"...\" }");
    }
    return value;
  }

  Values read_values(const TableReader& reader, std::string_view key) const {
    Values values;
    const toml::table* table = reader.table(key);
    if (!table) return values;
    for (const auto& [name, node] : *table)
      values.emplace(std::string(name.str()), written(reader, node, std::string(name.str())));
    return values;
  }

  // name = { type = "time", default = "1ns", ... }, or name = "1ns" with the type of the value.
  std::vector<ParameterSpec> read_declarations(const TableReader& reader,
                                               std::string_view key) const {
    std::vector<ParameterSpec> all;
    const toml::table* table = reader.table(key);
    if (!table) return all;
    for (const auto& [name, node] : *table) {
      ParameterSpec spec;
      spec.name = name.str();
      spec.where = where(node);
      check_name(reader, node, spec.name, "the parameter");
      const toml::table* detail = node.as_table();
      if (!detail)
        reader.fail(&node, "the parameter '" + spec.name + "' needs { type = ..., default = ... }");
      const TableReader from(*detail, file_, "parameter '" + spec.name + "'");
      from.allow_only({"type", "default", "choices", "least", "most", "help"});
      read_type(from, spec);
      if (const toml::node* usual = detail->get("default")) spec.usual = text_of(from, *usual);
      if (const toml::array* choices = from.array("choices"))
        for (const toml::node& choice : *choices) spec.choices.push_back(text_of(from, choice));
      if (const auto least = from.number("least")) spec.least = *least;
      if (const auto most = from.number("most")) spec.most = *most;
      spec.help = from.text("help").value_or("");
      all.push_back(std::move(spec));
    }
    return all;
  }

  void read_type(const TableReader& from, ParameterSpec& spec) const {
    constexpr std::string_view kTypes[] = {"integer", "real",        "time", "size",
                                           "rate",    "enumeration", "array"};
    const std::string type = from.text("type").value_or("real");
    const auto* const found = std::ranges::find(kTypes, type);
    if (found == std::end(kTypes))
      from.fail(from.raw().get("type"),
                "'type' must be integer, real, time, size, rate, enumeration or array");
    spec.type = static_cast<ParameterType>(found - kTypes);
  }

  std::string text_of(const TableReader& reader, const toml::node& node) const {
    if (const auto text = node.value_exact<std::string>()) return *text;
    if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
    if (const auto real = node.value_exact<double>()) return std::to_string(*real);
    reader.fail(&node, "expected a text or a number");
  }

  void read_entity(const std::string& name, const toml::node& node) {
    if (!node.is_table())
      throw Error(where(node).text() + ": [entity." + name + "] must be a table");
    const TableReader reader(*node.as_table(), file_, "[entity." + name + "]");
    check_name(reader, node, name, "the entity");
    reader.allow_only({"behaviour", "plugin", "level", "parameters", "ports", "declare"});
    EntityKind kind;
    kind.name = name;
    kind.where = where(node);
    kind.behaviour = reader.text("behaviour").value_or("");
    kind.plugin = reader.text("plugin").value_or("");
    if (kind.behaviour.empty() == kind.plugin.empty())
      reader.fail(nullptr, "needs either 'behaviour' (a built-in one) or 'plugin' (a .so file)");
    if (!kind.plugin.empty() && kind.plugin.find('/') == std::string::npos)
      kind.plugin = (std::filesystem::path(file_).parent_path() / kind.plugin).string();
    kind.level = reader.text("level").value_or("");
    kind.values = read_values(reader, "parameters");
    kind.parameters = read_declarations(reader, "declare");
    if (const toml::array* ports = reader.array("ports"))
      for (const toml::node& port : *ports) {
        kind.ports.push_back({text_of(reader, port), 0, 1 << 20});
        check_name(reader, port, kind.ports.back().name, "the port");
      }
    if (kind.plugin.empty() && (!kind.ports.empty() || !kind.parameters.empty()))
      reader.fail(nullptr,
                  "'ports' and 'declare' are for plug-ins; a built-in behaviour has its own");
    if (!into_.entities.emplace(name, std::move(kind)).second)
      reader.fail(&node, "the entity '" + name + "' is there twice; rename one");
  }

  void read_composite(const std::string& name, const toml::node& node) {
    if (!node.is_table())
      throw Error(where(node).text() + ": [composite." + name + "] must be a table");
    const TableReader reader(*node.as_table(), file_, "[composite." + name + "]");
    check_name(reader, node, name, "the composite");
    reader.allow_only({"level", "parameters", "part", "link", "ports", "levels"});
    Composite made;
    made.name = name;
    made.where = where(node);
    made.level = reader.text("level").value_or("inside");
    made.parameters = read_declarations(reader, "parameters");
    if (const toml::array* parts = reader.array("part"))
      for (const toml::node& part : *parts) made.parts.push_back(read_part(reader, part));
    if (const toml::array* links = reader.array("link"))
      for (const toml::node& link : *links) made.links.push_back(read_link(reader, link));
    if (const toml::table* ports = reader.table("ports"))
      for (const auto& [port, inside] : *ports) {
        check_name(reader, inside, std::string(port.str()), "the port");
        made.ports.push_back({std::string(port.str()), text_of(reader, inside), where(inside)});
      }
    if (const toml::table* levels = reader.table("levels"))
      for (const auto& [level, detail] : *levels)
        made.levels.push_back(read_level(reader, std::string(level.str()), detail));
    if (made.parts.empty()) reader.fail(nullptr, "has no [[composite." + name + ".part]]; add one");
    if (!into_.composites.emplace(name, std::move(made)).second)
      reader.fail(&node, "the composite '" + name + "' is there twice; rename one");
  }

  CompositeLevel read_level(const TableReader& above, const std::string& name,
                            const toml::node& node) const {
    if (!node.is_table()) above.fail(&node, "the level '" + name + "' must be a table");
    const TableReader reader(*node.as_table(), file_, "level '" + name + "'");
    reader.allow_only({"kind", "parameters"});
    CompositeLevel level{name, reader.text("kind").value_or(""), read_values(reader, "parameters"),
                         where(node)};
    if (name == "inside") reader.fail(nullptr, "means the composite's parts; take another name");
    if (level.kind.empty())
      reader.fail(nullptr,
                  "has no behaviour; name it with 'kind', for example kind = \"processor\"");
    return level;
  }

  Part read_part(const TableReader& above, const toml::node& node) const {
    if (!node.is_table()) above.fail(&node, "'part' must be an array of tables");
    const TableReader reader(*node.as_table(), file_, "part");
    reader.allow_only({"name", "kind", "template", "switch", "port", "count", "level", "parameters",
                       "switch_parameters", "latency", "bandwidth", "at"});
    Part part;
    part.where = where(node);
    part.name = required(reader, "name");
    check_name(reader, node, part.name, "the part");
    part.kind = required(reader, "kind");
    part.shape = reader.text("template").value_or("");
    part.switches = reader.text("switch").value_or("");
    part.port = reader.text("port").value_or("net");
    part.level = reader.text("level").value_or("");
    part.values = read_values(reader, "parameters");
    part.switch_values = read_values(reader, "switch_parameters");
    read_speed(reader, part.latency, part.bytes_per_second);
    if (const toml::node* count = reader.raw().get("count")) read_count(reader, *count, part);
    if (part.shape.empty() && (!part.switches.empty() || !part.switch_values.empty()))
      reader.fail(nullptr, "'switch' goes with a 'template'");
    if (const toml::array* at = reader.array("at")) {
      if (at->size() != 2) reader.fail(at, "'at' must be [x, y]");
      part.x = reader.number_in((*at)[0], "at");
      part.y = reader.number_in((*at)[1], "at");
    }
    return part;
  }

  void read_count(const TableReader& reader, const toml::node& count, Part& part) const {
    if (!part.shape.empty()) reader.fail(&count, "give either 'count' or 'template', not both");
    if (const auto text = count.value_exact<std::string>(); text && text->starts_with("$")) {
      part.count_from = text->substr(1);
      part.count = 0;
      return;
    }
    const auto number = count.value_exact<std::int64_t>();
    if (!number || *number < 1 || *number > 1 << 20)
      reader.fail(&count,
                  "'count' must be a whole number from 1 to 1048576, or a parameter's \"$name\"");
    part.count = static_cast<int>(*number);
    part.count_from = "#";
  }

  PartLink read_link(const TableReader& above, const toml::node& node) const {
    if (!node.is_table()) above.fail(&node, "'link' must be an array of tables");
    const TableReader reader(*node.as_table(), file_, "link");
    reader.allow_only({"from", "to", "latency", "bandwidth", "one_way"});
    PartLink link;
    link.where = where(node);
    link.from = required(reader, "from");
    link.to = required(reader, "to");
    read_speed(reader, link.latency, link.bytes_per_second);
    if (const toml::node* one_way = reader.raw().get("one_way")) {
      if (!one_way->is_boolean()) reader.fail(one_way, "'one_way' must be true or false");
      link.one_way = *one_way->value_exact<bool>();
    }
    return link;
  }

  Description& into_;
  std::string file_;
  std::string library_;
};

[[noreturn]] void refuse(const Written& written, const ParameterSpec& spec,
                         const std::string& what) {
  throw Error(written.where.text() + ": parameter '" + spec.name + "' is " +
              std::string(name_of(spec.type)) + what);
}

void read_array(const Written& written, const ParameterSpec& spec, std::vector<double>& array) {
  if (written.kind == Written::Kind::array) {
    array = written.array;
    return;
  }
  if (written.kind != Written::Kind::file)
    refuse(written, spec, "; write [1, 2, 3] or { file = \"numbers.txt\" }");
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(written.text, ignored))
    refuse(written, spec, ", but there is no file " + written.text + "; correct the name");
  const std::string content = read_whole_file(written.text, "the numbers");
  int line = 1;
  for (std::size_t at = 0; at < content.size();) {
    const char c = content[at];
    if (c == '\n' || c == ' ' || c == '\t' || c == '\r' || c == ',') {
      line += c == '\n';
      ++at;
      continue;
    }
    double value = 0;
    const auto [end, error] =
        std::from_chars(content.data() + at, content.data() + content.size(), value);
    if (error != std::errc() || !std::isfinite(value))
      throw Error(written.text + ":" + std::to_string(line) + ": expected numbers");
    array.push_back(value);
    at = static_cast<std::size_t>(end - content.data());
  }
}

}  // namespace

PortReference parse_port_reference(const std::string& text, const Source& where) {
  const auto fail = [&](const std::string& what) {
    throw Error(where.text() + ": '" + text + "' " + what);
  };
  const std::size_t dot = text.rfind('.');
  if (dot == std::string::npos || dot == 0 || text[dot - 1] == '.')
    fail("must be PART.PORT, for example \"router.net\"");
  PortReference made{text.substr(0, dot), text.substr(dot + 1), std::nullopt};
  if (!made.part.ends_with("]")) return made;
  const std::size_t bracket = made.part.rfind('[');
  if (bracket == std::string::npos) fail("has a ']' without '['");
  const std::string inside = made.part.substr(bracket + 1, made.part.size() - bracket - 2);
  made.part.resize(bracket);
  const std::size_t dots = inside.find("..");
  const auto number = [&](std::string_view digits) {
    int value = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 0)
      fail("must have whole numbers in the brackets, as in part[3] or part[0..3]");
    return value;
  };
  const int first = number(std::string_view(inside).substr(0, dots));
  made.range.emplace(
      first, dots == std::string::npos ? first : number(std::string_view(inside).substr(dots + 2)));
  return made;
}

Written written_as(const ParameterSpec& spec, const std::string& text, const Source& where) {
  Written written;
  written.where = where;
  written.kind = Written::Kind::text;
  written.text = text;
  const auto number = [](std::string_view digits, double& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  if (spec.type == ParameterType::integer || spec.type == ParameterType::real) {
    if (number(text, written.number)) written.kind = Written::Kind::real;
  } else if (spec.type == ParameterType::array) {
    written.kind = Written::Kind::array;
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      if (!number(rest.substr(0, comma), written.array.emplace_back()))
        written.kind = Written::Kind::text;
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return written;
}

double number_of(const Written& written, const ParameterSpec& spec, std::string& word,
                 std::vector<double>& array) {
  const bool is_text = written.kind == Written::Kind::text;
  const bool is_number =
      written.kind == Written::Kind::integer || written.kind == Written::Kind::real;
  std::optional<double> value;
  switch (spec.type) {
    case ParameterType::integer:
    case ParameterType::real:
      if (!is_number ||
          (spec.type == ParameterType::integer && written.number != std::floor(written.number)))
        refuse(written, spec, "; write it without quotes and unit");
      if (written.number < spec.least || written.number > spec.most)
        refuse(written, spec,
               " from " + format_number(spec.least) + " to " + format_number(spec.most) +
                   ", found " + format_number(written.number));
      return written.number;
    case ParameterType::time:
      if (is_text)
        if (const auto latency = machine::parse_latency(written.text)) value = latency->seconds();
      if (spec.above_zero && is_text && (value == 0.0 || written.text.starts_with("-")))
        throw Error(written.where.text() + ": '" + spec.name + "' must be above zero, found '" +
                    written.text + "'; correct it");
      if (!value) refuse(written, spec, " and needs a unit, for example \"1us\"");
      return *value;
    case ParameterType::size:
      if (is_text && !written.text.empty() && written.text.back() > '9')
        if (const auto size = parse_bytes(written.text)) value = *size;
      if (!value) refuse(written, spec, " and needs a unit, for example \"64KiB\" or \"16B\"");
      return *value;
    case ParameterType::rate:
      if (is_text) value = machine::parse_bandwidth(written.text);
      if (!value) refuse(written, spec, " and needs a unit, for example \"10GB/s\"");
      return *value;
    case ParameterType::word: {
      std::string all;
      for (const std::string& choice : spec.choices) all += (all.empty() ? "" : ", ") + choice;
      if (!is_text || (!spec.choices.empty() &&
                       std::ranges::find(spec.choices, written.text) == spec.choices.end()))
        refuse(written, spec,
               (is_text ? ", found '" + written.text + "'" : std::string()) +
                   (all.empty() ? "; write it in quotes" : "; it is one of " + all));
      word = written.text;
      return 0;
    }
    case ParameterType::array:
      read_array(written, spec, array);
      return static_cast<double>(array.size());
  }
  return 0;
}

Description parse_description(std::string_view text, const std::string& name,
                              const std::string& library) {
  Description made;
  made.file = name;
  made.files.push_back(std::filesystem::path(name).lexically_normal().string());
  const toml::table root = machine::parse_toml(text, name);
  Reader(made, name, library).read(root, true);
  return made;
}

Description read_description(const std::string& path, const std::string& library) {
  return parse_description(read_whole_file(path, "the architecture"), path, library);
}

}  // namespace foretrace::architecture
