#include "mpi_api/stand_ins.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace foretrace::mpi_api {
namespace {

TEST(StandIns, AreOfTheirKind) {
  EXPECT_EQ(stand_in_for(StandInKind::charged, "recvmin"), "recv");
  EXPECT_EQ(stand_in_for(StandInKind::moving, "recvmin"), "");
  EXPECT_EQ(stand_in_for(StandInKind::moving, "rput"), "put");
  EXPECT_EQ(stand_in_for(StandInKind::making, "cart_create"), "comm_create");
  EXPECT_EQ(stand_in_for(StandInKind::charged, "rput"), "");
  EXPECT_EQ(stand_in_for(StandInKind::charged, "send"), "");
  EXPECT_EQ(stand_in_for(StandInKind::charged, ""), "");
}

// Whoever follows them comes to an end.
TEST(StandIns, HaveNoCircle) {
  int chains = 0;
#define FORETRACE_STAND_IN(kind, function, stand_in)                                  \
  {                                                                                   \
    ++chains;                                                                         \
    std::set<std::string_view> seen;                                                  \
    for (std::string_view name = function; !name.empty();                             \
         name = stand_in_for(StandInKind::kind, name))                                \
      ASSERT_TRUE(seen.insert(name).second) << function << " comes back to " << name; \
  }
#include "mpi_stand_ins.inc"
#undef FORETRACE_STAND_IN
  EXPECT_GT(chains, 40);
}

}  // namespace
}  // namespace foretrace::mpi_api
