#include "machine/machine_file.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "base/new_file.hpp"
#include "base/whole_file.hpp"
#include "machine/compute_toml.hpp"
#include "machine/function_toml.hpp"
#include "machine/launches_toml.hpp"
#include "machine/loggps_toml.hpp"
#include "machine/measurement.hpp"
#include "machine/measurement_toml.hpp"
#include "machine/pattern_toml.hpp"
#include "machine/pieces_toml.hpp"
#include "machine/reduction_toml.hpp"
#include "machine/rewrite_toml.hpp"
#include "toml_file/reader.hpp"
#include "toml_file/text.hpp"
#include "topology/builders.hpp"
#include "topology/file.hpp"
#include "topology/toml.hpp"

namespace foretrace::machine {
namespace {

void read_machine_table(const TableReader& reader, MachineModel& model) {
  reader.allow_only({"name", "ranks", "kind", "source", "licence", "date", "mpi_library",
                     "timer_resolution", "cache_line", "other_state_share", "time_unit",
                     "element_bytes"});
  model.name = reader.text("name").value_or("");
  if (const auto ranks = reader.non_negative("ranks")) {
    if (*ranks > INT_MAX || *ranks != std::floor(*ranks))
      reader.fail(reader.raw().get("ranks"), "'ranks' must be a whole number");
    model.ranks = static_cast<int>(*ranks);
  }
  model.kind = reader.text("kind").value_or("");
  if (!model.kind.empty() && model.kind != "measured" && model.kind != "derived" &&
      model.kind != "printed")
    reader.fail(reader.raw().get("kind"), R"('kind' must be "measured", "derived" or "printed")");
  model.source = reader.text("source").value_or("");
  model.licence = reader.text("licence").value_or("");
  model.date = reader.text("date").value_or("");
  model.mpi_library = reader.text("mpi_library").value_or("");
  model.timer_resolution = reader.non_negative("timer_resolution").value_or(0);
  model.cache_line = reader.non_negative("cache_line").value_or(0);
  model.other_state_share = reader.non_negative("other_state_share").value_or(0);
  if (model.other_state_share > 1)
    reader.fail(reader.raw().get("other_state_share"),
                "'other_state_share' is a share and must not be above 1");
  if (const auto unit = reader.text("time_unit")) {
    if (*unit == "s")
      model.time_unit = 1;
    else if (*unit == "ms")
      model.time_unit = 1e-3;
    else if (*unit == "us" || *unit == "µs" || *unit == "μs")
      model.time_unit = 1e-6;
    else if (*unit == "ns")
      model.time_unit = 1e-9;
    else
      reader.fail(reader.raw().get("time_unit"), R"('time_unit' must be "s", "ms", "us" or "ns")");
  }
  if (const auto element = reader.bytes("element_bytes")) {
    if (element->count == 0)
      reader.fail(reader.raw().get("element_bytes"), "'element_bytes' must be 1 or more");
    model.element = *element;
  }
}

CollectiveRules read_collectives(const TableReader& reader) {
  reader.allow_only({"synchronise", "count"});
  CollectiveRules rules;
  if (const toml::node* node = reader.raw().get("synchronise")) {
    const auto value = node->value_exact<bool>();
    if (!value) reader.fail(node, "'synchronise' must be true or false");
    rules.synchronise = *value;
  }
  if (const auto count = reader.text("count")) {
    if (*count != "own" && *count != "largest")
      reader.fail(reader.raw().get("count"), R"('count' must be "own" or "largest")");
    rules.largest_count = *count == "largest";
  }
  return rules;
}

std::string format_collectives(const CollectiveRules& rules) {
  if (rules == CollectiveRules()) return {};
  std::string out = "\n[collectives]\n";
  if (rules.synchronise) out += "synchronise = true\n";
  if (rules.largest_count) out += "count = \"largest\"\n";
  return out;
}

// The tables of a graph as a topology file of their own.
std::string graph_text(const toml::table& root) {
  toml::table graph;
  for (const char* key : {"topology", "node", "link"})
    if (const toml::node* node = root.get(key)) graph.insert(key, *node);
  std::ostringstream text;
  text << graph << "\n";
  return text.str();
}

ModelTopology read_topology(const TableReader& root, const TableReader& reader) {
  ModelTopology topology;
  const char* const form = reader.raw().get("expression") ? "expression" : "file";
  if (const auto text = reader.text(form)) {
    for (const char* key : {"node", "link"})
      if (const toml::node* node = root.raw().get(key))
        root.fail(node,
                  "a topology with '" + std::string(form) + "' has no [[" + key + "]]; remove one");
    if (form == std::string_view("file")) {
      reader.allow_only({"file"});
      if (text->empty()) reader.fail(reader.raw().get(form), "'file' must name a topology file");
      topology.file = *text;
      topology.folder = std::filesystem::path(reader.file()).parent_path().string();
      return topology;
    }
    reader.allow_only({"expression"});
    try {
      topology.spec = parse_topology_expression(*text);
    } catch (const UsageError& error) {
      reader.fail(reader.raw().get(form), error.what());
    }
    return topology;
  }
  TopologySpec spec = read_topology_spec(root, reader, "");
  if (spec.shape.kind == TopologyKind::arbitrary) {
    // Read for its faults, whose lines are known only now.
    read_topology_graph(root, reader, spec);
    topology.graph = graph_text(root.raw());
    return topology;
  }
  if (spec.name.empty()) spec.name = format_shape(spec.shape);
  topology.spec = std::move(spec);
  return topology;
}

std::string_view unit_name(double unit) {
  return unit == 1e-3 ? "ms" : unit == 1e-6 ? "us" : unit == 1e-9 ? "ns" : "s";
}

// The largest unit that leaves a whole number.
std::string latency_text(Time time) {
  std::int64_t count = time.count_ps();
  const char* unit = "ps";
  for (const char* larger : {"ns", "us", "ms", "s"}) {
    if (count % 1000 != 0) break;
    count /= 1000;
    unit = larger;
  }
  return "\"" + std::to_string(count) + unit + "\"";
}

void format_speed(std::string& out, const char* prefix, const LinkSpeed& speed) {
  if (speed.latency)
    out += std::string(prefix) + "latency = " + latency_text(*speed.latency) + "\n";
  if (speed.bytes_per_second)
    out += std::string(prefix) + "bandwidth = " + number(*speed.bytes_per_second) +
           "  # bytes per second\n";
  if (speed.burst)
    out += std::string(prefix) + "burst = " + std::to_string(*speed.burst) + "  # bytes\n";
}

void format_topology(std::string& out, const ModelTopology& topology) {
  if (!topology.graph.empty()) {
    out += "\n" + topology.graph;
    return;
  }
  out += "\n[topology]\n";
  if (!topology.file.empty()) {
    out += "file = " + quoted(topology.file) + "\n";
    return;
  }
  const TopologySpec& spec = topology.spec.value();
  const std::string shape = format_shape(spec.shape);
  const std::size_t colon = shape.find(':');
  out += "name = " + quoted(spec.name) + "\nkind = " + quoted(shape.substr(0, colon)) +
         "\nparameters = " + quoted(shape.substr(colon + 1)) + "\n";
  format_speed(out, "", spec.link);
  if (spec.header > 0)
    out += "header = " + std::to_string(spec.header) + "  # bytes of a message\n";
  if (spec.ranks_per_node != 1)
    out += "ranks_per_node = " + std::to_string(spec.ranks_per_node) + "\n";
  format_speed(out, "intra_", spec.intra_node);
}

// [loggps], [hop], [rewrite], [pieces] and [[function]], of the whole file or of one [path.NAME];
// `prefix`: of their names, "path.node.".
void read_path_model(const TableReader& reader, const std::string& prefix, PathModel& model) {
  const std::string& file = reader.file();
  if (const toml::table* table = reader.table("loggps")) read_loggps(*table, file, prefix, model);
  if (const toml::table* table = reader.table("hop"))
    model.hop = read_hop(TableReader(*table, file, "[" + prefix + "hop]"));
  if (const toml::table* table = reader.table("rewrite"))
    model.rewrite = read_rewrite(TableReader(*table, file, "[" + prefix + "rewrite]"));
  if (const toml::table* table = reader.table("pieces"))
    model.pieces = read_pieces(TableReader(*table, file, "[" + prefix + "pieces]"), prefix);
  const toml::array* functions = reader.array("function");
  if (!functions) return;
  for (const toml::node& node : *functions) {
    if (!node.is_table()) reader.fail(&node, "'function' must be an array of tables");
    Function function =
        read_function(TableReader(*node.as_table(), file, "[[" + prefix + "function]]"));
    std::string name = function.name;
    if (!model.functions.emplace(name, std::move(function)).second)
      reader.fail(&node, "'" + name + "' is there twice");
  }
}

void read_paths(const TableReader& reader, MachineModel& model) {
  for (const auto& [key, node] : reader.raw()) {
    const std::string name(key.str());
    const auto path = parse_path(name);
    if (path != Path::node)
      reader.fail(&node, "there is no path '" + name +
                             "'; known: node (the top level of the file is between nodes)");
    if (!node.is_table()) reader.fail(&node, "'path." + name + "' must be a table");
    const TableReader one(*node.as_table(), reader.file(), "[path." + name + "]");
    one.allow_only({"loggps", "hop", "rewrite", "pieces", "function"});
    read_path_model(one, "path." + name + ".", model.paths[*path]);
  }
}

// What is written here has these lines; what people write need not. A file that was cut off between
// two lines would be a model as well, with less in it.
constexpr std::string_view kFirstLine =
    "# A machine model of Foretrace's. It is whole if the last line is there.\n";
constexpr std::string_view kLastLine = "# The last line.";

void check_whole(std::string_view text, const std::string& name) {
  if (text.find(kFirstLine) == text.npos || text.find(kLastLine) != text.npos) return;
  throw Error(name + ":" + std::to_string(std::ranges::count(text, '\n')) +
              ": the file is cut off: its last line, '" + std::string(kLastLine) +
              "', is missing; take the whole file or make it anew, or remove its line '" +
              std::string(kFirstLine.substr(0, kFirstLine.size() - 1)) + "' if that is on purpose");
}

}  // namespace

MachineModel parse_machine(std::string_view text, const std::string& name) {
  check_whole(text, name);
  const toml::table root = parse_toml(text, name);
  const TableReader reader(root, name, "machine model");
  reader.allow_only({"machine", "measurement", "function", "loggps", "path", "collectives",
                     "compute", "hop", "topology", "node", "link", "pattern", "launches",
                     "reduction", "rewrite", "pieces"});
  MachineModel model;
  ComputeCosts costs;  // read for their faults
  if (const toml::table* table = reader.table("machine"))
    read_machine_table(TableReader(*table, name, "[machine]"), model);
  else
    throw Error(name + ":1: not a machine model: it has no [machine] table");
  if (const toml::table* table = reader.table("measurement"))
    read_measurement(TableReader(*table, name, "[measurement]"));  // for its faults
  read_path_model(reader, "", model);
  if (const toml::table* table = reader.table("path"))
    read_paths(TableReader(*table, name, "[path]"), model);
  if (const toml::table* table = reader.table("collectives"))
    model.collectives = read_collectives(TableReader(*table, name, "[collectives]"));
  if (const toml::table* table = reader.table("topology")) {
    model.topology = read_topology(reader, TableReader(*table, name, "[topology]"));
  } else {
    for (const char* key : {"node", "link"})
      if (const toml::node* node = root.get(key))
        reader.fail(node, "[[" + std::string(key) + "]] needs a [topology]");
  }
  model.patterns = read_patterns(reader);
  if (const toml::table* table = reader.table("launches"))
    model.launches = read_launches(TableReader(*table, name, "[launches]"));
  if (const toml::table* table = reader.table("reduction"))
    model.reductions = read_reductions(TableReader(*table, name, "[reduction]"));
  if (const toml::table* table = reader.table("compute"))
    model.compute_step = read_compute(TableReader(*table, name, "[compute]"), costs);
  return model;
}

MachineModel read_machine_file(const std::string& path) {
  return parse_machine(read_whole_file(path, "the machine model"), path);
}

Topology topology_of(const MachineModel& model) {
  if (!model.topology)
    throw Error("the machine model '" + model.name +
                "' has no [topology]; add one, or give --topology");
  const ModelTopology& topology = *model.topology;
  if (topology.spec) return build_topology(*topology.spec);
  if (!topology.graph.empty()) return parse_topology(topology.graph, "[topology] of " + model.name);
  return read_topology_file((std::filesystem::path(topology.folder) / topology.file).string());
}

std::string format_machine(const MachineModel& model, const ComputeCosts& costs,
                           const std::vector<std::string>& invalid_reasons) {
  std::string out = std::string(kFirstLine) + "\n[machine]\nname = " + quoted(model.name) + "\n";
  if (model.ranks > 0) out += "ranks = " + std::to_string(model.ranks) + "\n";
  if (!model.kind.empty()) out += "kind = " + quoted(model.kind) + "\n";
  if (!model.source.empty()) out += "source = " + quoted(model.source) + "\n";
  if (!model.licence.empty()) out += "licence = " + quoted(model.licence) + "\n";
  if (!model.date.empty()) out += "date = " + quoted(model.date) + "\n";
  if (!model.mpi_library.empty()) out += "mpi_library = " + quoted(model.mpi_library) + "\n";
  if (model.timer_resolution > 0)
    out += "timer_resolution = " + number(model.timer_resolution) + "  # seconds\n";
  if (model.cache_line > 0)
    out += "cache_line = " + number(model.cache_line) + "  # seconds, from core to core\n";
  if (model.other_state_share > 0)
    out += "other_state_share = " + number(model.other_state_share) + "\n";
  out += "time_unit = \"" + std::string(unit_name(model.time_unit)) + "\"\n";
  out += "element_bytes = " + std::to_string(model.element.count) + "\n";
  out += format_measurement(invalid_reasons);
  out += format_loggps(model, "");
  out += format_collectives(model.collectives);
  if (model.topology) format_topology(out, *model.topology);
  out += format_patterns(model.patterns);
  out += format_launches(model.launches);
  out += format_reductions(model.reductions);
  out += format_rewrite(model.rewrite, "");
  out += format_pieces(model.pieces, "");
  out += format_compute(model.compute_step, costs);
  for (const auto& [name, function] : model.functions) out += format_function(function, "");
  for (const auto& [path, own] : model.paths) {
    const std::string prefix = "path." + std::string(name_of(path)) + ".";
    out += format_loggps(own, prefix);
    out += format_rewrite(own.rewrite, prefix);
    out += format_pieces(own.pieces, prefix);
    for (const auto& [name, function] : own.functions) out += format_function(function, prefix);
  }
  out += "\n" + std::string(kLastLine) + "\n";
  return out;
}

void write_machine_file(const MachineModel& model, const std::string& path,
                        const ComputeCosts& costs,
                        const std::vector<std::string>& invalid_reasons) {
  write_new_file(path, format_machine(model, costs, invalid_reasons));
}

}  // namespace foretrace::machine
