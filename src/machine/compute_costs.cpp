#include "machine/compute_costs.hpp"

#include <cmath>

#include "base/whole_file.hpp"
#include "machine/compute_toml.hpp"
#include "toml_file/text.hpp"

namespace foretrace::machine {

double read_compute(const TableReader& reader, ComputeCosts& costs) {
  reader.allow_only({"step", "block", "instruction", "kernel"});
  costs.block = reader.seconds("block");
  costs.instruction = reader.seconds("instruction");
  if (const toml::array* kernels = reader.array("kernel")) {
    for (const toml::node& node : *kernels) {
      if (!node.is_table()) reader.fail(&node, "'kernel' must be an array of tables");
      const TableReader kernel(*node.as_table(), reader.file(), "[[compute.kernel]]");
      kernel.allow_only({"name", "time"});
      const auto name = kernel.text("name");
      const auto time = kernel.seconds("time");
      if (!name || name->empty() || !time || !(*time > 0))
        kernel.fail(nullptr, "needs a 'name' and a 'time' above 0");
      if (!costs.kernels.emplace(*name, *time).second)
        kernel.fail(nullptr, "'" + *name + "' is there twice");
    }
  }
  return reader.seconds("step").value_or(0);
}

std::string format_compute(double step, const ComputeCosts& costs) {
  // Not known at all: nothing is said.
  if (step == 0 && !costs.block && !costs.instruction && costs.kernels.empty()) return "";
  std::string out = "\n[compute]\n";
  const auto put = [&out](const char* key, double seconds) {
    out += std::string(key) + " = " + number(seconds) + "  # seconds\n";
  };
  put("step", step);
  if (costs.block) put("block", *costs.block);
  if (costs.instruction) put("instruction", *costs.instruction);
  for (const auto& [name, seconds] : costs.kernels) {
    out += "[[compute.kernel]]\nname = " + quoted(name) + "\n";
    put("time", seconds);
  }
  return out;
}

ComputeCosts parse_compute_costs(std::string_view text, const std::string& name) {
  const toml::table root = parse_toml(text, name);
  const TableReader reader(root, name, "machine model");
  ComputeCosts costs;
  if (const toml::table* table = reader.table("machine"))
    costs.machine = TableReader(*table, name, "[machine]").text("name").value_or("");
  if (const toml::table* table = reader.table("compute"))
    read_compute(TableReader(*table, name, "[compute]"), costs);
  return costs;
}

ComputeCosts read_compute_costs(const std::string& path) {
  return parse_compute_costs(read_whole_file(path, "the machine model"), path);
}

}  // namespace foretrace::machine
