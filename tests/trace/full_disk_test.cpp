// A full disk: the writer stops and counts, what was written stays readable.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"
#include "samples.hpp"
#include "scratch.hpp"
#include "trace/damage.hpp"

namespace foretrace::trace {
namespace {

constexpr std::size_t kFullDiskEvents = 40'000;  // about 1.2 MB

struct Outcome {
  std::size_t written = 0;  // events before the first loss
  std::uint64_t lost = 0;
  int error = 0;
};

Outcome write_until_full(const std::string& path) {
  const std::vector<Event> events = many_events(2, 0, kFullDiskEvents, Clock::virtual_);
  TraceWriter writer(path, WorldRank(0), Clock::virtual_);
  define(writer, 2);
  Outcome outcome;
  for (const Event& event : events) {
    writer.write(event);
    if (writer.lost() == 0) ++outcome.written;
  }
  outcome.lost = writer.lost();
  outcome.error = writer.error();
  return outcome;
}

void expect_intact(const std::string& path, const Outcome& outcome) {
  EXPECT_GT(outcome.written, 100u);
  EXPECT_LT(outcome.written, kFullDiskEvents);
  EXPECT_EQ(outcome.written + outcome.lost, kFullDiskEvents) << "one record is one loss";
  TraceReader reader(path);
  EXPECT_EQ(read_all(reader, 0), many_events(2, 0, outcome.written, Clock::virtual_));
  // Nothing of the record that did not fit is there, and the file says that it is not.
  ASSERT_EQ(reader.damage().size(), 1u);
  EXPECT_EQ(reader.damage()[0].rank, WorldRank(0));
  EXPECT_NE(reader.damage()[0].what.find("found no room"), std::string::npos);
  EXPECT_THROW(refuse_damaged(reader), Error);
}

class FullDisk : public ScratchFolder {};

// The limit on a file's size stands in for the disk: write() gives less, then
// EFBIG, and no signal ends the program. In a child, so that it ends with the test.
TEST_F(FullDisk, LimitOfTheFilesSize) {
  for (const rlim_t limit : {100'000u, 102'400u, 600'001u}) {
    create_trace_file(path("a.ftr"), sample_info(2, Clock::virtual_));
    int channel[2];
    ASSERT_EQ(::pipe(channel), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(SIGXFSZ, SIG_DFL);  // would end the process
      const rlimit most{limit, limit};
      ::setrlimit(RLIMIT_FSIZE, &most);
      const Outcome outcome = write_until_full(path("a.ftr"));
      ::_exit(::write(channel[1], &outcome, sizeof outcome) == sizeof outcome ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    Outcome outcome;
    ASSERT_EQ(::read(channel[0], &outcome, sizeof outcome), ssize_t{sizeof outcome});
    ::close(channel[0]);
    ::close(channel[1]);
    EXPECT_EQ(outcome.error, EFBIG);
    expect_intact(path("a.ftr"), outcome);
  }
}

class SmallDisk : public FullDisk {
 protected:
  void SetUp() override {
    FullDisk::SetUp();
    std::filesystem::create_directories(path("disk"));
    mounted_ = ::mount("tmpfs", path("disk").c_str(), "tmpfs", 0, "size=200k") == 0;
    if (!mounted_) GTEST_SKIP() << "needs the right to mount";
  }
  void TearDown() override {
    if (mounted_) ::umount(path("disk").c_str());
    FullDisk::TearDown();
  }
  bool mounted_ = false;
};

TEST_F(SmallDisk, WriterStops) {
  create_trace_file(path("disk/a.ftr"), sample_info(2, Clock::virtual_));
  const Outcome outcome = write_until_full(path("disk/a.ftr"));
  EXPECT_EQ(outcome.error, ENOSPC);
  expect_intact(path("disk/a.ftr"), outcome);
}

TEST_F(SmallDisk, FailedSealingLeavesTheSource) {
  create_trace_file(path("disk/a.part"), sample_info(2, Clock::virtual_));
  const Outcome outcome = write_until_full(path("disk/a.part"));
  const std::string before = read_bytes(path("disk/a.part"));
  EXPECT_THROW(seal_trace_file(path("disk/a.part"), path("disk/a.ftr")), Error);
  EXPECT_EQ(read_bytes(path("disk/a.part")), before);
  EXPECT_FALSE(std::filesystem::exists(path("disk/a.ftr")));
  EXPECT_FALSE(std::filesystem::exists(path("disk/a.ftr.new")));
  expect_intact(path("disk/a.part"), outcome);
}

TEST_F(SmallDisk, TheSecondWriterStopsToo) {
  create_trace_file(path("disk/a.ftr"), sample_info(2, Clock::virtual_));
  TraceWriter late(path("disk/a.ftr"), WorldRank(1), Clock::virtual_);
  define(late, 2);
  write_until_full(path("disk/a.ftr"));
  for (const Event& event : many_events(2, 1, 1000, Clock::virtual_)) late.write(event);
  EXPECT_GT(late.lost(), 0u);
  TraceReader reader(path("disk/a.ftr"));
  EXPECT_EQ(read_all(reader, 1).size() + late.lost(), 1000u);
  EXPECT_EQ(reader.damage().size(), 2u) << "both ranks say that they lost something";
  EXPECT_THROW(TraceWriter(path("disk/a.ftr"), WorldRank(1), Clock::virtual_), Error);
  EXPECT_THROW(create_trace_file(path("disk/b.ftr"), sample_info(2, Clock::cpu)), Error);
  EXPECT_FALSE(std::filesystem::exists(path("disk/b.ftr"))) << "half a file";
}

}  // namespace
}  // namespace foretrace::trace
