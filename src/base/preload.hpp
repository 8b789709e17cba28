// LD_PRELOAD, by which a library of ours is in the program.
#pragma once

#include <string_view>

namespace foretrace {

// Takes the entries with `part` in them out of this process's LD_PRELOAD: programs that it starts
// are loaded with those alone that the user named.
void take_out_of_preload(std::string_view part);

}  // namespace foretrace
