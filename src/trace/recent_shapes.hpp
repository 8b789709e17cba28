// RecentShapes: which shapes a writer's latest events had, by the events' fields.
// An event like one of them is written without encoding its shape and looking
// for that. Private to src/trace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/shape.hpp"
#include "trace/shape_table.hpp"

namespace foretrace::trace {

class RecentShapes {
 public:
  // Its number if it is known and still the table's, else nullptr.
  const ShapeTable::Place* find(const ShapeSource& source, ShapeTable& table) const noexcept;
  // What find() did not find: has that place from now on.
  void remember(const ShapeSource& source, const ShapeTable::Place& place) noexcept;

 private:
  // Events that complete more requests are not remembered.
  static constexpr std::size_t kCompletions = 4;
  static constexpr std::size_t kFields = 12;
  static constexpr std::size_t kOfCompletion = 4;
  static constexpr std::size_t kEntries = 64;

  struct Entry {
    std::size_t used = 0;
    std::array<std::uint64_t, kFields + kCompletions * kOfCompletion> words{};
    ShapeTable::Place place;
  };

  // All that the bytes of a shape depend on, as numbered words.
  template <class Use>
  static void for_each_word(const ShapeSource& source, Use use) noexcept;
  static std::size_t number_of_words(const Event& event) {
    return kFields + event.completions.size() * kOfCompletion;
  }
  static std::size_t slot(const ShapeSource& source) noexcept;

  std::vector<Entry> entries_;  // empty until something is remembered
};

template <class Use>
inline void RecentShapes::for_each_word(const ShapeSource& source, Use use) noexcept {
  const Event& event = source.event;
  const auto both = [](auto low, auto high) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(low)) |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32;
  };
  const auto from_last = [&](std::uint64_t number) { return source.last_request - number; };
  use(0, both(shape_head(source),
              static_cast<unsigned>(event.mode) | static_cast<unsigned>(event.collective) << 8 |
                  (event.recv.any_source ? 1u << 16 : 0) | (event.recv.any_tag ? 1u << 17 : 0) |
                  (event.send.untouched ? 1u << 22 : 0) |
                  static_cast<unsigned>(event.one_sided) << 18 | (posts(event) ? 1u << 24 : 0) |
                  static_cast<unsigned>(event.reduction) << 25));
  use(1, both(event.name, event.site));
  use(2, both(event.comm, event.root.value));
  use(3, both(event.send.peer.value, event.send.tag));
  use(4, event.send.bytes.count);
  use(5, both(event.recv.peer.value, event.recv.tag));
  use(6, event.recv.bytes.count);
  use(7, event.bytes.count);
  use(8, posts(event) ? from_last(event.request) : 0);
  use(9, event.taken != 0 ? from_last(event.taken) : 0);
  use(10, source.stay_fixed ? static_cast<std::uint64_t>(source.times.alone) : 0);
  // What ends the stream has no data.
  const auto pieces = event.send.piece | static_cast<std::uint32_t>(event.recv.piece) << 16;
  use(11, both(static_cast<std::uint32_t>(event.code) | pieces, source.counts));
  std::size_t at = kFields;
  for (const Completion& each : event.completions) {
    use(at, from_last(each.request));
    use(at + 1, both(each.source.value, each.tag));
    use(at + 2, each.bytes.count);
    use(at + 3, each.cancelled ? 1 : 0);
    at += kOfCompletion;
  }
}

inline std::size_t RecentShapes::slot(const ShapeSource& source) noexcept {
  const Event& event = source.event;
  const std::uint64_t mixed =
      (static_cast<std::uint64_t>(event.name) << 8) ^
      (static_cast<std::uint64_t>(event.site) << 16) ^
      (static_cast<std::uint64_t>(static_cast<std::uint32_t>(event.send.peer.value)) << 24) ^
      (static_cast<std::uint64_t>(static_cast<std::uint32_t>(event.recv.peer.value)) << 32) ^
      (event.send.bytes.count << 40) ^ (event.recv.bytes.count << 44) ^ (event.bytes.count << 48) ^
      shape_head(source);
  return static_cast<std::size_t>((mixed * 0x9e3779b97f4a7c15u) >> 58) % kEntries;
}

inline const ShapeTable::Place* RecentShapes::find(const ShapeSource& source,
                                                   ShapeTable& table) const noexcept {
  if (entries_.empty() || source.event.completions.size() > kCompletions) return nullptr;
  const Entry& entry = entries_[slot(source)];
  if (entry.used != number_of_words(source.event)) return nullptr;
  std::uint64_t difference = 0;
  for_each_word(source,
                [&](std::size_t i, std::uint64_t word) { difference |= entry.words[i] ^ word; });
  return difference == 0 && table.use(entry.place) ? &entry.place : nullptr;
}

}  // namespace foretrace::trace
