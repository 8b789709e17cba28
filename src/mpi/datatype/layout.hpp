// The layout of datatypes: where the basic elements lie, and which bytes to move.
//
// A type map is a tree: a million blocks of a vector are one node. Packing
// does not walk it but the runs made of it, in which neighbouring bytes are one
// and types are forgotten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "mpi/core/block.hpp"
#include "mpi/datatype/basic.hpp"
#include "mpi_api/pieces.hpp"

namespace foretrace::mpi {

struct TypeMap;
using TypeMapRef = std::shared_ptr<const TypeMap>;

// Displacements count from where an element's own displacement 0 is.
struct TypeMap {
  enum class Kind : std::uint8_t { empty, basic, repeat, blocks, fields };
  struct Block {  // `count` children in a row, `stride` apart
    MPI_Count at;
    MPI_Count count;
  };
  struct Field {
    MPI_Count at;
    MPI_Count count;
    MPI_Count stride;
    TypeMapRef child;
  };

  Kind kind = Kind::empty;
  const BasicType* basic = nullptr;
  MPI_Count count = 0;   // repeat: children at 0, stride, 2 stride, ...
  MPI_Count stride = 0;  // repeat, blocks
  TypeMapRef child;      // repeat, blocks
  std::vector<Block> blocks;
  std::vector<Field> fields;

  std::uint64_t size = 0;           // bytes of data
  std::uint64_t elements = 0;       // as MPI_Get_elements counts
  const BasicType* only = nullptr;  // what all basic elements are; nullptr: several kinds, or none
};

TypeMapRef map_of_basic(const BasicType& basic);
TypeMapRef map_of_repeat(MPI_Count count, MPI_Count stride, TypeMapRef child);
TypeMapRef map_of_blocks(std::vector<TypeMap::Block> blocks, MPI_Count stride, TypeMapRef child);
TypeMapRef map_of_fields(std::vector<TypeMap::Field> fields);

struct Runs;
using RunsRef = std::shared_ptr<const Runs>;

struct Runs {
  enum class Kind : std::uint8_t { empty, run, repeat, list, parts };
  struct Run {
    MPI_Count at;
    std::uint64_t length;
  };
  struct Part {
    MPI_Count at;
    RunsRef child;
  };

  Kind kind = Kind::empty;
  std::uint64_t size = 0;
  Run run{};             // run
  MPI_Count count = 0;   // repeat
  MPI_Count stride = 0;  // repeat
  RunsRef child;         // repeat
  std::vector<Run> list;
  std::vector<Part> parts;
};

RunsRef runs_of(const TypeMap& map);

struct TypeLayout {
  TypeMapRef map;
  RunsRef runs;  // made when first needed
  int alignment = 1;
  // Markers: set by MPI_Type_create_resized, MPI_LB and MPI_UB, and kept in what
  // is made of the type.
  bool lb_set = false;
  bool ub_set = false;
  std::optional<mpi_api::PieceLength> pieces;  // counted when first needed
};

TypeLayout& layout_of(const Datatype& type);
const Runs& runs_of(const Datatype& type);
// The bytes that the first `elements` basic elements take.
std::uint64_t bytes_of_elements(std::uint64_t elements, const Datatype& type);

// Calls visit(displacement, basic) for the basic elements of `count` children,
// `stride` apart, in the order of the type map, until it says false.
template <class Visit>
bool visit_elements(const TypeMap& map, MPI_Count at, Visit&& visit) {
  switch (map.kind) {
    case TypeMap::Kind::empty:
      return true;
    case TypeMap::Kind::basic:
      return visit(at, *map.basic);
    case TypeMap::Kind::repeat:
      for (MPI_Count i = 0; i < map.count; ++i)
        if (!visit_elements(*map.child, at + i * map.stride, visit)) return false;
      return true;
    case TypeMap::Kind::blocks:
      for (const TypeMap::Block& block : map.blocks)
        for (MPI_Count i = 0; i < block.count; ++i)
          if (!visit_elements(*map.child, at + block.at + i * map.stride, visit)) return false;
      return true;
    case TypeMap::Kind::fields:
      for (const TypeMap::Field& field : map.fields)
        for (MPI_Count i = 0; i < field.count; ++i)
          if (!visit_elements(*field.child, at + field.at + i * field.stride, visit)) return false;
      return true;
  }
  return true;
}

}  // namespace foretrace::mpi
