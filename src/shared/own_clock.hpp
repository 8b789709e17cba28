// OwnClock: the rank's virtual clock as far as the rank can follow it by itself, and which
// of its looks (Test, Iprobe) the simulator has said to be in vain until when. Such looks
// are posted like others, but nobody waits for what is known.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/time.hpp"
#include "shared/shared_memory.hpp"

namespace foretrace::live {

class OwnClock {
 public:
  // What a look asks for; the same number for the same look.
  static std::uint64_t look_of(const Record& record);

  // An operation was posted that is not waited for.
  void posted(const Record& record);
  // The simulator has answered an operation, which left at `clock`.
  void answered(const Record& record, Time clock);
  // It has said that a look is in vain as long as it begins before `until`.
  void learn(std::uint64_t look, Time until);
  // Whether this look, which is posted next, is known to be in vain: then it is over at now().
  bool is_in_vain(const Record& record, std::uint64_t look);
  Time now() const { return now_; }

 private:
  struct Vain {
    std::uint64_t look = 0;
    Time until;
  };

  Time now_;
  bool known_ = false;
  std::array<Vain, 16> vain_{};
  std::size_t next_ = 0;  // the place in it that is taken next
};

}  // namespace foretrace::live
