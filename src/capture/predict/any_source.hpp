// AnySource: what a rank takes from MPI_ANY_SOURCE under predict, and how often that came in
// another order here than it is sent in virtual time.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace foretrace::capture {

struct AnySource {
  std::uint64_t messages = 0;
  // Of them, those that came after one from another rank that is sent later.
  std::uint64_t overtaken = 0;

  // The next message for receives or probes of the communicator and the tag that they name.
  void note(std::uint64_t comm, int named_tag, WorldRank source, Time sent) {
    ++messages;
    Latest& known = latest[{comm, named_tag}];
    if (known.source.valid() && known.source != source && sent < known.sent) ++overtaken;
    if (!known.source.valid() || sent >= known.sent) known = {source, sent};
  }

  struct Latest {
    WorldRank source;
    Time sent;
  };
  std::map<std::pair<std::uint64_t, int>, Latest> latest;
};

}  // namespace foretrace::capture
