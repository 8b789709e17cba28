#include "sim/computed_source.hpp"

#include <gtest/gtest.h>

namespace foretrace::sim {
namespace {

// Says something of its own wherever a source may leave it at the default.
class Talkative : public Source {
 public:
  int ranks() const override { return 1; }
  bool next(WorldRank, Operation&) override { return false; }
  bool ready(WorldRank) const override { return false; }
  bool reactive() const override { return true; }
  bool races() const override { return true; }
  std::string_view name(trace::NameId) const override { return "a name"; }
  const trace::Communicator& comm(trace::CommId) const override { return comm_; }
  std::vector<trace::CommId> take_freed() override { return {trace::CommId(3)}; }
  std::string place(WorldRank) const override { return "a place"; }
  std::string end_reason(WorldRank) const override { return "a reason"; }

 private:
  trace::Communicator comm_;
};

TEST(ComputedSource, HandsOnWhatItsSourceSays) {
  Talkative inner;
  ComputedSource outer(inner, [](WorldRank) { return std::unique_ptr<compute::Rule>(); });
  Operation operation;
  EXPECT_EQ(outer.ranks(), 1);
  EXPECT_FALSE(outer.next(WorldRank(0), operation));
  EXPECT_FALSE(outer.ready(WorldRank(0)));
  EXPECT_TRUE(outer.reactive());
  EXPECT_TRUE(outer.races());
  EXPECT_EQ(outer.name({}), "a name");
  EXPECT_EQ(&outer.comm({}), &inner.comm({}));
  EXPECT_EQ(outer.take_freed(), std::vector{trace::CommId(3)});
  EXPECT_EQ(outer.place(WorldRank(0)), "a place");
  EXPECT_EQ(outer.end_reason(WorldRank(0)), "a reason");
}

}  // namespace
}  // namespace foretrace::sim
