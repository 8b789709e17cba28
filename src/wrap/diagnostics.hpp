// What a compiler says of a generated source: a fault in the template's code stands in every
// wrapper that the code is in, and is to be read once.
#pragma once

#include <string>
#include <string_view>

namespace foretrace::wrap {

// `text` as a compiler prints it ("FILE: In function ...", "FILE:LINE:COLUMN: error: ...", lines
// that show the place), with each message once; after it in how many more functions it stands.
std::string each_once(std::string_view text);

}  // namespace foretrace::wrap
