// The capture library's settings, from the environment.
#include "capture/host/settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace foretrace::capture {
namespace {

using Variables = std::initializer_list<std::pair<const char*, const char*>>;

constexpr const char* kAll[] = {"FORETRACE_MODE",  "FORETRACE_OUTPUT", "FORETRACE_MACHINE",
                                "FORETRACE_CLOCK", "FORETRACE_BOUND",  "FORETRACE_COMPUTE",
                                "FORETRACE_WTIME", "FORETRACE_START",  "FORETRACE_COUNT",
                                "FORETRACE_DEPTH", "FORETRACE_YIELD"};

Settings read(Variables variables) {
  for (const char* name : kAll) ::unsetenv(name);
  for (const auto& [name, value] : variables) ::setenv(name, value, 1);
  return read_settings();
}

std::string refusal(Variables variables) {
  try {
    read(variables);
  } catch (const Error& error) {
    return error.what();
  }
  return "was accepted";
}

TEST(Settings, OffByDefault) {
  EXPECT_EQ(read({}).mode, Mode::off);
  EXPECT_EQ(read({{"FORETRACE_MODE", ""}}).mode, Mode::off);
  EXPECT_EQ(read({{"FORETRACE_MODE", "off"}}).mode, Mode::off);
}

// A program that runs without Foretrace is not stopped by what is left over in
// the environment.
TEST(Settings, OffLooksAtNothingElse) {
  EXPECT_EQ(read({{"FORETRACE_CLOCK", "sun dial"}, {"FORETRACE_COMPUTE", "x"}}).mode, Mode::off);
}

TEST(Settings, RecordsDefaults) {
  const Settings settings = read({{"FORETRACE_MODE", "record"}});
  EXPECT_EQ(settings.mode, Mode::record);
  EXPECT_EQ(settings.output, "foretrace.ftr");
  EXPECT_EQ(settings.clock, trace::Clock::cpu);
  EXPECT_EQ(settings.compute.kind, compute::Kind::measured);
  EXPECT_EQ(settings.compute.scale, 1);
  EXPECT_TRUE(settings.virtual_wtime);
  EXPECT_TRUE(settings.start_logging);
}

TEST(Settings, Profile) {
  const Settings settings = read({{"FORETRACE_MODE", "profile"}});
  EXPECT_EQ(settings.mode, Mode::profile);
  EXPECT_EQ(settings.output, "foretrace.fprof");
  EXPECT_EQ(settings.depth, 1);
  EXPECT_EQ(read({{"FORETRACE_MODE", "profile"}, {"FORETRACE_DEPTH", "8"}}).depth, 8);
  for (const char* depth : {"0", "9", "-1", "2x", "two"})
    EXPECT_EQ(
        refusal({{"FORETRACE_MODE", "profile"}, {"FORETRACE_DEPTH", depth}}),
        std::string("FORETRACE_DEPTH='") + depth + "': expected a number of frames from 1 to 8");
}

TEST(Settings, EmptyVariablesAreNotSet) {
  const Settings settings = read({{"FORETRACE_MODE", "record"},
                                  {"FORETRACE_OUTPUT", ""},
                                  {"FORETRACE_CLOCK", ""},
                                  {"FORETRACE_BOUND", ""},
                                  {"FORETRACE_COMPUTE", ""},
                                  {"FORETRACE_WTIME", ""}});
  EXPECT_EQ(settings.output, "foretrace.ftr");
  EXPECT_EQ(settings.clock, trace::Clock::cpu);
  EXPECT_EQ(settings.bound, machine::Bound::avg);
  EXPECT_EQ(settings.compute.kind, compute::Kind::measured);
}

TEST(Settings, Record) {
  const Settings settings = read({{"FORETRACE_MODE", "record"},
                                  {"FORETRACE_OUTPUT", "/tmp/a b.ftr"},
                                  {"FORETRACE_CLOCK", "wall"}});
  EXPECT_EQ(settings.output, "/tmp/a b.ftr");
  EXPECT_EQ(settings.clock, trace::Clock::wall);
  EXPECT_EQ(read({{"FORETRACE_MODE", "record"}, {"FORETRACE_CLOCK", "cpu"}}).clock,
            trace::Clock::cpu);
  EXPECT_TRUE(settings.logs_calls);
  EXPECT_FALSE(read({{"FORETRACE_MODE", "record"}, {"FORETRACE_START", "never"}}).logs_calls);
}

TEST(Settings, Predict) {
  const Settings settings = read({{"FORETRACE_MODE", "predict"},
                                  {"FORETRACE_MACHINE", "m.toml"},
                                  {"FORETRACE_OUTPUT", "p.ftr"},
                                  {"FORETRACE_BOUND", "max"},
                                  {"FORETRACE_COMPUTE", "measured:2.5"},
                                  {"FORETRACE_WTIME", "real"},
                                  {"FORETRACE_CLOCK", "wall"}});
  EXPECT_EQ(settings.mode, Mode::predict);
  EXPECT_EQ(settings.machine, "m.toml");
  EXPECT_EQ(settings.output, "p.ftr");
  EXPECT_EQ(settings.bound, machine::Bound::max);
  EXPECT_EQ(settings.compute.kind, compute::Kind::measured);
  EXPECT_EQ(settings.compute.scale, 2.5);
  EXPECT_FALSE(settings.virtual_wtime);
  EXPECT_EQ(settings.clock, trace::Clock::virtual_) << "a prediction has its own clock";
}

TEST(Settings, EveryValue) {
  const auto with = [](const char* name, const char* value) {
    return read({{"FORETRACE_MODE", "predict"}, {"FORETRACE_MACHINE", "m"}, {name, value}});
  };
  EXPECT_EQ(with("FORETRACE_BOUND", "min").bound, machine::Bound::min);
  EXPECT_EQ(with("FORETRACE_BOUND", "avg").bound, machine::Bound::avg);
  EXPECT_EQ(with("FORETRACE_COMPUTE", "none").compute.kind, compute::Kind::none);
  EXPECT_EQ(with("FORETRACE_COMPUTE", "annotated").compute.kind, compute::Kind::annotated);
  EXPECT_EQ(with("FORETRACE_COMPUTE", "measured").compute.scale, 1);
  EXPECT_EQ(with("FORETRACE_COMPUTE", "measured:0").compute.scale, 0);
  EXPECT_EQ(with("FORETRACE_COMPUTE", "measured:1e-3").compute.scale, 1e-3);
  EXPECT_TRUE(with("FORETRACE_WTIME", "virtual").virtual_wtime);
  EXPECT_TRUE(with("FORETRACE_START", "on").start_logging);
  EXPECT_FALSE(with("FORETRACE_START", "off").start_logging);
  EXPECT_EQ(with("FORETRACE_YIELD", "auto").yield, Yield::automatic);
  EXPECT_EQ(with("FORETRACE_YIELD", "always").yield, Yield::always);
  EXPECT_EQ(with("FORETRACE_YIELD", "never").yield, Yield::never);
}

TEST(Settings, Counts) {
  EXPECT_EQ(read({{"FORETRACE_MODE", "record"}}).count, compute::Counter::none);
  EXPECT_EQ(read({{"FORETRACE_MODE", "record"}, {"FORETRACE_COUNT", "blocks"}}).count,
            compute::Counter::blocks);
  const Settings settings = read({{"FORETRACE_MODE", "predict"},
                                  {"FORETRACE_MACHINE", "m"},
                                  {"FORETRACE_COMPUTE", "counted:instructions"}});
  EXPECT_EQ(settings.count, compute::Counter::instructions);
}

TEST(SettingsError, Mode) {
  EXPECT_EQ(refusal({{"FORETRACE_MODE", "recrod"}}),
            "FORETRACE_MODE='recrod': expected off, profile, record or predict");
  EXPECT_NE(refusal({{"FORETRACE_MODE", "RECORD"}}), "was accepted");
}

TEST(SettingsError, PredictNeedsAMachine) {
  const std::string expected =
      "FORETRACE_MODE=predict needs FORETRACE_MACHINE, the machine model's file";
  EXPECT_EQ(refusal({{"FORETRACE_MODE", "predict"}}), expected);
  EXPECT_EQ(refusal({{"FORETRACE_MODE", "predict"}, {"FORETRACE_MACHINE", ""}}), expected);
}

TEST(SettingsError, NamesVariableValueAndChoices) {
  const auto refused = [](const char* name, const char* value) {
    return refusal({{"FORETRACE_MODE", "predict"}, {"FORETRACE_MACHINE", "m"}, {name, value}});
  };
  EXPECT_EQ(refused("FORETRACE_CLOCK", "virtual"),
            "FORETRACE_CLOCK='virtual': expected cpu or wall");
  EXPECT_EQ(refused("FORETRACE_BOUND", "mean"), "FORETRACE_BOUND='mean': expected min, avg or max");
  EXPECT_EQ(refused("FORETRACE_WTIME", "fake"), "FORETRACE_WTIME='fake': expected virtual or real");
  EXPECT_EQ(refused("FORETRACE_YIELD", "yes"),
            "FORETRACE_YIELD='yes': expected auto, always or never");
  EXPECT_EQ(refused("FORETRACE_START", "no"),
            "FORETRACE_START='no': expected on, off, or for record never");
  EXPECT_EQ(refused("FORETRACE_START", "never"),
            "FORETRACE_START='never': expected on, off, or for record never");
  EXPECT_EQ(refused("FORETRACE_COMPUTE", "measured:x"),
            "FORETRACE_COMPUTE measured:x: use measured:SCALE with a SCALE of 0 or more");
  EXPECT_EQ(refused("FORETRACE_COUNT", "sheep"),
            "FORETRACE_COUNT='sheep': expected blocks or instructions");
}

}  // namespace
}  // namespace foretrace::capture
