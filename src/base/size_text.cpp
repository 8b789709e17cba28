#include "base/size_text.hpp"

#include <array>
#include <charconv>

namespace foretrace {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array kUnits{Unit{"", 1},         Unit{"B", 1},          Unit{"k", 1u << 10},
                            Unit{"K", 1u << 10}, Unit{"KiB", 1u << 10}, Unit{"m", 1u << 20},
                            Unit{"M", 1u << 20}, Unit{"MiB", 1u << 20}, Unit{"g", 1u << 30},
                            Unit{"G", 1u << 30}, Unit{"GiB", 1u << 30}, Unit{"kB", 1000},
                            Unit{"KB", 1000},    Unit{"MB", 1000000},   Unit{"GB", 1000000000}};

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, code] = std::from_chars(text.data(), end, count);
  if (code != std::errc()) return std::nullopt;
  const std::string_view suffix(stopped, static_cast<std::size_t>(end - stopped));
  for (const Unit& unit : kUnits)
    if (suffix == unit.name && count <= UINT64_MAX / unit.factor) return count * unit.factor;
  return std::nullopt;
}

}  // namespace foretrace
