#include "trace/run_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "base/error.hpp"
#include "base/whole_file.hpp"
#include "scratch.hpp"
#include "trace/trace_writer.hpp"

namespace foretrace::trace {
namespace {

namespace fs = std::filesystem;

class RunFiles : public ScratchFolder {
 protected:
  std::string text(const std::string& name) { return read_if_possible(path(name)); }
};

TEST_F(RunFiles, OneRunAtATime) {
  std::optional<RunFile> first(std::in_place, path("a.part"), "first", "trace");
  try {
    const RunFile second(path("a.part"), "second", "trace");
    FAIL() << "the first run is not over";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("another run is writing it"), std::string::npos);
  }
  EXPECT_THROW(remove_left_over(path("a.part")), Error);
  EXPECT_EQ(text("a.part"), "first");
  first.reset();
  const RunFile third(path("a.part"), "third", "trace");
  EXPECT_EQ(text("a.part"), "third");
}

TEST_F(RunFiles, WhatARunThatDiedLeftIsReplaced) {
  const pid_t child = ::fork();
  if (child == 0) {
    const RunFile file(path("a.part"), "dead", "trace");
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  ASSERT_EQ(text("a.part"), "dead");
  const RunFile next(path("a.part"), "next", "trace");
  EXPECT_EQ(text("a.part"), "next");
}

TEST_F(RunFiles, IsTheUsersToReadWhateverTheProgramsUmask) {
  const mode_t before = ::umask(0777);
  std::optional<RunFile> file(std::in_place, path("a.part"), "own", "trace");
  ::umask(before);
  EXPECT_EQ(fs::status(path("a.part")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

// Programs fork: the copy's end says nothing of the run.
TEST_F(RunFiles, ACopyOfTheProcessHoldsNothing) {
  RunFile file(path("a.part"), "own", "trace");
  const pid_t child = ::fork();
  if (child == 0) {
    file.let_go();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_THROW(remove_left_over(path("a.part")), Error);
}

// What a process has mapped stays, whoever takes the name: to touch it would otherwise
// end the program with SIGBUS.
TEST_F(RunFiles, MappedPagesStay) {
  constexpr std::size_t kSize = 8192;
  std::ofstream(path("a.part")) << std::string(kSize, 'x');
  const int fd = ::open(path("a.part").c_str(), O_RDWR);
  auto* mapped =
      static_cast<char*>(::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  ASSERT_NE(mapped, MAP_FAILED);
  const RunFile next(path("a.part"), "new", "trace");
  mapped[kSize - 1] = 'y';
  EXPECT_EQ(mapped[kSize - 1], 'y');
  EXPECT_EQ(text("a.part"), "new");
  ::munmap(mapped, kSize);
  ::close(fd);
}

TEST_F(RunFiles, ManyAtOnceGetOneEach) {
  constexpr int kProcesses = 8;
  int made = 0;
  pid_t children[kProcesses];
  int go[2];
  ASSERT_EQ(::pipe(go), 0);
  for (pid_t& child : children) {
    child = ::fork();
    if (child != 0) continue;
    char byte = 0;
    ::close(go[1]);
    static_cast<void>(::read(go[0], &byte, 1) + 1);
    try {
      const RunFile file(path("a.part"), "one", "trace");
      ::usleep(500'000);
      ::_exit(0);
    } catch (const Error&) {
      ::_exit(1);
    }
  }
  ::close(go[0]);
  ::close(go[1]);
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    made += WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : 0;
  }
  EXPECT_EQ(made, 1);
}

TEST_F(RunFiles, CannotBeMade) {
  EXPECT_THROW(RunFile(path("none/a.part"), "x", "trace"), Error);
  fs::create_directories(path("folder"));
  EXPECT_THROW(RunFile(path("folder"), "x", "trace"), Error);
}

}  // namespace
}  // namespace foretrace::trace
