// MPICH's handles: an int of two bits (1: predefined, 2: made by the program), four
// bits for the kind, and 26 bits which object it is. Fortran's are the same. Only
// files' are pointers, with numbers from 1 in Fortran.
#include "mpi/abi/handles.hpp"

#include <algorithm>
#include <cstdlib>

#include "mpi/abi/cells.hpp"
#include "mpi/core/rank.hpp"

namespace foretrace::mpi {

namespace abi {

namespace {
constexpr std::uint32_t kIndexBits = 26;
constexpr std::uint32_t kIndexMask = (1U << kIndexBits) - 1;
constexpr std::uint32_t kPredefined = 1;
constexpr std::uint32_t kDynamic = 2;
// The pair types (MPI_FLOAT_INT) are numbers 0 to 4 of the dynamic datatypes.
constexpr std::uint32_t kFirstDynamic = 16;
// The lowest byte tells all predefined handles of a kind apart.
constexpr std::uint32_t kPredefinedSlots = 256;
// Freed numbers wait until there are some, so that the use of a freed handle is noticed.
constexpr std::uint32_t kSlotsBeforeReuse = 16;

struct Slot {
  Object* object;
  std::uint32_t next;  // among the free ones
};

// Plain memory, never freed: programs call MPI until their very end, when the
// library's own destructors have run.
struct Table {
  Object** predefined;  // kPredefinedSlots, then the pair types
  Slot* slots;
  std::uint32_t size, used;
  std::uint32_t first_free, last_free, free_slots;
};
constinit Table tables[16] = {};

Table& table_of(ObjectKind kind) {
  return tables[static_cast<std::size_t>(kind)];
}

std::uint32_t code_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::comm:
      return 0x1;
    case ObjectKind::group:
      return 0x2;
    case ObjectKind::datatype:
      return 0x3;
    case ObjectKind::errhandler:
      return 0x5;
    case ObjectKind::op:
      return 0x6;
    case ObjectKind::info:
      return 0x7;
    case ObjectKind::win:
      return 0x8;
    case ObjectKind::session:
      return 0xe;
    default:
      return 0xb;  // requests and messages
  }
}

struct Parts {
  explicit Parts(std::intptr_t handle)
      : type(static_cast<std::uint32_t>(handle) >> 30),
        code((static_cast<std::uint32_t>(handle) >> kIndexBits) & 0xf),
        index(static_cast<std::uint32_t>(handle) & kIndexMask) {}
  std::uint32_t type, code, index;

  bool is_predefined() const {
    return type == kPredefined || (type == kDynamic && index < kFirstDynamic);
  }
  std::uint32_t predefined_slot() const {
    return type == kPredefined ? index % kPredefinedSlots : kPredefinedSlots + index;
  }
};

std::intptr_t dynamic_handle(ObjectKind kind, std::uint32_t slot) {
  const std::uint32_t bits = kDynamic << 30 | code_of(kind) << kIndexBits | (slot + kFirstDynamic);
  return static_cast<std::int32_t>(bits);
}

template <class Element>
Element* enlarged(Element* old, std::size_t count) {
  void* const memory = std::realloc(old, count * sizeof(Element));
  if (!memory) end_run(3, "no memory for handles");
  return static_cast<Element*>(memory);
}

std::uint32_t take_slot(Table& table) {
  if (table.free_slots > kSlotsBeforeReuse) {
    const std::uint32_t slot = table.first_free;
    table.first_free = table.slots[slot].next;
    --table.free_slots;
    return slot;
  }
  if (table.used == table.size) {
    table.size = std::max(16U, table.size * 2);
    table.slots = enlarged(table.slots, table.size);
  }
  return table.used++;
}

void free_slot(Table& table, std::uint32_t slot) {
  table.slots[slot] = {nullptr, 0};
  (table.free_slots > 0 ? table.slots[table.last_free].next : table.first_free) = slot;
  table.last_free = slot;
  ++table.free_slots;
}
}  // namespace

Object* find(ObjectKind kind, std::intptr_t handle) {
  if (kind == ObjectKind::file) {
    Cell* const cell = cell_at(kind, handle);
    return cell ? cell->object : nullptr;
  }
  const Parts parts(handle);
  const Table& table = table_of(kind);
  if (parts.code != code_of(kind)) return nullptr;
  if (parts.is_predefined()) {
    Object* const object = table.predefined ? table.predefined[parts.predefined_slot()] : nullptr;
    return object && object->handle == handle ? object : nullptr;
  }
  if (parts.type != kDynamic || parts.index - kFirstDynamic >= table.used) return nullptr;
  return table.slots[parts.index - kFirstDynamic].object;
}

void give_handle(Object& object) {
  if (object.kind == ObjectKind::file) {
    Cell* const cell = make_cell(object);
    object.handle = reinterpret_cast<std::intptr_t>(cell);
    object.fortran = fortran_number(*cell) + 1;
    return;
  }
  Table& table = table_of(object.kind);
  const std::uint32_t slot = take_slot(table);
  table.slots[slot] = {&object, 0};
  object.handle = dynamic_handle(object.kind, slot);
  object.fortran = static_cast<int>(object.handle);
}

void set_predefined(std::intptr_t handle, Object& object) {
  const Parts parts(handle);
  if (!parts.is_predefined()) return;
  Table& table = table_of(object.kind);
  if (!table.predefined) {
    const std::uint32_t slots = kPredefinedSlots + kFirstDynamic;
    table.predefined = enlarged<Object*>(nullptr, slots);
    std::fill_n(table.predefined, slots, nullptr);
  }
  table.predefined[parts.predefined_slot()] = &object;
  object.handle = handle;
  object.fortran = static_cast<int>(handle);
}

}  // namespace abi

void forget_handle(Object& object) {
  if (object.handle == 0) return;
  if (object.kind == ObjectKind::file) {
    abi::free_cell(*reinterpret_cast<abi::Cell*>(object.handle));
  } else {
    const abi::Parts parts(object.handle);
    if (!parts.is_predefined()) {
      abi::free_slot(abi::table_of(object.kind), parts.index - abi::kFirstDynamic);
    }
  }
  object.handle = 0;
}

}  // namespace foretrace::mpi
