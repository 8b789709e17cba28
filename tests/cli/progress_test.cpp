#include "cli/simulate/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

namespace foretrace::cli {
namespace {

// Standard error is another file as long as it lives.
class StandardError {
 public:
  explicit StandardError(int file) : saved_(::dup(STDERR_FILENO)) { ::dup2(file, STDERR_FILENO); }
  ~StandardError() {
    ::dup2(saved_, STDERR_FILENO);
    ::close(saved_);
  }
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;

 private:
  int saved_;
};

// What a terminal as standard error shows of it.
template <class Work>
std::string shown_by(Work work) {
  int screen = -1, terminal = -1;
  EXPECT_EQ(::openpty(&screen, &terminal, nullptr, nullptr, nullptr), 0);
  {
    const StandardError error(terminal);
    work();
  }
  // What was written may come in parts; all of it is there.
  std::string text;
  pollfd ready{screen, POLLIN, 0};
  while (::poll(&ready, 1, 200) > 0) {
    char part[1000];
    const ssize_t length = ::read(screen, part, sizeof part);
    if (length <= 0) break;
    text.append(part, static_cast<std::size_t>(length));
  }
  ::close(terminal);
  ::close(screen);
  return text;
}

TEST(Progress, IsTold) {
  const std::string text = shown_by([] {
    const auto tell = replay_progress([] { return 0.25; });
    ASSERT_TRUE(tell);
    tell({.messages = 1'000'000});  // too early
    std::this_thread::sleep_for(std::chrono::milliseconds(2200));
    tell({.messages = 3'000'000});
    tell({.messages = 4'000'000});  // too soon after it
  });
  // A quarter in 2.2 s or somewhat more.
  EXPECT_THAT(text,
              testing::MatchesRegex(
                  "\r\033\\[Kreplayed 3 million messages, 25 %, about [0-9]+ s left\r\033\\[K"));
}

TEST(Progress, RunsAreCounted) {
  const std::string text = shown_by([] {
    const CountDone tell = count_progress("draws");
    ASSERT_TRUE(tell);
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    tell(1, 40);
    tell(2, 40);  // too soon after it
    tell(40, 40);
  });
  // 39 times 1.1 s or somewhat more.
  EXPECT_THAT(text,
              testing::MatchesRegex(
                  "\r\033\\[K1 of 40 draws, about ([45][0-9] s|[0-9]+ min[^\r]*) left\r\033\\[K"));
}

TEST(Progress, IsNothingForFiles) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const StandardError error(ends[1]);
  EXPECT_FALSE(replay_progress({}));
  EXPECT_FALSE(count_progress("draws"));
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace foretrace::cli
