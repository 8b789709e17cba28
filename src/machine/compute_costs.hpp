// ComputeCosts: what computation takes on a machine, besides annotated steps
// ([compute] of the machine's file). Only what gives time to counts, or compares
// two machines, looks at it; so it is read apart from the model.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace foretrace::machine {

// What one operation of a kernel takes.
struct KernelTimes {
  double seconds = 0;  // while all ranks compute that measured it
  // Seconds, by how many ranks of a node compute at once; empty: not known.
  std::map<int, double> by_ranks;

  bool operator==(const KernelTimes&) const = default;
};

// Seconds while so many ranks of a node compute at once; 0: not known how many, which takes what it
// does while all compute. Linear between two counts, and the nearest count's beyond the ends.
double kernel_seconds(const KernelTimes& times, int ranks);

// Seconds.
struct ComputeCosts {
  std::string machine;                // the model's name
  std::optional<double> block;        // a basic block, as the compiler counts them
  std::optional<double> instruction;  // an instruction, as the processor counts them
  // The kernels of `foretrace measure` by name: what two machines are compared by.
  std::map<std::string, KernelTimes, std::less<>> kernels;

  bool operator==(const ComputeCosts&) const = default;
};

// From a machine's file; throws Error as read_machine_file does.
ComputeCosts read_compute_costs(const std::string& path);
// The same from text; `name` stands for the file in messages.
ComputeCosts parse_compute_costs(std::string_view text, const std::string& name);

}  // namespace foretrace::machine
