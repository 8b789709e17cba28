#include "callers/mpi_code.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "callers/fortran_calls.hpp"

namespace foretrace::callers {
namespace {

bool is_mpi_library(std::string_view file) {
  if (is_fortran_library(file) || file.starts_with("libmpi_cxx") || file.starts_with("libmpicxx"))
    return false;
  // Open MPI loads its parts as mca_*.so.
  for (const std::string_view begin : {"libmpi", "libpmpi", "mca_", "libmca_", "libopen-"})
    if (file.starts_with(begin)) return true;
  return false;
}

bool judge(const void* return_address, const void* inside) {
  Dl_info place;
  Dl_info mpi;
  // The address may be the one behind the function's last instruction.
  if (::dladdr(static_cast<const char*>(return_address) - 1, &place) == 0) return false;
  // In one that is linked statically nobody knows whose the code is.
  if (::dladdr(inside, &mpi) != 0 && mpi.dli_fbase == place.dli_fbase) return true;
  const char* const slash = std::strrchr(place.dli_fname, '/');
  return is_mpi_library(slash ? slash + 1 : place.dli_fname);
}

}  // namespace

bool is_of_mpi(const void* return_address, const void* inside) {
  // Verdicts: address * 2 + verdict. Places that collide are judged again.
  static std::array<std::atomic<std::uintptr_t>, 256> verdicts;
  const auto address = reinterpret_cast<std::uintptr_t>(return_address);
  std::atomic<std::uintptr_t>& verdict = verdicts[(address ^ (address >> 10)) % verdicts.size()];
  const std::uintptr_t known = verdict.load(std::memory_order_relaxed);
  if (known >> 1 == address) return (known & 1) != 0;
  const bool is = judge(return_address, inside);
  verdict.store(address << 1 | static_cast<std::uintptr_t>(is), std::memory_order_relaxed);
  return is;
}

}  // namespace foretrace::callers
