#include "study/lock.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

namespace foretrace::study {
namespace {

namespace fs = std::filesystem;

class LockTest : public testing::Test {
 protected:
  LockTest() { fs::remove(path_); }
  ~LockTest() override { fs::remove(path_); }

  const std::string path_ =
      (fs::temp_directory_path() / ("foretrace_lock_test_" + std::to_string(::getpid()))).string();
};

TEST_F(LockTest, OneHasIt) {
  FileLock first = FileLock::try_for(path_);
  EXPECT_TRUE(first.holds());
  EXPECT_FALSE(FileLock::try_for(path_).holds());
  first.release();
  EXPECT_TRUE(FileLock::try_for(path_).holds());
}

TEST_F(LockTest, LeavesNoFile) {
  FileLock lock = FileLock::try_for(path_);
  EXPECT_TRUE(fs::exists(path_));
  lock.remove();
  EXPECT_FALSE(lock.holds());
  EXPECT_FALSE(fs::exists(path_));
}

// Who waited for a file that is removed has a lock on nothing that others would find.
TEST_F(LockTest, IsOneLockThoughItsFileIsRemoved) {
  FileLock first = FileLock::try_for(path_);
  FileLock second;
  std::thread waits([&] { second = FileLock::wait_for(path_, true); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // it waits by now, or comes later
  first.remove();
  waits.join();
  EXPECT_TRUE(second.holds());
  EXPECT_FALSE(FileLock::try_for(path_).holds());
}

TEST_F(LockTest, WaitsSoLong) {
  FileLock first = FileLock::try_for(path_);
  FileLock second;
  std::thread waits([&] { second = FileLock::try_for(path_, 600); });
  first.remove();
  waits.join();
  EXPECT_TRUE(second.holds());
}

}  // namespace
}  // namespace foretrace::study
