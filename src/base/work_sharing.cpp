#include "base/work_sharing.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/loaded_object.hpp"

namespace foretrace {
namespace {

bool is_openmp_name(std::string_view file_name) {
  constexpr std::array kLibraries{"libgomp.", "libomp.", "libiomp5."};
  return std::ranges::any_of(kLibraries,
                             [&](const char* name) { return file_name.starts_with(name); });
}

// What compilers call for them (GCC's libgomp.map; LLVM's kmp.h).
bool asks_to_share_out(std::string_view symbol) {
  if (symbol.starts_with("__kmpc_"))
    return symbol.starts_with("__kmpc_dispatch_init") || symbol.starts_with("__kmpc_omp_task");
  if (!symbol.starts_with("GOMP_")) return false;
  constexpr std::array kParts{"_dynamic", "_guided", "_runtime", "sections"};
  constexpr std::array kWhole{"GOMP_task", "GOMP_taskloop", "GOMP_taskloop_ull",
                              // A loop whose schedule is an argument.
                              "GOMP_loop_start", "GOMP_loop_ull_start", "GOMP_loop_ordered_start",
                              "GOMP_loop_ull_ordered_start"};
  return std::ranges::any_of(kParts,
                             [&](const char* part) { return symbol.find(part) != symbol.npos; }) ||
         std::ranges::find(kWhole, symbol) != kWhole.end();
}

}  // namespace

bool is_of_openmp(const void* code) {
  const link_map* const module = module_of(code);
  if (!module || !module->l_name) return false;
  const std::string_view path = module->l_name;
  return is_openmp_name(path.substr(path.rfind('/') + 1));
}

bool has_openmp_that_shares_out() {
  bool found = false;
  for_each_object([&](const LoadedObject& object) {
    if (found || is_openmp_name(object.file_name())) return;
    object.for_each_import([&](const char* symbol) { found = found || asks_to_share_out(symbol); });
  });
  return found;
}

}  // namespace foretrace
