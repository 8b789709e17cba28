#include "analysis/unattended.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace foretrace::analysis {
namespace {

using trace::Event;
using trace::EventKind;

constexpr Bytes kAttended{257};
constexpr const char* kNames[] = {"MPI_Isend", "MPI_Wait", "MPI_Comm_rank", "MPI_Test",
                                  "MPI_Barrier"};

Time ms(std::int64_t count) {
  return Time::ns(count * 1'000'000);
}

// Events of a rank, one after the other; times in ms.
struct Events {
  std::vector<Event> all;

  Event& add(EventKind kind, trace::NameId name, std::int64_t enter, std::int64_t leave) {
    Event& event = all.emplace_back();
    event.kind = kind;
    event.name = name;
    event.enter = ms(enter);
    event.leave = ms(leave);
    return event;
  }
  void isend(std::int32_t to, std::int64_t at, std::uint64_t request, Bytes bytes = kAttended) {
    Event& event = add(EventKind::isend, 0, at, at);
    event.send.peer = WorldRank(to);
    event.send.bytes = bytes;
    event.request = request;
  }
  Event& wait(std::int64_t enter, std::int64_t leave, std::uint64_t request) {
    Event& event = add(EventKind::complete, 1, enter, leave);
    event.completions.push_back({.request = request, .source = {}, .tag = 0, .bytes = {}});
    return event;
  }
  Event& call(trace::NameId name, std::int64_t enter, std::int64_t leave) {
    return add(EventKind::call, name, enter, leave);
  }
  void end(std::int64_t at) { add(EventKind::finalize, 4, at, at); }
};

class Unattending : public testing::Test {
 protected:
  UnattendedSends sends() const {
    return UnattendedSends(
        static_cast<int>(ranks_.size()),
        [](WorldRank, WorldRank, machine::SendMode mode, Bytes bytes) {
          return mode == machine::SendMode::synchronous || bytes >= kAttended;
        },
        [](WorldRank, trace::NameId name) { return kNames[name]; });
  }
  void add(UnattendedSends& sends, std::size_t rank, std::size_t from, std::size_t to) const {
    for (std::size_t i = from; i < to; ++i) {
      const Event& event = ranks_[rank].all[i];
      sends.add(WorldRank(static_cast<std::int32_t>(rank)), event, event.enter, event.leave,
                event.wait, event.completions);
    }
  }
  // The same in whatever order the ranks' events come.
  std::optional<Unattended> most(std::int64_t end) const {
    std::vector<std::optional<Unattended>> found;
    for (int order = 0; order < 3; ++order) {
      UnattendedSends all = sends();
      if (order < 2) {
        for (std::size_t i = 0; i < ranks_.size(); ++i) {
          const std::size_t rank = order == 0 ? i : ranks_.size() - 1 - i;
          add(all, rank, 0, ranks_[rank].all.size());
        }
      } else {
        for (std::size_t i = 0; i < 100; ++i)
          for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
            if (i < ranks_[rank].all.size()) add(all, rank, i, i + 1);
      }
      found.push_back(all.most(ms(end)));
    }
    for (const auto& each : found) {
      EXPECT_EQ(each.has_value(), found[0].has_value());
      if (each && found[0]) {
        EXPECT_EQ(each->early, found[0]->early);
      }
    }
    return found[0];
  }

  // Rank 0 sends at 1, has gone on at 1, and ends at 12; rank 1 ends its receive from `enter` to
  // `leave`.
  void one_send(std::int64_t enter, std::int64_t leave, Bytes bytes = kAttended) {
    ranks_[0].isend(1, 1, 1, bytes);
    ranks_[0].wait(1, 1, 1);
    ranks_[0].end(12);
    ranks_[1].wait(enter, leave, 9);
    ranks_[1].end(12);
  }

  std::vector<Events> ranks_ = std::vector<Events>(2);
};

// Rank 1 computes from 0 to 10.
TEST_F(Unattending, UntilTheReceiverCallsAgain) {
  one_send(10, 10);
  const auto found = most(12);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, WorldRank(0));
  EXPECT_EQ(found->receiver, WorldRank(1));
  EXPECT_EQ(found->name, trace::NameId{1});
  EXPECT_EQ(found->early, ms(9));
}

TEST_F(Unattending, ShorterSendsEndByThemselves) {
  one_send(10, 10, Bytes(256));
  EXPECT_FALSE(most(12));
}

TEST_F(Unattending, NotWhileTheReceiverIsInACall) {
  one_send(0, 10);
  EXPECT_FALSE(most(12));
}

