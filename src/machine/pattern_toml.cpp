#include "machine/pattern_toml.hpp"

#include <climits>
#include <cmath>

#include "toml_file/text.hpp"

namespace foretrace::machine {
namespace {

const toml::array& list(const TableReader& reader, const char* key) {
  const toml::array* array = reader.array(key);
  if (!array || array->empty())
    reader.fail(reader.raw().get(key), "'" + std::string(key) + "' must be a list of numbers");
  return *array;
}

PatternTimes read_pattern(const TableReader& reader) {
  reader.allow_only({"name", "ranks", "bytes", "seconds"});
  PatternTimes pattern;
  pattern.name = reader.text("name").value_or("");
  if (pattern.name.empty()) reader.fail(reader.raw().get("name"), "'name' must say which pattern");
  const double ranks = reader.number("ranks").value_or(0);
  if (ranks < 2 || ranks > INT_MAX || ranks != std::floor(ranks))
    reader.fail(reader.raw().get("ranks"), "'ranks' must be a whole number, 2 or more");
  pattern.ranks = static_cast<int>(ranks);
  const toml::array& bytes = list(reader, "bytes");
  const toml::array& seconds = list(reader, "seconds");
  if (bytes.size() != seconds.size())
    reader.fail(reader.raw().get("seconds"), "'bytes' and 'seconds' must be equally long");
  for (std::size_t i = 0; i < bytes.size(); ++i)
    pattern.times.push_back(
        {reader.bytes_in(bytes[i], "bytes"), reader.seconds_in(seconds[i], "seconds")});
  return pattern;
}

}  // namespace

std::vector<PatternTimes> read_patterns(const TableReader& reader) {
  std::vector<PatternTimes> patterns;
  const toml::array* tables = reader.array("pattern");
  if (!tables) return patterns;
  for (const toml::node& node : *tables) {
    if (!node.is_table()) reader.fail(&node, "'pattern' must be an array of tables");
    patterns.push_back(read_pattern(TableReader(*node.as_table(), reader.file(), "[[pattern]]")));
  }
  return patterns;
}

std::string format_patterns(const std::vector<PatternTimes>& patterns) {
  std::string out;
  for (const PatternTimes& pattern : patterns) {
    std::string bytes, seconds;
    for (const PatternTimes::Time& one : pattern.times) {
      bytes += (bytes.empty() ? "" : ", ") + std::to_string(one.bytes.count);
      seconds += (seconds.empty() ? "" : ", ") + number(one.seconds);
    }
    out += "\n[[pattern]]\nname = " + quoted(pattern.name) +
           "\nranks = " + std::to_string(pattern.ranks) + "\nbytes = [" + bytes + "]\nseconds = [" +
           seconds + "]\n";
  }
  return out;
}

}  // namespace foretrace::machine
