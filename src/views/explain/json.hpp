// An Explanation as JSON, for those who print it and for the page that carries it.
#pragma once

#include <nlohmann/json.hpp>

#include "explain/explanation.hpp"

namespace foretrace::views {

// The fields that docs/explain.md lists; times in seconds.
nlohmann::ordered_json json_of(const explain::Explanation& explanation);

}  // namespace foretrace::views
