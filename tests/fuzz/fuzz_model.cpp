// Analytical models, mutated: what is accepted has a time that is a number, or an Error with its
// place; what is written of an expression reads back as the same.
#include <cmath>
#include <stdexcept>
#include <string_view>

#include "base/error.hpp"
#include "driver.hpp"
#include "formulas/evaluate.hpp"
#include "machine/machine_file.hpp"

namespace {

using namespace foretrace;

class ModelTarget {
 public:
  static constexpr const char* kName = "model";

  ModelTarget()
      : machine_(machine::read_machine_file(FORETRACE_SOURCE_DIR "/machines/cray-t3d.toml")) {}

  static std::vector<std::string> seeds() {
    const std::string folder = FORETRACE_SOURCE_DIR "/models/";
    return {fuzz::read_bytes(folder + "life.model"), fuzz::read_bytes(folder + "winnow.model"),
            fuzz::read_bytes(folder + "gauss.model"),
            "set title 'x'\nf(i) = i > 1 ? i*f(i-1) : 1\ntotal(p) = sum [i=1:p] f(i)*1e-6 % 3\n"
            "plot total(x), \\\n 2\nc_min = -1; c = !p || 2 && 3 != 4\n"};
  }
  static std::vector<std::string> words() {
    return {"total(p) = ",
            "T_send(8)",
            "T_bcast(p,8)",
            "T_barrier_max(p)",
            "T_step",
            "sum [i=1:9] ",
            "**",
            "?",
            ":",
            "((((",
            "))))",
            "1e308",
            "1/2",
            "log(0)",
            "\\\n",
            "#",
            "\xff",
            "=",
            "%",
            "pi",
            "p",
            ",",
            ";",
            "'"};
  }

  // Whether the model was accepted, and has a time.
  bool run(const std::string& text) {
    try {
      const formulas::ModelFile model = formulas::parse_model(text, "fuzz.model");
      for (const auto& [name, definition] : model.definitions) {
        const std::string once = format_expression(definition.body);
        const auto again = formulas::parse_model("x = " + once, "again");
        if (format_expression(again.find("x")->body) != once)
          throw std::runtime_error("'" + once + "' does not read back");
      }
      const auto result = formulas::evaluate(model, &machine_, {{"p", 8}});
      if (!(result.total.avg >= 0)) throw std::runtime_error("a time that is no number");
      return true;
    } catch (const Error& error) {
      if (!std::string_view(error.what()).starts_with("fuzz.model:"))
        throw std::runtime_error(std::string("an error without its place: ") + error.what());
    } catch (const UsageError&) {
    }
    return false;
  }

 private:
  machine::MachineModel machine_;
};

}  // namespace

FORETRACE_FUZZ_MAIN(ModelTarget)
