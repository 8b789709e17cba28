// The predefined handles' memory.
#include "mpi/abi/openmpi/predefined.hpp"

#include "mpi/abi/handles.hpp"
#include "mpi/abi/openmpi/layout.hpp"

// A symbol takes as much room as a cell needs (cell_bytes), and says that it is as
// large as the real one: they overlap, which only the copies' first contents see.
#define FORETRACE_ROOM_comm "384", "512"
#define FORETRACE_ROOM_group "64", "256"
#define FORETRACE_ROOM_request "256", "256"
#define FORETRACE_ROOM_message "64", "256"
#define FORETRACE_ROOM_op "128", "2048"
#define FORETRACE_ROOM_datatype "256", "512"
#define FORETRACE_ROOM_errhandler "128", "1024"
#define FORETRACE_ROOM_win "256", "512"
#define FORETRACE_ROOM_file "256", "1536"
#define FORETRACE_ROOM_info "64", "256"
#define FORETRACE_SYMBOL(symbol, room, size)                                              \
  ".globl " #symbol "\n.type " #symbol ", @object\n.size " #symbol ", " size "\n" #symbol \
  ":\n"                                                                                   \
  ".zero " room "\n"
#define FORETRACE_SYMBOL_OF(symbol, ...) FORETRACE_SYMBOL(symbol, __VA_ARGS__)
#define FORETRACE_DEFINE(symbol, kind, number) FORETRACE_SYMBOL_OF(symbol, FORETRACE_ROOM_##kind)
asm(".pushsection .bss.foretrace_cells, \"aw\", @nobits\n.balign 64\n" FORETRACE_CELLS(
    FORETRACE_DEFINE) ".zero 2048\n.popsection\n");

// mpi.h declares them as structures that only the real library knows; so they have
// other names here.
#define FORETRACE_DECLARE(symbol, kind, number) \
  extern "C" __attribute__((visibility("default"))) std::byte place_of_##symbol[] asm(#symbol);
FORETRACE_CELLS(FORETRACE_DECLARE)

namespace foretrace::mpi::abi {

namespace {
struct Predefined {
  std::byte* place;
  ObjectKind kind;
  short number;
};
#define FORETRACE_ENTRY(symbol, kind, number) {place_of_##symbol, ObjectKind::kind, number},
const Predefined kPredefined[] = {FORETRACE_CELLS(FORETRACE_ENTRY)};

// Before all else: what is predefined here may be anybody's static data.
__attribute__((constructor(101))) void make_predefined_cells() {
  for (const Predefined& predefined : kPredefined) {
    Cell& cell = *reinterpret_cast<Cell*>(predefined.place);
    cell = {kCellMagic, nullptr, nullptr, -1, predefined.kind};
    set_fortran_number(cell, predefined.number);
    if (predefined.kind == ObjectKind::request) {
      field_of<int>(cell, kRequestNumber) = predefined.number;
    }
  }
}
}  // namespace

}  // namespace foretrace::mpi::abi
