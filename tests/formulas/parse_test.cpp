// What is a model, and what is refused with its line.
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "formulas/model_file.hpp"

namespace {

using namespace foretrace;
using formulas::parse_model;
using testing::ElementsAre;
using testing::HasSubstr;

std::string parse_error(const std::string& text) {
  try {
    parse_model(text, "m.model");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string body_of(const std::string& expression) {
  return format_expression(parse_model("x = " + expression, "m").find("x")->body);
}

TEST(ParseModel, TakesVariablesAndFunctions) {
  const auto model = parse_model("# a model\nc = 1e-6; n = 4\nf(p,d) = c*d \\\n  /p # more\n", "m");
  EXPECT_THAT(model.order, ElementsAre("c", "n", "f"));
  EXPECT_FALSE(model.find("c")->is_function);
  EXPECT_THAT(model.find("f")->arguments, ElementsAre("p", "d"));
  EXPECT_EQ(model.find("f")->line, 3);
  EXPECT_EQ(format_expression(model.find("f")->body), "c*d/p");
}

TEST(ParseModel, BindsAsGnuplotDoes) {
  EXPECT_EQ(body_of("a+b*c"), "a + b*c");
  EXPECT_EQ(body_of("(a+b)*c"), "(a + b)*c");
  EXPECT_EQ(body_of("a-(b-c)"), "a - (b - c)");
  EXPECT_EQ(body_of("a-b-c"), "a - b - c");
  EXPECT_EQ(body_of("-a**b"), "-a**b");
  EXPECT_EQ(body_of("(-a)**b"), "(-a)**b");
  EXPECT_EQ(body_of("a**b**c"), "a**b**c");
  EXPECT_EQ(body_of("(a**b)**c"), "(a**b)**c");
  EXPECT_EQ(body_of("a<b?c:d?e:f"), "a < b ? c : d ? e : f");
  EXPECT_EQ(body_of("sum [i=1:n] f(i)+1"), "sum [i = 1 : n] f(i) + 1");
  EXPECT_EQ(body_of("(sum [i=1:n] f(i))+1"), "(sum [i = 1 : n] f(i)) + 1");
}

TEST(ParseModel, PassesOverWhatDraws) {
  const auto model = parse_model(
      "set title 'a = b'\nplot [1:64] total(x) title \"t\", \\\n 1 # =\ntotal(p) = 1/p\n"
      "print = 3\n",
      "m");
  EXPECT_THAT(model.order, ElementsAre("total", "print"));
  EXPECT_EQ(model.find("total")->line, 4);
}

TEST(ParseModel, NamesTheLineOfAFault) {
  EXPECT_THAT(parse_error("a = 1\nb = (2 + \n"), HasSubstr("m.model:2: expected a number"));
  EXPECT_THAT(parse_error("a = 1\nb 2\n"), HasSubstr("m.model:2: expected '='"));
  EXPECT_THAT(parse_error("f(p,p) = 1"), HasSubstr("m.model:1: two arguments"));
  EXPECT_THAT(parse_error("T_x = 1"), HasSubstr("the machine's"));
  EXPECT_THAT(parse_error("log(x) = 1"), HasSubstr("gnuplot's own"));
  EXPECT_THAT(parse_error("a = 2x"), HasSubstr("a sign such as * is missing"));
  EXPECT_THAT(parse_error("a = 'x'"), HasSubstr("texts in quotes"));
  EXPECT_THAT(parse_error("a = 1 2"), HasSubstr("expected the end of the line"));
  EXPECT_THAT(parse_error("a = $x"), HasSubstr("'$' has no meaning"));
  EXPECT_THAT(parse_error("a = 1e999"), HasSubstr("out of range"));
  EXPECT_THAT(parse_error("a = " + std::string(5000, '(')), HasSubstr("nested too deeply"));
  EXPECT_THAT(parse_error("a = " + std::string(5000, '-') + "1"), HasSubstr("nested too deeply"));
}

TEST(ParseModel, TellsWhatCanBeGiven) {
  const auto model = parse_model("c = 1\nf(q) = q*n\ntotal(p,d) = f(p)*d + T_step*pi", "m");
  EXPECT_THAT(parameters_of(model), ElementsAre("c", "d", "n", "p"));
  EXPECT_THROW(total_of(parse_model("a = 1", "m")), Error);
}

}  // namespace
