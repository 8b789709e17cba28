#include "results/spread.hpp"

#include <algorithm>
#include <map>

#include "results/surface.hpp"
#include "stats/summary.hpp"

namespace foretrace::results {

std::vector<Spread> spreads_of(const Table& launches, const std::string& quantity) {
  const std::size_t ranks = launches.find("ranks");
  const std::size_t status = launches.find("status");
  const std::size_t value = launches.find(quantity);
  const std::vector<std::size_t> keys = key_columns(launches, {ranks});
  std::map<std::vector<std::string>, std::map<double, std::vector<double>>> groups;
  for (const auto& row : launches.rows) {
    const auto at = number_of(row[ranks]);
    const auto found = number_of(row[value]);
    if (!at || !found || text_of(row[status]) != "done") continue;
    std::vector<std::string> key;
    for (const std::size_t i : keys) key.push_back(text_of(row[i]));
    groups[key][*at].push_back(*found);
  }
  std::vector<Spread> out;
  for (auto& [key, by_ranks] : groups) {
    if (std::ranges::none_of(by_ranks, [](const auto& each) { return each.second.size() > 1; }))
      continue;
    Spread spread;
    spread.quantity = quantity;
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (!key[i].empty()) spread.of.emplace_back(launches.columns[keys[i]].name, key[i]);
    for (auto& [at, values] : by_ranks) {
      std::ranges::sort(values);
      spread.ranks.push_back({static_cast<std::int64_t>(at), values, stats::quantile(values, 0.25),
                              stats::median(values), stats::quantile(values, 0.75)});
    }
    out.push_back(std::move(spread));
  }
  return out;
}

}  // namespace foretrace::results
