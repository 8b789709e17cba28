// What of a rank's events must be known of those that come after: how many messages it has sent
// and received on each channel, so that the k-th send still meets the k-th receive, which phases
// are open, and what its time was spent on. Private to src/pyramid.
//
// A channel is a direction, a relative peer, a communicator and a tag. Channels are numbered from 1
// in the order in which the shapes of the run's events have them, a shape's sends first; the page
// numbers them likewise (web/src/served/channels.ts).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pyramid/file.hpp"
#include "pyramid/open_file.hpp"
#include "views/timeline/encoder.hpp"

namespace foretrace::pyramid {

// Numbers the channels of shapes as these become known.
class Channels {
 public:
  // Of the next shape; without its class (file.hpp).
  ShapeKind add(const views::TimelineShape& shape);

 private:
  std::uint32_t number(bool sends, std::int64_t peer, std::int64_t comm, std::int64_t tag);
  std::map<std::vector<std::int64_t>, std::uint32_t> numbers_;
};

struct Before {
  std::map<std::uint32_t, std::uint64_t> messages;                  // by channel
  std::vector<std::pair<std::uint32_t, std::int64_t>> open_phases;  // names, and since when; ps
  std::vector<std::uint64_t> times;                                 // by class, ps

  // `done`: of a posted receive; 0: nothing has come.
  void take(const ShapeKind& shape, std::int64_t enter, std::uint64_t done);
  void spend(std::size_t class_, std::int64_t time);
  void write(std::string& out) const;
  static Before read(Bytes& in);
};

}  // namespace foretrace::pyramid
