// TopologySpec: a topology as somebody writes it down, before it is built: its
// kind and sizes, the speed of its links, the ranks on a node.
//
// Here are the words (names, expressions, units) and the counts that follow
// from them; nodes and links are made in builders.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace foretrace::machine {

enum class TopologyKind : std::uint8_t {
  full,
  ring,
  array,
  star,
  bus,
  mesh,
  torus,
  hypercube,
  tree,
  fattree,
  xgft,
  omega,
  crossbar,
  dragonfly,
  arbitrary,  // nodes and links one by one, from a file
};

std::string_view name_of(TopologyKind kind);

struct Shape {
  TopologyKind kind = TopologyKind::arbitrary;
  // mesh, torus: the sides; hypercube: the dimension; tree, fattree: arity and
  // levels of switches; xgft: children m1..mh; dragonfly: routers in a group,
  // global links of a router, processors at a router; the others: the number
  // of processors.
  std::vector<int> sizes;
  std::vector<int> parents;  // xgft: w1..wh
};

// What is not given is for the machine model to say.
struct LinkSpeed {
  std::optional<Time> latency;             // >= 0
  std::optional<double> bytes_per_second;  // > 0; infinity: no limit
  // So many bytes pass a link that has rested at once, as through a token bucket of that depth;
  // flow and packet know it. None: 0.
  std::optional<std::uint64_t> burst = {};
  bool operator==(const LinkSpeed&) const = default;
};

struct TopologySpec {
  std::string name;
  Shape shape;
  LinkSpeed link;
  // What a message adds to its bytes on each link: headers of its protocols. flow and packet know
  // it.
  std::uint64_t header = 0;
  int ranks_per_node = 1;
  LinkSpeed intra_node;  // between two ranks on one node
};

// Numbers of a shape without building it; they saturate far above the limits.
struct ShapeCounts {
  std::int64_t processors = 0;
  std::int64_t switches = 0;  // a bus counts as one
  std::int64_t links = 0;     // one direction each
};
ShapeCounts counts_of(const Shape& shape);

// The most that is built: more is a slip of the pen, or does not fit in memory.
inline constexpr std::int64_t kMaxNodes = std::int64_t{1} << 24;
inline constexpr std::int64_t kMaxLinks = std::int64_t{1} << 24;

// KIND:SIZES[?KEY=VALUE[&KEY=VALUE]...], for example
// "torus:8x8?latency=1us&bandwidth=1GB/s". Keys: latency, bandwidth,
// burst, header, ranks_per_node, intra_latency, intra_bandwidth. Throws UsageError.
TopologySpec parse_topology_expression(std::string_view text);
// KIND and SIZES alone, within the limits above. Throws UsageError.
Shape parse_shape(std::string_view kind, std::string_view sizes);
// The text that parses back to the shape: "torus:8x8"; "arbitrary" for others.
std::string format_shape(const Shape& shape);

// "1us": a number >= 0 and ps, ns, us, ms or s; nothing if it is none.
std::optional<Time> parse_latency(std::string_view text);
// Bytes per second, > 0: "1GB/s", "100Mbit/s", "1.5GiB/s"; nothing if it is none.
std::optional<double> parse_bandwidth(std::string_view text);

// The sides of the kinds that are grids (ring, array, mesh, torus, hypercube),
// the slowest coordinate first as in MPI_Cart_create.
std::vector<int> grid_sides(const Shape& shape);
// Whether a grid's sides of 3 and more are closed to rings.
bool grid_wraps(const Shape& shape);
bool is_grid(const Shape& shape);

// tree, fattree and xgft are all extended generalised fat trees XGFT(h; m; w)
// (Oehring et al., IPPS 1995): a node of level l has m[l-1] children below and
// w[l] parents above; processors are level 0.
struct TreeSizes {
  std::vector<int> m;
  std::vector<int> w;
};
TreeSizes tree_sizes(const Shape& shape);
bool is_tree(const Shape& shape);

}  // namespace foretrace::machine
