// Description: MACHINE.arch.toml as it is written: kinds of entities, composites of parts and
// links.
//
// docs/architecture-files.md is the specification. Reading checks every key, type and unit, with
// its line; what depends on how parts fit together is checked by elaborate.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace foretrace::architecture {

// Where something stands: "FILE:LINE", or the option that says it (line 0).
struct Source {
  std::string file;
  int line = 0;
  std::string text() const { return line > 0 ? file + ":" + std::to_string(line) : file; }
};

// A value as it is written; what it means depends on the parameter.
struct Written {
  enum class Kind : std::uint8_t { integer, real, truth, text, array, file };
  Kind kind = Kind::integer;
  double number = 0;  // integer, real, truth
  std::string text;   // text; file: its path
  std::vector<double> array;
  Source where;
};

enum class ParameterType : std::uint8_t { integer, real, time, size, rate, word, array };
std::string_view name_of(ParameterType type);

struct ParameterSpec {
  std::string name;
  ParameterType type = ParameterType::real;
  std::string usual;                 // as it would be written; empty: must be given
  std::vector<std::string> choices;  // word
  double least = 0;                  // integer, real
  double most = 1e18;
  std::string help;
  bool above_zero = false;  // time
  Source where{};           // where a file declares it
};

enum class Direction : std::uint8_t { both, in, out };

// A port, or several under one name, numbered by the links that come to them.
struct PortSpec {
  std::string name;
  int least = 0;
  int most = 1 << 20;
  Direction direction = Direction::both;
};

// What a kind of entity does, and at which levels it can be simulated.
struct BehaviourSpec {
  std::string name;
  std::vector<PortSpec> ports;
  std::vector<ParameterSpec> parameters;
  std::vector<std::string> levels;  // the first is the usual one
  std::string help;
};

const std::vector<BehaviourSpec>& built_in_behaviours();

using Values = std::map<std::string, Written, std::less<>>;

// [entity.NAME]
struct EntityKind {
  std::string name;
  std::string behaviour;  // of a built-in; empty: a plug-in's
  std::string plugin;     // path of the .so
  std::string level;
  Values values;
  std::vector<PortSpec> ports;            // plug-in
  std::vector<ParameterSpec> parameters;  // plug-in
  Source where;
};

// [[composite.NAME.part]]
struct Part {
  std::string name;
  std::string kind;        // an entity's, composite's or behaviour's name
  std::string shape;       // template: "torus:4x4"; empty: none
  std::string switches;    // template: the kind of its switches
  std::string port;        // template: the port of a part that links come to; empty: "net"
  int count = 1;           // n of these; with a template 0
  std::string count_from;  // a parameter's name: "$n"
  std::string level;
  Values values;
  Values switch_values;
  std::optional<Time> latency;  // of the template's links
  std::optional<double> bytes_per_second;
  std::optional<double> x, y;  // where it is drawn
  Source where;
};

// [[composite.NAME.link]]
struct PartLink {
  std::string from, to;  // "part.port", "part[3].port", "part[0..3].port"
  std::optional<Time> latency;
  std::optional<double> bytes_per_second;
  bool one_way = false;
  Source where;
};

struct OuterPort {
  std::string name;
  std::string inside;  // "part.port"
  Source where;
};

// [composite.NAME.level.LEVEL]: one entity in the composite's place.
struct CompositeLevel {
  std::string name;
  std::string kind;
  Values values;
  Source where;
};

struct Composite {
  std::string name;
  std::string level;  // "inside", or one of levels
  std::vector<ParameterSpec> parameters;
  std::vector<Part> parts;
  std::vector<PartLink> links;
  std::vector<OuterPort> ports;
  std::vector<CompositeLevel> levels;
  Source where;
};

struct Description {
  std::string name;
  std::string file;
  std::string machine = "machine";  // the composite that is the whole
  std::vector<std::string> files;   // read, this one first
  std::map<std::string, EntityKind, std::less<>> entities;
  std::map<std::string, Composite, std::less<>> composites;
  std::optional<Time> latency;  // of links that give none
  std::optional<double> bytes_per_second;
};

// Throws Error "FILE:LINE: what is wrong; what to do". Included files are looked for beside the
// file, then in `library` (a folder; empty: none).
Description read_description(const std::string& path, const std::string& library);
// From text; includes are looked for in the current folder.
Description parse_description(std::string_view text, const std::string& name,
                              const std::string& library);

// "part.port", "part[3].port", "part[0..3].port".
struct PortReference {
  std::string part, port;
  std::optional<std::pair<int, int>> range;
};
// Throws Error.
PortReference parse_port_reference(const std::string& text, const Source& where);

// A text as a value of that type; what is no number stays a text, which number_of() refuses.
Written written_as(const ParameterSpec& spec, const std::string& text, const Source& where);
// A value as a parameter of this type, in base units; words through `word`. Throws Error.
double number_of(const Written& written, const ParameterSpec& spec, std::string& word,
                 std::vector<double>& array);

}  // namespace foretrace::architecture
