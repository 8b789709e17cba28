// Buffers: where the messages of a rank lie, warm or cold.
//
// Warm: the same places throughout a visit, and what is sent is freshly written,
// as by a program that computes what it sends, unless it is to be left untouched. Where in a page
// large ones begin differs from visit to visit: they take up to 15 % longer by it. Cold: every
// repetition takes the next places of a pool that is larger than the caches, so that neither side
// has touched them lately.
//
// An experiment calls next() in its `prepare` and asks for the places inside
// each repetition: they move.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace foretrace::measure {

enum class BufferChoice { warm, cold };

class Buffers {
 public:
  // `largest`: what any repetition needs for sending, and again for receiving.
  // `pool`: bytes that all places of a cold pool have together; more if
  // `largest` asks for it.
  Buffers(BufferChoice choice, std::uint64_t largest, std::uint64_t pool)
      : choice_(choice),
        largest_(largest),
        half_(choice == BufferChoice::warm ? largest + kPage : std::max(pool / 2, 4 * largest)),
        memory_(2 * half_) {
    // Plain doubles, because denormal ones would slow the sums down.
    const double value = 1;
    for (std::uint64_t i = 0; i + sizeof value <= memory_.size(); i += sizeof value)
      std::memcpy(memory_.data() + i, &value, sizeof value);
  }

  // What there is room for from send() and recv() on.
  std::uint64_t largest() const { return largest_; }
  char* send() { return memory_.data() + at_; }
  char* recv() { return memory_.data() + half_ + recv_at_; }

  // The places for the next visit, with messages of `bytes`: of large ones drawn from
  // `seed`, of others the first. Cold ones move anyway.
  void move(std::uint64_t bytes, std::uint64_t seed) {
    if (choice_ == BufferChoice::cold) return;
    at_ = recv_at_ = 0;
    if (bytes < kLarge) return;
    std::mt19937_64 random(seed);
    at_ = random() % (kPage / kLine) * kLine;
    recv_at_ = random() % (kPage / kLine) * kLine;
  }

  // Writes into what is sent, as next() does.
  void write(std::uint64_t bytes) { write_lines(send(), bytes); }

  // From now on what is sent stays as it was sent before; of warm ones.
  void leave_untouched(bool untouched) { untouched_ = untouched; }

  BufferChoice choice() const { return choice_; }

  // Before each repetition, off the record. `sent`: bytes that this rank will
  // send; `received`: that it will receive, where they are more.
  void next(std::uint64_t sent, std::uint64_t received = 0) {
    if (choice_ == BufferChoice::warm) {
      if (!untouched_) write(sent);
      return;
    }
    // A page and a line further, so that nothing was fetched ahead.
    constexpr std::uint64_t kStride = kPage + kLine;
    const std::uint64_t used = std::max(sent, received);
    at_ += (used + kLine - 1) / kLine * kLine + kStride;
    if (at_ + largest_ > half_) at_ = 0;
    recv_at_ = at_;
  }

 private:
  static constexpr std::uint64_t kLine = 64;
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kLarge = 65536;

  static void write_lines(char* data, std::uint64_t bytes) {
    const double value = 1;
    for (std::uint64_t i = 0; i < bytes; i += kLine)
      std::memcpy(data + i, &value, std::min<std::uint64_t>(sizeof value, bytes - i));
  }

  BufferChoice choice_;
  bool untouched_ = false;
  std::uint64_t largest_;
  std::uint64_t half_;  // of the memory: first the places to send from
  std::uint64_t at_ = 0;
  std::uint64_t recv_at_ = 0;
  std::vector<char> memory_;
};

}  // namespace foretrace::measure
