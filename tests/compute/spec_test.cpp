// The vocabulary of --compute.
#include "compute/spec.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace foretrace::compute {
namespace {

std::string refusal(const std::string& text) {
  try {
    parse_spec(text, "--compute");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "was accepted";
}

TEST(Spec, EveryWord) {
  EXPECT_EQ(parse_spec("none", "").kind, Kind::none);
  EXPECT_EQ(parse_spec("annotated", "").kind, Kind::annotated);
  EXPECT_EQ(parse_spec("annotated", "").step, std::nullopt);
  EXPECT_EQ(parse_spec("annotated:0.5us", "").step, 0.5e-6);
  EXPECT_EQ(parse_spec("measured", "").kind, Kind::measured);
  EXPECT_EQ(parse_spec("recorded:0.5", "").kind, Kind::measured);
  EXPECT_EQ(parse_spec("recorded:0.5", "").scale, 0.5);
  EXPECT_EQ(parse_spec("counted", "").counter, Counter::blocks);
  EXPECT_EQ(parse_spec("counted:blocks", "").counter, Counter::blocks);
  EXPECT_EQ(parse_spec("counted:instructions", "").counter, Counter::instructions);
  EXPECT_EQ(parse_spec("table:a:b.toml", "").file, "a:b.toml");
  EXPECT_EQ(parse_spec("replayed:r.ftr", "").kind, Kind::replayed);
}

TEST(Spec, ReadsBackAsItWasWritten) {
  for (const char* text :
       {"none", "annotated", "counted:blocks", "counted:instructions", "measured", "measured:0.001",
        "measured:0", "annotated:5e-07s", "table:t.toml", "replayed:r.ftr"})
    EXPECT_EQ(format_spec(parse_spec(text, "")), text);
}

TEST(SpecError, Scale) {
  for (const char* text :
       {"measured:", "measured:x", "measured:1x", "measured:-1", "measured:nan", "measured:inf",
        "measured:1e999", "measured:+1", "measured: 1", "measured:1,5"})
    EXPECT_EQ(refusal(text),
              "--compute " + std::string(text) + ": use measured:SCALE with a SCALE of 0 or more");
}

TEST(SpecError, Words) {
  for (const char* text :
       {"", "measured2", "measured 2", "None", "none:", "table", "replayed", "guessed"})
    EXPECT_NE(refusal(text).find(": use none, annotated[:STEP], counted[:blocks|instructions]"),
              std::string::npos)
        << text;
  EXPECT_EQ(refusal("counted:sheep"),
            "--compute counted:sheep: use counted:blocks or counted:instructions");
  for (const char* text : {"annotated:", "annotated:2", "annotated:-1us", "annotated:us"})
    EXPECT_EQ(refusal(text),
              "--compute " + std::string(text) + ": use annotated:STEP with a STEP such as 0.5us");
  EXPECT_EQ(refusal("table:"), "--compute table:: names no file");
}

TEST(Spec, TraceSaysWhatItsStepsAre) {
  trace::TraceInfo info;
  EXPECT_EQ(counter_of(info), Counter::none);
  info.options = "bound=avg compute=annotated";
  EXPECT_EQ(counter_of(info), Counter::none);
  for (const Counter counter : {Counter::blocks, Counter::instructions}) {
    info.options = "bound=avg " + counts_option(counter);
    EXPECT_EQ(counter_of(info), counter);
  }
}

TEST(Spec, CostOfACount) {
  machine::ComputeCosts costs;
  costs.machine = "m";
  EXPECT_THROW(cost_of(Counter::blocks, costs), Error);
  costs.block = 2;
  EXPECT_EQ(cost_of(Counter::blocks, costs), 2);
  EXPECT_THROW(cost_of(Counter::instructions, costs), Error);
  costs.instruction = 3;
  EXPECT_EQ(cost_of(Counter::instructions, costs), 3);
}

}  // namespace
}  // namespace foretrace::compute
