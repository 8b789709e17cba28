// Events as files of version 1 hold them. Private to src/trace.
#pragma once

#include "trace/decoder.hpp"
#include "trace/event.hpp"

namespace foretrace::trace::version1 {

// First bytes of the records that define something.
inline constexpr std::uint8_t kDefineName = 32;
inline constexpr std::uint8_t kDefineComm = 33;

// The event whose record begins with `head`. `event` is as new. Throws Broken.
void decode_event(Decoder& in, std::uint8_t head, Event& event, const Definitions& defined,
                  Position& position);

}  // namespace foretrace::trace::version1
