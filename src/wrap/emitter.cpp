#include "wrap/emitter.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace foretrace::wrap {
namespace {

constexpr std::size_t kLargest = 32u << 20;

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

Emitter::Emitter(std::string_view file, std::string_view template_name)
    : file_(escaped(file)), template_(escaped(template_name)) {}

void Emitter::append(std::string_view text) {
  text_ += text;
  lines_ += static_cast<int>(std::ranges::count(text, '\n'));
  if (text_.size() > kLargest)
    throw Error(template_ + ": the source would be larger than 32 MiB; are loops nested?");
}

void Emitter::own(std::string_view text) {
  if (quoted_next_ != 0) append("#line " + std::to_string(lines_ + 2) + " \"" + file_ + "\"\n");
  quoted_next_ = 0;
  append(text);
}

void Emitter::quoted(int line, std::string_view text) {
  if (quoted_next_ != line) append("#line " + std::to_string(line) + " \"" + template_ + "\"\n");
  append(text);
  append("\n");
  quoted_next_ = line + 1;
}

}  // namespace foretrace::wrap
