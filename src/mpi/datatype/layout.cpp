#include "mpi/datatype/layout.hpp"

#include "mpi/core/block.hpp"

#include <utility>

namespace foretrace::mpi {
namespace {

using Run = Runs::Run;

std::uint64_t times(MPI_Count count, std::uint64_t each) {
  return static_cast<std::uint64_t>(count) * each;
}

MPI_Count end_of(const Run& run) {
  return run.at + static_cast<MPI_Count>(run.length);
}

const RunsRef& no_runs() {
  static const RunsRef empty = std::make_shared<Runs>();
  return empty;
}

RunsRef make_run(MPI_Count at, std::uint64_t length) {
  if (length == 0) return no_runs();
  auto runs = std::make_shared<Runs>();
  runs->kind = Runs::Kind::run;
  runs->size = length;
  runs->run = {at, length};
  return runs;
}

// Lists up to this long are worth to be written out when they repeat.
constexpr std::size_t kWrittenOut = 64;

RunsRef make_list(std::vector<Run> list);

RunsRef make_repeat(MPI_Count count, MPI_Count stride, const RunsRef& child) {
  if (count <= 0 || child->size == 0) return no_runs();
  if (count == 1) return child;
  if (child->kind == Runs::Kind::run) {
    if (static_cast<MPI_Count>(child->run.length) == stride)
      return make_run(child->run.at, times(count, child->run.length));
  } else if (child->kind == Runs::Kind::repeat && child->count * child->stride == stride) {
    return make_repeat(count * child->count, child->stride, child->child);
  } else if (child->kind == Runs::Kind::list && times(count, child->list.size()) <= kWrittenOut) {
    std::vector<Run> list;
    for (MPI_Count i = 0; i < count; ++i) {
      for (const Run& run : child->list) {
        if (!list.empty() && end_of(list.back()) == run.at + i * stride)
          list.back().length += run.length;
        else
          list.push_back({run.at + i * stride, run.length});
      }
    }
    return make_list(std::move(list));
  }
  auto runs = std::make_shared<Runs>();
  runs->kind = Runs::Kind::repeat;
  runs->size = times(count, child->size);
  runs->count = count;
  runs->stride = stride;
  runs->child = child;
  return runs;
}

// Of runs where neighbours have been merged. Equal ones at equal distances become
// a repeat, which needs no memory.
RunsRef make_list(std::vector<Run> list) {
  if (list.empty()) return no_runs();
  if (list.size() == 1) return make_run(list[0].at, list[0].length);
  const MPI_Count stride = list[1].at - list[0].at;
  bool regular = true;
  std::uint64_t size = list[0].length;
  for (std::size_t i = 1; i < list.size(); ++i) {
    regular = regular && list[i].length == list[0].length && list[i].at - list[i - 1].at == stride;
    size += list[i].length;
  }
  if (regular)
    return make_repeat(static_cast<MPI_Count>(list.size()), stride,
                       make_run(list[0].at, list[0].length));
  auto runs = std::make_shared<Runs>();
  runs->kind = Runs::Kind::list;
  runs->size = size;
  runs->list = std::move(list);
  runs->list.shrink_to_fit();
  return runs;
}

// Lists up to this long are taken into the list that they become a part of.
constexpr std::size_t kTakenIn = 8;

// Puts runs one after the other: single ones into lists, others as they are.
class Sequence {
 public:
  void add(MPI_Count at, const RunsRef& runs) {
    switch (runs->kind) {
      case Runs::Kind::empty:
        return;
      case Runs::Kind::run:
        return add_run({at + runs->run.at, runs->run.length});
      case Runs::Kind::list:
        if (runs->list.size() > kTakenIn) break;
        for (const Run& run : runs->list) add_run({at + run.at, run.length});
        return;
      case Runs::Kind::repeat:
      case Runs::Kind::parts:
        break;
    }
    flush();
    parts_.push_back({at, runs});
  }

  RunsRef finish() {
    if (parts_.empty()) return make_list(std::move(list_));
    flush();
    if (parts_.size() == 1 && parts_[0].at == 0) return parts_[0].child;
    auto runs = std::make_shared<Runs>();
    runs->kind = Runs::Kind::parts;
    for (const Runs::Part& part : parts_) runs->size += part.child->size;
    runs->parts = std::move(parts_);
    runs->parts.shrink_to_fit();
    return runs;
  }

 private:
  void add_run(Run run) {
    if (!list_.empty() && end_of(list_.back()) == run.at)
      list_.back().length += run.length;
    else
      list_.push_back(run);
  }
  void flush() {
    if (list_.empty()) return;
    parts_.push_back({0, make_list(std::move(list_))});
    list_.clear();
  }

