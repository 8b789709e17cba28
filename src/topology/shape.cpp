#include "topology/shape.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/shown_text.hpp"
#include "base/size_text.hpp"
#include "base/time_text.hpp"

namespace foretrace::machine {
namespace {

struct KindRow {
  TopologyKind kind;
  std::string_view name;
  std::string_view sizes;    // what follows the colon, in words
  std::string_view example;  // what follows the colon, as one may write it
};

constexpr std::array kKinds{
    KindRow{TopologyKind::full, "full", "the number of processors", "8"},
    KindRow{TopologyKind::ring, "ring", "the number of processors", "16"},
    KindRow{TopologyKind::array, "array", "the number of processors", "16"},
    KindRow{TopologyKind::star, "star", "the number of processors", "8"},
    KindRow{TopologyKind::bus, "bus", "the number of processors", "8"},
    KindRow{TopologyKind::mesh, "mesh", "the sides, with x between them", "4x4"},
    KindRow{TopologyKind::torus, "torus", "the sides, with x between them", "8x8"},
    KindRow{TopologyKind::hypercube, "hypercube", "the dimension", "4"},
    KindRow{TopologyKind::tree, "tree", "arity and levels of switches", "2,4"},
    KindRow{TopologyKind::fattree, "fattree", "arity and levels of switches", "4,3"},
    KindRow{TopologyKind::xgft, "xgft", "H;m1,..,mH;w1,..,wH", "2;4,4;1,2"},
    KindRow{TopologyKind::omega, "omega", "the number of processors, a power of two from 2 on",
            "16"},
    KindRow{TopologyKind::crossbar, "crossbar", "the number of processors", "16"},
    KindRow{TopologyKind::dragonfly, "dragonfly",
            "routers in a group, global links of a router, processors at a router", "4,2,2"},
};

const KindRow* find_kind(std::string_view name) {
  const auto row = std::ranges::find(kKinds, name, &KindRow::name);
  return row == kKinds.end() ? nullptr : row;
}

[[noreturn]] void fail_sizes(const KindRow& row, std::string_view sizes, std::string_view reason) {
  throw UsageError("topology '" + std::string(row.name) + ":" + shown(sizes) +
                   "': " + std::string(reason) + "; after '" + std::string(row.name) + ":' write " +
                   std::string(row.sizes) + ", for example " + std::string(row.name) + ":" +
                   std::string(row.example));
}

// Numbers between separators; nothing if there is anything else.
std::optional<std::vector<int>> parse_list(std::string_view text, char separator) {
  std::vector<int> numbers;
  while (true) {
    int value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || value < 0 || text.front() == '-') return std::nullopt;
    numbers.push_back(value);
    if (stop == end) return numbers;
    if (*stop != separator) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()) + 1);
  }
}

Shape parse_xgft(const KindRow& row, std::string_view sizes) {
  const auto first = sizes.find(';');
  const auto second = first == sizes.npos ? sizes.npos : sizes.find(';', first + 1);
  if (second == sizes.npos) fail_sizes(row, sizes, "it has not three parts");
  const auto height = parse_list(sizes.substr(0, first), ',');
  const auto m = parse_list(sizes.substr(first + 1, second - first - 1), ',');
  const auto w = parse_list(sizes.substr(second + 1), ',');
  if (!height || height->size() != 1 || !m || !w) fail_sizes(row, sizes, "expected whole numbers");
  const auto h = static_cast<std::size_t>(height->front());
  if (m->size() != h || w->size() != h) fail_sizes(row, sizes, "expected H children and H parents");
  return {row.kind, *m, *w};
}

std::size_t expected_sizes(TopologyKind kind) {
  switch (kind) {
    case TopologyKind::tree:
    case TopologyKind::fattree:
      return 2;
    case TopologyKind::dragonfly:
      return 3;
    default:
      return 1;
  }
}

// Large enough to be refused, small enough for a product of two of them.
constexpr std::int64_t kHuge = std::int64_t{1} << 31;

// Sides or levels; with 2 and more each there are fewer than 25.
constexpr int kMaxSizes = 64;

