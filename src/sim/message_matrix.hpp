// MessageMatrix: how many messages and bytes each rank sends to each other.
//
// Filled by the engine (SimulateOptions::messages), the messages of collectives that are
// carried out as such included. It decides nothing.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "base/ids.hpp"

namespace foretrace::sim {

struct Traffic {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

// By sender and receiver, world ranks; those that send themselves a message left out.
class MessageMatrix {
 public:
  void add(WorldRank from, WorldRank to, Bytes bytes) {
    if (from == to) return;
    Traffic& traffic = pairs_[{from.value, to.value}];
    ++traffic.messages;
    traffic.bytes += bytes.count;
  }
  const std::map<std::pair<std::int32_t, std::int32_t>, Traffic>& pairs() const { return pairs_; }

 private:
  std::map<std::pair<std::int32_t, std::int32_t>, Traffic> pairs_;
};

}  // namespace foretrace::sim
