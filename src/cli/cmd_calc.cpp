#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.hpp"
#include "cli/subcommand.hpp"
#include "machine/machine_file.hpp"

namespace foretrace::cli {
namespace {

struct Options {
  std::string machine;
  std::string function;
  int ranks = 2;
  std::uint64_t bytes = 0;
  bool json = false;
};

struct Answer {
  const machine::Regime* regime = nullptr;
  double min = 0, avg = 0, max = 0;  // seconds
};

Answer evaluate(const machine::MachineModel& model, const std::string& name, int ranks,
                Bytes bytes) {
  const machine::Function* function = model.find(name);
  if (!function) {
    std::string known;
    for (const auto& [each, unused] : model.functions) known += " " + each;
    throw UsageError("'" + name + "' is not in the machine model; it has" + known);
  }
  const auto at = [&](machine::Bound bound) {
    return machine::evaluate_seconds(model, *function, ranks, bytes, bound);
  };
  return {&machine::regime_for(*function, bytes), at(machine::Bound::min), at(machine::Bound::avg),
          at(machine::Bound::max)};
}

void print_term(const machine::Coefficient& c, std::string_view factor, bool& first) {
  if (c.value == 0 && c.error == 0) return;
  std::printf("%s(%g +/- %g)%s%s", first ? "" : " + ", c.value, c.error,
              factor.empty() ? "" : " * ", std::string(factor).c_str());
  first = false;
}

void print_answer(const machine::MachineModel& model, const Answer& answer) {
  const machine::Equation& equation = answer.regime->equation;
  const char* unit = model.time_unit == 1e-6   ? "us"
                     : model.time_unit == 1e-3 ? "ms"
                     : model.time_unit == 1e-9 ? "ns"
                                               : "s";
  std::printf("t = ");
  bool first = true;
  print_term(equation.constant, "", first);
  print_term(equation.startup, name_of(equation.startup_form), first);
  print_term(equation.data, name_of(equation.data_form), first);
  std::printf("%s %s, d in ", first ? "0" : "", unit);
  if (model.element.count == 1)
    std::printf("bytes");
  else
    std::printf("elements of %llu bytes", static_cast<unsigned long long>(model.element.count));
  std::printf(", for %llu", static_cast<unsigned long long>(answer.regime->from.count));
  if (answer.regime->to.count == UINT64_MAX)
    std::printf(" bytes and more\n");
  else
    std::printf(" to %llu bytes\n", static_cast<unsigned long long>(answer.regime->to.count));
  std::printf("min = %.6g s   avg = %.6g s   max = %.6g s\n", answer.min, answer.avg, answer.max);
}

void print_json(const Options& options, const Answer& answer) {
  const nlohmann::ordered_json json = {{"function", options.function},
                                       {"ranks", options.ranks},
                                       {"bytes", options.bytes},
                                       {"min", answer.min},
                                       {"avg", answer.avg},
                                       {"max", answer.max}};
  std::printf("%s\n", json.dump(2).c_str());
}

// The thesis's timecalc: one question a line (Howell's thesis section 3.5.5).
int prompt(const machine::MachineModel& model) {
  std::printf("%s: enter FUNCTION RANKS BYTES; 'list' names the functions, 'quit' ends\n",
              model.name.c_str());
  for (std::string line; std::printf("> "), std::fflush(stdout), std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string name;
    long long ranks = 2;
    long long bytes = 0;
    if (!(words >> name)) continue;
    if (name == "quit" || name == "exit") return 0;
    if (name == "list") {
      for (const auto& [each, unused] : model.functions) std::printf("%s\n", each.c_str());
      continue;
    }
    if ((words >> ranks) && !(words >> bytes)) bytes = 0;
    if (ranks < 1 || ranks > 1 << 26 || bytes < 0) {
      std::printf("RANKS must be 1 or more, BYTES 0 or more\n");
      continue;
    }
    try {
      print_answer(model, evaluate(model, name, static_cast<int>(ranks),
                                   Bytes(static_cast<std::uint64_t>(bytes))));
    } catch (const UsageError& error) {
      std::printf("%s\n", error.what());
    }
  }
  std::printf("\n");
  return 0;
}

int calc(const Options& options) {
  const machine::MachineModel model = machine::read_machine_file(options.machine);
  if (options.function.empty()) return prompt(model);
  const Answer answer = evaluate(model, options.function, options.ranks, Bytes(options.bytes));
  if (options.json)
    print_json(options, answer);
  else
    print_answer(model, answer);
  return 0;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("machine", options->machine, "The machine model (TOML)")->required();
  app.add_option("function", options->function, "MPI function, e.g. bcast; none: ask at a prompt");
  app.add_option("--ranks", options->ranks, "Number of ranks")
      ->check(CLI::Range(1, 1 << 26))
      ->capture_default_str();
  app.add_option("--bytes", options->bytes, "Message size in bytes")->capture_default_str();
  app.add_flag("--json", options->json, "Print one JSON object");
  return [options] { return calc(*options); };
}

}  // namespace

const Subcommand kCalc{"calc", "Tell how long an MPI function takes on a machine", declare};

}  // namespace foretrace::cli
