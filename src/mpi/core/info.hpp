// Info objects: keys and values in the order in which they were set.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mpi/core/object.hpp"

namespace foretrace::mpi {

struct Info : Object {
  Info() : Object(ObjectKind::info) {}
  std::vector<std::pair<std::string, std::string>> entries;
  // nullptr if there is no such key.
  const std::string* find(const std::string& key) const;
};

// A copy, one reference; nullptr for nullptr.
Info* copy_of(const Info* info);
// The key of MPI_INFO_ENV and of sessions whose values are levels' names.
inline constexpr const char* kThreadLevel = "thread_level";
// The name of the level that the program has.
const char* thread_level_name();
// The level that `info` asks for; MPI_THREAD_SINGLE where it, or a nullptr, names none.
int wanted_thread_level(const Info* info);
// Makes MPI_INFO_ENV and registers it; what it says is found at the first look.
void create_predefined_info();

}  // namespace foretrace::mpi
