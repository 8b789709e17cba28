#include "measure/core/samples.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/cache_line.hpp"
#include "base/error.hpp"
#include "base/new_file.hpp"

namespace foretrace::measure {
namespace {

constexpr std::string_view kHeader = "function,ranks,bytes,launch,seconds,kept,cache_line";
constexpr std::size_t kFields = 7;
// As files had it before the last column came.
constexpr std::string_view kShortHeader = "function,ranks,bytes,launch,seconds,kept";
constexpr std::size_t kShortFields = 6;

class LineError {
 public:
  LineError(const std::string& name, std::size_t line) : name_(name), line_(line) {}
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(name_ + ":" + std::to_string(line_) + ": " + what);
  }

 private:
  const std::string& name_;
  std::size_t line_;
};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

template <class Number>
Number parse_number(std::string_view text, const char* column, const LineError& where) {
  Number value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size())
    where.fail("expected a number in column '" + std::string(column) + "', found '" +
               std::string(text) + "'");
  return value;
}

Sample parse_row(std::string_view line, std::string_view header, const LineError& where) {
  const std::size_t expected = header == kHeader ? kFields : kShortFields;
  std::array<std::string_view, kFields> fields;
  std::size_t count = 0;
  for (std::string_view rest = line;;) {
    const auto comma = rest.find(',');
    if (count < kFields) fields[count] = trimmed(rest.substr(0, comma));
    ++count;
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (count != expected)
    where.fail("expected " + std::to_string(expected) + " columns (" + std::string(header) +
               "), found " + std::to_string(count));
  Sample sample;
  sample.function = fields[0];
  if (sample.function.empty()) where.fail("column 'function' is empty");
  sample.ranks = parse_number<int>(fields[1], "ranks", where);
  if (sample.ranks < 1) where.fail("'ranks' must be 1 or more");
  sample.bytes = parse_number<std::uint64_t>(fields[2], "bytes", where);
  sample.launch = parse_number<int>(fields[3], "launch", where);
  sample.seconds = parse_number<double>(fields[4], "seconds", where);
  if (!std::isfinite(sample.seconds) || sample.seconds < 0)
    where.fail("'seconds' must be a finite number, 0 or more");
  if (fields[5] != "0" && fields[5] != "1") where.fail("'kept' must be 0 or 1");
  sample.kept = fields[5] == "1";
  if (expected == kFields) sample.cache_line = parse_number<double>(fields[6], "cache_line", where);
  if (!std::isfinite(sample.cache_line) || sample.cache_line < 0)
    where.fail("'cache_line' must be a finite number, 0 or more");
  return sample;
}

std::string shortest(double value) {
  std::array<char, 32> buffer;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

std::string state_of_launch(const SampleSet& set, int launch) {
  return fact(set, "launch_" + std::to_string(launch) + "_state");
}

// Of the state that counts, seconds; 0: not known.
double state_that_counts(const SampleSet& set) {
  return std::strtod(fact(set, kCacheLine).c_str(), nullptr);
}

}  // namespace

std::string fact(const SampleSet& set, const std::string& key) {
  const auto found = set.info.find(key);
  return found == set.info.end() ? std::string() : found->second;
}

bool is_used(const SampleSet& set, int launch) {
  const std::string state = state_of_launch(set, launch);
  return state.empty() || state == kStateUsed;
}

SampleSet used_samples(const SampleSet& set) {
  SampleSet used{set.info, {}};
  std::map<int, bool> known;
  for (const Sample& sample : set.samples) {
    const auto [entry, is_new] = known.try_emplace(sample.launch, false);
    if (is_new) entry->second = is_used(set, sample.launch);
    if (entry->second) used.samples.push_back(sample);
  }
  const double state = state_that_counts(set);
  const auto counts = [state](const Sample& sample) {
    return is_same_state(sample.cache_line, state);
  };
  std::set<std::pair<std::string, int>> told;
  for (const Sample& sample : used.samples)
    if (counts(sample)) told.emplace(sample.function, sample.ranks);
  std::erase_if(used.samples, [&](const Sample& sample) {
    return !counts(sample) && told.contains({sample.function, sample.ranks});
  });
  return used;
}

std::vector<Sample> other_samples(const SampleSet& set) {
  const double state = state_that_counts(set);
  std::vector<Sample> others;
  for (const Sample& sample : set.samples)
    if (!is_same_state(sample.cache_line, state) &&
        (is_used(set, sample.launch) ||
         state_of_launch(set, sample.launch).starts_with(kStateOther)))
      others.push_back(sample);
  return others;
}

SampleSet take_prefixed(SampleSet& set, std::string_view prefix) {
  SampleSet taken;
  std::erase_if(set.samples, [&](Sample& sample) {
    if (!sample.function.starts_with(prefix)) return false;
    taken.samples.push_back(sample);
    taken.samples.back().function.erase(0, prefix.size());
    return true;
  });
  return taken;
}

SampleSet parse_samples(std::istream& in, const std::string& name) {
  SampleSet set;
  std::string text;
  std::size_t number = 0;
  std::string header;
  while (std::getline(in, text)) {
    ++number;
    const LineError where(name, number);
    if (!text.empty() && text.back() == '\r') text.pop_back();
    const std::string_view line = trimmed(text);
    if (line.empty()) continue;
    if (line.front() == '#') {
      const auto equals = line.find('=');
      if (equals == std::string_view::npos) continue;
      set.info[std::string(trimmed(line.substr(1, equals - 1)))] = trimmed(line.substr(equals + 1));
    } else if (header.empty()) {
      if (line != kHeader && line != kShortHeader)
        where.fail("expected the header '" + std::string(kHeader) +
                   "'; give a samples file written by 'foretrace measure'");
      header = line;
    } else {
      set.samples.push_back(parse_row(line, header, where));
    }
  }
  if (header.empty())
    throw Error(name + ":" + std::to_string(number + 1) + ": no samples; expected the header '" +
                std::string(kHeader) + "'");
  return set;
}

SampleSet read_samples(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(path + ": cannot read the samples: " + std::strerror(errno));
  return parse_samples(file, path);
}

void format_samples(std::ostream& out, const SampleSet& set) {
  for (const auto& [key, value] : set.info) out << "# " << key << " = " << value << '\n';
  out << kHeader << '\n';
  for (const Sample& sample : set.samples)
    out << sample.function << ',' << sample.ranks << ',' << sample.bytes << ',' << sample.launch
        << ',' << shortest(sample.seconds) << ',' << (sample.kept ? 1 : 0) << ','
        << shortest(sample.cache_line) << '\n';
}

void write_samples(const SampleSet& set, const std::string& path) {
  std::ostringstream text;
  format_samples(text, set);
  write_new_file(path, text.view());
}

}  // namespace foretrace::measure
