#include "machine/size_times.hpp"

#include <algorithm>
#include <iterator>

namespace foretrace::machine {

Time time_at(std::span<const SizeTime> known, Bytes bytes) {
  if (known.empty()) return Time();
  const auto count = [](Bytes of) { return static_cast<double>(of.count); };
  const auto above = std::ranges::lower_bound(known, bytes, {}, &SizeTime::bytes);
  if (above == known.end()) return known.back().time;
  if (above == known.begin()) return above->time.scaled(count(bytes) / count(above->bytes));
  const SizeTime& below = *std::prev(above);
  const double share =
      (count(bytes) - count(below.bytes)) / (count(above->bytes) - count(below.bytes));
  return below.time + (above->time - below.time).scaled(share);
}

}  // namespace foretrace::machine
