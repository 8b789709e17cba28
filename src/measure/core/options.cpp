#include "measure/core/options.hpp"

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

// Whether the second of two words was given.
bool choice(const std::string& option, const std::string& text, const char* first,
            const char* second) {
  if (text == first) return false;
  if (text == second) return true;
  throw UsageError(option + ": expected " + first + " or " + second + ", found '" + text + "'");
}

// Numbers with commas between them; "none" for an empty list.
std::vector<std::uint64_t> parse_list(const std::string& option, const std::string& text) {
  std::vector<std::uint64_t> numbers;
  if (text == "none") return numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    numbers.push_back(parse_number<std::uint64_t>(option, text.substr(at, comma - at), 0, 1 << 30));
    at = comma + 1;
  }
  return numbers;
}

}  // namespace

ProgramOptions parse_program_options(const std::vector<std::string>& arguments) {
  ProgramOptions options;
  std::optional<int> seconds;
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
      options.max_bytes_given = true;
      options.long_bytes = 0;
    } else if (option == "--affordable") {
      options.affordable = parse_number<std::uint64_t>(option, value(), 1, 1 << 30);
    } else if (option == "--quick") {
      options.effort = {1, 1, 3, 7};
    } else if (option == "--thorough") {
      options.effort = {4, 4, 6, 80};
    } else if (option == "--seconds") {
      seconds = parse_number<int>(option, value(), 1, 1'000'000);
    } else if (option == "--start") {
      options.start_by_barrier = choice(option, value(), "clock", "barrier");
    } else if (option == "--buffers") {
      options.cold = choice(option, value(), "warm", "cold");
    } else if (option == "--thresholds") {
      options.thresholds = parse_list(option, value());
    } else if (option == "--search") {
      options.search = true;
    } else if (option == "--only-thresholds") {
      options.only_thresholds = true;
    } else if (option == "--need-cores") {
      options.need_cores = true;
    } else if (option == "--progress") {
      options.progress = value();
    } else {
      throw UsageError(
          "unknown option '" + option +
          "'; known: --output FILE.csv --launch K --seed S --quick --thorough "
          "--seconds S --max-bytes N --affordable N --start clock|barrier --buffers warm|cold "
          "--thresholds LIST --search --only-thresholds --need-cores --progress FILE");
    }
  }
  if (seconds) options.effort.seconds = *seconds;
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

std::vector<int> rank_counts(int ranks, bool others) {
  std::set<int> counts{ranks};
  for (int p = 2; p < ranks; p *= 2) {
    counts.insert(p);
    if (others && p / 2 * 3 < ranks) counts.insert(p / 2 * 3);
  }
  return {counts.begin(), counts.end()};
}

}  // namespace foretrace::measure