std::int64_t times(std::int64_t a, std::int64_t b) {
  return std::min(kHuge, a * b);
}

std::int64_t power(std::int64_t base, int exponent) {
  std::int64_t result = 1;
  for (int i = 0; i < exponent && result < kHuge && base > 1; ++i) result = times(result, base);
  return result;
}

void check_values(const KindRow& row, std::string_view text, const Shape& shape) {
  const bool zero_allowed = shape.kind == TopologyKind::hypercube;
  for (const auto& list : {shape.sizes, shape.parents})
    if (std::ranges::any_of(list, [&](int v) { return v < 1 && !zero_allowed; }))
      fail_sizes(row, text, "every size must be 1 or more");
  if (shape.kind == TopologyKind::omega) {
    const int n = shape.sizes[0];
    if (n < 2 || (n & (n - 1)) != 0) fail_sizes(row, text, "not a power of two");
  }
  if (shape.sizes.size() > kMaxSizes) fail_sizes(row, text, "more than 64 sizes");
  const ShapeCounts counts = counts_of(shape);
  if (counts.processors + counts.switches > kMaxNodes || counts.links > kMaxLinks)
    fail_sizes(row, text,
               "too large: at most " + std::to_string(kMaxNodes) + " nodes and " +
                   std::to_string(kMaxLinks) + " links are built");
}

ShapeCounts count_grid(const Shape& shape) {
  const std::vector<int> sides = grid_sides(shape);
  ShapeCounts counts{1, 0, 0};
  for (int side : sides) counts.processors = times(counts.processors, side);
  for (int side : sides) {
    const bool ring = grid_wraps(shape) && side > 2;
    const std::int64_t lines = counts.processors / side;
    counts.links = std::min(kHuge, counts.links + 2 * lines * (ring ? side : side - 1));
  }
  return counts;
}

ShapeCounts count_tree(const Shape& shape) {
  // Checked first: a tree of many levels would be a long list of sizes.
  if (shape.kind != TopologyKind::xgft && power(shape.sizes[0], shape.sizes[1]) >= kHuge)
    return {kHuge, 0, 0};
  if (shape.kind != TopologyKind::xgft && shape.sizes[1] > kMaxSizes) return {1, kHuge, 0};
  const auto [m, w] = tree_sizes(shape);
  ShapeCounts counts{1, 0, 0};
  for (int children : m) counts.processors = times(counts.processors, children);
  if (counts.processors >= kHuge) return counts;
  std::int64_t below = counts.processors;  // nodes of the level
  for (std::size_t l = 0; l < m.size(); ++l) {
    const std::int64_t links = times(below, w[l]);
    below = links / m[l];
    counts.links = std::min(kHuge, counts.links + 2 * links);
    counts.switches = std::min(kHuge, counts.switches + below);
    if (counts.links >= kHuge) return counts;
  }
  return counts;
}

struct Unit {
  std::string_view name;
  double factor;
};

// A number and one of the units after it.
template <std::size_t N>
std::optional<double> parse_quantity(std::string_view text, const std::array<Unit, N>& units) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  std::string_view name(stop, static_cast<std::size_t>(end - stop));
  if (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  const auto unit = std::ranges::find(units, name, &Unit::name);
  if (unit == units.end()) return std::nullopt;
  return value * unit->factor;
}

[[noreturn]] void fail_option(std::string_view text, const std::string& message) {
  throw UsageError("topology '" + shown(text) + "': " + message);
}

int parse_ranks_per_node(std::string_view text, std::string_view value) {
  const auto number = parse_list(value, ',');
  if (!number || number->size() != 1 || number->front() < 1 || number->front() > 1 << 20)
    fail_option(text, "ranks_per_node must be a whole number from 1 to " + std::to_string(1 << 20) +
                          ", found '" + shown(value) + "'");
  return number->front();
}

