#include "live/joint_comms.hpp"

#include <gtest/gtest.h>

namespace foretrace::live {
namespace {

class JointCommsTest : public testing::Test {
 protected:
  trace::CommId ask(int rank, std::int32_t tag = 0, std::vector<int> members = {0, 1, 2},
                    trace::CommId parent = 0) {
    JointComms::Wish wish{parent, tag, {}};
    for (const int member : members) wish.members.emplace_back(member);
    return comms_.join(WorldRank(rank), wish, [&](const std::vector<WorldRank>& all) {
      EXPECT_EQ(all, wish.members);
      return made_++;
    });
  }

  JointComms comms_;
  trace::CommId made_ = 10;
};

TEST_F(JointCommsTest, AllMembersGetTheSame) {
  EXPECT_EQ(ask(2), 10u);
  EXPECT_EQ(ask(0), 10u);
  EXPECT_EQ(ask(1), 10u);
  EXPECT_EQ(ask(1), 11u);  // the next one
}

TEST_F(JointCommsTest, WhoeverIsAheadIsMetInOrder) {
  EXPECT_EQ(ask(0), 10u);
  EXPECT_EQ(ask(0), 11u);
  EXPECT_EQ(ask(1), 10u);
  EXPECT_EQ(ask(2), 10u);
  EXPECT_EQ(ask(2), 11u);
  EXPECT_EQ(ask(1), 11u);
  EXPECT_EQ(ask(2), 12u);
}

TEST_F(JointCommsTest, TagsParentsAndOrdersAreApart) {
  EXPECT_EQ(ask(0), 10u);
  EXPECT_EQ(ask(1, 7), 11u);
  EXPECT_EQ(ask(1, 0, {2, 1, 0}), 12u);
  EXPECT_EQ(ask(1, 0, {0, 1, 2}, 5), 13u);
  EXPECT_EQ(ask(0, 7), 11u);
  EXPECT_EQ(ask(1), 10u);
}

}  // namespace
}  // namespace foretrace::live
