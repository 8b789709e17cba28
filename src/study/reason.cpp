#include "study/reason.hpp"

#include <algorithm>
#include <cctype>

namespace foretrace::study {
namespace {

bool consists_of(std::string_view line, char c) {
  return line.size() >= 20 && line.find_first_not_of(c) == std::string_view::npos;
}

// "foretrace: predicted time 0.1 s on 2 ranks, 14 events -> FILE"
bool is_summary(std::string_view line) {
  return line.starts_with("foretrace: ") && line.find(" time ") != std::string_view::npos &&
         line.find(" -> ") != std::string_view::npos;
}

// "[host:1234] *** Process received signal ***"
bool is_of_daemon(std::string_view line) {
  const std::size_t end = line.find(']');
  if (!line.starts_with('[') || end == std::string_view::npos) return false;
  const std::size_t colon = line.substr(0, end).rfind(':');
  if (colon == std::string_view::npos || colon + 1 == end) return false;
  return std::ranges::all_of(line.substr(colon + 1, end - colon - 1),
                             [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())))
    line.remove_suffix(1);
  return line;
}

}  // namespace

std::string reason_in(std::string_view errors) {
  std::string_view reason, in_box;
  bool box = false;
  while (!errors.empty()) {
    const std::string_view line = next_line(errors);
    if (consists_of(line, '-')) {
      box = !box;
    } else if (line.empty() || consists_of(line, '=') || is_summary(line)) {
      continue;
    } else if (box || line.starts_with("=   ") || line.starts_with("YOUR APPLICATION TERMINATED") ||
               is_of_daemon(line)) {
      in_box = line;
    } else {
      reason = line;
    }
  }
  return std::string(reason.empty() ? in_box : reason);
}

std::vector<std::string> notes_in(std::string_view errors) {
  constexpr std::string_view kOurs = "foretrace: ";
  std::vector<std::string> out;
  while (!errors.empty()) {
    const std::string_view line = next_line(errors);
    if (line.starts_with(kOurs) && !is_summary(line)) out.emplace_back(line.substr(kOurs.size()));
  }
  return out;
}

}  // namespace foretrace::study
