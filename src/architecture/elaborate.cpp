#include "architecture/elaborate.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>

#include "architecture/layout.hpp"
#include "architecture/templates.hpp"
#include "base/error.hpp"
#include "topology/builders.hpp"

namespace foretrace::architecture {
namespace {

constexpr std::size_t kMostEntities = std::size_t{1} << 20;
constexpr std::size_t kDeepest = 32;

template <class Named>
const Named* find_named(const std::vector<Named>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Named::name);
  return found == all.end() ? nullptr : &*found;
}

template <class Named>
std::string names_of(const std::vector<Named>& all) {
  std::string text;
  for (const Named& one : all) text += (text.empty() ? "" : ", ") + one.name;
  return text.empty() ? "none" : text;
}

// A part as links see it: an entity, or the ports that a composite shows.
struct Instance {
  int entity = -1;
  std::vector<std::pair<std::string, std::vector<FlatEnd>>> ports;
};

struct PartInstances {
  std::string name;
  std::vector<Instance> all;
  bool is_array = false;
};

using Environment = std::map<std::string, Written, std::less<>>;

class Elaborator {
 public:
  Elaborator(const Description& description, const Choices& choices)
      : description_(description),
        choices_(choices),
        used_levels_(choices.levels.size(), false),
        used_parameters_(choices.parameters.size(), false) {}

  FlatArchitecture make() {
    made_.name = description_.name;
    made_.file = description_.file;
    const auto machine = description_.composites.find(description_.machine);
    if (machine == description_.composites.end())
      throw Error(
          description_.file + ":1: there is no [composite." + description_.machine +
          "]; the machine is the composite of that name, or of [architecture] machine = \"...\"");
    if (machine->second.level != "inside")
      fail(machine->second.where, "the machine has no level '" + machine->second.level +
                                      "': it is always open; remove 'level'");
    made_.boxes.push_back({"", description_.machine, -1});
    stack_.push_back(description_.machine);
    Environment environment = declared(machine->second, "", {}, nullptr, machine->second.where);
    open(machine->second, "", 0, environment, Region{0, 0, 1, 1});
    check_ports();
    check_choices();
    return std::move(made_);
  }

 private:
  [[noreturn]] static void fail(const Source& where, const std::string& what) {
    throw Error(where.text() + ": " + what);
  }

  void check_choices() const {
    for (std::size_t i = 0; i < used_levels_.size(); ++i)
      if (!used_levels_[i])
        throw UsageError(
            "--level " + choices_.levels[i].pattern + "=" + choices_.levels[i].level +
            ": no box has such a path; foretrace architecture check --boxes lists them");
    for (std::size_t i = 0; i < used_parameters_.size(); ++i)
      if (!used_parameters_[i])
        throw UsageError(said(choices_.parameters[i]) +
                         ": no box has such a parameter; foretrace architecture check --boxes "
                         "lists them");
  }

  // ---- parameters ----

  static std::string said(const ParameterChoice& choice) {
    return "--parameter " + choice.pattern + "=" + choice.value;
  }

  // What was asked for a parameter of the box at `path`; nothing: what the file says holds.
  std::optional<Written> chosen(const std::string& path, const ParameterSpec& spec) {
    const ParameterChoice* found = nullptr;
    for (std::size_t i = 0; i < choices_.parameters.size(); ++i)
      if (matches_path(choices_.parameters[i].pattern,
                       path.empty() ? spec.name : path + "." + spec.name)) {
        used_parameters_[i] = true;
        found = &choices_.parameters[i];
      }
    if (!found) return std::nullopt;
    return written_as(spec, found->value, Source{said(*found), 0});
  }

  Written resolve(const Written& written, const Environment& environment) const {
    if (written.kind != Written::Kind::text || !written.text.starts_with("$")) return written;
    const auto found = environment.find(written.text.substr(1));
    if (found == environment.end())
      fail(written.where, "'" + written.text +
                              "' is no parameter of the composite; declare it in its "
                              "'parameters'");
    Written value = found->second;
    value.where = written.where;
    return value;
  }

  static void refuse_unknown(const Values& values, const std::vector<ParameterSpec>& specs,
                             const std::string& what) {
    for (const auto& [name, written] : values)
      if (!find_named(specs, name))
        fail(written.where, what + " has no parameter '" + name + "'; it has " + names_of(specs));
  }

