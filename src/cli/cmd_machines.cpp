#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/named_files.hpp"
#include "cli/subcommand.hpp"
#include "machine/machine_file.hpp"
#include "views/text_table.hpp"

namespace foretrace::cli {
namespace {

std::string year_of(const std::string& date) {
  return date.substr(0, 4);
}

void print_text() {
  using enum views::Align;
  views::TextTable table({left, left, right, left, left});
  table.add({"name", "machine", "ranks", "year", "source"});
  for (const NamedFile& file : named_files(Named::machine)) {
    const machine::MachineModel model = machine::read_machine_file(file.path);
    table.add({file.name, model.name, model.ranks > 0 ? std::to_string(model.ranks) : "-",
               year_of(model.date), model.source});
  }
  std::fputs(table.render(0).c_str(), stdout);
}

void print_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const NamedFile& file : named_files(Named::machine)) {
    const machine::MachineModel model = machine::read_machine_file(file.path);
    nlohmann::ordered_json functions = nlohmann::ordered_json::array();
    for (const auto& [name, unused] : model.functions) functions.push_back(name);
    all.push_back({{"name", file.name},
                   {"path", file.path},
                   {"machine", model.name},
                   {"ranks", model.ranks},
                   {"date", model.date},
                   {"source", model.source},
                   {"functions", functions}});
  }
  std::printf("%s\n", all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

std::function<int()> declare(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "Print a JSON array, with the path and the functions of each");
  return [json] {
    *json ? print_json() : print_text();
    return 0;
  };
}

}  // namespace

const Subcommand kMachines{"machines", "List the machine models that come with Foretrace", declare,
                           "foretrace machines\n"
                           "foretrace machines --json\n"};

}  // namespace foretrace::cli
