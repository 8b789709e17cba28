#include "machine/rewrite_toml.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "machine/size_times_toml.hpp"

namespace foretrace::machine {
namespace {

constexpr std::array<std::string_view, 6> kCalls{"send",     "bcast",  "allgather",
                                                 "alltoall", "gather", "scatter"};

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
    rewrite.emplace(name, read_size_times(reader, name));
  }
  return rewrite;
}

std::string format_rewrite(const Rewrite& rewrite, const std::string& prefix) {
  if (rewrite.empty()) return {};
  std::string out =
      "\n[" + prefix + "rewrite]  # seconds more to write again what other ranks have read\n";
  for (const auto& [call, known] : rewrite) out += call + " = [" + size_times_text(known) + "]\n";
  return out;
}

}  // namespace foretrace::machine