  // A composite's parameters in an instance of it.
  Environment declared(const Composite& composite, const std::string& path,
                       const Environment& above, const Values* values, const Source& where) {
    if (values) refuse_unknown(*values, composite.parameters, "'" + composite.name + "'");
    Environment made;
    for (const ParameterSpec& spec : composite.parameters) {
      Written written;
      if (auto choice = chosen(path, spec))
        written = std::move(*choice);
      else if (values && values->contains(spec.name))
        written = resolve(values->find(spec.name)->second, above);
      else if (spec.usual.empty() && spec.type != ParameterType::array)
        fail(where, "the parameter '" + spec.name + "' of '" + composite.name +
                        "' has no default; give it a value");
      else
        written = written_as(spec, spec.usual, spec.where);
      std::string word;
      std::vector<double> array;
      number_of(written, spec, word, array);
      made.emplace(spec.name, std::move(written));
    }
    return made;
  }

  std::shared_ptr<const entity::Parameters> parameters_of(
      const std::vector<ParameterSpec>& specs, const Values& given, const Values* of_kind,
      const Environment& environment, const std::string& path, const Source& where) {
    const std::string what = "'" + path + "'";
    refuse_unknown(given, specs, what);
    if (of_kind) refuse_unknown(*of_kind, specs, what);
    auto made = std::make_shared<entity::Parameters>();
    for (const ParameterSpec& spec : specs) {
      Written written;
      if (auto choice = chosen(path, spec))
        written = std::move(*choice);
      else if (const auto found = given.find(spec.name); found != given.end())
        written = resolve(found->second, environment);
      else if (of_kind && of_kind->contains(spec.name))
        written = resolve(of_kind->find(spec.name)->second, environment);
      else if (spec.usual.empty() && spec.type != ParameterType::array)
        fail(where,
             what + " needs the parameter '" + spec.name + "', " + std::string(name_of(spec.type)));
      else
        written = written_as(spec, spec.usual, where);
      std::string word;
      std::vector<double> array;
      const double number = number_of(written, spec, word, array);
      if (spec.type == ParameterType::word)
        made->texts[spec.name] = word;
      else
        made->numbers[spec.name] = number;
      for (std::size_t i = 0; i < array.size(); ++i)
        made->numbers[spec.name + "[" + std::to_string(i) + "]"] = array[i];
    }
    return made;
  }

  // ---- levels ----

  // The level that was asked for, or `usual`.
  std::string level_of(const std::string& path, const std::string& usual) {
    std::string level = usual;
    for (std::size_t i = 0; i < choices_.levels.size(); ++i)
      if (matches_path(choices_.levels[i].pattern, path)) {
        used_levels_[i] = true;
        level = choices_.levels[i].level;
      }
    return level;
  }

  // ---- parts ----

  Instance make_entity(const Part& part, const std::string& kind_name, const Values& values,
                       const std::string& path, int box, const Environment& environment,
                       const Region& region, const Source& where, bool is_level = false) {
    const auto kind = description_.entities.find(kind_name);
    const EntityKind* own = kind == description_.entities.end() ? nullptr : &kind->second;
    const std::string behaviour_name = own ? own->behaviour : kind_name;
    FlatEntity made;
    made.path = path;
    made.kind = own;
    made.box = box;
    made.where = where;
    made.x = region.x + region.width / 2;
    made.y = region.y + region.height / 2;
    if (!own || own->plugin.empty()) {
      made.behaviour = find_named(built_in_behaviours(), behaviour_name);
      if (!made.behaviour)
        fail(own ? own->where : where, "there is no entity, composite or behaviour '" +
                                           behaviour_name + "'; built in are " +
                                           names_of(built_in_behaviours()));
    }
    std::string usual = made.behaviour ? made.behaviour->levels.front() : "detail";
    if (own && !own->level.empty()) usual = own->level;
    if (!part.level.empty()) usual = part.level;
    made.level = is_level ? usual : level_of(path, usual);
    const std::vector<std::string> known =
        made.behaviour ? made.behaviour->levels : std::vector<std::string>{"detail"};
    if (std::ranges::find(known, made.level) == known.end()) {
      std::string all;
      for (const std::string& level : known) all += (all.empty() ? "" : ", ") + level;
      fail(where, "'" + path + "' has no level '" + made.level + "'; it has " + all);
    }
    made.parameters = parameters_of(made.behaviour ? made.behaviour->parameters : own->parameters,
                                    values, own ? &own->values : nullptr, environment, path, where);
    if (made_.entities.size() >= kMostEntities)
      fail(where, "more than " + std::to_string(kMostEntities) + " entities");
    Instance instance;
    instance.entity = static_cast<int>(made_.entities.size());
    const std::vector<PortSpec>& ports = made.behaviour ? made.behaviour->ports : own->ports;
    for (std::size_t p = 0; p < ports.size(); ++p)
      instance.ports.emplace_back(ports[p].name,
                                  std::vector<FlatEnd>{{instance.entity, static_cast<int>(p), 0}});
    made_.entities.push_back(std::move(made));
    return instance;
  }

