// A file as it was given: its name and its contents.
#pragma once

#include <string>
#include <vector>

namespace foretrace::imported {

struct InputFile {
  std::string name;  // stands for the file in messages
  std::string text;
  int ranks = 0;            // 0: the file has to say it, where it matters
  bool is_default = false;  // `ranks` is for files that do not say it
};

// Throws Error where two hold the same: they would pass for two measurements that agree.
void refuse_repeated(const std::vector<InputFile>& files);

// Plain or compressed by gzip. Throws Error, also for more than 64 MiB of text.
std::string read_input(const std::string& path);

}  // namespace foretrace::imported
