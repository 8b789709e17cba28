#include "machine/rewrite_toml.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "toml_file/text.hpp"

namespace foretrace::machine {
namespace {

constexpr std::array<std::string_view, 6> kCalls{"send",     "bcast",  "allgather",
                                                 "alltoall", "gather", "scatter"};

std::vector<SizeTime> read_times(const TableReader& reader, const std::string& key) {
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

std::string times_text(const std::vector<SizeTime>& known) {
  constexpr std::size_t kInLine = 4;
  std::string out;
  for (std::size_t i = 0; i < known.size(); ++i) {
    out += i == 0 ? "" : i % kInLine == 0 ? ",\n  " : ", ";
    out += "[" + std::to_string(known[i].bytes.count) + ", " +
           number(static_cast<double>(known[i].time.count_ps()) / 1e12) + "]";
  }
  return out;
}

}  // namespace

Rewrite read_rewrite(const TableReader& reader) {
  Rewrite rewrite;
  for (const auto& [key, node] : reader.raw()) {
    const std::string name(key.str());
    if (std::ranges::find(kCalls, name) == kCalls.end()) {
      std::string known;
      for (const std::string_view call : kCalls)
        known += (known.empty() ? "" : ", ") + std::string(call);
      reader.fail(&node,
                  "nobody asks what it takes to write again after '" + name + "'; known: " + known);
    }
    rewrite.emplace(name, read_times(reader, name));
  }
  return rewrite;
}

std::string format_rewrite(const Rewrite& rewrite, const std::string& prefix) {
  if (rewrite.empty()) return {};
  std::string out =
      "\n[" + prefix + "rewrite]  # seconds more to write again what other ranks have read\n";
  for (const auto& [call, known] : rewrite) out += call + " = [" + times_text(known) + "]\n";
  return out;
}

}  // namespace foretrace::machine
