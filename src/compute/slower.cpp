#include "compute/slower.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.hpp"

namespace foretrace::compute {
namespace {

[[noreturn]] void refuse(std::string_view text) {
  throw UsageError("--slower " + std::string(text) +
                   ": expected rank:R=FACTOR or node:N=FACTOR, a FACTOR above 0, for example "
                   "rank:3=1.2 or node:0..7=1.5");
}

template <class Number>
bool parse(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end;
}

Slower parse_one(std::string_view text) {
  Slower slower;
  std::string_view rest = text;
  slower.are_nodes = rest.starts_with("node:");
  if (!slower.are_nodes && !rest.starts_with("rank:")) refuse(text);
  rest.remove_prefix(5);
  const std::size_t is = rest.find('=');
  if (is == std::string_view::npos) refuse(text);
  const std::string_view who = rest.substr(0, is);
  const std::size_t dots = who.find("..");
  const bool is_range = dots != std::string_view::npos;
  if (!parse(who.substr(0, dots), slower.first) || slower.first < 0) refuse(text);
  slower.last = slower.first;
  if (is_range && (!parse(who.substr(dots + 2), slower.last) || slower.last < slower.first))
    refuse(text);
  if (!parse(rest.substr(is + 1), slower.factor) || !std::isfinite(slower.factor) ||
      !(slower.factor > 0))
    refuse(text);
  return slower;
}

}  // namespace

std::vector<Slower> parse_slower(std::string_view text) {
  std::vector<Slower> list;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    list.push_back(parse_one(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return list;
}

std::vector<double> slower_by_rank(const std::vector<Slower>& slower,
                                   const std::vector<std::int32_t>& nodes, int ranks) {
  if (slower.empty()) return {};
  std::vector<double> factors(static_cast<std::size_t>(ranks), 1);
  for (const auto& [are_nodes, first, last, factor] : slower) {
    if (are_nodes && nodes.empty())
      throw UsageError(
          "--slower node:" + std::to_string(first) +
          ": nothing says which ranks share a node; give --ranks-per-node N or --placement");
    const int most = are_nodes ? *std::ranges::max_element(nodes) : ranks - 1;
    if (last > most)
      throw UsageError("--slower: there is no " + std::string(are_nodes ? "node " : "rank ") +
                       std::to_string(last) + "; the last one is " + std::to_string(most));
    for (std::size_t rank = 0; rank < factors.size(); ++rank) {
      const int number = are_nodes ? nodes.at(rank) : static_cast<int>(rank);
      if (first <= number && number <= last) factors[rank] *= factor;
    }
  }
  return factors;
}

}  // namespace foretrace::compute
