#include "cli/simulate/progress.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "cli/system/terminal_line.hpp"

namespace foretrace::cli {

std::function<void(const sim::Stats&)> replay_progress(std::function<double()> share) {
  using std::chrono::milliseconds;
  if (!TerminalLine::is_possible()) return {};
  const auto line = std::make_shared<TerminalLine>(milliseconds(500), milliseconds(2000));
  return [line, share = std::move(share)](const sim::Stats& stats) {
    if (!line->is_due()) return;
    std::string text =
        fmt::format("replayed {:.3g} million messages", 1e-6 * static_cast<double>(stats.messages));
    constexpr double kLeast = 0.01;  // of less nothing can be told
    const double done = share ? share() : 0;
    if (done >= kLeast && done < 1)
      text += fmt::format(", {:.0f} %, about {} left", 100 * done,
                          rough_duration(line->seconds_since_begin() * (1 - done) / done));
    line->show(text);
  };
}

CountDone count_progress(std::string what) {
  if (!TerminalLine::is_possible()) return {};
  const auto line = std::make_shared<TerminalLine>(std::chrono::milliseconds(100));
  return [line, what = std::move(what)](std::size_t done, std::size_t total) {
    if (done == total) return line->clear();
    if (!line->is_due()) return;
    std::string text = fmt::format("{} of {} {}", done, total, what);
    if (done > 0)
      text += fmt::format(", about {} left", rough_duration(line->seconds_since_begin() *
                                                            static_cast<double>(total - done) /
                                                            static_cast<double>(done)));
    line->show(text);
  };
}

}  // namespace foretrace::cli
