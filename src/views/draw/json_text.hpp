// How the views print JSON: indented by two, one newline at the end; text that
// is not UTF-8 (a program's arguments may be anything) becomes U+FFFD.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/ids.hpp"

namespace foretrace::views {

inline std::string json_text(const nlohmann::ordered_json& value) {
  return value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

inline nlohmann::ordered_json rank_or_null(WorldRank rank) {
  return rank.valid() ? nlohmann::ordered_json(rank.value) : nlohmann::ordered_json(nullptr);
}

}  // namespace foretrace::views
