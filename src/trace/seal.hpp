// Private to src/trace: the parts of a trace file that belong to no rank.
#pragma once

#include <cstdint>
#include <string>

#include "trace/event.hpp"

namespace foretrace::trace {

// File header and info block, padded to whole pages. `blocks`: bytes of what follows
// in a sealed file; 0: the file will not be sealed.
std::string file_start(const TraceInfo& info, std::uint64_t blocks, std::uint32_t version);
// The payload of an info block, and back. Parsing throws nlohmann's
// exceptions, and Error.
std::string info_text(const TraceInfo& info);
TraceInfo parse_info(const std::string& json);

}  // namespace foretrace::trace
