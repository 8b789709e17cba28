// Computation between calls: how unevenly the ranks share the work that lies
// between one call of the program and the next, and what that costs.
//
// The k-th time that a rank comes from one call to the other is set beside the
// k-th time of the other ranks. Were the work of each such passage shared out
// evenly among the ranks that pass, it would take their mean; so the passage
// costs its maximum less its mean, which is what the others wait at most.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/places.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"
#include "trace/event.hpp"

namespace foretrace::analysis {

// A call as the two ends of a computation are known.
struct CallPlace {
  std::string function;
  std::string place;  // "halo.c:37"; empty: not known
};

struct ComputationProfile {
  CallPlace after;
  CallPlace before;
  std::uint64_t times = 0;  // of the rank that passes most often
  int ranks = 0;            // that pass
  Time total;               // over all ranks
  Time mean;                // of the ranks that pass, each one's sum; rounded down
  Time max;
  WorldRank slowest;  // the lowest rank that has the maximum
  Time cost;          // sum over the passages of maximum - mean

  double ratio() const { return mean > Time() ? max.seconds() / mean.seconds() : 1; }
};

// Takes one rank's computations and calls after the other.
class ComputationWalk {
 public:
  void compute(Time time) { since_call_ += time; }
  void call(trace::NameId name, PlaceId place);
  void end_rank();

  // Where something is computed, by what the imbalance costs, then by time.
  std::vector<ComputationProfile> finish(const std::vector<std::string>& names,
                                         const PlaceIds& places);

 private:
  // Beyond this many passages of a rank the rest count as one.
  static constexpr std::size_t kMostPassages = 1 << 16;

  struct Caller {
    trace::NameId name = UINT32_MAX;  // none: before the rank's first call
    PlaceId place = 0;
    bool operator==(const Caller&) const = default;
  };
  struct Key {
    Caller after;
    Caller before;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  // The same passage of all ranks.
  struct Passage {
    Time sum;
    Time max;
    int ranks = 0;
    void add(Time time) {
      sum += time;
      max = ranks++ == 0 || time > max ? time : max;
    }
    Time cost() const { return max - Time::ps(sum.count_ps() / ranks); }
  };
  struct Gap {
    Key key;
    std::vector<Passage> passages;
    Passage rest;
    Passage whole;  // each rank's sum
    std::uint64_t times = 0;
    WorldRank slowest;
    std::uint32_t next = 0;  // the one that followed last time
    // Of the rank at hand:
    int rank = -1;
    std::uint64_t passed = 0;
    Time own;
    Time own_rest;
  };

  std::uint32_t find(const Key& key);
  static void close(Gap& gap);

  std::vector<Gap> gaps_;
  std::unordered_map<Key, std::uint32_t, KeyHash> ids_;
  int rank_ = 0;
  Caller last_;
  std::uint32_t last_gap_ = 0;
  Time since_call_;
};

}  // namespace foretrace::analysis
