// Messages: what of a rank's events went to whom and came from whom, for formats that draw an
// arrow from the one to the other. Both ends get the same number without talking: the n-th
// message between two ranks under one tag is the n-th that is received.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "formats/notes.hpp"
#include "trace/event.hpp"
#include "trace/trace_reader.hpp"

namespace foretrace::formats {

struct Message {
  bool sent = false;  // else received
  Time at;            // sent: its call began; received: its call was over
  Time posted;        // received: when the call that posted it began
  WorldRank peer;
  std::int32_t tag = 0;
  Bytes bytes;
  std::uint64_t number = 0;  // the same at the other end; no other message's, as good as surely
};

// Memory grows with the pairs of rank and tag that a rank talks to, and with open requests.
class Messages {
 public:
  explicit Messages(WorldRank rank) : rank_(rank) {}
  // Of the next event of the rank; valid until the next call.
  const std::vector<Message>& of(const trace::Event& event, const trace::TraceReader& reader);
  // Posted, and not completed so far: nobody knows of their messages.
  bool has_open_receives() const { return !open_.empty(); }

 private:
  struct Open {
    std::uint64_t comm = 0;
    std::uint64_t number = 0;  // 0: a wildcard, not known yet
    Time posted;
  };

  // By the pair of ranks and the tag, how many there were.
  using Counts = std::unordered_map<std::uint64_t, std::uint64_t>;

  static std::uint64_t number(Counts& counts, std::uint64_t comm, WorldRank from, WorldRank to,
                              std::int32_t tag);
  void send(const trace::Event& event, std::uint64_t comm);
  void receive(std::uint64_t comm, const trace::Endpoint& what, Time posted, Time at);
  void complete(const trace::Event& event);

  WorldRank rank_;
  std::vector<Message> found_;
  Counts sent_, received_;  // apart: of what a rank sends to itself it has both ends
  std::unordered_map<std::uint64_t, Open> open_;
};

// The numbers of messages of which the trace has one end only: nobody receives them, or it is cut
// off. Reads the whole trace; memory grows with the messages that are under way.
std::unordered_set<std::uint64_t> lone_messages(trace::TraceReader& reader);
// Says so, for formats whose messages have two ends.
void note_lone_messages(Notes& notes, std::size_t count);

}  // namespace foretrace::formats
