// The thesis's text format: what it means, and what is said of what is wrong in it.
#include "results/graph_file.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.hpp"

namespace {

using namespace foretrace;
using results::format_graph;
using results::parse_graph;
using testing::HasSubstr;

constexpr const char* kText =
    "# 1 100\ncompute 8\nexchange 0\nlife 8\n\n# 2 100\ncompute 4\nexchange 1e-3\nlife 4.5\n";

std::string fault_of(const std::string& text) {
  try {
    parse_graph(text, "x.graph");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(GraphFile, TheLastTimeOfAPointIsItsTotal) {
  const auto points = parse_graph(kText, "x.graph");
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[1].processes, 2);
  EXPECT_EQ(points[1].size, 100);
  EXPECT_EQ(points[1].phases[1], (std::pair<std::string, double>("exchange", 1e-3)));
  EXPECT_EQ(points[1].phases.size(), 2u);
  EXPECT_EQ(points[1].total, 4.5);
  EXPECT_EQ(
      format_graph(points),
      "# 1 100\ncompute 8\nexchange 0\ntotal 8\n# 2 100\ncompute 4\nexchange 0.001\ntotal 4.5\n");
}

TEST(GraphFile, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(fault_of(""), HasSubstr("x.graph: there are no points"));
  EXPECT_THAT(fault_of("a 1\n"), HasSubstr("x.graph:1: a time before the first point"));
  EXPECT_THAT(fault_of("# 1\na 1\n"), HasSubstr("x.graph:1: expected '# <nprocs> <ndata>'"));
  EXPECT_THAT(fault_of("# 1.5 2\na 1\n"), HasSubstr("'1.5' is no number of processes"));
  EXPECT_THAT(fault_of("# 0 2\na 1\n"), HasSubstr("'0' is no number of processes"));
  EXPECT_THAT(fault_of("# 1 two\na 1\n"), HasSubstr("'two' is no size"));
  EXPECT_THAT(fault_of("# 1 2\na one\n"), HasSubstr("x.graph:2: 'one' is no time"));
  EXPECT_THAT(fault_of("# 1 2\na -1\n"), HasSubstr("'-1' is no time"));
  EXPECT_THAT(fault_of("# 1 2\na nan\n"), HasSubstr("'nan' is no time"));
  EXPECT_THAT(fault_of("# 1 2\na b 1\n"), HasSubstr("expected '<phase> <time>', found 3 words"));
  EXPECT_THAT(fault_of("# 1 2\n\n# 2 2\na 1\n"), HasSubstr("x.graph:1: this point has no times"));
  EXPECT_THAT(fault_of("# 1 2\na 1\na 2\n"), HasSubstr("x.graph:3: the point of line 1 has 'a'"));
  // A file that was cut off has another last line.
  EXPECT_THAT(
      fault_of("# 1 2\na 1\nall 2\n# 2 2\na 1\n"),
      HasSubstr("x.graph:5: the last time of a point is its total, which is 'all' in line 3"));
}

TEST(GraphFile, IsReadAsADatabaseIs) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("foretrace-graph-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "x.graph").string();
  std::ofstream(path) << kText << "# 2 100\ncompute 4\nexchange 1e-3\nlife 5.5\n";
  // The point that comes twice is one with two launches, and the median of them.
  const results::Table table = results::read_table(path, {"ranks > 1 and ndata = 100", false, {}});
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(results::text_of(table.rows[0][table.find("time")]), "5");
  EXPECT_EQ(results::text_of(table.rows[0][table.find("launches")]), "2");
  EXPECT_EQ(results::text_of(table.rows[0][table.find("phase_compute")]), "4");
  EXPECT_EQ(format_graph(results::graph_of(table, "ndata")),
            "# 2 100\ncompute 4\nexchange 0.001\ntotal 5\n");
  std::filesystem::remove_all(folder);
}

}  // namespace
