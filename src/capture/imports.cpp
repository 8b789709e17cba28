#include "capture/imports.hpp"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

namespace foretrace::capture {
namespace {

constexpr const char* kSynchronousSends[] = {"MPI_Ssend",   "MPI_Issend",   "MPI_Ssend_init",
                                             "MPI_Ssend_c", "MPI_Issend_c", "MPI_Ssend_init_c"};

// Libraries that define MPI's functions refer to them as well.
bool is_mpi_library(const char* path) {
  const char* slash = std::strrchr(path, '/');
  const char* name = slash ? slash + 1 : path;
  return std::strncmp(name, "libmpi", 6) == 0 || std::strncmp(name, "libforetrace", 12) == 0;
}

// Undefined symbols stand before those that the GNU hash table holds.
std::uint32_t undefined_symbols(const std::uint32_t* gnu_hash, const std::uint32_t* hash) {
  if (gnu_hash) return gnu_hash[1];
  return hash ? hash[1] : 0;
}

int look_at(dl_phdr_info* info, std::size_t, void* found) {
  if (is_mpi_library(info->dlpi_name)) return 0;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
  if (!dynamic) return 0;
  const ElfW(Sym)* symbols = nullptr;
  const char* strings = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
  const std::uint32_t* hash = nullptr;
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    // The dynamic linker relocates these in place, except in the vDSO.
    const auto address = dynamic->d_un.d_ptr < info->dlpi_addr
                             ? info->dlpi_addr + dynamic->d_un.d_ptr
                             : dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(address);
    if (dynamic->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(address);
    if (dynamic->d_tag == DT_GNU_HASH) gnu_hash = reinterpret_cast<const std::uint32_t*>(address);
    if (dynamic->d_tag == DT_HASH) hash = reinterpret_cast<const std::uint32_t*>(address);
  }
  if (!symbols || !strings) return 0;
  const std::uint32_t count = undefined_symbols(gnu_hash, hash);
  for (std::uint32_t i = 1; i < count; ++i) {
    if (symbols[i].st_shndx != SHN_UNDEF) continue;
    for (const char* name : kSynchronousSends) {
      if (std::strcmp(strings + symbols[i].st_name, name) != 0) continue;
      *static_cast<bool*>(found) = true;
      return 1;
    }
  }
  return 0;
}

}  // namespace

bool program_imports_synchronous_sends() {
  bool found = false;
  ::dl_iterate_phdr(look_at, &found);
  return found;
}

}  // namespace foretrace::capture
