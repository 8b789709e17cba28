#include "measure/core/hosts.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace foretrace::measure {

bool has_two_paths(const Hosts& hosts) {
  const auto here = std::ranges::count(hosts, hosts.front());
  return here > 1 && here < std::ssize(hosts);
}

std::vector<int> spread_order(const Hosts& hosts) {
  // By how many ranks of the same host come before.
  std::map<std::int32_t, int> seen;
  std::vector<std::pair<int, int>> turns;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank)
    turns.emplace_back(seen[hosts[rank]]++, static_cast<int>(rank));
  std::ranges::sort(turns);
  std::vector<int> order;
  for (const auto& [turn, rank] : turns) order.push_back(rank);
  return order;
}

std::vector<int> first_host(const Hosts& hosts) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank)
    if (hosts[rank] == hosts.front()) ranks.push_back(static_cast<int>(rank));
  return ranks;
}

std::vector<int> outer_pair(const Hosts& hosts) {
  for (std::size_t rank = hosts.size(); rank-- > 1;)
    if (hosts[rank] != hosts.front()) return {0, static_cast<int>(rank)};
  return {0, static_cast<int>(hosts.size()) - 1};
}

std::string text_of(const Hosts& hosts) {
  std::string text;
  for (const std::int32_t host : hosts) text += (text.empty() ? "" : " ") + std::to_string(host);
  return text;
}

}  // namespace foretrace::measure
