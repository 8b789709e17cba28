#include "pyramid/arrangement.hpp"

#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace foretrace::pyramid {

Arrangement Arrangement::parse(const std::string& text, std::uint64_t ranks) {
  Arrangement made;
  try {
    const nlohmann::json all = nlohmann::json::parse(text);
    made.ranks_ = all.at("ranks").get<std::vector<std::uint32_t>>();
    for (const nlohmann::json& size : all.at("sizes")) {
      const auto count = size.get<std::uint64_t>();
      if (count == 0 || count > made.ranks_.size() - made.first_.back())
        throw Error("there are no such rows: row " + std::to_string(made.rows()) + " has no ranks");
      made.first_.push_back(made.first_.back() + count);
    }
  } catch (const nlohmann::json::exception&) {
    throw Error("there are no such rows: expected {\"sizes\": [...], \"ranks\": [...]}");
  }
  if (made.rows() == 0 || made.first_.back() != made.ranks_.size())
    throw Error("there are no such rows: their sizes are not those of the ranks");
  for (std::uint64_t row = 0; row < made.rows(); ++row) {
    const auto own = made.ranks(row);
    for (std::size_t i = 0; i < own.size(); ++i)
      if (own[i] >= ranks || (i > 0 && own[i] <= own[i - 1]))
        throw Error("there are no such rows: row " + std::to_string(row) +
                    " has ranks that are not there, or not in order");
  }
  return made;
}

}  // namespace foretrace::pyramid
