#include "cli/simulate/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
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

TEST(Progress, IsTold) {
  int screen = -1, terminal = -1;
  ASSERT_EQ(::openpty(&screen, &terminal, nullptr, nullptr, nullptr), 0);
  {
    const StandardError error(terminal);
    const auto tell = progress_teller([] { return 0.25; });
    ASSERT_TRUE(tell);
    tell({.messages = 1'000'000});  // too early
    std::this_thread::sleep_for(std::chrono::milliseconds(2200));
    tell({.messages = 3'000'000});
    tell({.messages = 4'000'000});  // too soon after it
  }
  char text[1000];
  const ssize_t length = ::read(screen, text, sizeof text);
  ::close(terminal);
  ::close(screen);
  ASSERT_GT(length, 0);
  // A quarter in 2.2 s or somewhat more.
  EXPECT_THAT(std::string(text, static_cast<std::size_t>(length)),
              testing::MatchesRegex(
                  "\r\033\\[Kreplayed 3 million messages, 25 %, about [0-9]+ s left\r\033\\[K"));
}

TEST(Progress, IsNothingForFiles) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const StandardError error(ends[1]);
  EXPECT_FALSE(progress_teller({}));
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace foretrace::cli
