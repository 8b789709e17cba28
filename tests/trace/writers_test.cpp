// Several processes write one file; some of them are killed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "samples.hpp"
#include "scratch.hpp"

namespace foretrace::trace {
namespace {

constexpr int kWritersRanks = 4;
constexpr std::size_t kWritersEvents = 5000;

class Writers : public ScratchFolder {
 protected:
  void create() { create_trace_file(path("a.ftr"), sample_info(kWritersRanks, Clock::virtual_)); }

  // Runs `action` in a process of its own.
  template <class Action>
  static pid_t in_child(Action action) {
    const pid_t child = ::fork();
    if (child == 0) {
      action();
      ::_exit(0);
    }
    return child;
  }

  static int wait_for(pid_t child) {
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
  }

  void write_rank(int rank) {
    TraceWriter writer(path("a.ftr"), WorldRank(rank), Clock::virtual_);
    define(writer, kWritersRanks);
    for (const Event& event : many_events(kWritersRanks, rank, kWritersEvents, Clock::virtual_))
      writer.write(event);
    if (writer.lost() > 0) ::_exit(1);
  }

  void expect_all_ranks() {
    TraceReader reader(path("a.ftr"));
    for (int rank = 0; rank < kWritersRanks; ++rank)
      EXPECT_EQ(read_all(reader, rank),
                many_events(kWritersRanks, rank, kWritersEvents, Clock::virtual_))
          << rank;
    EXPECT_TRUE(reader.damage().empty());
  }
};

TEST_F(Writers, ProcessesAtTheSameTime) {
  for (int round = 0; round < 10; ++round) {
    create();
    std::vector<pid_t> children;
    for (int rank = 0; rank < kWritersRanks; ++rank)
      children.push_back(in_child([this, rank] { write_rank(rank); }));
    for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
    expect_all_ranks();
  }
}

// Records of several blocks' size, while another rank appends blocks of its own.
TEST_F(Writers, RecordsLargerThanABlock) {
  create();
  TraceWriter writer(path("a.ftr"), WorldRank(1), Clock::virtual_);
  TraceWriter other(path("a.ftr"), WorldRank(2), Clock::virtual_);
  define(writer, kWritersRanks);
  define(other, kWritersRanks);
  std::vector<Event> events = many_events(kWritersRanks, 1, kWritersEvents, Clock::virtual_);
  const Completion completion{7, WorldRank(0), 3, Bytes(1000), false};
  Event many = events[51];
  ASSERT_EQ(many.kind, EventKind::complete);
  many.enter = many.leave;
  many.compute = Time();
  for (const std::size_t count : {100u, 10'000u, 200'000u, 1'000'000u}) {
    many.completions.assign(count, completion);
    events.insert(events.begin() + 52, many);
  }
  const std::vector<Event> of_other =
      many_events(kWritersRanks, 2, kWritersEvents, Clock::virtual_);
  for (std::size_t i = 0; i < events.size(); ++i) {
    writer.write(events[i]);
    if (i < of_other.size()) other.write(of_other[i]);
  }
  EXPECT_EQ(writer.lost(), 0u);
  TraceReader reader(path("a.ftr"));
  EXPECT_TRUE(read_all(reader, 1) == events);
  EXPECT_TRUE(read_all(reader, 2) == of_other);
  EXPECT_TRUE(reader.damage().empty());
}

// Round robin by events: every writer's blocks lie between those of the others.
TEST_F(Writers, InterleavedEventByEvent) {
  create();
  std::vector<TraceWriter> writers;
  std::vector<std::vector<Event>> events;
  for (int rank = 0; rank < kWritersRanks; ++rank) {
    writers.emplace_back(path("a.ftr"), WorldRank(rank), Clock::virtual_);
    define(writers.back(), kWritersRanks);
    events.push_back(many_events(kWritersRanks, rank, kWritersEvents, Clock::virtual_));
  }
  for (std::size_t i = 0; i < kWritersEvents; ++i)
    for (std::size_t rank = writers.size(); rank-- > 0;) writers[rank].write(events[rank][i]);
  // The writers still hold their blocks: a file that is being written is readable.
  expect_all_ranks();
}

TEST_F(Writers, MovedWriterGoesOn) {
  create();
  TraceWriter first(path("a.ftr"), WorldRank(0), Clock::virtual_);
  define(first, kWritersRanks);
  const std::vector<Event> events = many_events(kWritersRanks, 0, 100, Clock::virtual_);
  for (std::size_t i = 0; i < 50; ++i) first.write(events[i]);
  TraceWriter second = std::move(first);
  for (std::size_t i = 50; i < 100; ++i) second.write(events[i]);
  TraceReader reader(path("a.ftr"));
  EXPECT_EQ(read_all(reader, 0), events);
}

TEST_F(Writers, KilledBetweenWrites) {
  for (const std::size_t count : {0u, 1u, 2u, 100u, 3000u}) {
    create();
    const pid_t child = in_child([&] {
      TraceWriter writer(path("a.ftr"), WorldRank(1), Clock::virtual_);
      define(writer, kWritersRanks);
      const std::vector<Event> events =
          many_events(kWritersRanks, 1, kWritersEvents, Clock::virtual_);
      for (std::size_t i = 0; i < count; ++i) writer.write(events[i]);
      ::raise(SIGKILL);
    });
    EXPECT_EQ(WTERMSIG(wait_for(child)), SIGKILL);
    TraceReader reader(path("a.ftr"));
    EXPECT_EQ(read_all(reader, 1), many_events(kWritersRanks, 1, count, Clock::virtual_));
    EXPECT_TRUE(reader.damage().empty());
    EXPECT_FALSE(reader.sealed());
  }
}

// From outside, at any moment: what write() returned for is there, and
// the record under way is there as a whole or not at all.
TEST_F(Writers, KilledAnywhere) {
  void* shared = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* written = new (shared) std::atomic<std::size_t>(0);
  const std::vector<Event> events = many_events(kWritersRanks, 1, kWritersEvents, Clock::virtual_);
  for (int round = 0; round < 50; ++round) {
    create();
    *written = 0;
    const pid_t child = in_child([&] {
      TraceWriter writer(path("a.ftr"), WorldRank(1), Clock::virtual_);
      define(writer, kWritersRanks);
      for (const Event& event : events) {
        writer.write(event);
        ++*written;
      }
      ::pause();
    });
    const std::size_t enough = static_cast<std::size_t>(round) * 97;
    while (*written < enough) std::atomic_thread_fence(std::memory_order_seq_cst);
    ::kill(child, SIGKILL);
    wait_for(child);
    TraceReader reader(path("a.ftr"));
    const std::vector<Event> read = read_all(reader, 1);
    EXPECT_GE(read.size(), written->load());
    ASSERT_LE(read.size(), events.size());
    for (std::size_t i = 0; i < read.size(); ++i) ASSERT_EQ(read[i], events[i]) << i;
    EXPECT_TRUE(reader.damage().empty());
  }
  ::munmap(shared, 4096);
}

// One rank dies early; the blocks of the others do not suffer.
TEST_F(Writers, OneOfThemKilled) {
  create();
  const pid_t dying = in_child([&] {
    TraceWriter writer(path("a.ftr"), WorldRank(0), Clock::virtual_);
    define(writer, kWritersRanks);
    for (const Event& event : many_events(kWritersRanks, 0, 700, Clock::virtual_))
      writer.write(event);
    ::raise(SIGKILL);
  });
  std::vector<pid_t> others;
  for (int rank = 1; rank < kWritersRanks; ++rank)
    others.push_back(in_child([this, rank] { write_rank(rank); }));
  wait_for(dying);
  for (const pid_t child : others) EXPECT_EQ(wait_for(child), 0);
  TraceReader reader(path("a.ftr"));
  EXPECT_EQ(read_all(reader, 0), many_events(kWritersRanks, 0, 700, Clock::virtual_));
  for (int rank = 1; rank < kWritersRanks; ++rank)
    EXPECT_EQ(read_all(reader, rank),
              many_events(kWritersRanks, rank, kWritersEvents, Clock::virtual_));
}

}  // namespace
}  // namespace foretrace::trace
