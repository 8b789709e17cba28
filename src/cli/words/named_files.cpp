#include "cli/words/named_files.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/whole_file.hpp"
#include "cli/system/process.hpp"
#include "cli/words/nearest.hpp"
#include "topology/shape.hpp"

namespace foretrace::cli {

namespace fs = std::filesystem;

namespace {

struct Kind {
  const char* name;
  const char* folder;  // in share/foretrace
  const char* ending;  // of its files
};

const Kind& facts_of(Named kind) {
  static constexpr Kind kKinds[] = {{"machine", "machines", ".toml"},
                                    {"topology", "topologies", ".toml"},
                                    {"architecture", "architectures", ".arch.toml"},
                                    {"model", "models", ".model"}};
  return kKinds[static_cast<std::size_t>(kind)];
}

// An architecture that others include has no machine of its own.
bool is_whole(Named kind, const fs::path& path) {
  return kind != Named::architecture ||
         read_if_possible(path.string()).find("[composite.machine") != std::string::npos;
}

// A file's name without the folder and the ending.
std::string stem_of(Named kind, const fs::path& path) {
  std::string name = path.filename().string();
  const std::string_view ending = facts_of(kind).ending;
  if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  return name;
}

// "machines/cray-t3d.toml" outside of the folder of the sources: there is one by its name.
void check_path(Named kind, const std::string& given) {
  std::error_code ignored;
  if (fs::exists(given, ignored)) return;
  const std::string name = stem_of(kind, given);
  for (const NamedFile& file : named_files(kind))
    if (file.name == name)
      throw Error("there is no file '" + given + "'; the " + facts_of(kind).name +
                  " that comes with Foretrace is called by its name alone: " + name);
}

// What Foretrace writes, with an interval for each fit, ends with the end of a line. Where that is
// missing, the file is cut off, and its last number may be. Who writes one by hand may leave it
// out.
void check_end(const std::string& machine) {
  const std::string text = read_if_possible(machine);
  const bool is_ours = text.find("\ninterval = [") != std::string::npos;
  if (!is_ours || text.empty() || text.back() == '\n') return;
  const auto line = 1 + std::ranges::count(text, '\n');
  throw Error(machine + ":" + std::to_string(line) +
              ": the file is cut off within a line; copy or measure it once more (if it is whole, "
              "end its last line)");
}

}  // namespace

std::vector<std::string> topology_kinds() {
  using machine::TopologyKind;
  std::vector<std::string> kinds;
  for (int kind = 0; kind < static_cast<int>(TopologyKind::arbitrary); ++kind)
    kinds.emplace_back(machine::name_of(static_cast<TopologyKind>(kind)));
  return kinds;
}

std::vector<NamedFile> named_files(Named kind) {
  const fs::path folder = fs::path(data_directory()) / facts_of(kind).folder;
  std::vector<NamedFile> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().filename().string().ends_with(facts_of(kind).ending) &&
        is_whole(kind, entry.path()))
      files.push_back({stem_of(kind, entry.path()), entry.path().string()});
  std::ranges::sort(files, {}, &NamedFile::name);
  return files;
}

std::string find_named(Named kind, const std::string& given) {
  std::error_code ignored;
  // "ring" for "ring:16": what is missing there is told by whoever reads it.
  const auto is_kind = [&given](const std::string& known) { return known == given; };
  const bool is_text = kind == Named::topology && (given.find(':') != std::string::npos ||
                                                   std::ranges::any_of(topology_kinds(), is_kind));
  if (is_text || fs::is_regular_file(given, ignored)) {
    if (kind == Named::machine) check_end(given);
    return given;
  }
  if (given.find('/') != std::string::npos) {
    check_path(kind, given);
    return given;
  }
  std::vector<std::string> names;
  std::string list;
  for (const NamedFile& file : named_files(kind)) {
    if (file.name == given) return file.path;
    names.push_back(file.name);
    list += (list.empty() ? "" : ", ") + file.name;
  }
  const std::string what = facts_of(kind).name;
  const bool is_file = given.ends_with(".toml") || given.ends_with(".model");
  const std::string name = stem_of(kind, given);
  const std::string message = "there is no file '" + given + "', and no " + what + " of that name" +
                              did_you_mean(name, names) +
                              (list.empty() ? "" : " (there are " + list + ")");
  if (is_file) throw Error(message);
  throw UsageError(message);
}

}  // namespace foretrace::cli
