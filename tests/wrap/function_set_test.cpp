// Which functions a template's words name.
#include "wrap/function_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "functions.hpp"

namespace foretrace::wrap {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> named(std::string_view text) {
  const FunctionSet set(text, "t:1: ");
  std::vector<std::string> names;
  for (const MpiFunction& function : kFunctions)
    if (set.contains(function.name, [](std::string_view name) { return name == "MPI_Recv"; }))
      names.emplace_back(function.name.substr(4));
  return names;
}

std::string set_refusal(std::string_view text) {
  try {
    const FunctionSet set(text, "t:1: ");
    set.check(kFunctions);
  } catch (const Error& error) {
    return error.what();
  }
  return "was accepted";
}

TEST(FunctionSet, ANameBringsItsFormForLargeCounts) {
  EXPECT_THAT(named("MPI_Send"), ElementsAre("Send", "Send_c"));
  EXPECT_THAT(named("MPI_Send_c"), ElementsAre("Send_c"));
}

TEST(FunctionSet, Patterns) {
  EXPECT_THAT(named("MPI_?arrier"), ElementsAre("Barrier"));
  EXPECT_THAT(named("*arrier"), ElementsAre("Barrier", "Ibarrier"));
  EXPECT_THAT(named("/^MPI_[SR]e/"), ElementsAre("Recv", "Send", "Send_c"));
  EXPECT_THAT(named("/^MPI_(Init|Wtime)$/"), ElementsAre("Init", "Wtime"));
  EXPECT_THAT(named("MPI_Nothing*"), IsEmpty());
}

TEST(FunctionSet, Groups) {
  EXPECT_THAT(named("collectives"), ElementsAre("Allreduce", "Barrier", "Ibarrier"));
  EXPECT_THAT(named("sends"), ElementsAre("Send", "Send_c"));
  EXPECT_THAT(named("receives"), ElementsAre("Recv"));
  EXPECT_THAT(named("nonblocking"), ElementsAre("Ibarrier"));
  EXPECT_THAT(named("wrapped"), ElementsAre("Recv"));
}

TEST(FunctionSet, ConversionsAreInNoOtherGroup) {
  EXPECT_THAT(named("conversions"), ElementsAre("Comm_c2f"));
  EXPECT_THAT(named("communicators"), IsEmpty());
  EXPECT_EQ(named("all").size(), kFunctions.size() - 1);
  EXPECT_THAT(named("MPI_Comm_c2f"), ElementsAre("Comm_c2f"));
}

TEST(FunctionSet, OperatorsFromLeftToRight) {
  EXPECT_THAT(named("sends + receives"), ElementsAre("Recv", "Send", "Send_c"));
  EXPECT_THAT(named("sends, MPI_Wtime"), ElementsAre("Send", "Send_c", "Wtime"));
  EXPECT_THAT(named("collectives-nonblocking"), ElementsAre("Allreduce", "Barrier"));
  EXPECT_THAT(named("collectives & nonblocking"), ElementsAre("Ibarrier"));
  EXPECT_THAT(named("collectives - nonblocking + MPI_Ibarrier"),
              ElementsAre("Allreduce", "Barrier", "Ibarrier"));
  EXPECT_THAT(named("MPI_Ibarrier + collectives - nonblocking"),
              ElementsAre("Allreduce", "Barrier"));
}

TEST(FunctionSet, UsesWrapped) {
  EXPECT_TRUE(FunctionSet("all & wrapped", "").uses_wrapped());
  EXPECT_FALSE(FunctionSet("all", "").uses_wrapped());
}

TEST(FunctionSetError, SaysWhereAndWhat) {
  EXPECT_EQ(set_refusal(""), "t:1: which functions? Name some, or a group, or all");
  EXPECT_EQ(set_refusal("all -"), "t:1: expected functions after the last operator");
  EXPECT_EQ(set_refusal("all collectives"),
            "t:1: expected +, -, & or the end of the line, found 'collectives'");
  EXPECT_EQ(set_refusal("+ all"), "t:1: expected functions, found '+ all'");
  EXPECT_THAT(set_refusal("snds"),
              HasSubstr("t:1: no group of functions is called 'snds'; there are "
                        "inits, sends, "));
  EXPECT_THAT(set_refusal("MPI_Sned"), HasSubstr("t:1: this MPI has no function MPI_Sned"));
  EXPECT_EQ(set_refusal("MPI_Sned*"), "was accepted");
  EXPECT_EQ(set_refusal("/MPI"), "t:1: the regular expression has no end /");
  EXPECT_THAT(set_refusal("/(/"), HasSubstr("t:1: /(/ is no regular expression: "));
  EXPECT_THAT(set_refusal("/a{99}/"), HasSubstr("repetition counts"));
  EXPECT_THAT(set_refusal("/" + std::string(201, 'a') + "/"), HasSubstr("longer than 200"));
}

}  // namespace
}  // namespace foretrace::wrap
