#include "cli/traces/call_places.hpp"

#include <memory>

#include "symbols/call_places.hpp"

namespace foretrace::cli {

trace::TellPlace place_teller() {
  return [places = std::make_shared<symbols::CallPlaces>()](const trace::Site& site) {
    return symbols::format_place(places->find(site.object, site.offset));
  };
}

}  // namespace foretrace::cli
