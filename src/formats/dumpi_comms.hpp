// The communicators of a DUMPI trace. Each rank numbers its own and tells what it made them of;
// who is in them follows from what all ranks tell together.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "trace/event.hpp"

namespace foretrace::formats {

inline constexpr std::int64_t kDumpiNull = 1;
inline constexpr std::int64_t kDumpiWorld = 2;
inline constexpr std::int64_t kDumpiSelf = 3;

// A rank made one of another; all members of that did so.
struct DumpiCreation {
  std::int64_t from = 0;
  std::int64_t made = 0;  // kDumpiNull: the rank is in none
  std::int64_t color = 0;
  std::int64_t key = 0;  // who comes first; of equals the one that came first before
};

class DumpiComms {
 public:
  explicit DumpiComms(int ranks);
  // The next one of a rank.
  void add(int rank, const DumpiCreation& creation) {
    creations_[static_cast<std::size_t>(rank)].push_back(creation);
  }
  // Once all are known. Answers how many of them make no sense together.
  std::uint64_t resolve();

  // The world is the first. `made`: how many the rank has made before, since numbers may be
  // used again. -1: not known.
  std::int64_t find(int rank, std::int64_t number, std::size_t made) const;
  const std::vector<trace::Communicator>& all() const { return comms_; }

 private:
  void resolve_on(std::int64_t comm);
  std::int64_t parent(int rank) const;

  std::vector<std::vector<DumpiCreation>> creations_;  // by rank
  std::vector<std::vector<std::int64_t>> resolved_;    // by rank and creation: the communicator
  std::vector<trace::Communicator> comms_;
  std::vector<std::int64_t> self_;  // by rank, once somebody asks; made with the world
};

}  // namespace foretrace::formats
