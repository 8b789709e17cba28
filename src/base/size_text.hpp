// Sizes as people write them: "64k", "64KiB", "4096", "1MB". The one reader of them for
// the command line and for the parameters of machines.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace foretrace {

// A whole number of bytes; k, m, g (large or small) and KiB, MiB, GiB after it are powers of
// 1024, kB, KB, MB, GB of 1000, B is 1. Nothing if it is no such text or beyond 64 bits.
std::optional<std::uint64_t> parse_size(std::string_view text);

}  // namespace foretrace
