#include "machine/compute_table.hpp"

#include <algorithm>

#include "base/whole_file.hpp"
#include "toml_file/reader.hpp"
#include "toml_file/text.hpp"

namespace foretrace::machine {
namespace {

// More intervals than this in a visit are no table any more.
constexpr std::size_t kMostIntervals = 1 << 16;

void read_visit(const TableReader& reader, ComputeRegion& region) {
  const toml::node* node = reader.raw().get("visit");
  if (!node->is_array()) {
    region.seconds = {reader.seconds_in(*node, "visit")};
    return;
  }
  const toml::array& times = *node->as_array();
  if (times.empty() || times.size() > kMostIntervals)
    reader.fail(node, "'visit' must be a time, or 1 to 65536 of them");
  for (const toml::node& time : times) region.seconds.push_back(reader.seconds_in(time, "visit"));
}

void read_kernels(const TableReader& reader, ComputeRegion& region) {
  const toml::table* table = reader.table("kernels");
  if (!table) return;
  if (region.time != RegionTime::measured)
    reader.fail(table, "'kernels' compare measured times; say time = \"measured\"");
  for (const auto& [key, node] : *table) {
    const std::string name(key.str());
    const double share = reader.number_in(node, name);
    if (!(share > 0)) reader.fail(&node, "the share of '" + name + "' must be above 0");
    region.kernels.emplace(name, share);
  }
  if (region.kernels.empty())
    reader.fail(table, "'kernels' is empty; write NAME = SHARE, for example { stream = 0.7 }");
}

// What "[elsewhere]" and a region have in common.
void read_times(const TableReader& reader, ComputeRegion& region) {
  const auto time = reader.text("time");
  const bool visit = reader.raw().contains("visit");
  const auto step = reader.seconds("step");
  if ((time ? 1 : 0) + (visit ? 1 : 0) + (step ? 1 : 0) != 1)
    reader.fail(nullptr, "needs one of 'visit', 'step' and 'time'");
  if (visit) {
    region.time = RegionTime::visit;
    read_visit(reader, region);
  } else if (step) {
    region.time = RegionTime::step;
    region.seconds = {*step};
  } else if (*time == "measured") {
    region.time = RegionTime::measured;
  } else if (*time != "none") {
    reader.fail(reader.raw().get("time"), R"('time' must be "none" or "measured")");
  }
  region.scale = reader.non_negative("scale").value_or(1);
  read_kernels(reader, region);
}

void format_kernels(std::string& out, const ComputeRegion& region) {
  if (region.kernels.empty()) return;
  std::string list;
  for (const auto& [name, share] : region.kernels)
    list += (list.empty() ? "" : ", ") + quoted(name) + " = " + number(share);
  out += "kernels = { " + list + " }\n";
}

void format_times(std::string& out, const ComputeRegion& region) {
  switch (region.time) {
    case RegionTime::none:
      out += "time = \"none\"\n";
      break;
    case RegionTime::measured:
      out += "time = \"measured\"\n";
      break;
    case RegionTime::step:
      out += "step = " + number(region.seconds.at(0)) + "  # seconds\n";
      break;
    case RegionTime::visit: {
      std::string list;
      for (const double seconds : region.seconds)
        list += (list.empty() ? "" : ", ") + number(seconds);
      out += "visit = " + (region.seconds.size() == 1 ? list : "[" + list + "]") + "  # seconds\n";
      break;
    }
  }
  if (region.scale != 1) out += "scale = " + number(region.scale) + "\n";
  format_kernels(out, region);
}

}  // namespace

ComputeTable parse_compute_table(std::string_view text, const std::string& name) {
  const toml::table root = parse_toml(text, name);
  const TableReader reader(root, name, "compute table");
  reader.allow_only({"source", "elsewhere", "region"});
  ComputeTable table;
  table.source = reader.text("source").value_or("");
  if (const toml::table* node = reader.table("elsewhere")) {
    const TableReader elsewhere(*node, name, "[elsewhere]");
    elsewhere.allow_only({"step", "time", "scale", "kernels"});
    read_times(elsewhere, table.elsewhere);
  }
  if (const toml::array* regions = reader.array("region")) {
    for (const toml::node& node : *regions) {
      if (!node.is_table()) reader.fail(&node, "'region' must be an array of tables");
      const TableReader region_reader(*node.as_table(), name, "[[region]]");
      region_reader.allow_only({"phase", "visit", "step", "time", "scale", "kernels"});
      ComputeRegion region;
      region.phase = region_reader.text("phase").value_or("");
      if (region.phase.empty()) region_reader.fail(nullptr, "needs a 'phase', its name");
      if (std::ranges::find(table.regions, region.phase, &ComputeRegion::phase) !=
          table.regions.end())
        region_reader.fail(nullptr, "'" + region.phase + "' is there twice");
      read_times(region_reader, region);
      table.regions.push_back(std::move(region));
    }
  }
  if (table.regions.empty() && !reader.raw().contains("elsewhere"))
    throw Error(name + ":1: not a compute table: it has no [[region]] and no [elsewhere]");
  return table;
}

ComputeTable read_compute_table(const std::string& path) {
  return parse_compute_table(read_whole_file(path, "the compute table"), path);
}

std::string format_compute_table(const ComputeTable& table) {
  std::string out;
  if (!table.source.empty()) out += "source = " + quoted(table.source) + "\n\n";
  out += "[elsewhere]\n";
  format_times(out, table.elsewhere);
  for (const ComputeRegion& region : table.regions) {
    out += "\n[[region]]\nphase = " + quoted(region.phase) + "\n";
    format_times(out, region);
  }
  return out;
}

}  // namespace foretrace::machine
