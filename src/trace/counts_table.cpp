#include "trace/counts_table.hpp"

#include <algorithm>
#include <new>

#include "trace/encoding.hpp"

namespace foretrace::trace {

bool CountsTable::find_or_add(const Counts& counts, std::uint32_t& number, bool& added) noexcept {
  auto place =
      std::ranges::find_if(places_, [&](const Place& known) { return known.counts == counts; });
  added = place == places_.end();
  try {
    if (added && places_.size() < kMostCounts)
      place = places_.emplace(places_.end());
    else if (added)
      place = std::ranges::min_element(places_, {}, &Place::used);
    if (added) place->counts = counts;
  } catch (const std::bad_alloc&) {
    return false;
  }
  place->used = ++uses_;
  number = static_cast<std::uint32_t>(place - places_.begin());
  return true;
}

}  // namespace foretrace::trace
