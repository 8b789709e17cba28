#include <algorithm>
#include <cctype>

#include "base/error.hpp"
#include "study/study_file.hpp"

namespace foretrace::study {

std::vector<std::string> names_in(std::string_view text, const std::string& where) {
  std::vector<std::string> names;
  for (std::size_t at = 0; (at = text.find_first_of("{}", at)) != std::string_view::npos;) {
    if (text.substr(at, 2) == "{{" || text.substr(at, 2) == "}}") {
      at += 2;
      continue;
    }
    const std::size_t end = text.find('}', at);
    if (text[at] == '}' || end == std::string_view::npos)
      throw Error(where + ": a brace has no other one ({{ and }} are braces themselves)");
    std::string name(text.substr(at + 1, end - at - 1));
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    at = end + 1;
  }
  return names;
}

std::string filled_in(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if ((c == '{' || c == '}') && at + 1 < text.size() && text[at + 1] == c) {
      out += c;
      at += 2;
    } else if (c == '{') {
      const std::size_t end = text.find('}', at);
      out += values.at(std::string(text.substr(at + 1, end - at - 1)));
      at = end + 1;
    } else {
      out += c;
      ++at;
    }
  }
  return out;
}

std::vector<std::string> split_words(std::string_view text, const std::string& where) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && std::isspace(static_cast<unsigned char>(c))) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else if (c == quote)
      quote = 0;
    else if (c == '\\' && quote != '\'' && i + 1 < text.size())
      words.back() += text[++i];
    else
      words.back() += c;
  }
  if (quote != 0) throw Error(where + ": a quote has no end");
  return words;
}

}  // namespace foretrace::study
