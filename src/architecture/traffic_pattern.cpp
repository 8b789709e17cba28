#include <algorithm>
#include <bit>
#include <charconv>
#include <numeric>

#include "architecture/traffic.hpp"
#include "base/error.hpp"
#include "base/whole_file.hpp"

namespace foretrace::architecture {
namespace {

struct Word {
  std::string_view name;
  PatternKind kind;
};
constexpr Word kWords[] = {
    {"uniform", PatternKind::uniform},         {"hotspot", PatternKind::hotspot},
    {"transpose", PatternKind::transpose},     {"complement", PatternKind::complement},
    {"reverse", PatternKind::reverse},         {"shuffle", PatternKind::shuffle},
    {"tornado", PatternKind::tornado},         {"neighbour", PatternKind::neighbour},
    {"permutation", PatternKind::permutation}, {"asymmetric", PatternKind::asymmetric},
    {"diagonal", PatternKind::diagonal},       {"file", PatternKind::file}};

[[noreturn]] void refuse(const std::string& text, const std::string& what) {
  throw UsageError("--pattern " + text + ": " + what);
}

int whole(const std::string& text, std::string_view part, int least, int most) {
  int value = -1;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (error != std::errc() || end != part.data() + part.size() || value < least || value > most)
    refuse(text, "expected a whole number from " + std::to_string(least) + " to " +
                     std::to_string(most) + ", found '" + std::string(part) + "'");
  return value;
}

void read_hotspot(const std::string& text, std::string_view rest, Pattern& pattern) {
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos)
    refuse(text, "write the spots and their share of the packets, for example hotspot:0,5:0.2");
  std::string_view spots = rest.substr(0, colon);
  while (!spots.empty()) {
    const std::size_t comma = std::min(spots.find(','), spots.size());
    pattern.targets.push_back(whole(text, spots.substr(0, comma), 0, pattern.terminals - 1));
    spots.remove_prefix(std::min(comma + 1, spots.size()));
  }
  const std::string_view share = rest.substr(colon + 1);
  const auto [end, error] =
      std::from_chars(share.data(), share.data() + share.size(), pattern.share);
  if (pattern.targets.empty() || error != std::errc() || end != share.data() + share.size() ||
      !(pattern.share >= 0 && pattern.share <= 1))
    refuse(text, "expected spots and a share from 0 to 1, for example hotspot:0,5:0.2");
}

void read_file(const std::string& text, const std::string& path, Pattern& pattern) {
  const std::string content = read_whole_file(path, "the destinations");
  int line = 1;
  for (std::size_t at = 0; at < content.size(); ++line) {
    const std::size_t end = std::min(content.find('\n', at), content.size());
    int value = -1;
    const auto [stop, error] = std::from_chars(content.data() + at, content.data() + end, value);
    if (error != std::errc() || stop != content.data() + end || value < 0 ||
        value >= pattern.terminals)
      throw Error(path + ":" + std::to_string(line) + ": expected the number of a terminal, 0 to " +
                  std::to_string(pattern.terminals - 1));
    pattern.targets.push_back(value);
    at = end + 1;
  }
  if (static_cast<int>(pattern.targets.size()) != pattern.terminals)
    refuse(text, "expected " + std::to_string(pattern.terminals) +
                     " lines, one a terminal, found " + std::to_string(pattern.targets.size()));
}

}  // namespace

std::string pattern_words() {
  std::string all;
  for (const Word& word : kWords) all += (all.empty() ? "" : ", ") + std::string(word.name);
  return all;
}

