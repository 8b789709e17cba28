#include "measure/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "base/error.hpp"

namespace foretrace::measure {
namespace {

template <class Number>
Number parse_number(const std::string& option, const std::string& text, Number least,
                    Number greatest) {
  Number value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < least || value > greatest)
    throw UsageError(option + ": expected a whole number from " + std::to_string(least) + " to " +
                     std::to_string(greatest) + ", found '" + text + "'");
  return value;
}

}  // namespace

ProgramOptions parse_program_options(const std::vector<std::string>& arguments) {
  ProgramOptions options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& option = arguments[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 == arguments.size()) throw UsageError(option + " needs a value");
      return arguments[++i];
    };
    if (option == "--output") {
      options.output = value();
    } else if (option == "--launch") {
      options.launch = parse_number<int>(option, value(), 1, 1'000'000);
    } else if (option == "--seed") {
      options.seed = parse_number<std::uint64_t>(option, value(), 0, UINT64_MAX);
    } else if (option == "--max-bytes") {
      // One message is sent with an int count.
      options.max_bytes = parse_number<std::uint64_t>(option, value(), 1, 1 << 30);
    } else if (option == "--quick") {
      options.effort = {1, 2, 4, 18};
    } else if (option == "--thorough") {
      options.effort = {4, 4, 6, 120};
    } else if (option == "--progress") {
      options.progress = true;
    } else {
      throw UsageError("unknown option '" + option +
                       "'; known: --output FILE.csv --launch K --seed S --quick --thorough "
                       "--max-bytes N --progress");
    }
  }
  if (options.output.empty()) throw UsageError("--output FILE.csv is missing");
  return options;
}

std::vector<std::uint64_t> message_sizes(std::uint64_t max_bytes, int per_octave) {
  std::set<std::uint64_t> sizes{max_bytes};
  for (int step = 0;; ++step) {
    double exponent = static_cast<double>(step) / per_octave;
    if (per_octave == 1 && step % 2 == 1) exponent += 0.5;
    const auto size = static_cast<std::uint64_t>(std::llround(std::exp2(exponent)));
    if (size >= max_bytes) break;
    sizes.insert(size);
  }
  return {sizes.begin(), sizes.end()};
}

std::vector<int> rank_counts(int ranks) {
  std::vector<int> counts;
  for (int p = 2; p < ranks; p *= 2) counts.push_back(p);
  counts.push_back(ranks);
  return counts;
}

}  // namespace foretrace::measure
