// CallPlaces: return addresses as places in a program's source.
//
// An address is given as the file it lies in and its distance from where that
// file was loaded, so that it means the same in every process and after the
// run. A line of a Python program is given as "python:FUNCTION:FILE" and its number
// (callers/python_lines.hpp). Reads DWARF and symbol tables by libdw; runs no other program. Knows
// nothing of processes and of MPI.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace foretrace::symbols {

struct Place {
  std::string function;      // demangled, without parameters; empty: not known
  std::string file;          // as the compiler was given it; empty: no line numbers
  int line = 0;              // from 1; 0: not known
  std::string object;        // the executable or library
  std::uint64_t offset = 0;  // in it, of the instruction after the call

  bool operator==(const Place&) const = default;
};

// "halo.c:37", without folders; where there are no line numbers "halo+0x11e9".
std::string format_place(const Place& place);

class CallPlaces {
 public:
  CallPlaces();
  ~CallPlaces();
  CallPlaces(CallPlaces&&) noexcept;
  CallPlaces& operator=(CallPlaces&&) noexcept;

  // Of the call that returns to `offset` of `object`. The reference stays good.
  const Place& find(const std::string& object, std::uint64_t offset);

 private:
  class Object;

  std::map<std::string, std::unique_ptr<Object>> objects_;
  std::map<std::pair<std::string, std::uint64_t>, Place> known_;
};

}  // namespace foretrace::symbols
