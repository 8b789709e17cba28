// Study files, mutated: what is accepted expands to points, or to an Error; both name the file.
#include <stdexcept>
#include <string_view>

#include "base/error.hpp"
#include "driver.hpp"
#include "study/expand.hpp"

namespace {

using namespace foretrace;

class StudyTarget {
 public:
  static constexpr const char* kName = "study";

  static std::vector<std::string> seeds() {
    return {
        "zip = [['p', 'm']]\n[study]\nwhere = ['n > p', 'm <> 3']\nlaunches = [3, 9]\n"
        "precision = 0.1\n[parameters]\np = [1, 2, 4]\nm = [1, 2, 3]\nn = {from = 8, to = 64, "
        "factor = 2}\nx = {from = 0, to = 1, step = 0.5}\n[programs.a]\n"
        "command = \"sh -c 'echo {n}' {{}}\"\nranks = '{p}'\n[ways.measured]\n"
        "[ways.replay]\nkind = 'simulate'\nmachine = 'cray-t3d'\noptions = '--compute none'\n"
        "record_options = ['--mpi', 'mpich']\n[quantities]\nalive = 'alive=(\\d+)'\n",
        "[parameters]\nmachine = ['cray-t3d', 'sparc-ethernet']\np = 3\n[ways.model]\n"
        "file = 'life'\nmachine = '{machine}'\nat = 'p={p}'\n"};
  }
  static std::vector<std::string> words() {
    return {"{p}",
            "{n}",
            "{{",
            "}",
            "[ways.live]\n",
            "kind = 'text'\n",
            "factor = 1e-9",
            "1e308",
            "-1",
            "nan",
            "'",
            "(",
            ")*+?",
            "where = '",
            " or ",
            "[[",
            "\n",
            "\xff",
            "ranks = 0\n"};
  }

  bool run(const std::string& text) {
    const auto machine = [](const std::string& name) {
      return FORETRACE_SOURCE_DIR "/machines/" + name + ".toml";
    };
    const auto model = [](const std::string& name) {
      return FORETRACE_SOURCE_DIR "/models/" + name + ".model";
    };
    try {
      const study::Study parsed = study::parse_study(text, "fuzz.toml");
      double count = 1;
      for (const auto& parameter : parsed.parameters)
        count *= static_cast<double>(parameter.values.size());
      if (count > 10'000) return true;  // expands as well, but not quickly
      for (const study::Job& job : study::expand(parsed, {machine, model}).jobs)
        if (job.command.empty()) throw std::runtime_error("a point without a command");
      return true;
    } catch (const Error&) {
    } catch (const UsageError&) {
    }
    return false;
  }
};

}  // namespace

FORETRACE_FUZZ_MAIN(StudyTarget)
