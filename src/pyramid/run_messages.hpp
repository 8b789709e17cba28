// What the messages and collectives of a whole run tell: how many are under way at any time, and
// how long others waited for each rank. Private to src/pyramid.
//
// The run is read twice, a rank at a time: first to learn what was sent and who came last, then,
// with the waits known, to add it up. The k-th message of a channel (sender, receiver,
// communicator, tag) meets the k-th receive that was posted for it. Remembers a few bytes for each
// channel, message and collective; beyond `most` of them it forgets the messages' times, and with
// them for whom was waited, and beyond `most` channels all.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/event.hpp"

namespace foretrace::pyramid {

// A sum of rectangles over time: its area from the run's start, at the bins' borders.
class Area {
 public:
  Area(std::int64_t end_ps, std::uint32_t level);
  // From then on it is so much higher.
  void step(std::int64_t at_ps, double height);
  // 2^level + 1 of them.
  std::vector<double> take() const;

 private:
  double bin_;  // ps
  std::vector<double> steps_;
  std::vector<double> inner_;  // what the steps in a bin add within it
};

class RunMessages {
 public:
  explicit RunMessages(std::uint64_t most) : most_(most) {}

  // First: the events of one rank after another.
  void take(int rank, const trace::Event& event, std::uint64_t comm_key);
  void end_rank();

  // Then the events of each rank again, all of them with their waits; of `comms` their keys.
  void begin(int ranks, std::int64_t end_ps, std::uint32_t level);
  void add_rank(int rank, const std::vector<trace::Event>& events, std::uint64_t count,
                const std::vector<trace::Communicator>& comms);

  // Messages and bytes under way; empty where it is not known.
  std::vector<std::vector<double>> areas() const;
  // How long others waited for each rank, ps; empty where it is not known.
  std::vector<std::int64_t> delays() const;

 private:
  struct Key {
    std::int32_t source = 0, dest = 0, tag = 0;
    std::uint64_t comm = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  struct Sent {
    std::int64_t at = 0;  // ps
    std::uint64_t bytes = 0;
  };
  struct Channel {
    std::uint64_t sends = 0, receives = 0;            // in all
    std::uint64_t sends_seen = 0, receives_seen = 0;  // in the second reading
    std::vector<Sent> sent;
  };
  struct Last {
    std::int64_t at = -1;  // ps
    std::int32_t rank = 0;
  };
  struct Cause {
    Sent sent;
    std::int32_t source = -1;
  };

  Channel& channel(std::int32_t source, std::int32_t dest, std::int32_t tag, std::uint64_t comm) {
    return channels_[{source, dest, tag, comm}];
  }
  void remember(std::uint64_t what);
  void take_collective(int rank, const trace::Event& event, std::uint64_t comm_key);
  void add_send(int rank, const trace::Event& event, std::uint64_t comm);
  // `done`: the call that completed it.
  void add_receive(int rank, const trace::Endpoint& came, std::uint64_t comm,
                   const trace::Event& done, Cause& cause);

  std::uint64_t most_;
  std::uint64_t remembered_ = 0;
  bool times_ = true;   // those of messages are known
  bool counts_ = true;  // so are the channels
  std::unordered_map<Key, Channel, Hash> channels_;
  std::unordered_map<std::uint64_t, std::vector<Last>> collectives_;  // by communicator
  std::unordered_map<std::uint64_t, std::uint64_t> next_;             // of the rank
  std::unordered_map<std::uint64_t, std::uint64_t> posted_;           // request: communicator
  std::vector<Area> areas_;
  std::vector<std::int64_t> delays_;
};

}  // namespace foretrace::pyramid
