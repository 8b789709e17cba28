#include "mpi/abi/cells.hpp"

#include <cstdlib>
#include <cstring>

#include "mpi/core/rank.hpp"

namespace foretrace::mpi::abi {

namespace {
// Freed cells wait until there are some, so that the use of a freed handle is noticed.
constexpr int kFreeBeforeReuse = 16;
constexpr std::size_t kCellsInChunk = 16;

// Plain memory, never freed: programs call MPI until their very end, when the
// library's own destructors have run.
struct Pool {
  std::byte* chunk;
  std::size_t left;
  Cell* first_free;
  Cell* last_free;
  int free_cells;

  Cell** numbers;
  int numbers_size;
  int numbers_from;  // all below are taken
};
constinit Pool pools[16] = {};

Pool& pool_of(ObjectKind kind) {
  return pools[static_cast<std::size_t>(kind)];
}

void* more_memory(void* old, std::size_t bytes) {
  void* const memory = std::realloc(old, bytes);
  if (!memory) end_run(3, "no memory for handles");
  return memory;
}

Cell* new_cell(Pool& pool, ObjectKind kind) {
  const std::size_t bytes = cell_bytes(kind);
  if (pool.left == 0) {
    pool.chunk = static_cast<std::byte*>(more_memory(nullptr, kCellsInChunk * bytes));
    pool.left = kCellsInChunk;
  }
  Cell* const cell = reinterpret_cast<Cell*>(pool.chunk);
  pool.chunk += bytes;
  --pool.left;
  return cell;
}

void enlarge_numbers(Pool& pool, int number) {
  if (number < pool.numbers_size) return;
  int size = pool.numbers_size > 0 ? pool.numbers_size : 16;
  while (size <= number) size *= 2;
  pool.numbers = static_cast<Cell**>(
      more_memory(pool.numbers, static_cast<std::size_t>(size) * sizeof(Cell*)));
  std::memset(pool.numbers + pool.numbers_size, 0,
              static_cast<std::size_t>(size - pool.numbers_size) * sizeof(Cell*));
  pool.numbers_size = size;
}
}  // namespace

Cell* make_cell(Object& object) {
  Pool& pool = pool_of(object.kind);
  Cell* cell = nullptr;
  if (pool.free_cells > kFreeBeforeReuse) {
    cell = pool.first_free;
    pool.first_free = cell->next;
    --pool.free_cells;
  } else {
    cell = new_cell(pool, object.kind);
  }
  std::memset(static_cast<void*>(cell), 0, cell_bytes(object.kind));
  *cell = {kCellMagic, &object, nullptr, -1, object.kind};
  return cell;
}

void free_cell(Cell& cell) {
  Pool& pool = pool_of(cell.kind);
  if (cell.fortran >= 0) {
    pool.numbers[cell.fortran] = nullptr;
    if (cell.fortran < pool.numbers_from) pool.numbers_from = cell.fortran;
  }
  cell.object = nullptr;
  cell.fortran = -1;
  cell.next = nullptr;
  (pool.free_cells > 0 ? pool.last_free->next : pool.first_free) = &cell;
  pool.last_free = &cell;
  ++pool.free_cells;
}

int fortran_number(Cell& cell) {
  if (cell.fortran >= 0) return cell.fortran;
  Pool& pool = pool_of(cell.kind);
  int number = pool.numbers_from;
  while (number < pool.numbers_size && pool.numbers[number]) ++number;
  set_fortran_number(cell, number);
  pool.numbers_from = number + 1;
  return number;
}

void set_fortran_number(Cell& cell, int number) {
  Pool& pool = pool_of(cell.kind);
  enlarge_numbers(pool, number);
  pool.numbers[number] = &cell;
  cell.fortran = number;
  if (cell.object) cell.object->fortran = number;
}

Cell* cell_with_number(ObjectKind kind, int number) {
  const Pool& pool = pool_of(kind);
  return number >= 0 && number < pool.numbers_size ? pool.numbers[number] : nullptr;
}

}  // namespace foretrace::mpi::abi
