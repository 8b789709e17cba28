#include "measure/core/interfaces.hpp"

#include <algorithm>
#include <sstream>

namespace foretrace::measure {

SentBytes parse_sent_bytes(std::string_view table) {
  constexpr int kReceived = 8;  // columns before that of bytes sent
  SentBytes sent;
  std::istringstream lines{std::string(table)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::string name;
    std::istringstream(line.substr(0, colon)) >> name;
    std::istringstream columns(line.substr(colon + 1));
    std::uint64_t number = 0;
    int column = 0;
    while (column <= kReceived && columns >> number) ++column;
    if (column > kReceived && name != "lo") sent[name] = number;
  }
  return sent;
}

std::uint64_t header_of(const SentBytes& before, const SentBytes& after, std::uint64_t messages,
                        std::uint64_t bytes) {
  // Headers of Ethernet, IP and TCP are 54 bytes; a thousand would be several frames.
  constexpr std::uint64_t kLeast = 20, kMost = 1024;
  std::uint64_t most = 0;
  for (const auto& [name, sent] : after) {
    const auto earlier = before.find(name);
    if (earlier != before.end() && sent > earlier->second)
      most = std::max(most, sent - earlier->second);
  }
  if (messages == 0) return 0;
  const std::uint64_t each = most / messages;
  const std::uint64_t header = each > bytes ? each - bytes : 0;
  return header < kLeast || header > kMost ? 0 : header;
}

}  // namespace foretrace::measure
