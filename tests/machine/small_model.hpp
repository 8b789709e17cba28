// Models that are a name and a few tables, from their text.
#pragma once

#include <string>

#include "base/error.hpp"
#include "machine/machine_file.hpp"

namespace foretrace::machine {

// The file m.toml: `text` begins on its third line.
inline MachineModel small_model(const std::string& text) {
  return parse_machine("[machine]\nname = \"m\"\n" + text, "m.toml");
}

// What is said to be wrong with it; "none".
inline std::string fault_in(const std::string& text) {
  try {
    small_model(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

}  // namespace foretrace::machine
