#include "formulas/lexer.hpp"

#include <cctype>
#include <charconv>
#include <cmath>

#include "base/error.hpp"

namespace foretrace::formulas {
namespace {

constexpr std::string_view kSigns[] = {"**", "<=", ">=", "==", "!=", "&&", "||", "+",
                                       "-",  "*",  "/",  "%",  "(",  ")",  ",",  "=",
                                       "<",  ">",  "!",  "?",  ":",  "[",  "]"};

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Lexer {
 public:
  Lexer(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) step();
    end_statement();
    return std::move(tokens_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '\n' || c == ';') {
      end_statement();
      if (c == '\n') ++line_;
      ++at_;
    } else if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (c == '\\') {
      join_lines();
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      ++at_;
    } else if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
      number();
    } else if (is_letter(c)) {
      const std::size_t from = at_;
      while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
      add(Token::Kind::name, std::string(text_.substr(from, at_ - from)));
    } else {
      sign();
    }
  }

  void add(Token::Kind kind, std::string text) {
    tokens_.push_back({kind, std::move(text), 0, false, line_});
  }

  void end_statement() {
    if (!tokens_.empty() && tokens_.back().kind != Token::Kind::end_of_statement)
      add(Token::Kind::end_of_statement, "");
  }

  void join_lines() {
    ++at_;
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] != '\n') fail("a \\ must be the last of its line");
    ++at_;
    ++line_;
  }

  void number() {
    const char* begin = text_.data() + at_;
    Token token{Token::Kind::number, "", 0, false, line_};
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), token.value);
    if (error != std::errc() || !std::isfinite(token.value)) fail("a number is out of range");
    token.text = std::string(begin, end);
    token.whole = token.text.find_first_not_of("0123456789") == std::string::npos;
    at_ += token.text.size();
    if (at_ < text_.size() && is_letter(text_[at_]))
      fail("'" + token.text + text_[at_] + "': a sign such as * is missing between them");
    tokens_.push_back(std::move(token));
  }

  void sign() {
    for (const std::string_view each : kSigns)
      if (text_.substr(at_).starts_with(each)) {
        add(Token::Kind::sign, std::string(each));
        at_ += each.size();
        return;
      }
    if (text_[at_] == '"' || text_[at_] == '\'') fail("texts in quotes have no place in a model");
    const auto c = static_cast<unsigned char>(text_[at_]);
    fail(c > ' ' && c < 0x7f ? "'" + std::string(1, text_[at_]) + "' has no meaning here"
                             : std::string("a character that is no plain ASCII"));
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw Error(file_ + ":" + std::to_string(line_) + ": " + message);
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> split(std::string_view text, const std::string& file) {
  return Lexer(text, file).run();
}

}  // namespace foretrace::formulas
