// Templates that are no topology expression: HyperX, slim fly, Benes, jellyfish, and Cray networks
// read link by link.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "architecture/layout.hpp"
#include "topology/shape.hpp"

namespace foretrace::architecture {

struct WideTemplate {
  struct Link {
    int from = 0, to = 0;  // nodes: processors from 0 on, then switches
    bool one_way = false;
    machine::LinkSpeed speed;
  };
  int processors = 0;
  int switches = 0;
  std::vector<Link> links;
  std::vector<Region> places;  // by node, where they stand in the unit square; empty: not known
};

// "hyperx:4x4,2" (sides, processors at a switch), "slimfly:5,3" (q, a prime that leaves 1 divided
// by 4; processors at a switch), "benes:8" (processors), "jellyfish:20,4,2,SEED" (switches, links
// of each to others, processors of each), "cray:FILE?green=5.25GiB/s&black=..&blue=..&ptile=.."
// (file: beside `folder`). Nothing for other words. Throws UsageError for sizes that cannot be,
// Error for a file.
std::optional<WideTemplate> make_wide_template(const std::string& text, const std::string& folder);

}  // namespace foretrace::architecture