void parse_option(std::string_view text, std::string_view option, TopologySpec& spec) {
  const auto equals = option.find('=');
  const std::string_view key = option.substr(0, equals);
  const std::string_view value = equals == option.npos ? "" : option.substr(equals + 1);
  if (key == "latency" || key == "intra_latency") {
    const auto latency = parse_latency(value);
    if (!latency)
      fail_option(text,
                  std::string(key) + " must be a time such as 1us, found '" + shown(value) + "'");
    (key == "latency" ? spec.link : spec.intra_node).latency = latency;
  } else if (key == "bandwidth" || key == "intra_bandwidth") {
    const auto bandwidth = parse_bandwidth(value);
    if (!bandwidth)
      fail_option(text, std::string(key) + " must be a rate such as 1GB/s or 100Mbit/s, found '" +
                            shown(value) + "'");
    (key == "bandwidth" ? spec.link : spec.intra_node).bytes_per_second = bandwidth;
  } else if (key == "burst") {
    spec.link.burst = parse_size(value);
    if (!spec.link.burst)
      fail_option(text, "burst must be a size such as 4096 or 64KiB, found '" + shown(value) + "'");
  } else if (key == "header") {
    const auto header = parse_size(value);
    if (!header)
      fail_option(text, "header must be a size such as 96, found '" + shown(value) + "'");
    spec.header = *header;
  } else if (key == "ranks_per_node") {
    spec.ranks_per_node = parse_ranks_per_node(text, value);
  } else {
    fail_option(text, "unknown option '" + shown(key) +
                          "'; known: latency, bandwidth, burst, header, "
                          "ranks_per_node, intra_latency, intra_bandwidth");
  }
}

}  // namespace

std::string_view name_of(TopologyKind kind) {
  const auto row = std::ranges::find(kKinds, kind, &KindRow::kind);
  return row == kKinds.end() ? "arbitrary" : row->name;
}

bool is_grid(const Shape& shape) {
  switch (shape.kind) {
    case TopologyKind::ring:
    case TopologyKind::array:
    case TopologyKind::mesh:
    case TopologyKind::torus:
    case TopologyKind::hypercube:
      return true;
    default:
      return false;
  }
}

bool grid_wraps(const Shape& shape) {
  return shape.kind == TopologyKind::ring || shape.kind == TopologyKind::torus;
}

std::vector<int> grid_sides(const Shape& shape) {
  if (shape.kind == TopologyKind::hypercube)
    return std::vector<int>(static_cast<std::size_t>(std::min(shape.sizes[0], 64)), 2);
  return shape.sizes;
}

bool is_tree(const Shape& shape) {
  return shape.kind == TopologyKind::tree || shape.kind == TopologyKind::fattree ||
         shape.kind == TopologyKind::xgft;
}

TreeSizes tree_sizes(const Shape& shape) {
  if (shape.kind == TopologyKind::xgft) return {shape.sizes, shape.parents};
  const auto levels = static_cast<std::size_t>(shape.sizes[1]);
  // A k-ary n-tree is XGFT(n; k,...,k; 1,k,...,k), a plain tree has one parent
  // everywhere.
  TreeSizes tree{std::vector<int>(levels, shape.sizes[0]), std::vector<int>(levels, 1)};
  if (shape.kind == TopologyKind::fattree)
    std::fill(tree.w.begin() + 1, tree.w.end(), shape.sizes[0]);
  return tree;
}

ShapeCounts counts_of(const Shape& shape) {
  if (is_grid(shape)) return count_grid(shape);
  if (is_tree(shape)) return count_tree(shape);
  const std::int64_t n = shape.sizes.empty() ? 0 : shape.sizes[0];
  switch (shape.kind) {
    case TopologyKind::full:
      return {n, 0, times(n, n - 1)};
    case TopologyKind::star:
      return {n, 0, 2 * (n - 1)};
    case TopologyKind::bus:
    case TopologyKind::crossbar:
      return {n, 1, 2 * n};
    case TopologyKind::omega: {
      int stages = 0;
      while ((std::int64_t{1} << stages) < n) ++stages;
      return {n, stages * n / 2, (stages + 1) * n};
    }
    case TopologyKind::dragonfly: {
      const std::int64_t h = shape.sizes[1];
      const std::int64_t groups = times(n, h) + 1;
      const std::int64_t routers = times(groups, n);
      const std::int64_t processors = times(routers, shape.sizes[2]);
      return {processors, routers,
              std::min(kHuge, 2 * processors + times(routers, n - 1) + times(routers, h))};
    }
    default:
      return {};
  }
}

