#include "imported/lines.hpp"

#include <cctype>
#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "base/whole_file.hpp"

namespace foretrace::imported {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::size_t kMostShown = 40;
// Beyond, a size is no message's and arithmetic with it no longer exact.
constexpr double kMostAmount = 1e15;
constexpr std::uint64_t kMostWhole = std::uint64_t{1} << 53;

}  // namespace

std::optional<std::string_view> Lines::next() {
  if (rest_.empty()) return std::nullopt;
  ++number_;
  const std::size_t end = rest_.find('\n');
  if (end == rest_.npos) fail(kCutOffLine);
  std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

void Lines::fail(const std::string& message) const {
  throw Error(name_ + ":" + std::to_string(number_) + ": " + message);
}

double Lines::amount(std::string_view word, const char* what) const {
  double value = 0;
  const char* const end = word.data() + word.size();
  const auto [at, code] = std::from_chars(word.data(), end, value);
  if (code != std::errc() || at != end || !std::isfinite(value) || std::signbit(value) ||
      value > kMostAmount)
    fail("expected " + std::string(what) + ", a number of 0 or more, found '" + shown(word) + "'");
  return value;
}

std::uint64_t Lines::whole(std::string_view word, const char* what) const {
  std::uint64_t value = 0;
  const char* const end = word.data() + word.size();
  const auto [at, code] = std::from_chars(word.data(), end, value);
  if (code != std::errc() || at != end || value > kMostWhole)
    fail("expected " + std::string(what) + ", a whole number, found '" + shown(word) + "'");
  return value;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!(text = trimmed(text)).empty()) {
    const std::size_t end = text.find_first_of(kBlanks);
    words.push_back(text.substr(0, end));
    text.remove_prefix(words.back().size());
  }
  return words;
}

std::vector<std::string_view> fields_of(std::string_view text, char separator) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t end = text.find(separator);
    fields.push_back(text.substr(0, end));
    if (end == text.npos) return fields;
    text.remove_prefix(end + 1);
  }
}

std::string shown(std::string_view word) {
  std::string text;
  for (const char c : word.substr(0, kMostShown))
    text += std::isprint(static_cast<unsigned char>(c)) ? c : '?';
  return word.size() > kMostShown ? text + "..." : text;
}

}  // namespace foretrace::imported
