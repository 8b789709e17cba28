// What the file of a program says of how it was linked.
#pragma once

#include <istream>
#include <string>

namespace foretrace::cli {

struct ElfProgram {
  bool is_elf = false;         // a 64-bit ELF file; nothing else is known of other files
  std::string interpreter;     // the dynamic linker that it asks for; empty: statically linked
  bool holds_mpi = false;      // it defines MPI_Init or PMPI_Init itself, by its symbol table
  bool uses_sessions = false;  // it imports MPI_Session_init
  bool uses_asan = false;      // compiled with AddressSanitizer, in a library of its own
};

// Reads the file; damaged parts count as missing.
ElfProgram read_elf(const std::string& path);
ElfProgram read_elf(std::istream& stream);

}  // namespace foretrace::cli
