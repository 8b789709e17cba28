// The checksums of the trace format: 32 bits of XXH3 (docs/trace-format.md).
// Private to src/trace.
#pragma once

#include <cstddef>
#include <cstdint>

namespace foretrace::trace {

struct BlockHeader;

std::uint32_t checksum(const void* bytes, std::size_t count, std::uint64_t seed = 0);

// BlockHeader::frame of the block whose header begins at `offset` in the file.
std::uint32_t frame_of(const BlockHeader& header, std::uint64_t offset);
// BlockHeader::check; `payload` has header.used bytes.
std::uint32_t check_of(const BlockHeader& header, const void* payload);

}  // namespace foretrace::trace
