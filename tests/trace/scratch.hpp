// A folder of its own for each test, removed at its end.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace foretrace::trace {

class ScratchFolder : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = testing::TempDir() + "trace_" + test->test_suite_name() + "_" + test->name() + "_" +
              std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

// A file that lies in memory: to be read often, each time with other bytes.
class MemoryFile {
 public:
  MemoryFile() : fd_(::memfd_create("trace", MFD_CLOEXEC)) {}
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }
  void write(const std::string& bytes) {
    EXPECT_EQ(::ftruncate(fd_, 0), 0);
    EXPECT_EQ(::pwrite(fd_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  void put(std::size_t at, char byte) {
    EXPECT_EQ(::pwrite(fd_, &byte, 1, static_cast<off_t>(at)), 1);
  }

 private:
  int fd_;
};

}  // namespace foretrace::trace
