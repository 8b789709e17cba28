#include "sim/text/goal_scanner.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/error.hpp"

namespace foretrace::sim {
namespace {

enum Class : std::uint8_t { other = 0, letter = 1, digit = 2 };

constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[static_cast<std::size_t>(c)] = letter;
  for (int c = 'A'; c <= 'Z'; ++c) classes[static_cast<std::size_t>(c)] = letter;
  classes['_'] = letter;
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<std::size_t>(c)] = digit;
  return classes;
}();

bool is_letter(char c) {
  return kClasses[static_cast<unsigned char>(c)] == letter;
}
bool is_digit(char c) {
  return kClasses[static_cast<unsigned char>(c)] == digit;
}
bool is_word(char c) {
  return kClasses[static_cast<unsigned char>(c)] != other;
}

const char* after_blanks(const char* at, const char* end) {
  while (at != end && (*at == ' ' || *at == '\t' || *at == '\r')) ++at;
  return at;
}

}  // namespace

std::string describe_token(const GoalToken& token) {
  switch (token.kind) {
    case GoalToken::Kind::end:
      return "the end of the file";
    case GoalToken::Kind::newline:
      return "the end of the line";
    case GoalToken::Kind::string:
      return "a text in quotes";
    default:
      break;
  }
  constexpr std::size_t kShown = 40;
  std::string text = "'";
  for (const char c : token.text.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      text += c;
    } else {
      constexpr const char* kHex = "0123456789abcdef";
      text += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return text + (token.text.size() > kShown ? "...'" : "'");
}

void GoalScanner::fail(std::uint32_t line, const std::string& what) const {
  throw Error(std::string(file_) + ":" + std::to_string(line) + ": " + what);
}

void GoalScanner::expected(const std::string& what, const GoalToken& token) const {
  fail(token.line, "expected " + what + ", found " + describe_token(token));
}

void GoalScanner::skip_blanks() {
  for (;;) {
    at_ = after_blanks(at_, end_);
    if (end_ - at_ < 2 || *at_ != '/' || (at_[1] != '/' && at_[1] != '*')) return;
    if (at_[1] == '/') {
      const void* end = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
      at_ = end ? static_cast<const char*>(end) : end_;
      continue;
    }
    const std::string_view rest(at_ + 2, static_cast<std::size_t>(end_ - at_ - 2));
    const std::size_t close = rest.find("*/");
    if (close == std::string_view::npos)
      fail(line_, "expected */ after this comment, found the end of the file");
    line_ += static_cast<std::uint32_t>(std::ranges::count(rest.substr(0, close), '\n'));
    at_ += close + 4;
  }
}

GoalToken GoalScanner::next() {
  skip_blanks();
  GoalToken token;
  token.line = line_;
  const char* begin = at_;
  if (at_ == end_) return token;
  const char c = *at_;
  if (is_letter(c)) {
    while (at_ != end_ && is_word(*at_)) ++at_;
    token.kind = GoalToken::Kind::name;
  } else if (is_digit(c)) {
    scan_number(token);
  } else if (c == '\n') {
    ++at_;
    ++line_;
    token.kind = GoalToken::Kind::newline;
  } else if (c == '"') {
    scan_string(token);
    return token;
  } else {
    scan_symbol(token);
  }
  token.text = std::string_view(begin, static_cast<std::size_t>(at_ - begin));
  return token;
}

void GoalScanner::scan_number(GoalToken& token) {
  token.kind = GoalToken::Kind::number;
  const char* begin = at_;
  std::uint64_t value = 0;
  bool large = false;
  for (; at_ != end_ && is_digit(*at_); ++at_) {
    large = large || value > (UINT64_MAX - 9) / 10;
    value = value * 10 + static_cast<std::uint64_t>(*at_ - '0');
  }
  const auto follows = [&](std::ptrdiff_t n) { return end_ - at_ > n ? at_[n] : '\0'; };
  if (*begin != '\0' && follows(0) == '.' && is_digit(follows(1))) {
    token.fraction = true;
    for (++at_; at_ != end_ && is_digit(*at_); ++at_) {
    }
  }
  const bool sign = follows(1) == '+' || follows(1) == '-';
  if ((follows(0) == 'e' || follows(0) == 'E') && is_digit(follows(sign ? 2 : 1))) {
    token.fraction = true;
    for (at_ += sign ? 2 : 1; at_ != end_ && is_digit(*at_); ++at_) {
    }
  }
  if (token.fraction) {
    const auto [rest, error] = std::from_chars(begin, at_, token.real);
    large = error != std::errc() || rest != at_;
  } else {
    large = large || value > static_cast<std::uint64_t>(INT64_MAX);
    token.number = static_cast<std::int64_t>(value);
    token.real = static_cast<double>(value);
  }
  if (large) {
    token.text = std::string_view(begin, static_cast<std::size_t>(at_ - begin));
    expected("a number below 2^63", token);
  }
}

void GoalScanner::scan_string(GoalToken& token) {
  token.kind = GoalToken::Kind::string;
  const char* begin = ++at_;
  while (at_ != end_ && *at_ != '"' && *at_ != '\n') ++at_;
  if (at_ == end_ || *at_ == '\n') fail(line_, "expected a closing \" on this line, found none");
  token.text = std::string_view(begin, static_cast<std::size_t>(at_ - begin));
  ++at_;
}

void GoalScanner::scan_symbol(GoalToken& token) {
  constexpr std::string_view kPairs[] = {"..", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
  constexpr std::string_view kSingles = "{}()[]:;,=+-*/%<>!&|^";
  token.kind = GoalToken::Kind::symbol;
  const std::string_view here(at_,
                              static_cast<std::size_t>(std::min<std::ptrdiff_t>(end_ - at_, 2)));
  if (std::ranges::find(kPairs, here) != std::end(kPairs)) {
    at_ += 2;
    return;
  }
  ++at_;
  if (kSingles.find(here[0]) != std::string_view::npos) return;
  token.text = here.substr(0, 1);
  expected("a word, a number or a sign of the language", token);
}

// After blanks, a number of at most 18 digits, which fits; nullptr if none stands there.
const char* GoalScanner::plain_number(const char* at, std::int64_t& value) const {
  constexpr std::ptrdiff_t kMostDigits = 18;
  const char* const begin = at = after_blanks(at, end_);
  for (value = 0; at != end_ && is_digit(*at) && at - begin <= kMostDigits; ++at)
    value = value * 10 + (*at - '0');
  return at != begin && at - begin <= kMostDigits ? at : nullptr;
}

// After blanks, this word; nullptr if it does not stand there.
const char* GoalScanner::plain_word(const char* at, std::string_view word) const {
  at = after_blanks(at, end_);
  if (static_cast<std::size_t>(end_ - at) <= word.size() ||
      std::memcmp(at, word.data(), word.size()) != 0)
    return nullptr;
  at += word.size();
  return is_word(*at) ? nullptr : at;
}

std::optional<GoalPlainMessage> GoalScanner::plain_message(bool send, int ranks) {
  GoalPlainMessage message;
  const char* at = plain_number(at_, message.bytes);
  if (at) at = plain_word(at, "b");
  if (at) at = plain_word(at, send ? "to" : "from");
  if (at) at = plain_number(at, message.peer);
  if (!at) return {};
  if (const char* const tag = plain_word(at, "tag")) at = plain_number(tag, message.tag);
  if (!at) return {};
  at = after_blanks(at, end_);
  if (at == end_ || *at != '\n' || message.peer >= ranks || message.tag > INT32_MAX) return {};
  at_ = at;
  return message;
}

std::string_view GoalScanner::plain_label() {
  const char* const begin = after_blanks(at_, end_);
  const char* at = begin;
  if (at == end_ || !is_letter(*at)) return {};
  while (at != end_ && is_word(*at)) ++at;
  const std::string_view label(begin, static_cast<std::size_t>(at - begin));
  at = after_blanks(at, end_);
  if (at == end_ || *at != '\n') return {};
  at_ = at;
  return label;
}

bool GoalScanner::colon_follows() const {
  const char* at = at_;
  while (at != end_ && (*at == ' ' || *at == '\t')) ++at;
  return at != end_ && *at == ':';
}

std::string_view GoalScanner::following_name() const {
  const char* at = at_;
  while (at != end_ && (*at == ' ' || *at == '\t')) ++at;
  const char* begin = at;
  if (at == end_ || !is_letter(*at)) return {};
  while (at != end_ && is_word(*at)) ++at;
  return {begin, static_cast<std::size_t>(at - begin)};
}

}  // namespace foretrace::sim
