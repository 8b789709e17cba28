// [measurement]: what is written reads back, and what is said of it.
#include "machine/measurement.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "machine/machine_file.hpp"

namespace foretrace::machine {
namespace {

class MeasurementTest : public testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }
  void write(const std::string& text) const { std::ofstream(path_) << text; }

  const std::string path_ = testing::TempDir() + "measurement_test.toml";
};

TEST_F(MeasurementTest, WhatIsWrittenReadsBack) {
  const std::vector<std::string> reasons{"more ranks than cores", "a \"quoted\" one\nof two lines"};
  MachineModel model;
  model.name = "m";
  write_machine_file(model, path_, {}, reasons);
  EXPECT_EQ(read_invalid_reasons(path_), reasons);
  EXPECT_EQ(read_machine_file(path_).name, "m");
}

TEST_F(MeasurementTest, OneLineTellsAllReasons) {
  write("[machine]\n[measurement]\nvalid = false\nreasons = [\"one\", \"two\"]\n");
  EXPECT_EQ(warning_of(path_),
            "WARNING: the measurement in " + path_ + " is not to be trusted: one; two");
}

TEST_F(MeasurementTest, NothingIsSaidOfAValidOne) {
  for (const char* text : {"[machine]\n", "[machine]\n[measurement]\nvalid = true\n",
                           "[machine]\n[measurement]\nvalid = true\nreasons = []\n"}) {
    write(text);
    EXPECT_EQ(warning_of(path_), "") << text;
  }
  EXPECT_EQ(format_measurement({}), "");
}

}  // namespace
}  // namespace foretrace::machine