  std::vector<Run> list_;
  std::vector<Runs::Part> parts_;
};

RunsRef runs_of_basic(const BasicType& basic) {
  if (!basic.is_pair()) return make_run(0, basic.size);
  Sequence sequence;
  sequence.add(0, make_run(0, static_cast<std::uint64_t>(size_of(basic.value))));
  sequence.add(0, make_run(basic.index_at, static_cast<std::uint64_t>(size_of(basic.index))));
  return sequence.finish();
}

// Adds a part of a type map to another's counts.
void add_part(TypeMap& map, MPI_Count count, const TypeMap& child) {
  if (count <= 0 || child.elements == 0) return;
  map.only = map.elements == 0 || map.only == child.only ? child.only : nullptr;
  map.size += times(count, child.size);
  map.elements += times(count, child.elements);
}

}  // namespace

TypeMapRef map_of_basic(const BasicType& basic) {
  auto map = std::make_shared<TypeMap>();
  if (basic.size == 0) return map;
  map->kind = TypeMap::Kind::basic;
  map->basic = &basic;
  map->size = basic.size;
  map->elements = basic.is_pair() ? kElementsOfPair : 1;
  map->only = &basic;
  return map;
}

TypeMapRef map_of_repeat(MPI_Count count, MPI_Count stride, TypeMapRef child) {
  if (count == 1) return child;
  auto map = std::make_shared<TypeMap>();
  add_part(*map, count, *child);
  if (map->elements == 0) return map;
  map->kind = TypeMap::Kind::repeat;
  map->count = count;
  map->stride = stride;
  map->child = std::move(child);
  return map;
}

TypeMapRef map_of_blocks(std::vector<TypeMap::Block> blocks, MPI_Count stride, TypeMapRef child) {
  auto map = std::make_shared<TypeMap>();
  for (const TypeMap::Block& block : blocks) add_part(*map, block.count, *child);
  if (map->elements == 0) return map;
  map->kind = TypeMap::Kind::blocks;
  map->stride = stride;
  map->child = std::move(child);
  map->blocks = std::move(blocks);
  return map;
}

TypeMapRef map_of_fields(std::vector<TypeMap::Field> fields) {
  auto map = std::make_shared<TypeMap>();
  for (const TypeMap::Field& field : fields) add_part(*map, field.count, *field.child);
  if (map->elements == 0) return map;
  map->kind = TypeMap::Kind::fields;
  map->fields = std::move(fields);
  return map;
}

RunsRef runs_of(const TypeMap& map) {
  switch (map.kind) {
    case TypeMap::Kind::empty:
      break;
    case TypeMap::Kind::basic:
      return runs_of_basic(*map.basic);
    case TypeMap::Kind::repeat:
      return make_repeat(map.count, map.stride, runs_of(*map.child));
    case TypeMap::Kind::blocks: {
      const RunsRef child = runs_of(*map.child);
      Sequence sequence;
      // Most blocks have the length of the one before.
      RunsRef block_runs;
      MPI_Count last = -1;
      for (const TypeMap::Block& block : map.blocks) {
        if (block.count != last) block_runs = make_repeat(block.count, map.stride, child);
        last = block.count;
        sequence.add(block.at, block_runs);
      }
      return sequence.finish();
    }
    case TypeMap::Kind::fields: {
      Sequence sequence;
      for (const TypeMap::Field& field : map.fields)
        if (field.count > 0 && field.child->size > 0)
          sequence.add(field.at, make_repeat(field.count, field.stride, runs_of(*field.child)));
      return sequence.finish();
    }
  }
  return no_runs();
}

TypeLayout& layout_of(const Datatype& type) {
  if (!type.layout) {
    // Only predefined types have none: theirs waits until somebody asks.
    auto& predefined = const_cast<Datatype&>(type);
    predefined.layout = new TypeLayout;
    predefined.layout->map = map_of_basic(*type.basic);
    predefined.layout->alignment = type.basic->alignment;
    predefined.layout->lb_set = type.basic->value == Scalar::lower_marker;
    predefined.layout->ub_set = type.basic->value == Scalar::upper_marker;
  }
  return *type.layout;
}

const Runs& runs_of(const Datatype& type) {
  TypeLayout& layout = layout_of(type);
  if (!layout.runs) layout.runs = runs_of(*layout.map);
  return *layout.runs;
}

}  // namespace foretrace::mpi
