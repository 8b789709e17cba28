#include "trace/recent_shapes.hpp"

#include <new>

namespace foretrace::trace {

void RecentShapes::remember(const ShapeSource& source, const ShapeTable::Place& place) noexcept {
  if (source.event.completions.size() > kCompletions) return;
  if (entries_.empty()) {
    try {
      entries_.resize(kEntries);
    } catch (const std::bad_alloc&) {
      return;
    }
  }
  Entry& entry = entries_[slot(source)];
  entry.used = number_of_words(source.event);
  for_each_word(source, [&](std::size_t i, std::uint64_t word) { entry.words[i] = word; });
  entry.place = place;
}

}  // namespace foretrace::trace