  Instance make_part(const Part& part, const std::string& kind_name, const Values& values,
                     const std::string& path, int box, const Environment& environment,
                     const Region& region) {
    const auto found = description_.composites.find(kind_name);
    if (found == description_.composites.end())
      return make_entity(part, kind_name, values, path, box, environment, region, part.where);
    const Composite& composite = found->second;
    const std::string level = level_of(path, part.level.empty() ? composite.level : part.level);
    const Environment inner = declared(composite, path, environment, &values, part.where);
    if (level != "inside") {
      const CompositeLevel* coarse = find_named(composite.levels, level);
      if (!coarse)
        fail(part.where, "'" + path + "' has no level '" + level + "'; it has inside" +
                             (composite.levels.empty() ? "" : ", " + names_of(composite.levels)) +
                             "; take one of these, or add [composite." + composite.name +
                             ".levels." + level + "]");
      if (description_.composites.contains(coarse->kind))
        fail(coarse->where, "the level '" + level + "' is the composite '" + coarse->kind +
                                "'; a level is one entity: name a behaviour or an [entity]");
      Part plain;
      Instance one = make_entity(plain, coarse->kind, coarse->values, path, box, inner, region,
                                 coarse->where, true);
      check_same_ports(composite, one, *coarse);
      made_.entities[static_cast<std::size_t>(one.entity)].stands_for =
          composite.name + " (" + level + ")";
      return one;
    }
    if (std::ranges::find(stack_, kind_name) != stack_.end()) {
      std::string circle;
      for (const std::string& name : stack_) circle += name + " -> ";
      fail(part.where, "the composite '" + kind_name + "' contains itself (" + circle + kind_name +
                           "); take that part out");
    }
    if (stack_.size() >= kDeepest)
      fail(part.where, "composites lie deeper than " + std::to_string(kDeepest) + " in each other");
    stack_.push_back(kind_name);
    made_.boxes.push_back({path, kind_name, box});
    const Instance instance =
        open(composite, path, static_cast<int>(made_.boxes.size()) - 1, inner, region);
    stack_.pop_back();
    return instance;
  }

  static void check_same_ports(const Composite& composite, const Instance& one,
                               const CompositeLevel& level) {
    for (const OuterPort& port : composite.ports)
      if (std::ranges::none_of(one.ports, [&](const auto& own) { return own.first == port.name; }))
        fail(level.where, "the level '" + level.name + "' is a '" + level.kind +
                              "', which lacks the port '" + port.name + "' of '" + composite.name +
                              "'; take another kind, or rename the port");
  }

  // A composite's parts and links; its own ports are what the outside sees.
  Instance open(const Composite& composite, const std::string& path, int box,
                const Environment& environment, const Region& region) {
    std::vector<PartInstances> parts;
    const std::vector<Region> regions = regions_of(composite, region);
    for (std::size_t i = 0; i < composite.parts.size(); ++i) {
      const Part& part = composite.parts[i];
      if (find_named(parts, part.name))
        fail(part.where, "the part '" + part.name + "' is there twice; rename one");
      if (part.shape.empty())
        make_parts(part, path, box, environment, regions[i], parts);
      else
        make_template(part, path, box, environment, regions[i], parts);
    }
    for (const PartLink& link : composite.links) connect(link, parts);
    Instance instance;
    for (const OuterPort& port : composite.ports) {
      std::vector<FlatEnd> ends;
      for (const std::vector<FlatEnd>& inside : ends_of(port.inside, parts, port.where))
        ends.insert(ends.end(), inside.begin(), inside.end());
      instance.ports.emplace_back(port.name, std::move(ends));
    }
    return instance;
  }

