#include "architecture/templates.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/whole_file.hpp"
#include "foretrace_entity.hpp"

namespace foretrace::architecture {
namespace {

constexpr int kMostSwitches = 1 << 16;

std::vector<int> numbers(const std::string& text, std::string_view list, char separator) {
  std::vector<int> found;
  while (true) {
    const std::size_t end = std::min(list.find(separator), list.size());
    int value = -1;
    const auto [stop, error] = std::from_chars(list.data(), list.data() + end, value);
    if (error != std::errc() || stop != list.data() + end || value < 1 || value > kMostSwitches)
      throw UsageError("'" + text + "': expected whole numbers from 1 to " +
                       std::to_string(kMostSwitches));
    found.push_back(value);
    if (end == list.size()) return found;
    list.remove_prefix(end + 1);
  }
}

// Processors at every switch, joined to it.
WideTemplate with_processors(std::int64_t switches, int each, const std::string& text) {
  if (switches > kMostSwitches || switches * each > kMostSwitches * 16)
    throw UsageError("'" + text + "': more than " + std::to_string(kMostSwitches) + " switches");
  WideTemplate made;
  made.switches = static_cast<int>(switches);
  made.processors = made.switches * each;
  for (int p = 0; p < made.processors; ++p)
    made.links.push_back({p, made.processors + p / each, false, {}});
  return made;
}

// All to all within every dimension (Ahn et al., SC 2009).
WideTemplate hyperx(const std::string& text, std::string_view rest) {
  const std::size_t comma = std::min(rest.find(','), rest.size());
  const std::vector<int> sides = numbers(text, rest.substr(0, comma), 'x');
  const int each = comma == rest.size() ? 1 : numbers(text, rest.substr(comma + 1), ',').at(0);
  std::int64_t switches = 1;
  for (const int side : sides)
    if ((switches *= side) > kMostSwitches) break;
  WideTemplate made = with_processors(switches, each, text);
  int stride = 1;
  for (const int side : sides) {
    for (int s = 0; s < made.switches; ++s)
      for (int other = s / stride % side + 1; other < side; ++other)
        made.links.push_back({made.processors + s,
                              made.processors + s + (other - s / stride % side) * stride,
                              false,
                              {}});
    stride *= side;
  }
  return made;
}

// McKay, Miller, Siran graphs of diameter 2 (Besta, Hoefler, SC 2014), for primes q = 4 w + 1.
WideTemplate slimfly(const std::string& text, std::string_view rest) {
  const std::vector<int> sizes = numbers(text, rest, ',');
  const int q = sizes[0];
  bool prime = q > 2;
  for (int d = 2; d * d <= q; ++d) prime = prime && q % d != 0;
  if (!prime || q % 4 != 1 || q > 113)
    throw UsageError("'" + text + "': expected a prime of 5, 13, 17, 29, 37, .. up to 113");
  int root = 2;
  const auto order = [&](int base) {
    int power = base;
    int count = 1;
    for (; power != 1; ++count) power = power * base % q;
    return count;
  };
  while (order(root) != q - 1) ++root;
  std::set<int> even, odd;
  for (int i = 0, power = 1; i < q - 1; ++i, power = power * root % q)
    (i % 2 == 0 ? even : odd).insert(power);
  WideTemplate made = with_processors(2 * q * q, sizes.size() > 1 ? sizes[1] : 1, text);
  const auto at = [&](int half, int x, int y) { return made.processors + (half * q + x) * q + y; };
  for (int x = 0; x < q; ++x)
    for (int y = 0; y < q; ++y) {
      for (int z = y + 1; z < q; ++z) {
        if (even.contains(z - y)) made.links.push_back({at(0, x, y), at(0, x, z), false, {}});
        if (odd.contains(z - y)) made.links.push_back({at(1, x, y), at(1, x, z), false, {}});
      }
      // (0, x, y) and (1, m, c) where y = m x + c.
      for (int m = 0; m < q; ++m)
        made.links.push_back({at(0, x, y), at(1, m, ((y - m * x) % q + q) % q), false, {}});
    }
  return made;
}

// 2 log2(n) - 1 stages of 2 x 2 elements, passed one way (Benes 1965).
WideTemplate benes(const std::string& text, std::string_view rest) {
  const auto lines = static_cast<unsigned>(numbers(text, rest, ',').at(0));
  if (!std::has_single_bit(lines) || lines < 4 || lines > 4096)
    throw UsageError("'" + text + "': expected a power of two from 4 to 4096");
  const int bits = std::bit_width(lines) - 1;
  const int stages = 2 * bits - 1;
  const int n = static_cast<int>(lines);
  WideTemplate made;
  made.processors = n;
  made.switches = stages * n / 2;
  const auto element = [&](int stage, int line) { return n + stage * n / 2 + line / 2; };
  for (int line = 0; line < n; ++line) {
    made.links.push_back({line, element(0, line), true, {}});
    made.links.push_back({element(stages - 1, line), line, true, {}});
    for (int stage = 0; stage + 1 < stages; ++stage) {
      // Apart within blocks that halve, then together again.
      const bool apart = stage < bits - 1;
      const int width = apart ? bits - stage : stage - bits + 3;
      const int block = line >> width << width;
      const int low = line - block;
      const int moved = apart ? low >> 1 | (low & 1) << (width - 1)
                              : (low << 1 | low >> (width - 1)) & ((1 << width) - 1);
      made.links.push_back({element(stage, line), element(stage + 1, block + moved), true, {}});
    }
  }
  return made;
}

// A random regular graph (Singla et al., NSDI 2012): free ports are joined by chance; where none
// fit any more, a link is opened for them.
WideTemplate jellyfish(const std::string& text, std::string_view rest) {
  const std::vector<int> sizes = numbers(text, rest, ',');
  if (sizes.size() < 2 || sizes[1] >= sizes[0] || (sizes[0] * std::int64_t{sizes[1]}) % 2 != 0 ||
      sizes[0] * std::int64_t{sizes[1]} > 1 << 20)
    throw UsageError(
        "'" + text +
        "': expected switches and fewer links of each, their product even, for example "
        "jellyfish:20,4,2,1");
  const int degree = sizes[1];
  WideTemplate made = with_processors(sizes[0], sizes.size() > 2 ? sizes[2] : 1, text);
  entity::Random random(sizes.size() > 3 ? static_cast<std::uint64_t>(sizes[3]) : 1);
  std::set<std::pair<int, int>> links;
  std::vector<int> ports;
  for (int round = 0; round < 100; ++round) {
    links.clear();
    ports.clear();
    for (int s = 0; s < made.switches; ++s)
      ports.insert(ports.end(), static_cast<std::size_t>(degree), s);
    int failures = 0;
    while (!ports.empty() && failures < 1000) {
      const std::uint32_t i = random.below(static_cast<std::uint32_t>(ports.size()));
      std::swap(ports[i], ports.back());
      const std::uint32_t j = random.below(static_cast<std::uint32_t>(ports.size() - 1));
      const std::pair<int, int> ends = std::minmax(ports.back(), ports[j]);
      if (ends.first == ends.second || !links.insert(ends).second) {
        ++failures;
        continue;
      }
      failures = 0;
      ports.pop_back();
      ports.erase(ports.begin() + j);
    }
    if (ports.empty()) break;
  }
  if (!ports.empty())
    throw UsageError("'" + text + "': no such graph was found; take another seed");
  for (const auto& [a, b] : links)
    made.links.push_back({made.processors + a, made.processors + b, false, {}});
  return made;
}

// ---- Cray: one line for each port, "NAME(g:c:s) colour -> NAME(g:c:s)"
// -----------------------------

struct CrayReader {
  struct Router {
    int number = 0;
    int column = -1, row = 0, chassis = 0, slot = 0;  // by its name; -1: it is another one
  };
  std::string path;
  int line = 0;
  std::map<std::array<int, 3>, Router> routers;

