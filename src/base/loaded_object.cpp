#include "base/loaded_object.hpp"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace foretrace {
namespace {

// The relocations that fill a slot with a function's address.
bool fills_slot(std::uint64_t type) {
#if defined(__x86_64__)
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
  return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
#else
  return false;
#endif
}

int visit_object(dl_phdr_info* info, std::size_t, void* visit) {
  (*static_cast<FunctionRef<void(const LoadedObject&)>*>(visit))(LoadedObject(*info));
  return 0;
}

}  // namespace

LoadedObject::LoadedObject(const dl_phdr_info& info)
    : path_(info.dlpi_name), base_(info.dlpi_addr), end_(info.dlpi_addr) {
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    const std::uintptr_t begin = base_ + header.p_vaddr;
    if (header.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
    if (header.p_type == PT_LOAD) end_ = std::max(end_, begin + header.p_memsz);
    if (header.p_type == PT_GNU_RELRO) {
      read_only_begin_ = begin;
      read_only_end_ = begin + header.p_memsz;
    }
  }
  if (!dynamic) return;
  const std::uint32_t* gnu_hash = nullptr;
  const std::uint32_t* hash = nullptr;
  bool with_addends = false;
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    // The dynamic linker relocates these in place, except in the vDSO.
    const auto value = dynamic->d_un.d_ptr;
    const auto address = value < base_ ? base_ + value : value;
    if (dynamic->d_tag == DT_SYMTAB) symbols_ = reinterpret_cast<const ElfW(Sym)*>(address);
    if (dynamic->d_tag == DT_STRTAB) strings_ = reinterpret_cast<const char*>(address);
    if (dynamic->d_tag == DT_GNU_HASH) gnu_hash = reinterpret_cast<const std::uint32_t*>(address);
    if (dynamic->d_tag == DT_HASH) hash = reinterpret_cast<const std::uint32_t*>(address);
    if (dynamic->d_tag == DT_RELA) rela_ = reinterpret_cast<const ElfW(Rela)*>(address);
    if (dynamic->d_tag == DT_RELASZ) rela_bytes_ = value;
    if (dynamic->d_tag == DT_JMPREL) plt_ = reinterpret_cast<const ElfW(Rela)*>(address);
    if (dynamic->d_tag == DT_PLTRELSZ) plt_bytes_ = value;
    if (dynamic->d_tag == DT_PLTREL) with_addends = value == DT_RELA;
  }
  if (!with_addends) plt_ = nullptr;
  // Undefined symbols stand before those that the GNU hash table holds.
  undefined_ = gnu_hash ? gnu_hash[1] : hash ? hash[1] : 0;
}

std::string_view LoadedObject::file_name() const {
  const char* slash = std::strrchr(path_, '/');
  return slash ? slash + 1 : path_;
}

std::string LoadedObject::file() const {
  std::error_code error;
  const std::filesystem::path path = *path_
                                         ? std::filesystem::canonical(path_, error)
                                         : std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? path_ : path.string();
}

void LoadedObject::for_each_import(FunctionRef<void(const char*)> visit) const {
  if (!symbols_ || !strings_) return;
  for (std::uint32_t i = 1; i < undefined_; ++i)
    if (symbols_[i].st_shndx == SHN_UNDEF) visit(strings_ + symbols_[i].st_name);
}

void LoadedObject::slots_of(const ElfW(Rela) * table, std::size_t bytes,
                            FunctionRef<void(const char*, void**)> visit) const {
  if (!table || !symbols_ || !strings_) return;
  for (std::size_t i = 0; i < bytes / sizeof *table; ++i) {
    if (!fills_slot(ELF64_R_TYPE(table[i].r_info))) continue;
    const ElfW(Sym)& symbol = symbols_[ELF64_R_SYM(table[i].r_info)];
    if (symbol.st_shndx != SHN_UNDEF) continue;
    visit(strings_ + symbol.st_name, reinterpret_cast<void**>(base_ + table[i].r_offset));
  }
}

void LoadedObject::for_each_slot(FunctionRef<void(const char*, void**)> visit) const {
  slots_of(plt_, plt_bytes_, visit);
  slots_of(rela_, rela_bytes_, visit);
}

bool LoadedObject::redirect(void** slot, void* function) const {
  const auto address = reinterpret_cast<std::uintptr_t>(slot);
  if (address < read_only_begin_ || address >= read_only_end_) {
    *slot = function;
    return true;
  }
  // Protection is by whole pages, those that lie in the range as a whole.
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  void* begin = reinterpret_cast<void*>(address & ~(page - 1));
  if (::mprotect(begin, page, PROT_READ | PROT_WRITE) != 0) return false;
  *slot = function;
  if ((address & ~(page - 1)) + page <= (read_only_end_ & ~(page - 1)))
    ::mprotect(begin, page, PROT_READ);
  return true;
}

void for_each_object(FunctionRef<void(const LoadedObject&)> visit) {
  ::dl_iterate_phdr(visit_object, &visit);
}

}  // namespace foretrace
