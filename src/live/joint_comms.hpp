// Communicators that their members make by asking for them, each by itself: the k-th time that a
// member asks for those members under one tag, it is the k-th such communicator. So none has to
// hear of the others before it begins the collective that makes it.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "base/ids.hpp"
#include "trace/event.hpp"

namespace foretrace::live {

class JointComms {
 public:
  struct Wish {
    trace::CommId parent = 0;        // or any number that stands for one
    std::int32_t tag = 0;            // tells those apart that are made at once
    std::vector<WorldRank> members;  // by their rank in the communicator

    auto operator<=>(const Wish&) const = default;
  };

  // The communicator that `rank`, one of the members, asks for; `make` makes a new one.
  trace::CommId join(WorldRank rank, const Wish& wish,
                     const std::function<trace::CommId(std::vector<WorldRank>)>& make);

 private:
  struct Begun {
    trace::CommId comm = 0;
    std::vector<WorldRank> joined;
  };
  // Those that not all members have asked for.
  std::map<Wish, std::deque<Begun>> begun_;
};

}  // namespace foretrace::live
