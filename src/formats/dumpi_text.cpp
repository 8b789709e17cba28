#include "formats/dumpi_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>

#include "base/error.hpp"

namespace foretrace::formats {
namespace {

constexpr std::string_view kEntering = " entering at walltime ";
constexpr std::string_view kReturning = " returning at walltime ";
constexpr std::string_view kIgnored = "<IGNORED>";
constexpr std::int64_t kMostSeconds = 9'000'000;  // in picoseconds, as far as a Time goes

std::string shown(std::string_view text) {
  return "'" + std::string(text.substr(0, 40)) + "'";
}

// The number that the text begins with, which is taken away.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// "8544.064289000, cputime ... in thread 0."
Time time_of(std::string_view text, std::int64_t& thread) {
  std::string_view rest = text;
  const auto seconds = take_number(rest);
  if (!seconds || *seconds < 0 || *seconds > kMostSeconds)
    throw Error("expected a walltime in seconds, found " + shown(text));
  std::int64_t ps = *seconds * 1'000'000'000'000;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    for (std::int64_t unit = 100'000'000'000; !rest.empty() && rest[0] >= '0' && rest[0] <= '9';
         unit /= 10) {
      ps += (rest[0] - '0') * unit;
      rest.remove_prefix(1);
    }
  }
  constexpr std::string_view kThread = "in thread ";
  const std::size_t at = rest.find(kThread);
  if (!rest.starts_with(',') || at == rest.npos)
    throw Error("expected 'S.N, cputime S.N seconds in thread N.', found " + shown(text));
  rest.remove_prefix(at + kThread.size());
  const auto number = take_number(rest);
  if (!number) throw Error("expected a thread, found " + shown(rest));
  thread = *number;
  return Time::ps(ps);
}

}  // namespace

const std::string* DumpiCall::find(std::string_view parameter) const {
  const auto found =
      std::ranges::find(parameters_, parameter, &std::pair<std::string, std::string>::first);
  return found == parameters_.end() ? nullptr : &found->second;
}

const std::string& DumpiCall::text(std::string_view parameter) const {
  const std::string* found = find(parameter);
  if (!found)
    throw Error("expected " + name + " with '" + std::string(parameter) + "', found none");
  return *found;
}

std::int64_t DumpiCall::number(std::string_view parameter) const {
  std::string_view rest = text(parameter);
  if (rest.starts_with('[')) rest.remove_prefix(1);  // of a request
  if (const auto value = take_number(rest)) return *value;
  throw Error("expected a number " + std::string(parameter) + ", found " + shown(rest));
}

std::vector<std::int64_t> DumpiCall::numbers(std::string_view parameter) const {
  std::string_view rest = text(parameter);
  std::vector<std::int64_t> all;
  if (rest == kIgnored || rest == "[]") return all;
  while (rest.starts_with('[') || rest.starts_with(", ")) {
    rest.remove_prefix(rest[0] == '[' ? 1 : 2);
    const auto value = take_number(rest);
    if (!value) break;
    all.push_back(*value);
  }
  if (rest != "]")
    throw Error("expected numbers " + std::string(parameter) + ", found " + shown(rest));
  return all;
}

std::vector<DumpiStatus> DumpiCall::statuses(std::string_view parameter) const {
  std::string_view rest = text(parameter);
  std::vector<DumpiStatus> all;
  if (rest == kIgnored) return all;
  const auto take = [&](std::string_view name) {
    const auto value = rest.starts_with(name) ? (rest.remove_prefix(name.size()), take_number(rest))
                                              : std::nullopt;
    if (!value) throw Error("expected a status, found " + shown(rest));
    return *value;
  };
  while (rest.starts_with("[{") || rest.starts_with(", {")) {
    rest.remove_prefix(rest.find('{'));
    DumpiStatus status;
    status.bytes = take("{bytes=");
    status.cancelled = take(", cancelled=") != 0;
    status.source = take(", source=");
    status.tag = take(", tag=");
    take(", error=");
    if (!rest.starts_with('}')) break;
    rest.remove_prefix(1);
    all.push_back(status);
  }
  if (rest != "]")
    throw Error("expected statuses " + std::string(parameter) + ", found " + shown(rest));
  return all;
}

DumpiText::DumpiText(std::string path) : path_(std::move(path)), in_(path_, std::ios::binary) {
  if (!in_)
    throw Error(path_ + ": cannot open the file; dumpi2ascii -a makes it of the rank's .bin");
}

void DumpiText::refuse(const std::string& what) const {
  throw Error(path_ + ":" + std::to_string(called_at_) + ": " + what);
}

bool DumpiText::read_line() {
  if (!std::getline(in_, line_)) return false;
  ++number_;
  if (line_.ends_with('\r')) line_.pop_back();
  return true;
}

// Whether the line begins a call.
bool DumpiText::begin(DumpiCall& call) {
  const std::size_t at = line_.find(kEntering);
  if (at == line_.npos) return false;
  call.name = line_.substr(0, at);
  call.enter = call.leave =
      time_of(std::string_view(line_).substr(at + kEntering.size()), call.thread);
  call.parameters_.clear();
  call.whole = false;
  return true;
}

// "TYPE NAME=VALUE", "TYPE NAME[COUNT]=VALUE"
void DumpiText::take_parameter(DumpiCall& call) const {
  const std::size_t equals = line_.find('=');
  const std::size_t space = line_.find(' ');
  if (equals == line_.npos || space == line_.npos || space > equals) return;
  std::string name = line_.substr(space + 1, equals - space - 1);
  name.resize(std::min(name.find('['), name.size()));
  call.parameters_.emplace_back(std::move(name), line_.substr(equals + 1));
}

// "Datatype 9 (MPI_INT) has size 4"
void DumpiText::take_size() {
  constexpr std::string_view kHas = " has size ";
  const std::size_t at = line_.find(kHas);
  if (!line_.starts_with("Datatype ") || at == line_.npos) return;
  std::string_view type = std::string_view(line_).substr(9);
  std::string_view size = std::string_view(line_).substr(at + kHas.size());
  const auto number = take_number(type);
  const auto bytes = take_number(size);
  if (number && bytes && *bytes >= 0) sizes_[*number] = static_cast<std::uint64_t>(*bytes);
}

bool DumpiText::next(DumpiCall& call) {
  try {
    for (;;) {
      if (!read_line()) return false;
      called_at_ = number_;
      if (begin(call)) break;
      take_size();
    }
    while (read_line()) {
      const std::size_t at = line_.find(kReturning);
      if (at == line_.npos) {
        if (line_.find(kEntering) != line_.npos)
          throw Error("expected the end of " + call.name + " before line " +
                      std::to_string(number_));
        take_parameter(call);
        continue;
      }
      if (line_.substr(0, at) != call.name)
        throw Error("expected the end of " + call.name + ", found " + shown(line_.substr(0, at)));
      // Half a line may look like a whole one.
      if (in_.eof() && !line_.ends_with('.')) break;
      std::int64_t thread = 0;
      call.leave = time_of(std::string_view(line_).substr(at + kReturning.size()), thread);
      if (call.leave < call.enter) throw Error(call.name + " ends before it begins");
      call.whole = true;
      break;
    }
  } catch (const Error& error) {
    refuse(error.what());
  }
  return true;
}

}  // namespace foretrace::formats
