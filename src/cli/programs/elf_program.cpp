#include "cli/programs/elf_program.hpp"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

namespace foretrace::cli {
namespace {

class File {
 public:
  explicit File(std::istream& stream) : stream_(stream) {}

  template <class Type>
  bool read(std::uint64_t offset, Type& value) {
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(offset));
    return static_cast<bool>(stream_.read(reinterpret_cast<char*>(&value), sizeof value));
  }

  template <class Type>
  std::vector<Type> read_all(std::uint64_t offset, std::uint64_t bytes) {
    stream_.clear();
    stream_.seekg(0, std::ios::end);
    const auto size =
        static_cast<std::uint64_t>(std::max(std::streamoff(stream_.tellg()), std::streamoff(0)));
    if (offset > size || bytes > size - offset) return {};
    std::vector<Type> values(bytes / sizeof(Type));
    stream_.seekg(static_cast<std::streamoff>(offset));
    if (!stream_.read(reinterpret_cast<char*>(values.data()),
                      static_cast<std::streamsize>(values.size() * sizeof(Type))))
      values.clear();
    return values;
  }

 private:
  std::istream& stream_;
};

std::string interpreter_of(File& file, const Elf64_Ehdr& header) {
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!file.read(header.e_phoff + static_cast<std::uint64_t>(i) * header.e_phentsize, segment))
      break;
    if (segment.p_type != PT_INTERP || segment.p_filesz > 4096) continue;
    std::vector<char> name = file.read_all<char>(segment.p_offset, segment.p_filesz);
    name.push_back('\0');
    return name.data();
  }
  return "";
}

// Functions of the symbol table (SHT_SYMTAB, or SHT_DYNSYM: of the dynamic linker's).
template <class Visit>
void for_each_function(File& file, const Elf64_Ehdr& header, std::uint32_t kind, Visit visit) {
  const auto sections =
      file.read_all<Elf64_Shdr>(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr& table : sections) {
    if (table.sh_type != kind || table.sh_link >= sections.size()) continue;
    const Elf64_Shdr& names = sections[table.sh_link];
    std::vector<char> text = file.read_all<char>(names.sh_offset, names.sh_size);
    text.push_back('\0');
    for (const Elf64_Sym& symbol : file.read_all<Elf64_Sym>(table.sh_offset, table.sh_size))
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_name < text.size())
        visit(std::string_view(text.data() + symbol.st_name), symbol.st_shndx != SHN_UNDEF);
  }
}

}  // namespace

ElfProgram read_elf(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return read_elf(stream);
}

ElfProgram read_elf(std::istream& stream) {
  ElfProgram program;
  File file(stream);
  Elf64_Ehdr header;
  program.is_elf = file.read(0, header) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                   header.e_ident[EI_CLASS] == ELFCLASS64;
  if (!program.is_elf) return program;
  program.interpreter = interpreter_of(file, header);
  for_each_function(file, header, SHT_SYMTAB, [&](std::string_view name, bool defined) {
    if (defined && (name == "PMPI_Init" || name == "MPI_Init")) program.holds_mpi = true;
  });
  for_each_function(file, header, SHT_DYNSYM, [&](std::string_view name, bool defined) {
    if (!defined && name == "MPI_Session_init") program.uses_sessions = true;
    if (!defined && name == "__asan_init") program.uses_asan = true;
  });
  return program;
}

}  // namespace foretrace::cli
