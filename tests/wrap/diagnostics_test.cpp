// A compiler's messages: each once, in order, and nothing lost.
#include <gtest/gtest.h>

#include "wrap/diagnostics.hpp"

namespace foretrace::wrap {
namespace {

std::string fault_in(const std::string& function) {
  return "bad.wrap: In function '" + function +
         "':\n"
         "bad.wrap:2:3: error: 'x' undeclared\n"
         "    2 |   x = 1;\n"
         "      |   ^\n";
}

TEST(Diagnostics, OfEachFunctionOnce) {
  const std::string note = "bad.wrap:2:3: note: each undeclared identifier is reported once\n";
  EXPECT_EQ(each_once(fault_in("MPI_Send") + note + fault_in("MPI_Isend") + fault_in("MPI_Ssend")),
            fault_in("MPI_Send") + "  the same in 2 more functions\n" + note);
}

// What differs stays, with the function that it is in; so does what is no message.
TEST(Diagnostics, OthersStay) {
  const std::string others = fault_in("MPI_Send") +
                             "bad.wrap:3:1: warning: y\n"
                             "bad.wrap: In function 'MPI_Recv':\n"
                             "bad.wrap:3:1: warning: z\n"
                             "collect2: error: ld returned 1 exit status\n"
                             "/usr/bin/ld: cannot find -lq\n";
  EXPECT_EQ(each_once(others), others);
  EXPECT_EQ(each_once(""), "");
  EXPECT_EQ(each_once("a line without an end"), "a line without an end\n");
}

}  // namespace
}  // namespace foretrace::wrap
