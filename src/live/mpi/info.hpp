// Info objects: keys and values in the order in which they were set.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "live/mpi/object.hpp"

namespace foretrace::live {

struct Info : Object {
  Info() : Object(ObjectKind::info) {}
  std::vector<std::pair<std::string, std::string>> entries;
  // nullptr if there is no such key.
  const std::string* find(const std::string& key) const;
};

// A copy, one reference; nullptr for nullptr.
Info* copy_of(const Info* info);
// Makes MPI_INFO_ENV and registers it; what it says is found at the first look.
void create_predefined_info();

}  // namespace foretrace::live
