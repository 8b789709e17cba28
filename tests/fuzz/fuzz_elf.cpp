// read_elf on mutated programs.
#include <elf.h>

#include <cstring>
#include <sstream>

#include "cli/programs/elf_program.hpp"
#include "driver.hpp"

namespace {

using namespace foretrace;

constexpr char kInterpreter[] = "/lib64/ld-linux-x86-64.so.2";
constexpr char kNames[] = "\0PMPI_Init\0main";

// A program without code: a header, where its dynamic linker is named, and a
// symbol table with one function.
std::string small_program(bool has_interpreter, std::uint32_t name, std::uint16_t section) {
  struct {
    Elf64_Ehdr header{};
    Elf64_Phdr segment{};
    Elf64_Shdr sections[3]{};
    Elf64_Sym symbol{};
    char interpreter[sizeof kInterpreter]{};
    char names[sizeof kNames]{};
  } file;
  const auto at = [&](const void* part) {
    return static_cast<std::uint64_t>(static_cast<const char*>(part) -
                                      reinterpret_cast<const char*>(&file));
  };
  std::memcpy(file.header.e_ident, ELFMAG, SELFMAG);
  file.header.e_ident[EI_CLASS] = ELFCLASS64;
  file.header.e_phoff = at(&file.segment);
  file.header.e_phentsize = sizeof file.segment;
  file.header.e_phnum = has_interpreter ? 1 : 0;
  file.header.e_shoff = at(&file.sections);
  file.header.e_shnum = 3;
  file.segment.p_type = PT_INTERP;
  file.segment.p_offset = at(&file.interpreter);
  file.segment.p_filesz = sizeof file.interpreter;
  file.sections[1].sh_type = SHT_SYMTAB;
  file.sections[1].sh_link = 2;
  file.sections[1].sh_offset = at(&file.symbol);
  file.sections[1].sh_size = sizeof file.symbol;
  file.sections[2].sh_type = SHT_STRTAB;
  file.sections[2].sh_offset = at(&file.names);
  file.sections[2].sh_size = sizeof file.names;
  file.symbol.st_name = name;
  file.symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  file.symbol.st_shndx = section;
  std::memcpy(file.interpreter, kInterpreter, sizeof kInterpreter);
  std::memcpy(file.names, kNames, sizeof kNames);
  return {reinterpret_cast<const char*>(&file), sizeof file};
}

class ElfTarget {
 public:
  static constexpr const char* kName = "elf";

  static std::vector<std::string> seeds() {
    return {small_program(true, 1, 1), small_program(true, 1, SHN_UNDEF),
            small_program(true, 11, 1), small_program(false, 1, 1)};
  }

  static std::vector<std::string> words() {
    return {std::string(8, '\xff'), std::string(8, '\0'), "PMPI_Init", "\177ELF"};
  }

  // Whether it is taken for a program.
  bool run(const std::string& bytes) {
    std::istringstream stream(bytes);
    const cli::ElfProgram program = cli::read_elf(stream);
    if (!program.is_elf && (program.holds_mpi || !program.interpreter.empty()))
      throw std::runtime_error("something was read from what is no program");
    static const bool seeds_are_told_apart = [] {
      std::string told;
      for (const std::string& seed : seeds()) {
        std::istringstream file(seed);
        const cli::ElfProgram each = cli::read_elf(file);
        told += each.interpreter == kInterpreter ? 'd' : 's';
        told += each.holds_mpi ? 'M' : '-';
      }
      return told == "dMd-d-sM";
    }();
    if (!seeds_are_told_apart) throw std::runtime_error("the unchanged programs are misread");
    return program.is_elf;
  }
};

}  // namespace

FORETRACE_FUZZ_MAIN(ElfTarget)
