// The counters of a profile: how often and how long each rank was in which MPI
// call, what it moved, to whom. Fixed-size records, as they lie in the memory
// that a rank shares with its file (counters_file.hpp) while the program runs.
//
// Times are ticks of the rank's own clock; RankRecord says how long one is.
#pragma once

#include <array>
#include <cstdint>

namespace foretrace::trace {

inline constexpr int kMostFrames = 8;

enum class RankState : std::uint32_t { none = 0, running, finalized, aborted };

// One for each rank.
struct RankRecord {
  std::uint32_t used = 0;
  RankState state = RankState::none;
  std::int32_t code = 0;  // aborted: MPI_Abort's
  std::uint32_t several_threads = 0;
  std::uint32_t depth = 0;  // frames that a site may have
  std::uint32_t pid = 0;
  std::array<char, 64> host{};
  // Two readings of both clocks; the second moves on as the program runs.
  std::uint64_t first_ticks = 0;  // the count begins
  std::uint64_t first_ns = 0;
  std::uint64_t second_ticks = 0;
  std::uint64_t second_ns = 0;
  std::uint64_t last_ticks = 0;  // the end of the count, or of the last call so far
  std::uint64_t off_ticks = 0;   // switched off by the program
  // The profiler's own time: what it measured of itself, and for each call the
  // parts inside and outside of the measured interval.
  std::uint64_t own_ticks = 0;
  double inside_ticks = 0;
  double outside_ticks = 0;
  double message_ticks = 0;  // outside, more for a call that moves something
  // With several threads: time in MPI of the thread that initialised it.
  std::uint64_t main_ticks = 0;
  // The call under way.
  std::uint32_t open_site = 0;     // SiteRecord's slot + 1; 0: none
  std::uint32_t shares_cores = 0;  // there are more ranks than cores where it runs
  std::uint64_t open_since = 0;
  std::uint64_t lost = 0;  // calls that found no room in a table
};

// An executable or library that calls come from.
struct ObjectRecord {
  std::uint32_t used = 0;
  std::uint32_t reserved = 0;
  std::uint64_t base = 0;  // where it was loaded: an address is base + offset
  std::uint64_t end = 0;
  std::array<char, 488> path{};
};

// Calls of one function from one place.
struct SiteRecord {
  std::uint16_t used = 0;
  std::uint16_t function = 0;
  std::uint32_t depth = 0;                          // frames that are known
  std::array<std::uint64_t, kMostFrames> frames{};  // return addresses, innermost first
  std::uint64_t calls = 0;
  std::uint64_t ticks = 0;
  std::uint64_t longest = 0;
  std::uint64_t sent = 0;        // bytes
  std::uint64_t received = 0;    // bytes
  std::uint64_t collective = 0;  // bytes, as collectives count them
  std::uint64_t messages = 0;    // sent
};

enum class Direction : std::uint8_t { none = 0, sent, received, collective };

// Calls of one function on one communicator with messages of about one size.
struct SizeRecord {
  std::uint8_t used = 0;
  Direction direction = Direction::none;
  std::uint8_t bin = 0;  // 0: no bytes; n: from 2^(n-1) to 2^n - 1
  std::uint8_t reserved = 0;
  std::uint16_t function = 0;
  std::uint16_t comm = 0;  // CommRecord's slot + 1; 0: none
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ticks = 0;  // counted once where a call moves both ways
};

// A communicator. Its members agree on (members, ordinal) without having to
// talk: they make those with the same members in the same order.
struct CommRecord {
  std::uint32_t used = 0;
  std::uint32_t inter = 0;
  std::uint64_t members = 0;  // a hash of their world ranks, in order
  std::uint32_t ordinal = 0;  // among those with the same members, from 0
  std::uint32_t size = 0;
  std::array<char, 64> name{};  // as the program named it
};

inline std::uint64_t mixed(std::uint64_t value) {
  value *= 0x9E3779B97F4A7C15u;
  return value ^ (value >> 32);
}

// A call site by what it is: where its record lies may change.
inline std::uint64_t key_of(std::uint32_t function, const std::uint64_t* frames,
                            std::uint32_t depth) {
  std::uint64_t key = mixed(function + 1u);
  for (std::uint32_t i = 0; i < depth; ++i) key = mixed(key ^ frames[i]);
  return key;
}

inline std::uint64_t key_of(const SiteRecord& site) {
  return key_of(site.function, site.frames.data(), site.depth);
}

// A WaitRecord's rank where messages of several ranks were waited for at once.
inline constexpr std::uint32_t kSeveralRanks = UINT32_MAX;

// Calls from one place that came back when a message of one world rank was there.
struct WaitRecord {
  std::uint32_t used = 0;
  std::uint32_t rank = 0;  // the sender, or kSeveralRanks
  std::uint64_t site = 0;  // key_of(SiteRecord)
  std::uint64_t calls = 0;
  std::uint64_t ticks = 0;
  std::uint64_t longest = 0;
};

// Messages to one world rank.
struct PeerRecord {
  std::uint32_t used = 0;
  std::uint32_t rank = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

}  // namespace foretrace::trace
