#include "trace/damage.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/error.hpp"

namespace foretrace::trace {

std::string describe_damage(const Damage& damage) {
  const std::string who =
      damage.rank.valid() ? "rank " + std::to_string(damage.rank.value) + ", " : std::string();
  return who + "file offset " + std::to_string(damage.offset) + ": " + damage.what;
}

Remains look_through(TraceReader& reader) {
  Remains remains;
  Event event;
  for (int r = 0; r < reader.ranks(); ++r) {
    const WorldRank rank(r);
    reader.rewind(rank);
    const std::uint64_t before = remains.events;
    for (; reader.next(rank, event); ++remains.events)
      remains.until = std::max(remains.until, event.leave);
    if (remains.events > before) ++remains.ranks;
    reader.rewind(rank);
  }
  return remains;
}

std::string describe_remains(const Remains& remains, int ranks) {
  std::array<char, 32> until{};
  std::snprintf(until.data(), until.size(), "%.6g", remains.until.seconds());
  return std::to_string(remains.events) + " events of " + std::to_string(remains.ranks) + " of " +
         std::to_string(ranks) + " ranks, until " + until.data() + " s";
}

void refuse_damaged(TraceReader& reader) {
  if (reader.damage().empty()) return;
  const Remains remains = look_through(reader);
  throw Error(reader.path() + ": " + describe_damage(reader.damage().front()) + "; left are " +
              describe_remains(remains, reader.ranks()) +
              "; nothing is computed from a part of a run: foretrace report " + reader.path() +
              " shows it");
}

}  // namespace foretrace::trace
