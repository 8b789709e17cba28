// Templates: what is accepted, and what is said of what is not.
#include "wrap/template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"

namespace foretrace::wrap {
namespace {

using ::testing::HasSubstr;

Template parse(std::string_view text) {
  return parse_template(text, "t.wrap");
}

std::string refusal(std::string_view text) {
  try {
    parse(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "was accepted";
}

TEST(Template, TextIsGlobal) {
  const Template result = parse("int a;\n\n  int b;");
  ASSERT_EQ(result.global.size(), 3u);
  EXPECT_EQ(result.global[0].text, "int a;");
  EXPECT_EQ(result.global[2].text, "  int b;");
  EXPECT_EQ(result.global[2].line, 3);
  EXPECT_FALSE(result.cpp);
}

TEST(Template, Sections) {
  const Template result = parse(
      "%language c++\r\n%wrap sends\r\n  a\r\n  %call\r\n  b\r\n%end\r\n"
      "%init\nc\n%end\n%finalize\nd\n%end\n%init\ne\n%end\n");
  EXPECT_TRUE(result.cpp);
  ASSERT_EQ(result.wraps.size(), 1u);
  const Body& body = result.wraps[0].body;
  ASSERT_EQ(body.size(), 3u);
  EXPECT_EQ(body[0].text, "  a");
  EXPECT_EQ(body[1].kind, Node::Kind::call);
  EXPECT_EQ(result.wraps[0].line, 2);
  ASSERT_EQ(result.init.size(), 2u);
  EXPECT_EQ(result.init[1].text, "e");
  ASSERT_EQ(result.finalize.size(), 1u);
}

TEST(Template, BranchesAndLoopsNest) {
  const Template result = parse(
      "%for f in all\n%if has comm and not (in sends or returns double)\na\n%elif mpi mpich\nb\n"
      "%else\nc\n%end\n%end\n");
  ASSERT_EQ(result.global.size(), 1u);
  const Node& loop = result.global[0];
  EXPECT_EQ(loop.kind, Node::Kind::loop);
  EXPECT_EQ(loop.text, "f");
  ASSERT_EQ(loop.body.size(), 1u);
  ASSERT_EQ(loop.body[0].branches.size(), 3u);
  EXPECT_EQ(loop.body[0].branches[2].condition, std::nullopt);
}

TEST(Template, CommentsAndPercentSigns) {
  const Template result = parse("%% nothing\n  % 2 is C\n%\n%5\nx %call\n");
  ASSERT_EQ(result.global.size(), 4u);
  EXPECT_EQ(result.global[0].text, "  % 2 is C");
}

TEST(TemplateError, SaysWhereAndWhat) {
  EXPECT_THAT(refusal("\n%wrpa all\n"),
              HasSubstr("t.wrap:2: unknown directive %wrpa; there are %wrap, "));
  EXPECT_EQ(refusal("%end\n"), "t.wrap:1: %end, but no section is open");
  EXPECT_EQ(refusal("\n%wrap all\n\n"), "t.wrap:2: %wrap has no %end");
  EXPECT_EQ(refusal("%for f in all\n%if has comm\n%end\n"), "t.wrap:1: %for has no %end");
  EXPECT_EQ(refusal("%call\n"), "t.wrap:1: %call outside of %wrap");
  EXPECT_EQ(refusal("%init\n%call\n%end\n"), "t.wrap:2: %call outside of %wrap");
  EXPECT_EQ(refusal("%wrap all\n%call now\n%end\n"), "t.wrap:2: unexpected 'now' after %call");
  EXPECT_EQ(refusal("%wrap all\n%init\n%end\n%end\n"),
            "t.wrap:2: %init inside %wrap; is its %end missing?");
  EXPECT_EQ(refusal("%wrap wrapped\n%end\n"),
            "t.wrap:1: %wrap cannot ask for the functions that are wrapped");
  EXPECT_EQ(refusal("%init sends\n%end\n"), "t.wrap:1: unexpected 'sends' after %init");
  EXPECT_EQ(refusal("%language java\n"), "t.wrap:1: %language: expected c or c++");
  EXPECT_EQ(refusal("%for in all\n%end\n"), "t.wrap:1: expected %for NAME in FUNCTIONS");
  EXPECT_EQ(refusal("%for f of all\n%end\n"), "t.wrap:1: expected %for NAME in FUNCTIONS");
  EXPECT_EQ(refusal("%for f in\n%end\n"),
            "t.wrap:1: which functions? Name some, or a group, or all");
  EXPECT_EQ(refusal("%else\n"), "t.wrap:1: %else without %if");
  EXPECT_EQ(refusal("%wrap all\n%elif has comm\n%end\n"), "t.wrap:2: %elif without %if");
  EXPECT_EQ(refusal("%if mpi mpich\n%else\n%else\n%end\n"), "t.wrap:3: %else after %else");
  EXPECT_EQ(refusal(std::string_view("a\0b", 3)), "t.wrap:1: the line holds a zero byte");
}

TEST(TemplateError, Conditions) {
  const auto condition = [](const std::string& text) {
    return refusal("%if " + text + "\n%end\n");
  };
  EXPECT_EQ(condition(""),
            "t.wrap:1: expected has, in, returns, mpi, not or (, found the end of the line");
  EXPECT_EQ(condition("comm"), "t.wrap:1: expected has, in, returns, mpi, not or (, found 'comm'");
  EXPECT_EQ(condition("has"),
            "t.wrap:1: expected an argument's name after has, found the end of the line");
  EXPECT_EQ(condition("has comm has tag"),
            "t.wrap:1: expected and, or, or the end of the line, found 'has tag'");
  EXPECT_EQ(condition("(has comm"), "t.wrap:1: expected ), found the end of the line");
  EXPECT_EQ(condition("mpi lam"), "t.wrap:1: mpi lam: expected openmpi or mpich");
  EXPECT_EQ(condition("has @size"),
            "t.wrap:1: has @size: expected @count, @datatype, @bytes, @peer, @tag or @comm");
  EXPECT_THAT(condition("in nowhere"), HasSubstr("t.wrap:1: no group of functions is called"));
  EXPECT_EQ(condition("has a and not (in /(x|y)/ or not not mpi mpich)"), "was accepted");
}

TEST(TemplateError, DepthIsLimited) {
  std::string loops;
  for (int i = 0; i < 60; ++i) loops += "%for f in all\n";
  EXPECT_THAT(refusal(loops), HasSubstr("nested too deeply"));
  EXPECT_THAT(refusal("%if " + std::string(100, '(') + "\n"), HasSubstr("nested too deeply"));
  std::string nots = "%if ";
  for (int i = 0; i < 100; ++i) nots += "not ";
  EXPECT_THAT(refusal(nots + "mpi mpich\n%end\n"), HasSubstr("nested too deeply"));
}

}  // namespace
}  // namespace foretrace::wrap
