#include "capture/fortran.hpp"

#include <dlfcn.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/loaded_object.hpp"

namespace foretrace::capture {
namespace {

// Open MPI: libmpi_mpifh, libmpi_usempif08, libmpi_usempi_ignore_tkr; MPICH:
// libmpichfort, libmpifort.
bool is_fortran_library(std::string_view file_name) {
  if (file_name.substr(0, 6) != "libmpi") return false;
  for (std::string_view part : {"mpifh", "usempi", "fort"})
    if (file_name.find(part) != std::string_view::npos) return true;
  return false;
}

const FortranCall* find(std::span<const FortranCall> calls, const char* name) {
  const auto found = std::lower_bound(
      calls.begin(), calls.end(), name,
      [](const FortranCall& c, const char* n) { return std::strcmp(c.name, n) < 0; });
  return found != calls.end() && std::strcmp(found->name, name) == 0 ? &*found : nullptr;
}

// Where the Fortran libraries lie. Few, and written once each.
struct Extent {
  std::uintptr_t base;
  std::uintptr_t end;
};
std::array<Extent, 8> extents;
std::atomic<int> extent_count{0};

bool in_fortran_library(std::uintptr_t address) {
  const int count = extent_count.load(std::memory_order_acquire);
  return std::any_of(extents.begin(), extents.begin() + count, [address](const Extent& extent) {
    return address >= extent.base && address < extent.end;
  });
}

void remember_extent(const LoadedObject& object) {
  const int count = extent_count.load(std::memory_order_relaxed);
  if (in_fortran_library(object.base()) || count == static_cast<int>(extents.size())) return;
  extents[static_cast<std::size_t>(count)] = {object.base(), object.end()};
  extent_count.store(count + 1, std::memory_order_release);
}

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
  // A tail call: it returns to the program.
  if (!in_fortran_library(reinterpret_cast<std::uintptr_t>(return_address))) return true;
  Dl_info info;
  const ElfW(Sym)* symbol = nullptr;
  // The address may be the one behind the function's last instruction.
  const auto* inside = static_cast<const char*>(return_address) - 1;
  if (::dladdr1(inside, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)),
                RTLD_DL_SYMENT) != 0 &&
      info.dli_sname && symbol && inside < static_cast<char*>(info.dli_saddr) + symbol->st_size)
    return same_function(info.dli_sname, name);
  // Code without a name: MPICH's part for array sections. It makes the call
  // that the program made, and datatypes for it.
  return std::strncmp(name, "MPI_Type_", 9) != 0;
}

// Verdicts by return address, so that each place of a call is judged once:
// address * 2 + verdict. Places that collide are judged again.
std::array<std::atomic<std::uintptr_t>, 1024> verdicts;

}  // namespace

bool is_programs_call(const char* name, const void* return_address) {
  const auto address = reinterpret_cast<std::uintptr_t>(return_address);
  std::atomic<std::uintptr_t>& entry = verdicts[(address ^ (address >> 10)) % verdicts.size()];
  const std::uintptr_t known = entry.load(std::memory_order_relaxed);
  if (known >> 1 == address) return known & 1;
  const bool programs = judge(name, return_address);
  entry.store(address << 1 | static_cast<std::uintptr_t>(programs), std::memory_order_relaxed);
  return programs;
}

void redirect_fortran_calls(std::span<const FortranCall> calls) {
  for_each_object([&](const LoadedObject& object) {
    if (!is_fortran_library(object.file_name())) return;
    remember_extent(object);
    object.for_each_slot([&](const char* symbol, void** slot) {
      if (*symbol != 'P') return;
      const FortranCall* call = find(calls, symbol + 1);
      if (call && *slot != call->function) object.redirect(slot, call->function);
    });
  });
}

}  // namespace foretrace::capture
