// Damaged views of a trace: each tile and window of one ends with bytes or an Error.
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "../views/example_traces.hpp"
#include "base/error.hpp"
#include "driver.hpp"
#include "pyramid/pyramid.hpp"

namespace {

using namespace foretrace;

struct PyramidTarget {
  static constexpr const char* kName = "pyramid";
  std::string base = "fuzz-pyramid-" + std::to_string(::getpid());

  std::vector<std::string> seeds() const {
    std::vector<std::string> all;
    for (const trace::Trace& trace : {test::halo_trace(3, 40), test::mandel_trace()}) {
      write_trace(trace, base + ".ftr");
      pyramid::build_pyramid(base + ".ftr", base + ".view", {}, [](double) {});
      all.push_back(fuzz::read_bytes(base + ".view"));
    }
    ::unlink((base + ".ftr").c_str());
    ::unlink((base + ".view").c_str());
    return all;
  }

  static std::vector<std::string> words() {
    return {"FTRVIEW3", std::string(8, '\xff'), std::string(8, '\0'),
            std::string("\x01\0\0\0\0\0\0\0", 8)};
  }

  // Whether all that was asked was answered.
  bool run(const std::string& input) const {
    const std::string file = base + ".view";
    std::ofstream(file, std::ios::binary) << input;
    bool answered = true;
    const auto ask = [&](const auto& question) {
      try {
        question();
      } catch (const Error&) {
        answered = false;
      }
    };
    ask([&] {
      const pyramid::Pyramid shown(file);
      shown.head();
      for (const std::uint64_t level : {8u, 10u, 20u})
        for (const std::uint64_t ranks : {0u, 1u, 2u}) ask([&] { shown.tile(level, 0, ranks, 0); });
      ask([&] { shown.events(0, 1'000'000'000'000, 0, 3, 10'000); });
      ask([&] { shown.alike(0, 1e9); });
      ask([&] { shown.ranks(1e8, 1e9); });
      ask([&] { shown.under_way(0, 1e9, 100); });
      const auto rows = pyramid::Arrangement::parse(R"({"sizes": [2, 1], "ranks": [0, 2, 1]})",
                                                    std::max<std::uint64_t>(3, shown.rank_count()));
      ask([&] { shown.tile(10, 0, 0, 0, &rows); });
      ask([&] { shown.events(30'000'000, 40'000'000, 1, 2, 10); });
    });
    ::unlink(file.c_str());
    return answered;
  }
};

}  // namespace

FORETRACE_FUZZ_MAIN(PyramidTarget)