  // "c0-0c0s6a0l10": the column and row of the cabinet, then what is in it.
  static Router named(std::string_view name) {
    Router made;
    int* const numbers[] = {&made.column, &made.row, &made.chassis, &made.slot};
    const char signs[] = {'c', '-', 'c', 's'};
    for (int i = 0; i < 4; ++i) {
      const char* end = name.data() + name.size();
      const bool begins = !name.empty() && name.front() == signs[i];
      const auto [stop, error] = std::from_chars(name.data() + (begins ? 1 : 0), end, *numbers[i]);
      if (!begins || error != std::errc() || *numbers[i] < 0 || *numbers[i] > 1000) return {};
      name.remove_prefix(static_cast<std::size_t>(stop - name.data()));
    }
    return made;
  }

  // The floor plan: cabinets in rows, in each its chassis, in these the slots; a router's
  // processors below it.
  void place_all(WideTemplate& made) const {
    int columns = 1, rows = 1, chassis = 1, slots = 1;
    for (const auto& [place, router] : routers) {
      if (router.column < 0) return;
      columns = std::max(columns, router.column + 1);
      rows = std::max(rows, router.row + 1);
      chassis = std::max(chassis, router.chassis + 1);
      slots = std::max(slots, router.slot + 1);
    }
    const double width = 0.92 / columns / slots;
    const double height = 0.92 / rows / chassis;
    made.places.resize(static_cast<std::size_t>(made.processors + made.switches));
    for (const auto& [place, router] : routers)
      made.places[static_cast<std::size_t>(made.processors + router.number)] = {
          (router.column + 0.04) / columns + router.slot * width,
          (router.row + 0.04) / rows + (chassis - 1 - router.chassis) * height, width,
          0.6 * height};
    std::map<int, std::vector<int>> of;  // by router
    for (const WideTemplate::Link& link : made.links)
      if (link.from < made.processors) of[link.to].push_back(link.from);
    for (const auto& [router, processors] : of) {
      const Region at = made.places[static_cast<std::size_t>(router)];
      const Region below{at.x, at.y + at.height, at.width, 0.35 * height};
      for (std::size_t i = 0; i < processors.size(); ++i)
        made.places[static_cast<std::size_t>(processors[i])] =
            cell_of(below, static_cast<int>(i), static_cast<int>(processors.size()));
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(path + ":" + std::to_string(line) + ": " + what);
  }

  // The place in brackets: group, chassis, slot.
  std::array<int, 3> place(std::string_view text) const {
    const std::size_t open = text.find('(');
    std::array<int, 3> found{};
    if (open == text.npos || text.back() != ')') fail("expected NAME(group:chassis:slot)");
    const char* at = text.data() + open + 1;
    const char* end = text.data() + text.size();
    for (int i = 0; i < 3; ++i) {
      const auto [stop, error] = std::from_chars(at, end, found[static_cast<std::size_t>(i)]);
      if (error != std::errc() || stop == end || *stop != (i < 2 ? ':' : ')'))
        fail("expected NAME(group:chassis:slot)");
      at = stop + 1;
    }
    return found;
  }
};

machine::LinkSpeed speed_called(const std::string& text, std::string_view options,
                                std::string_view colour) {
  while (!options.empty()) {
    const std::size_t end = std::min(options.find('&'), options.size());
    const std::string_view option = options.substr(0, end);
    const std::size_t equals = std::min(option.find('='), option.size());
    const auto known = {"green", "black", "blue", "ptile"};
    const auto rate = machine::parse_bandwidth(option.substr(std::min(equals + 1, option.size())));
    if (!rate || std::ranges::find(known, option.substr(0, equals)) == known.end())
      throw UsageError("'" + text +
                       "': expected green, black, blue or ptile, and a rate such as "
                       "5.25GiB/s, found '" +
                       std::string(option) + "'");
    if (option.substr(0, equals) == colour) return {std::nullopt, rate};
    options.remove_prefix(std::min(end + 1, options.size()));
  }
  return {};
}

WideTemplate cray(const std::string& text, std::string_view rest, const std::string& folder) {
  const std::size_t question = std::min(rest.find('?'), rest.size());
  const std::string_view options = rest.substr(std::min(question + 1, rest.size()));
  CrayReader reader;
  reader.path = (std::filesystem::path(folder) / std::string(rest.substr(0, question))).string();
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(reader.path, ignored))
    throw UsageError("'" + text + "': there is no file " + reader.path + "; correct the name");
  const std::string content = read_whole_file(reader.path, "the links");
  std::map<std::string, machine::LinkSpeed, std::less<>> speeds;
  for (const char* colour : {"green", "black", "blue", "ptile"})
    speeds.emplace(colour, speed_called(text, options, colour));
  struct Cable {
    std::array<int, 3> a, b;
    const machine::LinkSpeed* speed;
  };
  std::vector<Cable> cables;
  std::map<std::array<int, 3>, int> tiles;
  for (std::size_t at = 0; at < content.size();) {
    ++reader.line;
    const std::size_t end = std::min(content.find('\n', at), content.size());
    std::string_view line(content.data() + at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const std::size_t space = line.find(' ');
    const std::size_t arrow = line.find(" -> ");
    if (space == line.npos || arrow == line.npos || arrow <= space)
      reader.fail("expected NAME(g:c:s) COLOUR -> NAME(g:c:s), processor or unused");
    const auto from = reader.place(line.substr(0, space));
    const auto speed = speeds.find(line.substr(space + 1, arrow - space - 1));
    if (speed == speeds.end()) reader.fail("expected the colour green, black, blue or ptile");
    reader.routers.emplace(from, CrayReader::named(line.substr(0, space)));
    const std::string_view to = line.substr(arrow + 4);
    if (to == "unused") continue;
    if (to == "processor") {
      ++tiles[from];
      continue;
    }
    const auto other = reader.place(to);
    // Every cable stands there from both ends.
    if (from < other) cables.push_back({from, other, &speed->second});
  }
  if (tiles.empty()) throw Error(reader.path + ":1: holds no port that leads to a processor");
  WideTemplate made;
  for (auto& [place, router] : reader.routers) router.number = made.switches++;
  // Two tiles lead to each node.
  for (const auto& [place, count] : tiles) made.processors += (count + 1) / 2;
  int next = 0;
  for (const auto& [place, count] : tiles)
    for (int n = 0; n < (count + 1) / 2; ++n)
      made.links.push_back(
          {next++, made.processors + reader.routers[place].number, false, speeds["ptile"]});
  for (const Cable& cable : cables) {
    if (!reader.routers.contains(cable.b))
      throw Error(reader.path + ": a link leads to a router without ports");
    made.links.push_back({made.processors + reader.routers[cable.a].number,
                          made.processors + reader.routers[cable.b].number, false, *cable.speed});
  }
  reader.place_all(made);
  return made;
}

}  // namespace

std::optional<WideTemplate> make_wide_template(const std::string& text, const std::string& folder) {
  const std::size_t colon = text.find(':');
  if (colon == text.npos) return std::nullopt;
  const std::string_view kind = std::string_view(text).substr(0, colon);
  const std::string_view rest = std::string_view(text).substr(colon + 1);
  if (kind == "hyperx") return hyperx(text, rest);
  if (kind == "slimfly") return slimfly(text, rest);
  if (kind == "benes") return benes(text, rest);
  if (kind == "jellyfish") return jellyfish(text, rest);
  if (kind == "cray") return cray(text, rest, folder);
  return std::nullopt;
}

}  // namespace foretrace::architecture