// A message that nobody receives, sent when its receiver has ended; those before and after it
// count.
TEST_F(Unattending, NobodyWaitsForARankThatHasEnded) {
  ranks_.resize(3);
  one_send(10, 10);
  ranks_[0].all.pop_back();
  for (const auto& [to, at] : {std::pair(1, 13), {2, 15}}) {
    ranks_[0].isend(to, at, static_cast<std::uint64_t>(at));
    ranks_[0].wait(at, at, static_cast<std::uint64_t>(at));
  }
  ranks_[2].wait(20, 20, 9);
  for (const std::size_t rank : {0, 2}) ranks_[rank].end(20);
  const auto found = most(20);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->early, ms(9 + 5));
}

// It looks from 2 on, and it is not known when in the 8 calls.
TEST_F(Unattending, NotWhileTheReceiverLooksAgainAndAgain) {
  ranks_[0].isend(1, 3, 1);
  ranks_[0].wait(3, 3, 1);
  ranks_[0].end(12);
  ranks_[1].wait(1, 2, 9);
  ranks_[1].call(3, 10, 10).count = 8;
  ranks_[1].end(12);
  EXPECT_FALSE(most(12));
}

// The receiver computes for 4 us before each of its calls.
TEST_F(Unattending, ShortStaysCountAsNone) {
  ranks_[0].isend(1, 2, 1);
  ranks_[0].wait(2, 2, 1);
  ranks_[0].end(12);
  ranks_[1].wait(0, 2, 9).leave -= Time::ns(2'000);
  ranks_[1].wait(2, 10, 10).enter += Time::ns(2'000);
  ranks_[1].end(12);
  EXPECT_FALSE(most(12));
}

// Who looks now and then finds it complete later, and computes meanwhile.
TEST_F(Unattending, WhoOnlyLooksDoesNotWait) {
  one_send(10, 10);
  ranks_[0].all[1].name = 3;
  EXPECT_FALSE(most(12));
}

// Ten of 1 ms at one call, and one of 3 ms at another.
TEST_F(Unattending, NamesTheCallWhereMostIs) {
  for (std::uint64_t i = 0; i < 10; ++i) {
    const auto at = static_cast<std::int64_t>(2 * i);
    ranks_[0].isend(1, at + 1, i);
    ranks_[0].wait(at + 1, at + 1, i).site = 8;
    ranks_[1].wait(at, at, 100);
    ranks_[1].wait(at + 2, at + 2, 101);
  }
  ranks_[0].isend(1, 21, 50);
  ranks_[0].wait(21, 21, 50).site = 7;
  ranks_[1].wait(24, 24, 102);
  ranks_[0].end(30);
  ranks_[1].end(30);
  const auto found = most(30);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->site, trace::SiteId{8});
  EXPECT_EQ(found->early, ms(10 + 3));
}

// What tells the rank of itself moves no messages.
TEST_F(Unattending, LocalCallsDoNotCount) {
  ranks_[0].isend(1, 1, 1);
  ranks_[0].wait(1, 1, 1);
  ranks_[0].end(12);
  ranks_[1].call(2, 5, 5);
  ranks_[1].call(3, 8, 8);
  ranks_[1].end(12);
  const auto found = most(12);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->early, ms(7));
}

// Two sends in one stay of the receiver outside: the second one would be sent later.
TEST_F(Unattending, OneStayCountsOnce) {
  for (const std::int64_t at : {1, 3}) {
    ranks_[0].isend(1, at, static_cast<std::uint64_t>(at));
    ranks_[0].wait(at, at, static_cast<std::uint64_t>(at));
  }
  ranks_[0].end(12);
  ranks_[1].wait(10, 10, 9);
  ranks_[1].end(12);
  const auto found = most(12);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->early, ms(9));
}

// 3 early, then a wait of 2, then 4 early.
TEST_F(Unattending, WaitsBetweenHideIt) {
  ranks_[0].isend(1, 1, 1);
  ranks_[0].wait(1, 1, 1);
  ranks_[0].call(4, 3, 5).wait = ms(2);
  ranks_[0].isend(1, 6, 2);
  ranks_[0].wait(6, 6, 2);
  ranks_[0].end(12);
  for (const std::int64_t at : {4, 10}) ranks_[1].wait(at, at, 9);
  ranks_[1].end(12);
  const auto found = most(12);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->early, ms(3 - 2 + 4));
}

TEST_F(Unattending, LaterWaitsHideIt) {
  ranks_[0].isend(1, 1, 1);
  ranks_[0].wait(1, 1, 1);
  ranks_[0].call(4, 4, 10).wait = ms(6);
  ranks_[0].end(12);
  ranks_[1].wait(10, 10, 9);
  ranks_[1].end(13);
  const auto found = most(13);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->early, ms(9 - 6 - 1));  // the run ends 1 after the rank
}

}  // namespace
}  // namespace foretrace::analysis
