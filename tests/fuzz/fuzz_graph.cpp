// Graphs in the thesis's text format, mutated: what is accepted reads back from what is written of
// it, what is not is an Error with its line.
#include <stdexcept>
#include <string_view>

#include "base/error.hpp"
#include "driver.hpp"
#include "results/graph_file.hpp"

namespace {

using namespace foretrace;

class GraphTarget {
 public:
  static constexpr const char* kName = "graph";

  static std::vector<std::string> seeds() {
    return {
        "# 1 100\ncompute 8\nexchange 0\nlife 8\n\n# 2 100\ncompute 4\nexchange 1e-3\nlife 4.5\n",
        "#4 0.5\ntotal 1e300\n# 8 -3\ntotal 0\n#4 0.5\ntotal 2\n"};
  }
  static std::vector<std::string> words() {
    return {"#",
            "# 2 3\n",
            "total",
            " 1\n",
            "-1",
            "nan",
            "inf",
            "1e400",
            "\n\n",
            "\r\n",
            "\xff",
            "0x10",
            "99999999999999999999",
            "\t",
            "phase_ 1\n"};
  }

  bool run(const std::string& text) {
    try {
      const std::string once = format_graph(results::parse_graph(text, "fuzz.graph"));
      // Of phases that are called as what is written for the total there may be one too many.
      if (text.find("total") == std::string::npos &&
          format_graph(results::parse_graph(once, "again")) != once)
        throw std::runtime_error("what is written does not read back");
      return true;
    } catch (const Error& error) {
      if (!std::string_view(error.what()).starts_with("fuzz.graph:"))
        throw std::runtime_error(std::string("an error without its place: ") + error.what());
    }
    return false;
  }
};

}  // namespace

FORETRACE_FUZZ_MAIN(GraphTarget)
