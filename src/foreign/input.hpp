// A file as it was given: its name and its contents.
#pragma once

#include <string>

namespace foretrace::foreign {

struct InputFile {
  std::string name;  // stands for the file in messages
  std::string text;
  int ranks = 0;            // 0: the file has to say it, where it matters
  bool is_default = false;  // `ranks` is for files that do not say it
};

// Plain or compressed by gzip. Throws Error, also for more than 64 MiB of text.
std::string read_input(const std::string& path);

}  // namespace foretrace::foreign
