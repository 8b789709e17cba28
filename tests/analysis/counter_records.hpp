// Records of a profile's counters, for tests that write these by hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "trace/counters_file.hpp"

namespace foretrace::analysis {

enum Function : std::uint16_t { kSend, kRecv, kAllreduce };

inline trace::SiteRecord site(Function function, std::uint64_t address, std::uint64_t calls,
                              std::uint64_t ticks, std::uint64_t longest = 0) {
  trace::SiteRecord record;
  record.used = 1;
  record.function = function;
  record.depth = 1;
  record.frames[0] = address;
  record.calls = calls;
  record.ticks = ticks;
  record.longest = longest;
  return record;
}

inline trace::CommRecord comm(std::uint64_t members, std::uint32_t ordinal, std::uint32_t size,
                              const char* name = "") {
  trace::CommRecord record;
  record.used = 1;
  record.members = members;
  record.ordinal = ordinal;
  record.size = size;
  std::copy_n(name, std::char_traits<char>::length(name), record.name.begin());
  return record;
}

inline trace::SizeRecord size(Function function, std::uint16_t comm, trace::Direction direction,
                              std::uint8_t bin, std::uint64_t calls, std::uint64_t bytes,
                              std::uint64_t ticks) {
  trace::SizeRecord record;
  record.used = 1;
  record.function = function;
  record.comm = comm;
  record.direction = direction;
  record.bin = bin;
  record.calls = calls;
  record.bytes = bytes;
  record.ticks = ticks;
  return record;
}

}  // namespace foretrace::analysis
