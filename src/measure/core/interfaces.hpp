// What the computer's network interfaces have sent, as the kernel counts it. No MPI.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace foretrace::measure {

// By interface: bytes sent, frames with their headers. lo, which leads to this computer itself, is
// left out.
using SentBytes = std::map<std::string, std::uint64_t>;

// Of Linux' /proc/net/dev. What is no such table has none.
SentBytes parse_sent_bytes(std::string_view table);

// What a message adds to its `bytes` on the wire, if `messages` of them, and nothing else, were
// sent between the two readings; in whole bytes. 0: they did not go through these interfaces
// (InfiniBand and its like pass the kernel by), or it is no header's size. Where interfaces lie
// above each other (a bond, a bridge) they count the same frames: the one that sent most tells.
std::uint64_t header_of(const SentBytes& before, const SentBytes& after, std::uint64_t messages,
                        std::uint64_t bytes);

}  // namespace foretrace::measure
