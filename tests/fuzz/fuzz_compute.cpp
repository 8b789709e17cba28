// parse_compute_table on mutated tables. What is accepted reads back as it was
// written, and gives times that are not negative.
#include <stdexcept>

#include "base/error.hpp"
#include "compute/regions.hpp"
#include "driver.hpp"
#include "machine/compute_table.hpp"

namespace {

using namespace foretrace;

class ComputeTableTarget {
 public:
  static constexpr const char* kName = "compute table";

  static std::vector<std::string> seeds() {
    return {
        "source = \"s\"\n[elsewhere]\ntime = \"none\"\n[[region]]\nphase = \"a\"\n"
        "visit = [\"1ms\", 2e-3]\nscale = 2.5\n",
        "[elsewhere]\nstep = \"1ns\"\nscale = 0.5\n",
        "[[region]]\nphase = \"a\"\nstep = 1e-9\n[[region]]\nphase = \"b\"\nvisit = 3\n",
        "[[region]]\nphase = \"a\"\ntime = \"measured\"\nkernels = { stream = 0.7 }\n"};
  }

  static std::vector<std::string> words() {
    return {"nan",  "-inf", "1e308", "-1",   "1e-320",    "[[region]]\n", "[",       "]",
            "{}",   "\"",   "'''",   "[0]",  "= ",        "\n",           "visit",   "step",
            "time", "true", "#",     "\xff", "\"9e99s\"", "a.b.c = 1\n",  "kernels", "phase"};
  }

  // Whether the file was accepted.
  bool run(const std::string& text) {
    machine::ComputeTable table;
    try {
      table = machine::parse_compute_table(text, "fuzz.toml");
    } catch (const Error& error) {
      if (!std::string_view(error.what()).starts_with("fuzz.toml:"))
        throw std::runtime_error(std::string("an error without its place: ") + error.what());
      return false;
    }
    const std::string once = machine::format_compute_table(table);
    if (machine::format_compute_table(machine::parse_compute_table(once, "again.toml")) != once)
      throw std::runtime_error("the table does not read back as it was written");
    for (machine::ComputeRegion& region : table.regions) region.kernels.clear();
    table.elsewhere.kernels.clear();
    const auto regions = std::make_shared<const compute::Regions>(
        compute::bind_table(table, nullptr, machine::ComputeCosts(), {}));
    compute::RegionRule rule(regions);
    using trace::EventKind;
    for (const machine::ComputeRegion& region : table.regions)
      for (const EventKind kind : {EventKind::phase_begin, EventKind::send, EventKind::phase_end})
        if (rule.before({kind, region.phase, Time::ns(1000), 3}) < Time())
          throw std::runtime_error("a region takes less than no time");
    return true;
  }
};

}  // namespace

FORETRACE_FUZZ_MAIN(ComputeTableTarget)
