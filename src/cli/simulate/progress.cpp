#include "cli/simulate/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>

namespace foretrace::cli {
namespace {

using Clock = std::chrono::steady_clock;

class ProgressLine {
 public:
  explicit ProgressLine(std::function<double()> share) : share_(std::move(share)) {}
  ~ProgressLine() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void tell(const sim::Stats& stats) {
    constexpr auto kBetween = std::chrono::milliseconds(500);
    const Clock::time_point now = Clock::now();
    if (now < next_) return;
    next_ = now + kBetween;
    shown_ = true;
    const double passed = std::chrono::duration<double>(now - begin_).count();
    std::string line =
        fmt::format("replayed {:.3g} million messages", 1e-6 * static_cast<double>(stats.messages));
    constexpr double kLeastShare = 0.01;  // of less nothing can be told
    if (const double share = share_ ? share_() : 0; share >= kLeastShare)
      line +=
          fmt::format(", {:.0f} %, about {:.0f} s left", 100 * share, passed * (1 - share) / share);
    // Back to the start of the line, which is cleared.
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    std::fflush(stderr);
  }

 private:
  static constexpr auto kQuiet = std::chrono::seconds(2);
  std::function<double()> share_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_ = begin_ + kQuiet;
  bool shown_ = false;
};

}  // namespace

std::function<void(const sim::Stats&)> progress_teller(std::function<double()> share) {
  if (!::isatty(STDERR_FILENO)) return {};
  return [line = std::make_shared<ProgressLine>(std::move(share))](const sim::Stats& stats) {
    line->tell(stats);
  };
}

}  // namespace foretrace::cli
