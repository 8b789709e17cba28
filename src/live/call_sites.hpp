// CallSites: addresses in a running process as places in its source.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace foretrace::live {

class CallSites {
 public:
  // "halo.c:37" for the call that returns to `address` in a process that lives; where its
  // file has no line numbers (or addr2line is not installed), "halo+0x11e9".
  // Empty if the address is in no file.
  std::string describe(pid_t process, std::uint64_t address);

 private:
  std::map<std::pair<std::string, std::uint64_t>, std::string> known_;  // by file and offset
};

}  // namespace foretrace::live
