#include "machine/compute_costs.hpp"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

#include "base/whole_file.hpp"
#include "machine/compute_toml.hpp"
#include "toml_file/text.hpp"

namespace foretrace::machine {
namespace {

// `ranks` and `time` are lists of the same length.
KernelTimes read_by_ranks(const TableReader& reader, const toml::array& ranks) {
  KernelTimes kernel;
  const toml::array* times = reader.array("time");
  if (!times || times->size() != ranks.size() || ranks.empty())
    reader.fail(reader.raw().get("ranks"),
                "'ranks' and 'time' must be lists of the same length, one time for each count");
  int last = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto count = ranks[i].value_exact<std::int64_t>();
    if (!count || *count <= last || *count > std::numeric_limits<int>::max())
      reader.fail(&ranks[i], "'ranks' must be whole numbers from 1 on, each above the one before");
    last = static_cast<int>(*count);
    kernel.seconds = reader.seconds_in((*times)[i], "time");
    if (!(kernel.seconds > 0)) reader.fail(&(*times)[i], "'time' must be above 0");
    kernel.by_ranks.emplace(last, kernel.seconds);
  }
  return kernel;
}

KernelTimes read_kernel(const TableReader& reader) {
  if (const toml::array* ranks = reader.array("ranks")) return read_by_ranks(reader, *ranks);
  const auto time = reader.seconds("time");
  if (!time || !(*time > 0)) reader.fail(nullptr, "needs a 'name' and a 'time' above 0");
  return {*time, {}};
}

// "[1e-9, 2e-9]".
template <class Value>
std::string list_of(const std::map<int, double>& by_ranks, Value value) {
  std::string list;
  for (const auto& entry : by_ranks) list += (list.empty() ? "" : ", ") + value(entry);
  return "[" + list + "]";
}

}  // namespace

double kernel_seconds(const KernelTimes& times, int ranks) {
  if (ranks == 0 || times.by_ranks.empty()) return times.seconds;
  const auto above = times.by_ranks.lower_bound(ranks);
  if (above == times.by_ranks.end()) return std::prev(above)->second;
  if (above == times.by_ranks.begin()) return above->second;
  const auto below = std::prev(above);
  return std::lerp(below->second, above->second,
                   static_cast<double>(ranks - below->first) / (above->first - below->first));
}

double read_compute(const TableReader& reader, ComputeCosts& costs) {
  reader.allow_only({"step", "block", "instruction", "kernel"});
  costs.block = reader.seconds("block");
  costs.instruction = reader.seconds("instruction");
  if (const toml::array* kernels = reader.array("kernel")) {
    for (const toml::node& node : *kernels) {
      if (!node.is_table()) reader.fail(&node, "'kernel' must be an array of tables");
      const TableReader kernel(*node.as_table(), reader.file(), "[[compute.kernel]]");
      kernel.allow_only({"name", "ranks", "time"});
      const auto name = kernel.text("name");
      if (!name || name->empty()) kernel.fail(nullptr, "needs a 'name' and a 'time' above 0");
      if (!costs.kernels.emplace(*name, read_kernel(kernel)).second)
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
  for (const auto& [name, times] : costs.kernels) {
    out += "[[compute.kernel]]\nname = " + quoted(name) + "\n";
    if (times.by_ranks.empty()) {
      put("time", times.seconds);
      continue;
    }
    out += "ranks = " +
           list_of(times.by_ranks, [](const auto& at) { return std::to_string(at.first); }) + "\n";
    out += "time = " + list_of(times.by_ranks, [](const auto& at) { return number(at.second); }) +
           "  # seconds\n";
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
