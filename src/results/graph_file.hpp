// Times over numbers of processes and sizes as text, in the format of the thesis's mkgraph and
// cmpgraph:
//
//     # <nprocs> <ndata>
//     <phase> <time>
//     <total> <time>          the last line of a point
//
// Between such files and tables of results; open_results() (query.hpp) reads them as it reads
// databases.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "results/query.hpp"

namespace foretrace::results {

struct GraphPoint {
  std::int64_t processes = 0;
  double size = 0;
  std::vector<std::pair<std::string, double>> phases;  // seconds
  double total = 0;
};

// A point that comes again is a further launch of it. Throws Error "NAME:LINE: ...".
std::vector<GraphPoint> parse_graph(const std::string& text, const std::string& name);
std::string format_graph(const std::vector<GraphPoint>& points);

// What a table tells over ranks and `size`, a column with numbers. Throws UsageError where rows
// differ in more than these two.
std::vector<GraphPoint> graph_of(const Table& points, const std::string& size);

// The points as a database in memory, with the size as the parameter `ndata`.
Database database_of_graph(const std::string& path);

}  // namespace foretrace::results
