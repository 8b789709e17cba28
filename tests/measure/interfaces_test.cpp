// What the kernel counts of its interfaces, and a message's header by it; hand-computed.
#include "measure/core/interfaces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace foretrace::measure {
namespace {

using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr const char* kTable =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs\n"
    "    lo: 9000      10    0    0    0     0          0         0     9000      10    0\n"
    "  eth0:  500       5    0    0    0     0          0         0     1234       7    0\n"
    "bond0:77 1 0 0 0 0 0 0 4321 1 0\n";

TEST(Interfaces, SentBytesOfAllButLo) {
  EXPECT_THAT(parse_sent_bytes(kTable),
              UnorderedElementsAre(Pair("eth0", 1234), Pair("bond0", 4321)));
  EXPECT_THAT(parse_sent_bytes(""), IsEmpty());
  EXPECT_THAT(parse_sent_bytes("eth0: 1 2 3\nno table"), IsEmpty());
}

// 100 messages of a byte in 9,960: 99 each, of which 98 are header. What lies above counts the
// same.
TEST(Interfaces, Header) {
  EXPECT_EQ(header_of({{"eth0", 1000}}, {{"eth0", 10'960}}, 100, 1), 98u);
  EXPECT_EQ(header_of({{"eth0", 1000}, {"br0", 0}}, {{"eth0", 10'960}, {"br0", 9900}}, 100, 1),
            98u);
}

TEST(Interfaces, NoHeaderWhereTheyPassTheKernelBy) {
  EXPECT_EQ(header_of({{"eth0", 1000}}, {{"eth0", 1700}}, 100, 1), 0u);
  EXPECT_EQ(header_of({}, {{"eth0", 9900}}, 100, 1), 0u);  // it came up meanwhile
  EXPECT_EQ(header_of({{"eth0", 9900}}, {{"eth0", 0}}, 100, 1), 0u);
  EXPECT_EQ(header_of({{"eth0", 0}}, {{"eth0", 500'000}}, 100, 1), 0u);  // something else sends
  EXPECT_EQ(header_of({{"eth0", 0}}, {{"eth0", 9900}}, 0, 1), 0u);
}

}  // namespace
}  // namespace foretrace::measure
