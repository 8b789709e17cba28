// LoadedObject: one executable or library of this process as the dynamic linker
// sees it: which symbols it imports, and where it keeps the addresses of the
// functions among them. Knows nothing of MPI; loads and unloads nothing.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/function_ref.hpp"

namespace foretrace {

class LoadedObject {
 public:
  explicit LoadedObject(const dl_phdr_info& info);

  // As the dynamic linker knows it; empty for the executable.
  const char* path() const { return path_; }
  // Without its directory; empty for the executable.
  std::string_view file_name() const;
  // The addresses of the object's code and data lie from its base up to there.
  std::uintptr_t end() const { return end_; }
  std::uintptr_t base() const { return base_; }
  // Whether a call from this object can return to `address`, which may be the
  // one behind the last instruction.
  bool holds_return_to(std::uintptr_t address) const { return address > base_ && address <= end_; }
  // Its file, with the whole path where that can be found.
  std::string file() const;

  void for_each_import(FunctionRef<void(const char* symbol)> visit) const;
  // The slots through which the object calls what it imports. Whoever writes
  // one by redirect() directs those calls elsewhere.
  void for_each_slot(FunctionRef<void(const char* symbol, void** slot)> visit) const;
  // Also where the linker made the slot read-only after it was filled; false if
  // the system does not let it be written.
  bool redirect(void** slot, void* function) const;

 private:
  void slots_of(const ElfW(Rela) * table, std::size_t bytes,
                FunctionRef<void(const char*, void**)> visit) const;

  const char* path_;
  std::uintptr_t base_;
  std::uintptr_t end_;
  std::uintptr_t read_only_begin_ = 0;  // what is protected after relocation
  std::uintptr_t read_only_end_ = 0;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* strings_ = nullptr;
  std::uint32_t undefined_ = 0;  // symbols before the first that is defined
  const ElfW(Rela) * rela_ = nullptr;
  std::size_t rela_bytes_ = 0;
  const ElfW(Rela) * plt_ = nullptr;
  std::size_t plt_bytes_ = 0;
};

void for_each_object(FunctionRef<void(const LoadedObject&)> visit);

}  // namespace foretrace
