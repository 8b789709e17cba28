// Samples of measure, mutated: what is accepted reads back as the same, what is not is an Error
// with its line.
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "base/error.hpp"
#include "driver.hpp"
#include "measure/core/samples.hpp"

namespace {

using namespace foretrace;

class SamplesTarget {
 public:
  static constexpr const char* kName = "samples";

  static std::vector<std::string> seeds() {
    return {
        "# ranks = 2\n# cache_line = 5.1e-08\n# launch_1_state = used\n"
        "function,ranks,bytes,launch,seconds,kept,cache_line\nsend,2,8,1,4.3e-08,1,5.1e-08\n"
        "node/recv,2,1048576,1,0.25,0,0\n",
        "# launch_1_state = another state: cache line 250 ns\n"
        "function,ranks,bytes,launch,seconds,kept\r\nbarrier,16,0,1,2e-06,1\r\n"};
  }
  static std::vector<std::string> words() {
    return {"#",
            "=",
            ",",
            "\n",
            "\r",
            "-1",
            "nan",
            "inf",
            "1e400",
            "99999999999999999999",
            "0x10",
            "\xff",
            ",1\n",
            ",cache_line\n",
            "send,2,8,1,1,1,1\n"};
  }

  bool run(const std::string& text) {
    try {
      std::istringstream in(text);
      const measure::SampleSet set = measure::parse_samples(in, "fuzz.csv");
      std::stringstream written;
      measure::format_samples(written, set);
      const measure::SampleSet again = measure::parse_samples(written, "again");
      if (again.samples != set.samples || again.info != set.info)
        throw std::runtime_error("what is written does not read back");
      if (measure::used_samples(set).samples.size() > set.samples.size() ||
          measure::other_samples(set).size() > set.samples.size())
        throw std::runtime_error("more samples than there are");
      return true;
    } catch (const Error& error) {
      if (!std::string_view(error.what()).starts_with("fuzz.csv:"))
        throw std::runtime_error(std::string("an error without its place: ") + error.what());
    }
    return false;
  }
};

}  // namespace

FORETRACE_FUZZ_MAIN(SamplesTarget)
