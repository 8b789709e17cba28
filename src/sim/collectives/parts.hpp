// What the step functions are made of: filling in a step, ranks counted from
// the root, blocks of a message, the fold to a power of two.
//
// Used by the algorithms of this folder alone. Everything is inline and
// stateless; nothing here knows a collective or a library.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sim/collectives/algorithm.hpp"

namespace foretrace::sim::collectives {

// Each fills in the whole step and is true, so that a step function can return
// it.
inline bool exchange(Step& step, int to, std::uint64_t sent, int from, std::uint64_t received,
                     std::uint64_t reduced = 0) {
  step = {Step::Kind::exchange, to, from, Bytes(sent), Bytes(received), Bytes(reduced)};
  return true;
}
inline bool send(Step& step, int to, std::uint64_t sent) {
  return exchange(step, to, sent, kNobody, 0);
}
inline bool receive(Step& step, int from, std::uint64_t received, std::uint64_t reduced = 0) {
  return exchange(step, kNobody, 0, from, received, reduced);
}
inline bool post_send(Step& step, int to, std::uint64_t sent) {
  step = {Step::Kind::post_send, to, kNobody, Bytes(sent), Bytes(), Bytes()};
  return true;
}
inline bool post_receive(Step& step, int from, std::uint64_t received) {
  step = {Step::Kind::post_recv, kNobody, from, Bytes(), Bytes(received), Bytes()};
  return true;
}
inline bool wait_all(Step& step) {
  step = {Step::Kind::wait_all, kNobody, kNobody, Bytes(), Bytes(), Bytes()};
  return true;
}

inline bool nothing(Step& step) {
  step = {};
  step.kind = Step::Kind::nothing;
  return true;
}

// The rank `distance` places up or down the ring of p, 0 <= distance <= p.
inline int up(int rank, int distance, int p) {
  const int to = rank - (p - distance);
  return to < 0 ? to + p : to;
}
inline int down(int rank, int distance, int p) {
  const int to = rank - distance;
  return to < 0 ? to + p : to;
}

// Ranks counted from the root, as trees do, and back.
inline int from_root(const CollectiveCall& call) {
  return down(call.rank, call.root, call.size);
}
inline int to_rank(const CollectiveCall& call, int relative) {
  return up(relative, call.root, call.size);
}

inline int floor_log2(int p) {
  return std::bit_width(static_cast<unsigned>(p)) - 1;
}
// Rounds of the doubling algorithms; 0 for one rank.
inline int ceil_log2(int p) {
  return std::bit_width(static_cast<unsigned>(p - 1));
}
inline bool is_power_of_two(int p) {
  return (p & (p - 1)) == 0;
}

// What goes from or to rank i, where a collective has a part for each.
inline std::uint64_t part(const CollectiveCall& call, int i) {
  if (call.counts.empty()) return call.bytes.count;
  return call.counts[call.counts.size() == 1 ? 0 : static_cast<std::size_t>(i)].count;
}
// Those of `count` ranks from `first` on, around the ring.
inline std::uint64_t parts(const CollectiveCall& call, int first, int count) {
  if (call.counts.empty()) return call.bytes.count * static_cast<std::uint64_t>(count);
  std::uint64_t sum = 0;
  for (int i = 0; i < count; ++i) sum += part(call, up(first, i, call.size));
  return sum;
}
// What goes to rank i in an all-to-all, and what comes from it.
inline std::uint64_t part_to(const CollectiveCall& call, int i) {
  return part(call, i);
}
inline std::uint64_t part_from(const CollectiveCall& call, int i) {
  return part(call, call.counts.empty() ? i : call.size + i);
}
// Whether a part of that size is left out: the call tells of each part, and this one is empty.
inline bool is_left_out(const CollectiveCall& call, std::uint64_t part) {
  return !call.counts.empty() && part == 0;
}
// exchange() without what is left out.
inline bool exchange_parts(const CollectiveCall& call, Step& step, int to, std::uint64_t sent,
                           int from, std::uint64_t received, std::uint64_t reduced = 0) {
  if (is_left_out(call, sent)) to = kNobody;
  if (is_left_out(call, received)) from = kNobody;
  if (to == kNobody && from == kNobody) return nothing(step);
  return exchange(step, to, sent, from, received, reduced);
}

// The lowest `bits` bits of v, turned round; v has no others.
inline int reverse_bits(int v, int bits) {
  auto x = static_cast<std::uint32_t>(v);
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
  x = x >> 16 | x << 16;
  return bits == 0 ? 0 : static_cast<int>(x >> (32 - bits));
}

// A message cut into `count` blocks: as even as whole bytes can be, the longer
// ones first.
class Blocks {
 public:
  Blocks(Bytes message, std::uint64_t count)
      : each_(message.count / count), longer_(message.count % count) {}
  // One for each rank, as the call's counts say if it has any.
  explicit Blocks(const CollectiveCall& call)
      : Blocks(call.bytes, static_cast<std::uint64_t>(call.size)) {
    counts_ = call.counts;
  }

  std::uint64_t size(int block) const {
    if (!counts_.empty()) return counts_[at(block)].count;
    return each_ + (at(block) < longer_ ? 1 : 0);
  }
  // The bytes of blocks first .. last - 1.
  std::uint64_t range(int first, int last) const {
    if (counts_.empty()) return offset(last) - offset(first);
    std::uint64_t sum = 0;
    for (int block = first; block < last; ++block) sum += size(block);
    return sum;
  }

 private:
  static std::uint64_t at(int block) { return static_cast<std::uint64_t>(block); }
  std::uint64_t offset(int block) const { return at(block) * each_ + std::min(at(block), longer_); }

  std::uint64_t each_;
  std::uint64_t longer_;
  std::span<const Bytes> counts_;
};

// A message in pieces of `piece` bytes, the last one shorter; an empty one is
// one piece.
class Pieces {
 public:
  Pieces(Bytes message, std::uint64_t piece) : bytes_(message.count), piece_(piece) {}

  std::uint64_t count() const { return bytes_ == 0 ? 1 : (bytes_ - 1) / piece_ + 1; }
  std::uint64_t size(std::uint64_t index) const {
    return std::min(piece_, bytes_ - index * piece_);
  }

 private:
  std::uint64_t bytes_;
  std::uint64_t piece_;
};

// Where p is no power of two, `rem` ranks hand their data to a neighbour and
// stay out while the other `pof2` ranks, numbered anew as v, do the work. The
// pairs are the first 2 rem ranks.
struct Fold {
  int pof2;
  int rem;

  explicit Fold(int p) : pof2(1 << floor_log2(p)), rem(p - pof2) {}

  bool paired(int rank) const { return rank < 2 * rem; }
  int number(int rank) const { return paired(rank) ? rank / 2 : rank - rem; }
  // The rank that works as v, if the even (the odd) ones of the pairs stay out.
  int rank_even_out(int v) const { return v < rem ? 2 * v + 1 : v + rem; }
  int rank_odd_out(int v) const { return v < rem ? 2 * v : v + rem; }
  int rounds() const { return floor_log2(pof2); }
};

// Halving by doubling distance: before round k the rank v holds `blocks(k)`
// blocks from first(v, k) on, and its partner v ^ 2^k holds the same ones; each
// keeps a half, the one whose bit is 0 the lower half.
struct Halving {
  int rounds;

  int blocks(int k) const { return 1 << (rounds - k); }
  int first(int v, int k) const { return reverse_bits(v & ((1 << k) - 1), k) << (rounds - k); }
};

}  // namespace foretrace::sim::collectives
