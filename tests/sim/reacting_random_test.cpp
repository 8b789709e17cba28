// Random programs with everything that only running programs do: whether
// operations are there at once or late must not change a time, on any network.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "reacting_source.hpp"

namespace foretrace::sim {
namespace {

using machine::Cost;
using trace::EventKind;

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  int below(int limit) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<int>((state_ >> 20) % static_cast<unsigned>(limit));
  }
  // Often the same ones, so that ranks meet at one time.
  Time pause() { return us(std::array{0, 0, 1, 5, 5, 37}[static_cast<std::size_t>(below(6))]); }

 private:
  std::uint64_t state_;
};

// First everybody posts, polls and takes locks, then everybody receives what
// was sent to it, one way or another.
ReactingSource random_program(std::uint64_t seed) {
  constexpr int kRanks = 6;
  Chance chance(seed);
  ReactingSource p(kRanks);
  std::array<int, kRanks> coming{};
  std::array<std::vector<std::uint64_t>, kRanks> open;
  std::uint64_t serial = 0;
  for (int r = 0; r < kRanks; ++r) {
    auto& own = open[static_cast<std::size_t>(r)];
    p.icollective(r, Cost::bcast, ++serial, chance.pause(), 2, 8);
    own.push_back(serial);
    for (int i = 0; i < 12; ++i) {
      switch (chance.below(6)) {
        case 0:
        case 1: {
          const int to = (r + 1 + chance.below(kRanks - 1)) % kRanks;
          const std::uint64_t bytes = chance.below(4) == 0 ? 20'000 : 100;
          Operation& isend = p.isend(r, to, bytes, ++serial, chance.pause(), chance.below(2));
          isend.payload = serial;
          own.push_back(serial);
          ++coming[static_cast<std::size_t>(to)];
          break;
        }
        case 2:
          p.probe(r, Probing::look, -1, chance.below(2), chance.pause()).patience = chance.pause();
          break;
        case 3: {
          Operation& lock = p.add(r, EventKind::call, "MPI_Win_lock", chance.pause());
          lock.locking = chance.below(2) == 0 ? Locking::shared : Locking::exclusive;
          Operation& unlock = p.add(r, EventKind::call, "MPI_Win_unlock", chance.pause());
          unlock.locking = Locking::release;
          break;
        }
        default:
          p.irecv(r, -1, ++serial, chance.pause(), 5);  // nobody sends that
          p.complete(r, {serial}, Completing::test_some).patience = chance.pause();
          p.add(r, EventKind::call, "MPI_Cancel").cancel = serial;
          p.complete(r, {serial});
          break;
      }
    }
    p.icollective(r, Cost::barrier, ++serial, chance.pause());
    own.push_back(serial);
  }
  for (int r = 0; r < kRanks; ++r) {
    auto& own = open[static_cast<std::size_t>(r)];
    for (int i = 0; i < coming[static_cast<std::size_t>(r)]; ++i) {
      switch (chance.below(3)) {
        case 0:
          p.recv(r, -1, chance.pause(), -1);
          break;
        case 1:
          p.irecv(r, -1, ++serial, chance.pause(), -1);
          own.push_back(serial);
          break;
        default:
          p.probe(r, Probing::take_wait, -1, -1, chance.pause()).request = ++serial;
          p.recv(r, -1).taken = serial;
          break;
      }
    }
    while (own.size() > 4) {
      const auto half = own.begin() + static_cast<std::ptrdiff_t>(own.size() / 2);
      p.complete(r, {half, own.end()}).patience = chance.pause();
      own.erase(half, own.end());
    }
    p.complete(r, own);
  }
  p.finalize_all();
  return p;
}

SimulateOptions network_of(NetworkKind kind) {
  SimulateOptions options;
  options.network.kind = kind;
  options.network.loggps.latency = us(1);
  options.network.loggps.overhead_send = options.network.loggps.overhead_recv = us(1);
  options.network.loggps.gap_per_byte = 1e-9;
  options.network.loggps.sync_threshold = Bytes(4096);
  return options;
}

// Nor where collectives, posted ones too, are messages.
TEST(ReactingRandom, ThePaceChangesNothing) {
  const AlgorithmTable table("openmpi");
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    for (const NetworkKind kind : {NetworkKind::datasheet, NetworkKind::loggps, NetworkKind::bus}) {
      ReactingSource p = random_program(seed);
      SimulateOptions options = network_of(kind);
      if (seed % 2 == 0) options.algorithms = &table;
      const Reaction r = react(p, options);
      ASSERT_EQ(r.result.left_message_count, 0u) << "seed " << seed;
      ASSERT_EQ(r.result.left_requests, std::vector<std::uint64_t>(6, 0)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace foretrace::sim