  int count_of(const Part& part, const Environment& environment) const {
    if (part.count_from.empty() || part.count_from == "#") return part.count;
    const auto found = environment.find(part.count_from);
    if (found == environment.end() || found->second.number < 1 || found->second.number > 1 << 20 ||
        found->second.kind == Written::Kind::text)
      fail(part.where, "'count' is \"$" + part.count_from +
                           "\", which is no parameter with a whole number from 1 to 1048576");
    return static_cast<int>(found->second.number);
  }

  void make_parts(const Part& part, const std::string& path, int box,
                  const Environment& environment, const Region& region,
                  std::vector<PartInstances>& parts) {
    PartInstances made{part.name, {}, !part.count_from.empty()};
    const std::string base = path.empty() ? part.name : path + "." + part.name;
    const int count = count_of(part, environment);
    for (int i = 0; i < count; ++i)
      made.all.push_back(make_part(part, part.kind, part.values,
                                   made.is_array ? base + "[" + std::to_string(i) + "]" : base, box,
                                   environment, cell_of(region, i, count)));
    parts.push_back(std::move(made));
  }

  // Networks that are no topology expression.
  void make_wide(const Part& part, const WideTemplate& wide, const std::string& path, int box,
                 const Environment& environment, const Region& region,
                 std::vector<PartInstances>& parts) {
    const std::string base = path.empty() ? part.name : path + "." + part.name;
    TemplateUse use;
    PartInstances outer{part.name, {}, true};
    PartInstances middle{part.name + ".switch", {}, true};
    const std::string inner = part.switches.empty() ? "switch" : part.switches;
    // Switches in the upper part, processors below.
    const Region above{region.x, region.y, region.width, region.height * 0.6};
    const Region below{region.x, region.y + region.height * 0.65, region.width,
                       region.height * 0.35};
    for (int node = 0; node < wide.processors + wide.switches; ++node) {
      const bool is_switch = node >= wide.processors;
      const int number = is_switch ? node - wide.processors : node;
      const int first = static_cast<int>(made_.entities.size());
      const Region place = !wide.places.empty()
                               ? part_of(region, wide.places[static_cast<std::size_t>(node)])
                           : is_switch ? cell_of(above, number, wide.switches)
                                       : cell_of(below, number, wide.processors);
      (is_switch ? middle : outer)
          .all.push_back(make_part(
              part, is_switch ? inner : part.kind, is_switch ? part.switch_values : part.values,
              base + (is_switch ? ".switch[" : "[") + std::to_string(number) + "]", box,
              environment, place));
      (is_switch ? use.switches : use.elements)
          .emplace_back(first, static_cast<int>(made_.entities.size()));
    }
    const auto end = [&](int node) {
      const bool is_switch = node >= wide.processors;
      const Instance& instance =
          (is_switch ? middle : outer)
              .all[static_cast<std::size_t>(is_switch ? node - wide.processors : node)];
      return port_of(instance, is_switch ? "net" : part.port, is_switch ? inner : part.kind,
                     part.where);
    };
    for (const WideTemplate::Link& link : wide.links) {
      machine::LinkSpeed speed = link.speed;
      if (!speed.latency) speed.latency = part.latency;
      if (!speed.bytes_per_second) speed.bytes_per_second = part.bytes_per_second;
      add_link(end(link.from), end(link.to), link.one_way, speed, part.where);
    }
    made_.templates.push_back(std::move(use));
    parts.push_back(std::move(outer));
    parts.push_back(std::move(middle));
  }

