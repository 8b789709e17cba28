// The links of a network as a JSON value, for whole reports and alone.
#pragma once

#include <nlohmann/json.hpp>

#include "analysis/links.hpp"

namespace foretrace::views {

nlohmann::ordered_json json_links(const analysis::LinksProfile& profile);

}  // namespace foretrace::views
