#include "machine/size_times_toml.hpp"

#include "toml_file/text.hpp"

namespace foretrace::machine {

std::vector<SizeTime> read_size_times(const TableReader& reader, const std::string& key) {
  const std::string form = "'" + key + "' must be [[BYTES, SECONDS], ...]";
  const toml::array* pairs = reader.array(key);
  if (!pairs || pairs->empty()) reader.fail(pairs, form);
  std::vector<SizeTime> known;
  for (const toml::node& node : *pairs) {
    const toml::array* pair = node.as_array();
    if (!pair || pair->size() != 2) reader.fail(&node, form);
    const SizeTime each{reader.bytes_in((*pair)[0], key),
                        Time::from_seconds(reader.seconds_in((*pair)[1], key))};
    if (each.bytes.count == 0 || (!known.empty() && each.bytes <= known.back().bytes))
      reader.fail(&node, "the sizes of '" + key + "' must be ascending, 1 or more");
    known.push_back(each);
  }
  return known;
}

std::string size_times_text(const std::vector<SizeTime>& known) {
  constexpr std::size_t kInLine = 4;
  std::string out;
  for (std::size_t i = 0; i < known.size(); ++i) {
    out += i == 0 ? "" : i % kInLine == 0 ? ",\n  " : ", ";
    out += "[" + std::to_string(known[i].bytes.count) + ", " +
           number(static_cast<double>(known[i].time.count_ps()) / 1e12) + "]";
  }
  return out;
}

}  // namespace foretrace::machine
