// CallSites: where the program makes its calls, as numbers.
//
// A place is looked up by the call's return address, and told to whoever numbers
// places when it is new. Where MPI's own Fortran library makes the call, the place is that
// of its caller; where a Python program's library makes it, the program's line.
// Knows nothing of MPI; for one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/function_ref.hpp"
#include "callers/python_lines.hpp"
#include "callers/stack_walk.hpp"
#include "trace/event.hpp"

namespace foretrace::callers {

class CallSites {
 public:
  // At most so many places are told apart; 0 stands for the others.
  static constexpr std::size_t kMost = std::size_t{1} << 16;

  // Gives a new place its number, 0 if it cannot.
  using Define = FunctionRef<std::uint64_t(const trace::Site&)>;

  struct Found {
    std::uint64_t number = 0;  // 0: not known
    bool by_library = false;   // a library of MPI's makes the call
  };

  // `own`: an address in the library whose frames are left out. Takes no memory
  // before the first call.
  explicit CallSites(const void* own = nullptr) : own_(own) {}

  Found find(const CallPoint& point, Define define) noexcept {
    const Recent& recent = recent_[place_in_recent(point.address)];
    return recent.address == point.address ? Found{recent.number, false} : search(point, define);
  }
  // The place of that number: "life+0x4b09"; empty: not known. Takes long.
  std::string describe(std::uint64_t number) const;

 private:
  struct Known {
    std::uint64_t address = 0;  // 0: free
    std::uint64_t number = 0;
    bool left_out = false;   // the call is made for the program; its caller counts
    bool by_python = false;  // the line of the Python program counts
  };

  // Looked at before the table: places that are no one else's calls.
  struct Recent {
    const void* address = nullptr;
    std::uint64_t number = 0;
  };
  static constexpr std::size_t kRecent = 64;
  // Calls take five bytes at least.
  static std::size_t place_in_recent(const void* address) {
    const auto bits = reinterpret_cast<std::uint64_t>(address);
    return static_cast<std::size_t>((bits >> 2) ^ (bits >> 8)) % kRecent;
  }

  Found search(const CallPoint& point, Define define) noexcept;
  const Known* at(std::uint64_t address, Define define);
  Known* known(std::uint64_t address) noexcept;
  Known* add(std::uint64_t address, Define define);
  std::uint64_t program_frame(const CallPoint& point);
  std::uint64_t number_in_python(std::uint64_t address, Define define);
  trace::Site site_of(std::uint64_t address) const;
  void grow();

  const void* own_;
  std::array<Recent, kRecent> recent_{};
  std::unique_ptr<StackWalker> walker_;
  std::unique_ptr<PythonLines> python_;  // made for the first library that Python calls
  std::vector<Known> known_;             // open addressing; a power of two
  std::size_t used_ = 0;
};

}  // namespace foretrace::callers
