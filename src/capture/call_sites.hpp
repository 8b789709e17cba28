// CallSites: where the program makes its calls, as numbers in its trace.
//
// A place is looked up by the call's return address, and given to the trace when
// it is new. Where MPI's own Fortran library makes the call, the place is that
// of its caller. Knows nothing of MPI; for one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/stack_walk.hpp"
#include "trace/trace_writer.hpp"

namespace foretrace::capture {

class CallSites {
 public:
  // At most so many places are told apart; 0 stands for the others.
  static constexpr std::size_t kMost = std::size_t{1} << 16;

  // `own`: an address in the library whose frames are left out. Takes no memory
  // before the first call.
  explicit CallSites(const void* own = nullptr) : own_(own) {}

  // 0: not known. New places are defined in `writer`, always the same one.
  trace::SiteId number(const CallPoint& point, trace::TraceWriter& writer) noexcept {
    const Recent& recent = recent_[place_in_recent(point.address)];
    return recent.address == point.address ? recent.site : search(point, writer);
  }
  // The place of that number: "life+0x4b09"; empty: not known. Takes long.
  std::string describe(trace::SiteId site) const;

 private:
  struct Known {
    std::uint64_t address = 0;  // 0: free
    trace::SiteId site = 0;
    bool left_out = false;  // the call is made for the program; its caller counts
  };

  // Looked at before the table: places that are no one else's calls.
  struct Recent {
    const void* address = nullptr;
    trace::SiteId site = 0;
  };
  static constexpr std::size_t kRecent = 64;
  // Calls take five bytes at least.
  static std::size_t place_in_recent(const void* address) {
    const auto bits = reinterpret_cast<std::uint64_t>(address);
    return static_cast<std::size_t>((bits >> 2) ^ (bits >> 8)) % kRecent;
  }

  trace::SiteId search(const CallPoint& point, trace::TraceWriter& writer) noexcept;
  Known* find(std::uint64_t address) noexcept;
  Known* add(std::uint64_t address, trace::TraceWriter& writer);
  void grow();

  const void* own_;
  std::array<Recent, kRecent> recent_{};
  std::optional<StackWalker> walker_;
  std::vector<Known> known_;  // open addressing; a power of two
  std::size_t used_ = 0;
};

}  // namespace foretrace::capture
