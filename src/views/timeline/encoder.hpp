// The events of ranks as the stream that data.hpp describes, one rank after another.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/event.hpp"

namespace foretrace::views {

// What equal calls have in common; see data.hpp.
using TimelineShape = std::array<std::int64_t, 13>;

class TimelineEncoder {
 public:
  // Times are whole multiples of `unit`, and written as such; ps.
  TimelineEncoder(int ranks, bool with_places, std::uint64_t unit = 1)
      : ranks_(ranks), with_places_(with_places), unit_(unit) {}

  // From here on a rank's stream can be read without what comes before it.
  struct Piece {
    Time at;  // the leave of the event before
    std::uint64_t event = 0;
    std::uint64_t offset = 0;  // in the stream, as long as nobody took it
  };
  struct Rank {
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;
    Time end;
  };

  // What begins every `piece_length` events goes to `pieces`, if it is there.
  Rank add_rank(const std::vector<trace::Event>& events, int rank,
                std::vector<Piece>* pieces = nullptr, std::uint64_t piece_length = 0);

  std::vector<TimelineShape> shapes() const;
  std::size_t shape_count() const { return shapes_.size(); }
  std::string take_stream();
  std::uint64_t unit() const { return unit_; }

 private:
  struct Arrival;
  TimelineShape shape_of(const trace::Event& event, int rank, const Arrival* arrival) const;
  void put_endpoint(TimelineShape& shape, std::size_t at, const trace::Endpoint& end,
                    int rank) const;
  void put_event(const trace::Event& event, std::uint64_t index, const Arrival* arrival,
                 std::uint64_t number, Time& now);
  void put_time(Time time);
  std::int64_t relative(WorldRank peer, int rank) const {
    if (!peer.valid()) return -1;
    return (peer.value - rank + ranks_) % ranks_;
  }

  int ranks_;
  bool with_places_;
  std::uint64_t unit_;
  std::map<TimelineShape, std::uint64_t> shapes_;
  std::string stream_;
};

// An unsigned LEB128 integer.
void put_varint(std::string& out, std::uint64_t value);

// The largest unit that all times of these events are multiples of; ps.
std::uint64_t common_unit(const std::vector<std::vector<trace::Event>>& ranks);

}  // namespace foretrace::views
