// Machines, topologies, architectures and analytical models by name: the files that come with the
// tool, in share/foretrace beside its bin.
#pragma once

#include <string>
#include <vector>

namespace foretrace::cli {

enum class Named { machine, topology, architecture, model };

struct NamedFile {
  std::string name;  // the file's, without .toml, .arch.toml or .model
  std::string path;
};

// Those of the installation, or of the build tree; by name.
std::vector<NamedFile> named_files(Named kind);

// "ring", "torus", ...: what the text of a topology begins with.
std::vector<std::string> topology_kinds();

// The file that `given` stands for: a file that is there, or the name of one that comes with
// the tool. What has a slash, or is the text of a topology ("torus:4x4"), is left as it is for
// whoever reads it. Throws UsageError for another name, with all that there are.
std::string find_named(Named kind, const std::string& given);

}  // namespace foretrace::cli
