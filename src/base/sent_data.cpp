#include "base/sent_data.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace foretrace {
namespace {

constexpr std::uint64_t kLine = 64;

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

// From `begin` on, at most a line.
std::uint16_t hash_of(std::uintptr_t begin, std::uintptr_t end) {
  std::uint64_t words[kLine / sizeof(std::uint64_t)] = {};
  std::memcpy(words, reinterpret_cast<const void*>(begin), end - begin);
  std::uint64_t hash = 0;
  std::uint64_t odd = 0x9e3779b97f4a7c15U;
  for (const std::uint64_t word : words) {
    hash += (word ^ word >> 32) * odd;
    odd += 0x632be59bd9b4e01aU;
  }
  return static_cast<std::uint16_t>(hash >> 48);
}

}  // namespace

SentData::Lines SentData::lines_of(std::uintptr_t begin, std::uint64_t bytes) {
  Lines lines;
  for (std::size_t i = 0; i < kLooks; ++i) {
    const std::uintptr_t line = (begin + i * (bytes - 1) / (kLooks - 1)) / kLine * kLine;
    lines[i] = hash_of(std::max(line, begin), std::min(line + kLine, begin + bytes));
  }
  return lines;
}

bool SentData::send(const void* data, std::uint64_t bytes, std::uint64_t to) noexcept {
  rewritten_ = 0;
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  if (bytes < kLeast || begin == 0) return false;
  const auto end = sent_.begin() + static_cast<std::ptrdiff_t>(known_);
  const auto known = std::find_if(sent_.begin(), end, [&](const Sent& sent) {
    return sent.begin == begin && sent.bytes == bytes && sent.to == to;
  });
  if (known == end && !is_readable(begin, bytes)) return false;
  const Lines lines = lines_of(begin, bytes);
  if (known != end) {
    std::size_t written = 0;
    for (std::size_t i = 0; i < kLooks; ++i) written += lines[i] != known->lines[i] ? 1 : 0;
    rewritten_ = bytes * written / kLooks;
    known->lines = lines;
    return written == 0;
  }
  sent_[next_] = {begin, bytes, to, lines};
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
