#include "wrap/diagnostics.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

namespace foretrace::wrap {
namespace {

struct Message {
  std::string where;  // "FILE: In function 'X':"; may be empty
  std::string text;   // with the lines that show the place
  std::size_t times = 0;
};

bool begins_message(std::string_view line) {
  for (const char* kind : {": error: ", ": fatal error: ", ": warning: ", ": note: "})
    if (line.find(kind) != line.npos) return true;
  return false;
}

}  // namespace

std::string each_once(std::string_view text) {
  std::vector<Message> messages;
  std::map<std::string, std::size_t, std::less<>> known;  // by text: its place
  std::string where;
  std::string message;
  const auto end_message = [&] {
    if (message.empty()) return;
    const auto [place, is_new] = known.try_emplace(message, messages.size());
    if (is_new) messages.push_back({where, message, 0});
    ++messages[place->second].times;
    message.clear();
  };
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    // Others' lines begin with a place, those that show one with a space.
    if (!line.starts_with(' ')) end_message();
    if (!line.starts_with(' ') && line.ends_with(':') && !begins_message(line))
      where = line;
    else
      (message += line) += '\n';
  }
  end_message();
  std::string out;
  std::string last;
  for (const Message& each : messages) {
    if (!each.where.empty() && each.where != last) out += each.where + "\n";
    last = each.where;
    out += each.text;
    if (each.times > 1)
      out += "  the same in " + std::to_string(each.times - 1) + " more functions\n";
  }
  return out;
}

}  // namespace foretrace::wrap
