// What is lost or missing where a trace goes from one format to another, to be said to people.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace foretrace::formats {

// One line each.
using Notes = std::vector<std::string>;

// Counts what a foreign trace does not tell, over all ranks.
class Missing {
 public:
  void add(const std::string& what, std::uint64_t times = 1) { counts_[what] += times; }
  // "12 times: MPI_Scan without its communicator", by the text.
  Notes notes() const {
    Notes all;
    for (const auto& [what, times] : counts_)
      all.push_back((times == 1 ? "once: " : std::to_string(times) + " times: ") + what);
    return all;
  }

 private:
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace foretrace::formats
