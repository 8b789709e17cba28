// Entities from shared libraries (FORETRACE_ENTITY in foretrace_entity.hpp).
#pragma once

#include <memory>
#include <string>

#include "architecture/description.hpp"
#include "foretrace_entity.hpp"

namespace foretrace::architecture {

// Loaded once, and kept to the end of the process. Throws Error with the line that names it.
std::unique_ptr<entity::Behaviour> make_from_plugin(const EntityKind& kind,
                                                    const entity::Parameters& parameters);

}  // namespace foretrace::architecture
