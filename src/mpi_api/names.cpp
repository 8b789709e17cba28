#include "mpi_api/names.hpp"

#include <algorithm>
#include <cctype>

namespace foretrace::mpi_api {

std::string_view without_large_count(std::string_view function) {
  return function.ends_with("_c") ? function.substr(0, function.size() - 2) : function;
}

std::string model_name(std::string_view function) {
  constexpr std::string_view kPrefix = "mpi_";
  std::string name(without_large_count(function));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (name.starts_with(kPrefix)) name.erase(0, kPrefix.size());
  return name;
}

}  // namespace foretrace::mpi_api
