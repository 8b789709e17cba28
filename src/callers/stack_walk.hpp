// StackWalker: the return addresses above an MPI call, innermost first.
//
// Optimised code has no frame pointers, and an unwinder takes microseconds. But
// where a call returns to, its caller's frame has nearly always one size: so
// each return address is unwound once and its size remembered. A frame whose
// size varies leads to an address that nobody has seen; then it is unwound
// again by whoever asked. Frames of MPI's own libraries (Fortran, C++) and of the
// one that asks are left out. Knows nothing of MPI; not safe for several threads at once.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trace/call_counters.hpp"

namespace foretrace::callers {

// Where the program called a wrapper.
struct CallPoint {
  const void* address = nullptr;  // that it returns to
  const void* cfa = nullptr;      // where its frame ends (__builtin_dwarf_cfa)
};

struct Chain {
  std::uint32_t depth = 0;
  std::array<std::uint64_t, trace::kMostFrames> frames{};
};

class StackWalker {
 public:
  // `own`: an address in the library whose frames are left out, beside MPI's.
  explicit StackWalker(int depth = 1, const void* own = nullptr);

  // From the call that returns to `address` and whose frame ends at `cfa`
  // (__builtin_dwarf_cfa). False: not known without unwinding, or perhaps wrong.
  bool guess(std::uint64_t address, std::uint64_t cfa, Chain& chain) const noexcept;
  // Unwinds, and remembers. A chain whose frames cannot be found is short.
  void unwind(std::uint64_t address, std::uint64_t cfa, Chain& chain) noexcept;

  // Whether the caller at `address` is left out.
  bool is_left_out(std::uint64_t address) const noexcept;

 private:
  struct Frame {
    std::uint64_t address = 0;
    std::uint64_t size = 0;  // 0: the outermost
    bool left_out = false;
  };
  const Frame* find(std::uint64_t address) const noexcept;
  void remember(const Frame& frame) noexcept;

  std::uint32_t depth_;
  const void* own_base_ = nullptr;
  std::vector<Frame> frames_;  // open addressing; made when the first is remembered
  std::uint32_t used_ = 0;
};

}  // namespace foretrace::callers
