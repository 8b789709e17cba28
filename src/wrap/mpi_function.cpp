#include "wrap/mpi_function.hpp"

#include <algorithm>

namespace foretrace::wrap {
namespace {

struct Role {
  std::string_view name;
  // The argument's names, the first that a function has.
  std::vector<std::string_view> arguments;
};

const std::vector<Role>& roles() {
  static const std::vector<Role> all = {
      {"count", {"count", "sendcount", "origin_count", "recvcount"}},
      {"datatype", {"datatype", "sendtype", "origin_datatype", "recvtype"}},
      {"peer", {"dest", "source", "target_rank"}},
      {"tag", {"tag", "sendtag", "recvtag"}},
      {"comm", {"comm"}},
  };
  return all;
}

}  // namespace

std::vector<std::string_view> argument_names(const MpiFunction& function) {
  std::vector<std::string_view> names;
  std::string_view rest = function.arguments;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    names.push_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(rest.size(), comma + 1));
    while (rest.starts_with(' ')) rest.remove_prefix(1);
  }
  return names;
}

std::optional<std::string_view> argument_of(const MpiFunction& function, std::string_view role) {
  const auto found = std::ranges::find(roles(), role, &Role::name);
  if (found == roles().end()) return std::nullopt;
  const std::vector<std::string_view> names = argument_names(function);
  for (std::string_view wanted : found->arguments)
    if (std::ranges::find(names, wanted) != names.end()) return wanted;
  return std::nullopt;
}

bool is_conversion(std::string_view name) {
  for (std::string_view end : {"_c2f", "_f2c", "_c2f08", "_f082c", "_f082f", "_f2f08"})
    if (name.ends_with(end)) return true;
  return false;
}

}  // namespace foretrace::wrap
