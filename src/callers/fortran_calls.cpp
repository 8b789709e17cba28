#include "callers/fortran_calls.hpp"

#include <dlfcn.h>
#include <link.h>
#include <strings.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

namespace foretrace::callers {
namespace {

void cut_end(std::string_view& text, std::string_view end) {
  if (text.size() > end.size() && text.substr(text.size() - end.size()) == end)
    text.remove_suffix(end.size());
}

// ompi_send_f, MPI_Send_f, mpi_send_f08_, pmpir_send_f08ts_large_: send. Some
// have a name more for C's pointers: mpi_win_allocate_cptr_.
std::string_view bare_name(std::string_view symbol) {
  const std::size_t first = symbol.find('_');
  if (first == std::string_view::npos) return {};
  symbol.remove_prefix(first + 1);
  while (!symbol.empty() && symbol.back() == '_') symbol.remove_suffix(1);
  if (const std::size_t f08 = symbol.rfind("_f08"); f08 != std::string_view::npos)
    symbol = symbol.substr(0, f08);
  cut_end(symbol, "_f");
  cut_end(symbol, "_cptr");
  cut_end(symbol, "_CPTR");
  return symbol;
}

bool same_function(std::string_view symbol, const char* mpi_name) {
  const std::string_view mine = bare_name(symbol);
  std::string_view wanted(std::strchr(mpi_name, '_') + 1);
  const auto same = [&] {
    return mine.size() == wanted.size() &&
           ::strncasecmp(mine.data(), wanted.data(), mine.size()) == 0;
  };
  if (same()) return true;
  // The form with large counts is the same function of Fortran.
  if (wanted.size() < 2 || wanted.substr(wanted.size() - 2) != "_c") return false;
  wanted.remove_suffix(2);
  return same();
}

bool judge(const char* name, const void* return_address) {
  // The address may be the one behind the function's last instruction.
  const auto* inside = static_cast<const char*>(return_address) - 1;
  Dl_info info;
  const ElfW(Sym)* symbol = nullptr;
  if (::dladdr1(inside, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)),
                RTLD_DL_SYMENT) == 0)
    return true;
  const char* const slash = std::strrchr(info.dli_fname, '/');
  // Of a tail call: it returns to the program.
  if (!is_fortran_library(slash ? slash + 1 : info.dli_fname)) return true;
  if (info.dli_sname && symbol && inside < static_cast<char*>(info.dli_saddr) + symbol->st_size)
    return same_function(info.dli_sname, name);
  // Code without a name: MPICH's part for array sections. It makes the call
  // that the program made, and datatypes for it.
  return std::strncmp(name, "MPI_Type_", 9) != 0;
}

// Verdicts by return address, so that each place of a call is judged once:
// address * 2 + verdict. Places that collide are judged again.
std::array<std::atomic<std::uintptr_t>, 1024> verdicts;

std::atomic<std::uintptr_t>& verdict_of(std::uintptr_t address) {
  return verdicts[(address ^ (address >> 10)) % verdicts.size()];
}

}  // namespace

bool is_fortran_library(std::string_view file_name) {
  if (file_name.substr(0, 6) != "libmpi") return false;
  for (std::string_view part : {"mpifh", "usempi", "fort"})
    if (file_name.find(part) != std::string_view::npos) return true;
  return false;
}

std::optional<bool> known_call(const void* return_address) {
  const auto address = reinterpret_cast<std::uintptr_t>(return_address);
  const std::uintptr_t known = verdict_of(address).load(std::memory_order_relaxed);
  if (known >> 1 != address) return std::nullopt;
  return (known & 1) != 0;
}

bool is_programs_call(const char* name, const void* return_address) {
  if (const auto known = known_call(return_address)) return *known;
  const bool programs = judge(name, return_address);
  const auto address = reinterpret_cast<std::uintptr_t>(return_address);
  verdict_of(address).store(address << 1 | static_cast<std::uintptr_t>(programs),
                            std::memory_order_relaxed);
  return programs;
}

}  // namespace foretrace::callers
