#include "cli/system/terminal_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace foretrace::cli {
namespace {

// Back to the start of the line, which is cleared.
constexpr const char* kOver = "\r\033[K";

}  // namespace

TerminalLine::TerminalLine(std::chrono::milliseconds between, std::chrono::milliseconds quiet)
    : between_(between), next_(begin_ + quiet) {}

bool TerminalLine::is_possible() {
  return ::isatty(STDERR_FILENO) != 0;
}

bool TerminalLine::is_due() {
  const Clock::time_point now = Clock::now();
  if (now < next_) return false;
  next_ = now + between_;
  return true;
}

void TerminalLine::show(const std::string& text) {
  shown_ = true;
  std::fprintf(stderr, "%s%s", kOver, text.c_str());
  std::fflush(stderr);
}

void TerminalLine::clear() {
  if (shown_) std::fputs(kOver, stderr);
  shown_ = false;
}

double TerminalLine::seconds_since_begin() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

std::string rough_duration(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

}  // namespace foretrace::cli
