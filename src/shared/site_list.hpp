// SiteList: the places in the program that call MPI, as all ranks and the simulator
// know them: a list in the memory that they share. Nothing is taken out.
#pragma once

#include <cstdint>
#include <string_view>

namespace foretrace::live::sites {

// One of them; behind it the characters of the object. Fields as in trace::Site.
struct Entry {
  std::uint64_t next = 0;  // place; 0: the last one
  std::uint64_t offset = 0;
  std::uint32_t number = 0;  // from 1 on
  std::uint32_t object_bytes = 0;

  std::string_view object() const {
    return {reinterpret_cast<const char*>(this + 1), object_bytes};
  }
};

// The simulator, before there are ranks.
void begin();
// A rank's: the place of the entry, which is added if it is not there; 0: the shared memory
// is full.
std::uint64_t add(std::string_view object, std::uint64_t offset);

}  // namespace foretrace::live::sites