  void make_template(const Part& part, const std::string& path, int box,
                     const Environment& environment, const Region& region,
                     std::vector<PartInstances>& parts) {
    std::optional<machine::Topology> built;
    try {
      const std::string folder = std::filesystem::path(part.where.file).parent_path().string();
      if (const auto wide = make_wide_template(part.shape, folder))
        return make_wide(part, *wide, path, box, environment, region, parts);
      machine::TopologySpec spec = machine::parse_topology_expression(part.shape);
      const machine::ShapeCounts counts = machine::counts_of(spec.shape);
      if (counts.processors + counts.switches + static_cast<std::int64_t>(made_.entities.size()) >
          static_cast<std::int64_t>(kMostEntities))
        throw UsageError("it has more than " + std::to_string(kMostEntities) + " parts");
      built.emplace(machine::build_topology(spec));
    } catch (const UsageError& error) {
      fail(part.where, "template: " + std::string(error.what()));
    }
    const machine::Topology& topology = *built;
    const bool has_switches = topology.switches() > 0;
    std::string inner = part.switches;
    if (has_switches && inner.empty()) inner = topology.graph().has_bus() ? "bus" : "switch";
    if (!has_switches && !inner.empty())
      fail(part.where, "the template '" + part.shape + "' has no switches; remove 'switch'");
    const std::string base = path.empty() ? part.name : path + "." + part.name;
    TemplateUse use{topology.shape(), {}, {}};
    PartInstances outer{part.name, {}, true};
    PartInstances middle{part.name + ".switch", {}, true};
    const std::vector<Region> places = place_topology(topology, region);
    for (int node = 0; node < topology.nodes(); ++node) {
      const bool is_switch = node >= topology.processors();
      const int number = is_switch ? node - topology.processors() : node;
      const int first = static_cast<int>(made_.entities.size());
      (is_switch ? middle : outer)
          .all.push_back(make_part(
              part, is_switch ? inner : part.kind, is_switch ? part.switch_values : part.values,
              base + (is_switch ? ".switch[" : "[") + std::to_string(number) + "]", box,
              environment, places[static_cast<std::size_t>(node)]));
      (is_switch ? use.switches : use.elements)
          .emplace_back(first, static_cast<int>(made_.entities.size()));
    }
    link_template(part, topology, outer, middle);
    made_.templates.push_back(std::move(use));
    parts.push_back(std::move(outer));
    if (has_switches) parts.push_back(std::move(middle));
  }

  void link_template(const Part& part, const machine::Topology& topology,
                     const PartInstances& outer, const PartInstances& middle) {
    const auto end = [&](int node) {
      const bool is_switch = node >= topology.processors();
      const Instance& instance =
          is_switch ? middle.all[static_cast<std::size_t>(node - topology.processors())]
                    : outer.all[static_cast<std::size_t>(node)];
      const std::string port = is_switch ? "net" : part.port;
      return port_of(instance, port, is_switch ? part.switches : part.kind, part.where);
    };
    for (int link = 0; link < topology.links(); ++link) {
      const int a = topology.graph().from(link);
      const int b = topology.graph().to(link);
      const bool back = topology.graph().find(b, a) >= 0;
      if (back && a > b) continue;
      machine::LinkSpeed speed = topology.speed(machine::LinkId(link));
      if (part.latency) speed.latency = part.latency;
      if (part.bytes_per_second) speed.bytes_per_second = part.bytes_per_second;
      add_link(end(a), end(b), !back, speed, part.where);
    }
  }

  // ---- links ----

  static std::vector<FlatEnd> port_of(const Instance& instance, const std::string& name,
                                      const std::string& of, const Source& where) {
    for (const auto& [port, ends] : instance.ports)
      if (port == name) return ends;
    std::string all;
    for (const auto& [port, ends] : instance.ports) all += (all.empty() ? "" : ", ") + port;
    fail(where, "'" + of + "' has no port '" + name + "'; it has " + (all.empty() ? "none" : all));
  }

  // What "part.port", "part[3].port" or "part[0..3].port" names; a list for each instance.
  static std::vector<std::vector<FlatEnd>> ends_of(const std::string& text,
                                                   const std::vector<PartInstances>& parts,
                                                   const Source& where) {
    const auto [part, port, given] = parse_port_reference(text, where);
    auto range = given;
    const PartInstances* found = find_named(parts, part);
    if (!found) fail(where, "there is no part '" + part + "' here; there are " + names_of(parts));
    const int most = static_cast<int>(found->all.size()) - 1;
    if (!range) range.emplace(0, most);
    if (range->first > range->second || range->second > most)
      fail(where, "'" + part + "' has the numbers 0 to " + std::to_string(most) + ", found '" +
                      text + "'");
    std::vector<std::vector<FlatEnd>> ends;
    for (int i = range->first; i <= range->second; ++i)
      ends.push_back(port_of(found->all[static_cast<std::size_t>(i)], port, part, where));
    return ends;
  }

