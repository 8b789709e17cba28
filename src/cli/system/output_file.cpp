#include "cli/system/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/error.hpp"
#include "base/new_file.hpp"
#include "base/undisturbed.hpp"
#include "trace/encoding.hpp"

namespace foretrace::cli {

namespace fs = std::filesystem;

void write_text_file(const std::string& path, const std::string& text) {
  std::error_code ignored;
  // A device would be replaced by a file.
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored))
    throw Error(path + ": cannot write: it is no regular file");
  write_new_file(path, text);
}

void write_output(const std::string& path, const std::string& text) {
  write_text_file(path, text);
  tell_written(path);
}

void tell_written(const std::string& path) {
  std::fprintf(stderr, "foretrace: wrote %s\n", path.c_str());
}

std::string ending_of(const std::string& path, const char* command,
                      const std::vector<std::string>& endings) {
  const std::string ending = fs::path(path).extension().string();
  if (std::ranges::find(endings, ending) != endings.end()) return ending;
  std::string list;
  for (std::size_t i = 0; i < endings.size(); ++i)
    list += (i == 0 ? "" : i + 1 == endings.size() ? " or " : ", ") + endings[i];
  throw UsageError(std::string(command) + ": -o " + path + ": use a name that ends in " + list);
}

std::string timeline_beside(const std::string& page) {
  return page.substr(0, page.size() - std::string_view(".html").size()) + "-timeline.html";
}

namespace {

// A file with something else in it; one that cannot be read is not ours either.
bool is_other_file(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored) || fs::is_empty(path, ignored)) return false;
  char begin[sizeof trace::kFileMagic] = {};
  std::ifstream(path, std::ios::binary).read(begin, sizeof begin);
  return std::memcmp(begin, trace::kFileMagic, sizeof begin) != 0;
}

}  // namespace

void check_trace_output(const std::string& path, const char* command) {
  constexpr const char* kOthers[] = {".html", ".htm", ".pdf", ".svg",  ".png",
                                     ".json", ".txt", ".csv", ".toml", ".fprof"};
  const std::string ending = fs::path(path).extension().string();
  if (std::ranges::find(kOthers, ending) != std::end(kOthers))
    throw UsageError(std::string(command) + ": -o " + path +
                     ": this writes a trace; use a name that ends in .ftr (foretrace timeline, "
                     "report and convert make other files of it)");
  if (is_other_file(path))
    throw UsageError(std::string(command) + ": -o " + path +
                     ": that file is there and is no trace, and would be lost; choose another "
                     "name, or remove it");
}

namespace {

// A folder that looks writable may still take no file: one of the kernel's own, one of a file
// system without room.
void try_beside(const std::string& path) {
  const std::string trial = path + ".try";
  const Undisturbed undisturbed;  // or it would stay
  const int fd = ::open(trial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd >= 0) {
    ::close(fd);
    ::unlink(trial.c_str());
  } else if (errno != EEXIST) {  // another process tries it
    throw UsageError("cannot write " + path +
                     ": no file can be made there: " + std::strerror(errno));
  }
}

}  // namespace

void check_folder(const std::string& path) {
  const fs::path folder = fs::absolute(path).parent_path();
  std::error_code ignored;
  if (!fs::exists(folder, ignored))
    throw UsageError("cannot write " + path + ": there is no folder " + folder.string());
  if (!fs::is_directory(folder, ignored))
    throw UsageError("cannot write " + path + ": " + folder.string() + " is no folder");
  if (::access(folder.c_str(), W_OK) != 0)
    throw UsageError("cannot write " + path + ": nothing may be written in the folder " +
                     folder.string());
}

void check_writable(const std::string& path) {
  check_folder(path);
  if (fs::exists(path) && !fs::is_regular_file(path))
    throw UsageError("cannot write " + path + ": it is no regular file; give another name");
  try_beside(path);
}

namespace {

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::is_regular_file(a, ignored) && fs::equivalent(a, b, ignored);
}

// Whether a file that is written as `output` takes the place of `input`, at its end or while it
// grows.
bool replaces(const std::string& output, const std::string& input) {
  return same_file(input, output) || same_file(input, output + ".part") ||
         same_file(input, output + ".new");
}

}  // namespace

void check_inputs_stay(const std::string& command, const std::vector<std::string>& words,
                       const std::vector<std::string>& outputs) {
  for (const std::string& output : outputs) {
    for (const std::string& word : words) {
      const std::size_t value = word.find_first_of(":=");
      const std::string behind = value == std::string::npos ? "" : word.substr(value + 1);
      for (const std::string& input : {word, behind})
        if (replaces(output, input))
          throw UsageError(command + ": the output " + output + " would replace the input " +
                           input + "; choose another name for it");
    }
  }
}

std::string unused_name(const std::string& path,
                        const std::function<bool(const std::string&)>& suits) {
  const fs::path stem = fs::path(path).replace_extension();
  const std::string ending = fs::path(path).extension().string();
  std::string name = path;
  const auto is_unused = [&] {
    return !fs::exists(fs::symlink_status(name)) && (!suits || suits(name));
  };
  for (int i = 2; !is_unused(); ++i) name = stem.string() + "-" + std::to_string(i) + ending;
  return name;
}

}  // namespace foretrace::cli
