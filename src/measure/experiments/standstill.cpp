#include "measure/experiments/standstill.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/error.hpp"
#include "measure/core/options.hpp"

namespace foretrace::measure {
namespace {

// The longest repetitions on slow networks take half a minute, and more while others use them.
constexpr unsigned kLongest = 300;  // seconds
// All ranks come to a standstill, but not at once; their launcher kills them when one has ended.
constexpr unsigned kForOthers = 3;

unsigned longest = 0;  // seconds; 0: nobody watches
int own_rank = 0;
char position[256] = "";
char mark[4096] = "";
volatile sig_atomic_t told = 0;

// Called within a signal handler.
void end_standing(int) {
  if (told) ::_exit(1);
  told = 1;
  ::close(::open(mark, O_WRONLY | O_CREAT, 0666));
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, position, std::strlen(position));
  ::alarm(kForOthers);
}

}  // namespace

void watch_for_standstill(int rank, const std::string& output) {
  longest = kLongest;
  if (const char* const text = std::getenv("FORETRACE_MEASURE_STANDSTILL")) {
    const std::string_view all = text;
    const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), longest);
    if (error != std::errc() || end != all.data() + all.size() || longest < 1 || longest > 86400)
      throw UsageError("FORETRACE_MEASURE_STANDSTILL: expected seconds from 1 to 86400, found '" +
                       std::string(all) + "'");
  }
  own_rank = rank;
  std::snprintf(mark, sizeof mark, "%s%s", output.c_str(), kStandstillMark);
  struct sigaction action = {};
  action.sa_handler = end_standing;
  ::sigaction(SIGALRM, &action, nullptr);
  begin_work("start");
}

void begin_work(const std::string& what) {
  if (longest == 0) return;
  const int length =
      std::snprintf(position, sizeof position,
                    "foretrace-measure: nothing has gone on for %u s: rank %d stands "
                    "in %.120s\n",
                    longest, own_rank, what.c_str());
  if (length < 0) position[0] = 0;
  at_work();
}

void at_work() {
  if (longest > 0 && !told) ::alarm(longest);
}

}  // namespace foretrace::measure
