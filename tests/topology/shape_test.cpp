// Expressions: what they mean, what is wrong with them, and that nothing else
// happens.
#include <gtest/gtest.h>

#include <random>

#include "base/error.hpp"
#include "examples.hpp"
#include "topology/shape.hpp"

namespace foretrace::machine {
namespace {

std::string complaint(const std::string& text) {
  try {
    parse_topology_expression(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Expression, ReadsBack) {
  for (const char* text : {"full:8", "ring:16", "array:16", "star:8", "bus:8", "mesh:4x4",
                           "mesh:4x4x4", "torus:8x8", "hypercube:4", "tree:2,4", "fattree:4,3",
                           "xgft:2;4,4;1,2", "omega:16", "crossbar:16", "dragonfly:4,2,2"})
    EXPECT_EQ(format_shape(parse_topology_expression(text).shape), text);
}

TEST(Expression, Options) {
  const TopologySpec spec = parse_topology_expression("ring:4?bandwidth=1.5MiB/s&latency=2ms");
  EXPECT_EQ(spec.link.latency, Time::ns(2'000'000));
  EXPECT_EQ(spec.link.bytes_per_second, 1.5 * 1048576);
  EXPECT_EQ(spec.name, "ring:4?bandwidth=1.5MiB/s&latency=2ms");
  EXPECT_EQ(spec.ranks_per_node, 1);
}

TEST(Expression, Units) {
  EXPECT_EQ(parse_latency("0s"), Time());
  EXPECT_EQ(parse_latency("3ps"), Time::ps(3));
  EXPECT_EQ(parse_latency("1e3 ns"), Time::ns(1000));
  EXPECT_EQ(parse_latency("1s"), Time::ps(1'000'000'000'000));
  for (const char* bad : {"", "1", "us", "-1us", "1h", "1us ", "nan s", "inf s", "1e9s", "1  us"})
    EXPECT_EQ(parse_latency(bad), std::nullopt) << bad;
  EXPECT_EQ(parse_bandwidth("10Mbit/s"), 1.25e6);
  EXPECT_EQ(parse_bandwidth("1 KiB/s"), 1024);
  EXPECT_EQ(parse_bandwidth("7B/s"), 7);
  for (const char* bad : {"", "0B/s", "-1B/s", "1GB", "1gb/s", "inf B/s", "1e400GB/s"})
    EXPECT_EQ(parse_bandwidth(bad), std::nullopt) << bad;
}

struct ExpressionFault {
  const char* text;
  const char* says;
};

TEST(Expression, FaultsSayWhatToDo) {
  for (const ExpressionFault& fault : std::vector<ExpressionFault>{
           {"", "unknown topology ''; known: full, ring, array"},
           {"rings:4", "unknown topology 'rings'"},
           {"ring",
            "topology 'ring:': expected whole numbers; after 'ring:' write the number of "
            "processors, for example ring:16"},
           {"ring:", "expected whole numbers"},
           {"ring:0", "every size must be 1 or more"},
           {"ring:-4", "expected whole numbers"},
           {"ring:4,4", "expected 1 numbers, found 2"},
           {"ring:4x", "expected whole numbers"},
           {"ring: 4", "expected whole numbers"},
           {"ring:99999999999", "expected whole numbers"},
           {"mesh:4y4", "for example mesh:4x4"},
           {"mesh:4x", "expected whole numbers"},
           {"mesh:4x0", "1 or more"},
           {"torus:4,4", "expected whole numbers"},
           {"tree:2", "expected 2 numbers, found 1"},
           {"fattree:4", "arity and levels of switches"},
           {"dragonfly:4,2", "expected 3 numbers, found 2"},
           {"xgft:2", "it has not three parts"},
           {"xgft:2;4,4;1", "expected H children and H parents"},
           {"xgft:x;4;1", "expected whole numbers"},
           {"xgft:1;0;1", "1 or more"},
           {"omega:12", "not a power of two"},
           {"omega:1", "not a power of two"},
           {"full:100000", "too large: at most 16777216 nodes and 16777216 links"},
           {"hypercube:30", "too large"},
           {"hypercube:2000000000", "too large"},
           {"mesh:4096x4096x2", "too large"},
           {"mesh:2000000000x2000000000", "too large"},
           {"fattree:1000,1000", "too large"},
           {"fattree:1,2000000000", "too large"},
           {"xgft:2;2000000000,2000000000;2000000000,2000000000", "too large"},
           {"dragonfly:2000000000,2000000000,2000000000", "too large"},
           {"ring:4?", "unknown option ''"},
           {"ring:4?speed=3", "unknown option 'speed'; known: latency, bandwidth"},
           {"ring:4?latency", "latency must be a time such as 1us, found ''"},
           {"ring:4?latency=3", "latency must be a time such as 1us, found '3'"},
           {"ring:4?bandwidth=1GB", "bandwidth must be a rate such as 1GB/s"},
           {"ring:4?latency=1us&", "unknown option ''"},
           {"ring:4?latency=1us&burst=8&latency=2us", "latency is there twice; remove one"},
           {"ring:4?ranks_per_node=0", "ranks_per_node must be a whole number from 1"},
           {"ring:4?ranks_per_node=1.5", "ranks_per_node must be a whole number from 1"},
       }) {
    const std::string message = complaint(fault.text);
    EXPECT_NE(message.find(fault.says), std::string::npos) << fault.text << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST(Expression, MessagesStayPrintable) {
  EXPECT_EQ(complaint("ri\nng\x01:3").substr(0, 26), "unknown topology 'ri?ng?';");
  EXPECT_LT(complaint(std::string(100000, 'x')).size(), 400U);
}

// Random texts from the expressions' own letters, and damaged good ones: built
// or refused, never anything else.
TEST(Expression, Fuzz) {
  const std::string letters = "0123456789x,;:?&=.-/ umsGBbt";
  const std::vector<std::string> seeds{
      "full:8",          "ring:16",     "mesh:4x4x4",     "torus:8x8?latency=1us&bandwidth=1GB/s",
      "tree:2,4",        "fattree:4,3", "xgft:2;4,4;1,2", "omega:16",
      "dragonfly:4,2,2", "hypercube:4", "bus:8"};
  std::mt19937 random(20240607);
  const auto pick = [&random](std::size_t n) { return random() % n; };
  int built = 0;
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string text = seeds[pick(seeds.size())];
    for (std::size_t change = pick(4); change > 0; --change) {
      const std::size_t at = pick(text.size() + 1);
      switch (pick(3)) {
        case 0:
          text.insert(at, 1, letters[pick(letters.size())]);
          break;
        case 1:
          text.erase(at, 1 + pick(3));
          break;
        default:
          if (at < text.size()) text[at] = static_cast<char>(pick(256));
      }
    }
    try {
      const TopologySpec spec = parse_topology_expression(text);
      const ShapeCounts counts = counts_of(spec.shape);
      ASSERT_LE(counts.links, kMaxLinks) << text;
      if (counts.links > 20000 || counts.switches > 20000) continue;
      const Topology t = build_topology(spec);
      ASSERT_EQ(t.links(), counts.links) << text;
      const int last = t.processors() - 1;
      ASSERT_EQ(hops(t, 0, last) == 0, last == 0) << text;
      ++built;
    } catch (const UsageError&) {
      ++refused;
    }
  }
  EXPECT_GT(built, 500);
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace foretrace::machine
