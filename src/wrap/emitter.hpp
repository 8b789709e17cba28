// Emitter: collects the source and keeps the compiler informed where its lines
// come from.
#pragma once

#include <string>
#include <string_view>

namespace foretrace::wrap {

class Emitter {
 public:
  Emitter(std::string_view file, std::string_view template_name);

  // Lines of our own; `text` ends with a line's end.
  void own(std::string_view text);
  // A line of the template.
  void quoted(int line, std::string_view text);

  // Throws Error when the source gets out of hand.
  const std::string& text() const { return text_; }

 private:
  void append(std::string_view text);

  std::string file_;
  std::string template_;
  std::string text_;
  int lines_ = 0;        // in text_
  int quoted_next_ = 0;  // the template's line that the next one counts as; 0: our own
};

// As a C string literal's inside.
std::string escaped(std::string_view text);

}  // namespace foretrace::wrap
