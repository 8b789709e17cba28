#include "machine/reduction_toml.hpp"

#include "toml_file/text.hpp"

namespace foretrace::machine {
namespace {

[[noreturn]] void unknown(const TableReader& reader, const toml::node& node,
                          const std::string& name) {
  std::string known;
  for_each_reduction([&](Combining what, Operand of) { known += name_of(what, of) + ", "; });
  reader.fail(&node, "unknown reduction '" + name + "'; known here: " + known + "other");
}

}  // namespace

Reductions read_reductions(const TableReader& reader) {
  Reductions reductions;
  for (const auto& [key, node] : reader.raw()) {
    const std::string name(key.str());
    const auto reduction = parse_reduction(name);
    if (!reduction) unknown(reader, node, name);
    reductions.emplace(*reduction, reader.seconds_in(node, name));
  }
  if (!reductions.contains(Reduction::sum_double))
    reader.fail(nullptr, "needs 'sum_double', which stands in for those that are not there");
  return reductions;
}

std::string format_reductions(const Reductions& reductions) {
  if (reductions.empty()) return {};
  std::string out = "\n[reduction]  # seconds to combine a byte\n";
  for (const auto& [reduction, seconds] : reductions)
    out += name_of(reduction) + " = " + number(seconds) + "\n";
  return out;
}

}  // namespace foretrace::machine
