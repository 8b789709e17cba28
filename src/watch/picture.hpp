// A picture that a program writes while it runs, for the page.
#pragma once

#include <string>

namespace foretrace::watch {

// Differs from that of before if the file has changed; empty: there is none.
std::string version_of_picture(const std::string& path);

// Throws Error where it cannot be read, or is larger than 64 MiB.
std::string read_picture(const std::string& path);

}  // namespace foretrace::watch