Shape parse_shape(std::string_view kind, std::string_view sizes) {
  const KindRow* row = find_kind(kind);
  if (!row) {
    std::string known;
    for (const KindRow& each : kKinds)
      known += (known.empty() ? "" : ", ") + std::string(each.name);
    throw UsageError("unknown topology '" + shown(kind) + "'; known: " + known +
                     "; a file's name ends in .toml");
  }
  Shape shape{row->kind, {}, {}};
  if (row->kind == TopologyKind::xgft) {
    shape = parse_xgft(*row, sizes);
  } else {
    const bool sides = row->kind == TopologyKind::mesh || row->kind == TopologyKind::torus;
    const auto list = parse_list(sizes, sides ? 'x' : ',');
    if (!list) fail_sizes(*row, sizes, "expected whole numbers");
    if (!sides && list->size() != expected_sizes(row->kind))
      fail_sizes(*row, sizes,
                 "expected " + std::to_string(expected_sizes(row->kind)) + " numbers, found " +
                     std::to_string(list->size()));
    shape.sizes = *list;
  }
  check_values(*row, sizes, shape);
  return shape;
}

TopologySpec parse_topology_expression(std::string_view text) {
  const auto question = text.find('?');
  const std::string_view shape = text.substr(0, question);
  const auto colon = shape.find(':');
  TopologySpec spec;
  spec.name = std::string(text);
  spec.shape = parse_shape(shape.substr(0, colon),
                           colon == shape.npos ? std::string_view() : shape.substr(colon + 1));
  if (question == text.npos) return spec;
  std::string_view options = text.substr(question + 1);
  std::set<std::string_view> given;
  while (true) {
    const auto end = options.find('&');
    const std::string_view name = options.substr(0, std::min(options.find('='), end));
    if (!given.insert(name).second) fail_option(text, shown(name) + " is there twice; remove one");
    parse_option(text, options.substr(0, end), spec);
    if (end == options.npos) return spec;
    options.remove_prefix(end + 1);
  }
}

std::string format_shape(const Shape& shape) {
  const auto join = [](const std::vector<int>& list, char separator) {
    std::string out;
    for (int value : list)
      out += (out.empty() ? "" : std::string(1, separator)) + std::to_string(value);
    return out;
  };
  const std::string name(name_of(shape.kind));
  switch (shape.kind) {
    case TopologyKind::arbitrary:
      return name;
    case TopologyKind::mesh:
    case TopologyKind::torus:
      return name + ":" + join(shape.sizes, 'x');
    case TopologyKind::xgft:
      return name + ":" + std::to_string(shape.sizes.size()) + ";" + join(shape.sizes, ',') + ";" +
             join(shape.parents, ',');
    default:
      return name + ":" + join(shape.sizes, ',');
  }
}

std::optional<Time> parse_latency(std::string_view text) {
  const auto seconds = parse_seconds(text);
  // A day on one link is no latency, and would overflow along a route.
  if (!seconds || *seconds > 86400) return std::nullopt;
  return Time::from_seconds(*seconds);
}

std::optional<double> parse_bandwidth(std::string_view text) {
  static constexpr std::array kUnits{
      Unit{"B/s", 1},          Unit{"kB/s", 1e3},          Unit{"MB/s", 1e6},
      Unit{"GB/s", 1e9},       Unit{"TB/s", 1e12},         Unit{"KiB/s", 1024.},
      Unit{"MiB/s", 1048576.}, Unit{"GiB/s", 1073741824.}, Unit{"bit/s", 1 / 8.},
      Unit{"kbit/s", 1e3 / 8}, Unit{"Mbit/s", 1e6 / 8},    Unit{"Gbit/s", 1e9 / 8},
      Unit{"Tbit/s", 1e12 / 8}};
  const auto rate = parse_quantity(text, kUnits);
  if (!rate || !(*rate > 0) || !std::isfinite(*rate)) return std::nullopt;
  return rate;
}

}  // namespace foretrace::machine