  void connect(const PartLink& link, const std::vector<PartInstances>& parts) {
    const auto from = ends_of(link.from, parts, link.where);
    const auto to = ends_of(link.to, parts, link.where);
    if (from.size() != to.size() && from.size() != 1 && to.size() != 1)
      fail(link.where, "'" + link.from + "' are " + std::to_string(from.size()) + " ports, '" +
                           link.to + "' are " + std::to_string(to.size()) +
                           "; join as many to as many, or to one");
    machine::LinkSpeed speed{link.latency, link.bytes_per_second};
    for (std::size_t i = 0; i < std::max(from.size(), to.size()); ++i)
      add_link(from[from.size() == 1 ? 0 : i], to[to.size() == 1 ? 0 : i], link.one_way, speed,
               link.where);
  }

  const PortSpec& spec_of(const FlatEnd& end) const {
    const FlatEntity& entity = made_.entities[static_cast<std::size_t>(end.entity)];
    return (entity.behaviour ? entity.behaviour->ports
                             : entity.kind->ports)[static_cast<std::size_t>(end.port)];
  }

  void add_link(const std::vector<FlatEnd>& from, const std::vector<FlatEnd>& to, bool one_way,
                machine::LinkSpeed speed, const Source& where) {
    if (!speed.latency) speed.latency = description_.latency;
    if (!speed.bytes_per_second) speed.bytes_per_second = description_.bytes_per_second;
    if (from.empty() || to.empty()) fail(where, "a port of this link leads to nothing");
    const auto name = [&](const FlatEnd& end) {
      return made_.entities[static_cast<std::size_t>(end.entity)].path;
    };
    // Several ends under one name (a port of "n of these") take links in turn.
    const auto least_used = [&](const std::vector<FlatEnd>& ends) {
      return *std::ranges::min_element(ends, {}, [&](const FlatEnd& end) { return links_at(end); });
    };
    FlatLink made{least_used(from), least_used(to), one_way, speed, where};
    if (made.from.entity == made.to.entity)
      fail(where, "'" + name(made.from) + "' has a link to itself; remove it");
    Direction out = spec_of(made.from).direction;
    Direction in = spec_of(made.to).direction;
    if (out == Direction::in && in != Direction::in) {
      std::swap(made.from, made.to);
      std::swap(out, in);
    }
    if (out == Direction::in || in == Direction::out)
      fail(where, "'" + name(made.from) + "." + spec_of(made.from).name + "' and '" +
                      name(made.to) + "." + spec_of(made.to).name + "' both " +
                      (out == Direction::in ? "receive" : "send") + "; join an output to an input");
    if (out == Direction::out || in == Direction::in) made.one_way = true;
    made.from.number = count_link(made.from);
    made.to.number = count_link(made.to);
    made_.links.push_back(made);
  }

  int links_at(const FlatEnd& end) const {
    const auto found = counts_.find({end.entity, end.port});
    return found == counts_.end() ? 0 : found->second;
  }
  int count_link(const FlatEnd& end) { return counts_[{end.entity, end.port}]++; }

  void check_ports() const {
    for (std::size_t e = 0; e < made_.entities.size(); ++e) {
      const FlatEntity& entity = made_.entities[e];
      const auto& ports = entity.behaviour ? entity.behaviour->ports : entity.kind->ports;
      for (std::size_t p = 0; p < ports.size(); ++p) {
        const int links = links_at({static_cast<int>(e), static_cast<int>(p), 0});
        if (links < ports[p].least)
          fail(entity.where, "the port '" + ports[p].name + "' of '" + entity.path +
                                 "' is not connected; add a link");
        if (links > ports[p].most)
          fail(entity.where, "the port '" + ports[p].name + "' of '" + entity.path + "' has " +
                                 std::to_string(links) + " links and takes " +
                                 std::to_string(ports[p].most) +
                                 "; remove some, or put a switch between");
      }
    }
  }

  const Description& description_;
  const Choices& choices_;
  std::vector<bool> used_levels_, used_parameters_;
  FlatArchitecture made_;
  std::vector<std::string> stack_;
  std::map<std::pair<int, int>, int> counts_;
};

}  // namespace

std::vector<int> FlatArchitecture::with_behaviour(std::string_view name) const {
  std::vector<int> found;
  for (std::size_t e = 0; e < entities.size(); ++e)
    if (entities[e].behaviour_name() == name) found.push_back(static_cast<int>(e));
  return found;
}

FlatArchitecture elaborate(const Description& description, const Choices& choices) {
  return Elaborator(description, choices).make();
}

}  // namespace foretrace::architecture
