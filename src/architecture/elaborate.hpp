// Elaboration: a description to the flat machine that it means: entities, links, boxes.
//
// Parts are instantiated, templates laid out, parameters passed down, levels chosen box by box, and
// everything that has to fit together is checked. What runs on it is built from here (fabric,
// packet network, queues); it computes no times.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "architecture/description.hpp"
#include "foretrace_entity.hpp"
#include "topology/topology.hpp"

namespace foretrace::architecture {

// --level PATTERN=LEVEL: boxes by their path, `*` for anything, [*] for any number, [a..b] for a
// range of them.
struct LevelChoice {
  std::string pattern;
  std::string level;
};
// --parameter PATTERN=VALUE: a box's parameters by their path, "node[0..3].nic.injection"; the
// machine's own by their name alone.
struct ParameterChoice {
  std::string pattern;
  std::string value;
};
// What a run chooses of a machine. Of several that fit, the last one holds.
struct Choices {
  std::vector<LevelChoice> levels;
  std::vector<ParameterChoice> parameters;
};
// Both throw UsageError.
LevelChoice parse_level_choice(const std::string& text);
ParameterChoice parse_parameter_choice(const std::string& text);
bool matches_path(std::string_view pattern, std::string_view path);

struct FlatEntity {
  std::string path;
  const BehaviourSpec* behaviour = nullptr;  // nullptr: a plug-in
  const EntityKind* kind = nullptr;          // nullptr: a behaviour by its own name
  std::string level;
  std::shared_ptr<const entity::Parameters> parameters;
  int box = 0;
  std::string stands_for;  // the composite that it is a level of: "node (coarse)"; empty: of none
  double x = 0, y = 0;     // where it is drawn
  Source where;

  std::string_view behaviour_name() const {
    return behaviour ? std::string_view(behaviour->name) : std::string_view("plug-in");
  }
  bool is_switch() const {
    return behaviour_name() == "switch" || behaviour_name() == "omega-element";
  }
  // One medium for all its links.
  bool is_bus() const { return behaviour_name() == "bus" || behaviour_name() == "ethernet"; }
  // A bus whose stations send into each other's frames.
  bool collides() const { return behaviour_name() == "ethernet" && level == "collisions"; }
};

struct FlatEnd {
  int entity = 0;
  int port = 0;    // of the entity's PortSpecs
  int number = 0;  // among the links at that port
};

struct FlatLink {
  FlatEnd from, to;
  bool one_way = false;
  machine::LinkSpeed speed;
  Source where;
};

// A composite that is open, or the machine; boxes[0] is the whole.
struct Box {
  std::string path;
  std::string composite;
  int parent = -1;
};

// An instance of a template whose parts are `elements`: the entities of each.
struct TemplateUse {
  machine::Shape shape;
  std::vector<std::pair<int, int>> elements;  // from, to (not included), of entities
  std::vector<std::pair<int, int>> switches;
};

struct FlatArchitecture {
  std::string name;
  std::string file;
  std::vector<FlatEntity> entities;
  std::vector<FlatLink> links;
  std::vector<Box> boxes;
  std::vector<TemplateUse> templates;

  std::vector<int> with_behaviour(std::string_view name) const;
};

// `description` must outlive the result. Throws Error "FILE:LINE: ..." and UsageError (a choice).
FlatArchitecture elaborate(const Description& description, const Choices& choices = {});

}  // namespace foretrace::architecture
