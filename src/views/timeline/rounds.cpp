#include "views/timeline/rounds.hpp"

#include <nlohmann/json.hpp>

namespace foretrace::views {

std::string rounds_json(const std::vector<CallRounds>& calls) {
  using json = nlohmann::ordered_json;
  json list = json::array();
  for (const CallRounds& call : calls) {
    json rounds = json::array();
    for (const auto& messages : call.rounds) {
      json pairs = json::array();
      for (const auto& [from, to] : messages) {
        pairs.push_back(from.value);
        pairs.push_back(to.value);
      }
      rounds.push_back(std::move(pairs));
    }
    list.push_back({{"call", {call.name, call.comm, call.bytes.count, call.root.value}},
                    {"algorithm", call.algorithm},
                    {"rounds", std::move(rounds)}});
  }
  return list.dump();
}

}  // namespace foretrace::views
