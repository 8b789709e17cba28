// SentData: whether a program has written what it sends since it sent it last.
//
// In shared memory data that nobody has written lies in the receiver's cache from the time before,
// and a message of 100 kB takes half as long. Who writes it has to fetch it back from there. No
// processor says who wrote what, so this compares: a few lines of the data, spread over it, with
// those of the time before. Whoever writes the same values again is not seen. Belongs to one rank;
// calls must not overlap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace foretrace {

class SentData {
 public:
  // Shorter messages take the same either way, and are not followed.
  static constexpr std::uint64_t kLeast = 1024;

  // `bytes` from `data` on are sent `to` somebody now: any number that tells the receivers apart.
  // True: the same was sent to the same before, and since then nobody has written or received
  // into it. Data that this process cannot read (a device's) is never that.
  bool send(const void* data, std::uint64_t bytes, std::uint64_t to) noexcept;
  // Of what was sent last: how many of its bytes lie in lines that were sent `to` the same before
  // and written since, by the share of the lines that were looked at.
  std::uint64_t rewritten() const { return rewritten_; }
  // Something is received into it.
  void receive(const void* data, std::uint64_t bytes) noexcept;
  // Nothing was sent yet that a receive could change.
  bool is_empty() const { return highest_ == 0; }

 private:
  // Of those that are looked at, a hash each.
  static constexpr std::size_t kLooks = 32;
  using Lines = std::array<std::uint16_t, kLooks>;
  static Lines lines_of(std::uintptr_t begin, std::uint64_t bytes);

  struct Sent {
    std::uintptr_t begin = 0;  // 0: nothing
    std::uint64_t bytes = 0;
    std::uint64_t to = 0;
    Lines lines{};
  };
  // What was sent lately; in the order of sending, so that it does not hang on addresses which is
  // forgotten first.
  static constexpr std::size_t kMost = 64;

  std::array<Sent, kMost> sent_{};
  std::size_t known_ = 0;
  std::size_t next_ = 0;                 // that is forgotten
  std::uintptr_t lowest_ = UINTPTR_MAX;  // of all that is known
  std::uintptr_t highest_ = 0;
  std::uint64_t rewritten_ = 0;
};

}  // namespace foretrace
