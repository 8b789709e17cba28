// The text that dumpi2ascii (SST/macro) makes of one rank's DUMPI trace, call by call.
//
//   MPI_Send entering at walltime 8544.064289000, cputime 0.033994000 seconds in thread 0.
//   int count=1
//   MPI_Datatype datatype=9 (MPI_INT)
//   ...
//   MPI_Send returning at walltime 8544.064390000, cputime 0.034050000 seconds in thread 0.
//
// Lines outside of calls describe the file; of these only the sizes of datatypes are kept.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace foretrace::formats {

struct DumpiStatus {
  std::int64_t bytes = 0;
  bool cancelled = false;
  std::int64_t source = 0;
  std::int64_t tag = 0;
};

struct DumpiCall {
  std::string name;
  Time enter;
  Time leave;
  std::int64_t thread = 0;
  bool whole = true;  // false: the file ends within it

  // By the name of the parameter. Throws Error where the call lacks it, or has something else.
  std::int64_t number(std::string_view parameter) const;
  std::vector<std::int64_t> numbers(std::string_view parameter) const;  // none: it was not written
  std::vector<DumpiStatus> statuses(std::string_view parameter) const;  // likewise
  bool has(std::string_view parameter) const { return find(parameter) != nullptr; }

 private:
  friend class DumpiText;
  const std::string* find(std::string_view parameter) const;
  const std::string& text(std::string_view parameter) const;
  std::vector<std::pair<std::string, std::string>> parameters_;
};

class DumpiText {
 public:
  // Throws Error.
  explicit DumpiText(std::string path);
  // The next call; false: there is none. Throws Error with file and line.
  bool next(DumpiCall& call);
  // Error with file and line of the call that was read last.
  [[noreturn]] void refuse(const std::string& what) const;
  // Of datatypes by number, as far as the file has told.
  const std::map<std::int64_t, std::uint64_t>& sizes() const { return sizes_; }

 private:
  bool read_line();
  bool begin(DumpiCall& call);
  void take_parameter(DumpiCall& call) const;
  void take_size();

  std::string path_;
  std::ifstream in_;
  std::string line_;
  std::uint64_t number_ = 0;
  std::uint64_t called_at_ = 0;
  std::map<std::int64_t, std::uint64_t> sizes_;
};

}  // namespace foretrace::formats
