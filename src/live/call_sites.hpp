// CallSites: addresses in a running process as places in its source.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "symbols/call_places.hpp"

namespace foretrace::live {

class CallSites {
 public:
  // "halo.c:37" for the call that returns to `address` in a process that lives; where its
  // file has no line numbers, "halo+0x11e9".
  // Empty if the address is in no file.
  std::string describe(pid_t process, std::uint64_t address);

 private:
  symbols::CallPlaces places_;
};

}  // namespace foretrace::live
