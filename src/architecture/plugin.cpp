#include "architecture/plugin.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "base/error.hpp"

namespace foretrace::architecture {

std::unique_ptr<entity::Behaviour> make_from_plugin(const EntityKind& kind,
                                                    const entity::Parameters& parameters) {
  const auto fail = [&](const std::string& what) {
    return Error(kind.where.text() + ": [entity." + kind.name + "]: " + what);
  };
  std::error_code ignored;
  const std::string path = std::filesystem::absolute(kind.plugin, ignored).string();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = dlerror();
    throw fail(std::string("cannot load the plug-in: ") + (why ? why : path.c_str()) +
               "; build it with foretrace architecture build");
  }
  using Version = int (*)();
  using Make = entity::Behaviour* (*)(const entity::Parameters&);
  const auto version = reinterpret_cast<Version>(dlsym(library, "foretrace_entity_version"));
  const auto make = reinterpret_cast<Make>(dlsym(library, "foretrace_entity_make"));
  if (!version || !make)
    throw fail("'" + path + "' is no entity; end its source with FORETRACE_ENTITY(Class)");
  if (version() != entity::kPluginVersion)
    throw fail("'" + path + "' was built for another version of Foretrace; build it again");
  try {
    return std::unique_ptr<entity::Behaviour>(make(parameters));
  } catch (const std::exception& error) {
    throw fail(std::string("its constructor failed: ") + error.what());
  }
}

}  // namespace foretrace::architecture
