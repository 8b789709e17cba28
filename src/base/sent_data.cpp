#include "base/sent_data.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace foretrace {
namespace {

constexpr std::uint64_t kWords = 32;
constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15U;

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * kGolden;
  return hash ^ hash >> 29;
}

// Whether its first and its last word can be read; asks the system, which does not mind if not.
bool is_readable(std::uintptr_t begin, std::uint64_t bytes) {
  std::uint64_t words[2];
  const iovec ours{words, sizeof words};
  const iovec theirs[2] = {
      {reinterpret_cast<void*>(begin), sizeof words[0]},
      {reinterpret_cast<void*>(begin + bytes - sizeof words[1]), sizeof words[1]}};
  return ::process_vm_readv(::getpid(), &ours, 1, theirs, 2, 0) ==
         static_cast<ssize_t>(sizeof words);
}

std::uint64_t words_of(std::uintptr_t begin, std::uint64_t bytes) {
  std::uint64_t hash = bytes;
  const std::uint64_t last = bytes - sizeof hash;
  for (std::uint64_t i = 0; i < kWords; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const void*>(begin + i * last / (kWords - 1)), sizeof word);
    hash = mix(hash, word);
  }
  return hash;
}

}  // namespace

bool SentData::send(const void* data, std::uint64_t bytes, std::uint64_t to) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  if (bytes < kLeast || begin == 0) return false;
  const auto end = sent_.begin() + static_cast<std::ptrdiff_t>(known_);
  const auto known = std::find_if(sent_.begin(), end, [&](const Sent& sent) {
    return sent.begin == begin && sent.bytes == bytes && sent.to == to;
  });
  if (known == end && !is_readable(begin, bytes)) return false;
  const std::uint64_t words = words_of(begin, bytes);
  if (known != end) return std::exchange(known->words, words) == words;
  sent_[next_] = {begin, bytes, to, words};
  known_ = std::max(known_, next_ + 1);
  next_ = (next_ + 1) % kMost;
  lowest_ = std::min(lowest_, begin);
  highest_ = std::max(highest_, begin + bytes);
  return false;
}

void SentData::receive(const void* data, std::uint64_t bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  if (bytes == 0 || begin >= highest_ || begin + bytes <= lowest_) return;
  for (Sent& known : sent_)
    if (begin < known.begin + known.bytes && known.begin < begin + bytes) known = {};
}

}  // namespace foretrace
