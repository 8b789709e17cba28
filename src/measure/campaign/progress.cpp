#include "measure/campaign/progress.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <ostream>

namespace foretrace::measure {
namespace {

double share_in(const std::string& path) {
  double share = 0;
  std::ifstream(path) >> share;
  return std::clamp(share, 0.0, 1.0);
}

}  // namespace

std::string clock_text(double seconds) {
  const auto all = static_cast<long>(std::max(seconds, 0.0) + 0.5);
  char text[32];
  if (all < 3600)
    std::snprintf(text, sizeof text, "%ld:%02ld", all / 60, all % 60);
  else
    std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", all / 3600, all / 60 % 60, all % 60);
  return text;
}

std::string bar_text(int launch, int launches, double share, double seconds_left) {
  constexpr int kWidth = 20;
  const auto full = static_cast<std::size_t>(kWidth * std::clamp(share, 0.0, 1.0));
  const int percent = static_cast<int>(100 * std::clamp(share, 0.0, 1.0));
  return "launch " + std::to_string(launch) + " of " + std::to_string(launches) + " [" +
         std::string(full, '#') + std::string(kWidth - full, '.') + "] " + std::to_string(percent) +
         " %, about " + clock_text(seconds_left) + " left";
}

void Progress::begin(int launch, int launches, double seconds, const std::string& share_file) {
  if (out_ == nullptr) return;
  launch_ = launch;
  launches_ = std::max(launch, launches);
  seconds_ = seconds;
  share_file_ = share_file;
  if (bar_) {
    thread_ = std::jthread([this](std::stop_token stop) { draw(stop); });
  } else {
    const double left = seconds_ * (launches_ - launch_ + 1);
    *out_ << "foretrace measure: launch " << launch_ << " of " << launches_ << ", about "
          << clock_text(left) << " left" << std::endl;
  }
}

void Progress::end() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  // What follows is written over the bar.
  *out_ << "\r\033[K" << std::flush;
}

void Progress::draw(std::stop_token stop) const {
  using namespace std::chrono_literals;
  do {
    const double share = share_in(share_file_);
    const double left = seconds_ * (launches_ - launch_ + 1 - share);
    *out_ << '\r' << bar_text(launch_, launches_, (launch_ - 1 + share) / launches_, left)
          << "\033[K" << std::flush;
    for (int i = 0; i < 5 && !stop.stop_requested(); ++i) std::this_thread::sleep_for(100ms);
  } while (!stop.stop_requested());
}

}  // namespace foretrace::measure
