// What libforetrace-server.so, which server.cpp loads, tells of a server that it has started. The
// library stands apart since what it needs in turn (OpenSSL) takes longer to load than most
// commands compute.
#pragma once

#include <memory>
#include <string>

#include "watch/server.hpp"

namespace foretrace::watch {

struct Served {
  std::string address;
  std::shared_ptr<void> server;  // serves as long as it is there
};

// The name and the type of the function that starts one.
inline constexpr const char* kServe = "foretrace_serve";
using Serve = void(std::string page, Answers answers, Served& served);

}  // namespace foretrace::watch
