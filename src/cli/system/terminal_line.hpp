// A line on standard error that is written over while something is under way.
#pragma once

#include <chrono>
#include <string>

namespace foretrace::cli {

class TerminalLine {
 public:
  // Shown first after `quiet`, and anew no sooner than `between`.
  explicit TerminalLine(std::chrono::milliseconds between,
                        std::chrono::milliseconds quiet = std::chrono::milliseconds(0));
  // The line is gone then.
  ~TerminalLine() { clear(); }
  TerminalLine(const TerminalLine&) = delete;
  TerminalLine& operator=(const TerminalLine&) = delete;

  // Whether standard error is a terminal; elsewhere nothing can be written over.
  static bool is_possible();

  // Whether it is time to show something; if so, the next time is `between` from now.
  bool is_due();
  void show(const std::string& text);
  void clear();
  double seconds_since_begin() const;

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::milliseconds between_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_;
  bool shown_ = false;
};

// "12 s", "3 min 20 s", "2 h 5 min".
std::string rough_duration(double seconds);

}  // namespace foretrace::cli
