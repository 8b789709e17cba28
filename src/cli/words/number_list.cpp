#include "cli/words/number_list.hpp"

#include "base/error.hpp"
#include "base/size_text.hpp"

namespace foretrace::cli {
namespace {

constexpr std::size_t kMostNumbers = 10000;

class Parser {
 public:
  Parser(std::string_view text, const NumberRule& rule) : text_(text), rule_(rule) {}

  std::vector<std::uint64_t> parse() {
    for (std::string_view rest = text_;;) {
      const std::size_t comma = rest.find(',');
      add_item(rest.substr(0, comma));
      if (comma == std::string_view::npos) return numbers_;
      rest.remove_prefix(comma + 1);
    }
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw UsageError(rule_.what + ": " + why + " in '" + std::string(text_) + "'");
  }

  std::uint64_t number(std::string_view word) const {
    if (const auto value = parse_size(word)) return *value;
    fail("expected numbers such as 8, 64k or 8..1m, found '" + std::string(word) + "'");
  }

  void add(std::uint64_t value) {
    if (value < rule_.least || value > rule_.most)
      fail("expected " + std::to_string(rule_.least) + " to " + std::to_string(rule_.most) +
           ", found " + std::to_string(value));
    if (numbers_.size() == kMostNumbers)
      fail("more than " + std::to_string(kMostNumbers) + " numbers");
    numbers_.push_back(value);
  }

  void add_item(std::string_view item) {
    const std::size_t dots = item.find("..");
    if (dots == std::string_view::npos) return add(number(item));
    std::string_view end = item.substr(dots + 2);
    const std::size_t colon = end.find(':');
    const std::uint64_t step = colon == std::string_view::npos ? 0 : number(end.substr(colon + 1));
    end = end.substr(0, colon);
    const std::uint64_t from = number(item.substr(0, dots));
    const std::uint64_t to = number(end);
    if (from > to) fail("the range '" + std::string(item) + "' ends below its start");
    if (colon != std::string_view::npos && step == 0)
      fail("the range '" + std::string(item) + "' has step 0");
    for (std::uint64_t value = from;;) {
      add(value);
      const std::uint64_t more = step != 0 ? step : value == 0 ? 1 : value;
      if (to - value < more) {
        // A range that doubles ends with its end, one that adds with its last step.
        if (step == 0 && value != to) add(to);
        return;
      }
      value += more;
    }
  }

  std::string_view text_;
  const NumberRule& rule_;
  std::vector<std::uint64_t> numbers_;
};

}  // namespace

std::vector<std::uint64_t> parse_number_list(std::string_view text, const NumberRule& rule) {
  return Parser(text, rule).parse();
}

}  // namespace foretrace::cli
