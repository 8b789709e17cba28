#include "views/draw/markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace foretrace::views {
namespace {

// The bytes of one UTF-8 character at the start of `text`; 0 if it is damaged.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80             ? 1
                             : (lead & 0xE0) == 0xC0 ? 2
                             : (lead & 0xF0) == 0xE0 ? 3
                             : (lead & 0xF8) == 0xF0 ? 4
                                                     : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  return length;
}

std::string latex_character(std::string_view one) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"\\", "\\textbackslash{}"},
      {"{", "\\{"},
      {"}", "\\}"},
      {"$", "\\$"},
      {"&", "\\&"},
      {"#", "\\#"},
      {"%", "\\%"},
      {"_", "\\_"},
      {"^", "\\textasciicircum{}"},
      {"~", "\\textasciitilde{}"},
      {"<", "\\textless{}"},
      {">", "\\textgreater{}"},
      {"|", "\\textbar{}"},
      {"\"", "\\textquotedbl{}"},
      {"-", "{-}"},
      {"×", "$\\times$"},
      {"±", "$\\pm$"},
      {"²", "$^2$"},
      {"µ", "$\\mu$"}};
  for (const auto& [character, name] : kNames)
    if (one == character) return std::string(name);
  if (one.size() == 1) {
    const auto c = static_cast<unsigned char>(one[0]);
    return c < ' ' || c == 0x7f ? " " : std::string(one);
  }
  // Latin-1 letters: U+00C0 to U+00FF, two bytes that begin with C3.
  if (one.size() == 2 && static_cast<unsigned char>(one[0]) == 0xC3) return std::string(one);
  return "?";
}

// A sign or an operator, not a hyphen: "-3", "(-3", "a - b".
bool is_minus(std::string_view text, std::size_t at) {
  if (text[at] != '-' || at + 1 == text.size()) return false;
  const char before = at == 0 ? ' ' : text[at - 1];
  const char after = text[at + 1];
  return (before == ' ' || before == '(') && (after == ' ' || (after >= '0' && after <= '9'));
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) < ' ' || c == 0x7f)
      out += ' ';
    else
      out += c;
  }
  return out;
}

std::string escape_latex(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text.substr(at));
    if (length == 0)
      out += "?";
    else
      out += is_minus(text, at) ? "$-$" : latex_character(text.substr(at, length));
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::string escape_script(std::string json) {
  std::size_t at = 0;
  while ((at = json.find('<', at)) != std::string::npos) json.replace(at, 1, "\\u003c");
  return json;
}

std::string escape_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const auto c = static_cast<unsigned char>(text[0]);
    // U+0080 to U+009F are control characters, too, which terminals may obey.
    const bool control = c < ' ' || c == 0x7f ||
                         (length == 2 && c == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0);
    if (length > 0 && !control) {
      out += text.substr(0, length);
    } else if (c == '\n' || c == '\t') {
      out += c == '\n' ? "\\n" : "\\t";
    } else {
      for (const char byte : text.substr(0, std::max<std::size_t>(length, 1)))
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string plain_text(std::string text) {
  static constexpr std::pair<std::string_view, std::string_view> kSigns[] = {
      {"×", "x"}, {"±", "+/-"}, {"²", "^2"}, {"µ", "u"}};
  for (const auto& [sign, plain] : kSigns)
    for (std::size_t at = 0; (at = text.find(sign, at)) != std::string::npos; at += plain.size())
      text.replace(at, sign.size(), plain);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  return escape_text(text);
}

}  // namespace foretrace::views