Pattern parse_pattern(const std::string& text, const Fabric& fabric) {
  Pattern pattern;
  pattern.terminals = fabric.terminals();
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = std::string_view(text).substr(0, colon);
  const std::string rest = text.substr(std::min(colon + 1, text.size()));
  const auto* const word = std::ranges::find(kWords, name, &Word::name);
  if (word == std::end(kWords)) refuse(text, "there are " + pattern_words());
  pattern.kind = word->kind;
  const auto count = static_cast<unsigned>(pattern.terminals);
  switch (pattern.kind) {
    case PatternKind::transpose:
      if (!std::has_single_bit(count) || std::bit_width(count) % 2 == 0)
        refuse(text,
               "needs 4, 16, 64 ... terminals, the architecture has " + std::to_string(count));
      break;
    case PatternKind::complement:
    case PatternKind::reverse:
    case PatternKind::shuffle:
      if (!std::has_single_bit(count))
        refuse(text,
               "needs a power of two of terminals, the architecture has " + std::to_string(count));
      break;
    case PatternKind::tornado:
    case PatternKind::neighbour: {
      std::vector<int> sides = fabric.sides;
      // Without a grid the terminals count as a ring.
      if (sides.empty()) sides.assign(1, pattern.terminals);
      if (std::ranges::count(sides, sides[0]) != static_cast<std::ptrdiff_t>(sides.size()))
        refuse(text, "needs a grid with equal sides");
      pattern.side = sides[0];
      pattern.dimensions = static_cast<int>(sides.size());
      break;
    }
    case PatternKind::permutation: {
      entity::Random random(
          static_cast<std::uint64_t>(rest.empty() ? 1 : whole(text, rest, 0, INT32_MAX)));
      pattern.targets.resize(count);
      std::iota(pattern.targets.begin(), pattern.targets.end(), 0);
      for (std::uint32_t i = count; i > 1; --i)
        std::swap(pattern.targets[i - 1], pattern.targets[random.below(i)]);
      break;
    }
    case PatternKind::hotspot:
      read_hotspot(text, rest, pattern);
      break;
    case PatternKind::file:
      read_file(text, rest, pattern);
      break;
    case PatternKind::uniform:
    case PatternKind::asymmetric:
    case PatternKind::diagonal:
      break;
  }
  return pattern;
}

std::int32_t Pattern::destination(std::int32_t from, entity::Random& random) const {
  const auto count = static_cast<std::uint32_t>(terminals);
  const auto source = static_cast<std::uint32_t>(from);
  const int bits = std::bit_width(count) - 1;
  const auto digits = [&](int step) {
    std::uint32_t found = 0;
    std::uint32_t stride = 1;
    for (int d = 0; d < dimensions; ++d) {
      const auto side_of = static_cast<std::uint32_t>(side);
      found += stride * ((source / stride % side_of + static_cast<std::uint32_t>(step)) % side_of);
      stride *= side_of;
    }
    return static_cast<std::int32_t>(found);
  };
  switch (kind) {
    case PatternKind::uniform:
      break;
    case PatternKind::hotspot:
      if (random.chance(share))
        return targets[random.below(static_cast<std::uint32_t>(targets.size()))];
      break;
    case PatternKind::transpose:
      return static_cast<std::int32_t>((source >> (bits / 2) | source << (bits / 2)) & (count - 1));
    case PatternKind::complement:
      return static_cast<std::int32_t>(~source & (count - 1));
    case PatternKind::reverse: {
      std::uint32_t reversed = 0;
      for (int b = 0; b < bits; ++b) reversed |= (source >> b & 1) << (bits - 1 - b);
      return static_cast<std::int32_t>(reversed);
    }
    case PatternKind::shuffle:
      return static_cast<std::int32_t>((source << 1 | (bits > 0 ? source >> (bits - 1) : 0)) &
                                       (count - 1));
    case PatternKind::tornado:
      return digits((side + 1) / 2 - 1);
    case PatternKind::neighbour:
      return digits(1);
    case PatternKind::permutation:
    case PatternKind::file:
      return targets[source];
    case PatternKind::asymmetric: {
      const std::uint32_t half = std::max(1U, count / 2);
      return static_cast<std::int32_t>((source % half + random.below(2) * half) % count);
    }
    case PatternKind::diagonal:
      return static_cast<std::int32_t>(random.below(3) == 0 ? (source + 1) % count : source);
  }
  return static_cast<std::int32_t>(random.below(count));
}

}  // namespace foretrace::architecture
