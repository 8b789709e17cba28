// What calls on windows and files take that move data without a rule of their own.
#include "machine/moving.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "constant_function.hpp"
#include "machine/timing.hpp"

namespace foretrace::machine {
namespace {

// A model has what was measured; calls that move data in the same way take that.
TEST(Moving, TakesItsEquationOrThatOfItsStandIn) {
  MachineModel model;
  model.functions["put"] = constant("put", 3);
  model.functions["file_write_at"] = constant("file_write_at", 5);
  model.functions["file_write"] = constant("file_write", 7);
  const Timing timing(model, Bound::avg);
  const auto seconds = [&](const char* name) { return moving_time(timing, name, 4, Bytes(8)); };
  EXPECT_EQ(seconds("MPI_Put"), Time::from_seconds(3));
  EXPECT_EQ(seconds("MPI_Rput"), Time::from_seconds(3));
  EXPECT_EQ(seconds("MPI_File_iwrite_at"), Time::from_seconds(5));
  EXPECT_EQ(seconds("MPI_File_write"), Time::from_seconds(7));
  EXPECT_EQ(seconds("MPI_File_write_at_c"), Time::from_seconds(5));
  EXPECT_EQ(seconds("MPI_Rput_c"), Time::from_seconds(3));
  EXPECT_EQ(seconds("MPI_Get"), Time());
  EXPECT_EQ(seconds("MPI_File_read"), Time());
  EXPECT_EQ(seconds("Put"), Time());
}

// Without an equation it takes no time, and that is told.
TEST(Moving, WhatTakesNoTimeIsTold) {
  MachineModel model;
  model.functions["file_read_at"] = constant("file_read_at", 5);
  const Timing timing(model, Bound::avg);
  moving_time(timing, "MPI_File_read", 4, Bytes(8));
  moving_time(timing, "MPI_File_write", 4, Bytes(0));
  EXPECT_TRUE(timing.unknowns().missing.empty());
  moving_time(timing, "MPI_File_write", 4, Bytes(8));
  moving_time(timing, "MPI_File_write", 4, Bytes(8));
  EXPECT_EQ(timing.unknowns().missing, std::vector<std::string>{"file_write"});
  // In one order, whichever rank's call is looked at first.
  moving_time(timing, "MPI_File_iread_shared", 4, Bytes(8));
  moving_time(timing, "MPI_Rget", 4, Bytes(8));
  moving_time(timing, "MPI_Get", 4, Bytes(8));
  EXPECT_EQ(timing.unknowns().missing, (std::vector<std::string>{"file_write", "get", "rget"}));
}

// What begins work on a file takes all of its time, and that is told.
TEST(Moving, WhatBeginsWorkOnAFileIsTold) {
  MachineModel model;
  model.functions["file_write_at"] = constant("file_write_at", 5);
  model.functions["file_read_at_all"] = constant("file_read_at_all", 7);
  const Timing timing(model, Bound::avg);
  moving_time(timing, "MPI_File_write_at", 4, Bytes(8));
  moving_time(timing, "MPI_File_iread_at", 4, Bytes(8));  // has no equation
  EXPECT_TRUE(timing.unknowns().posted.empty());
  moving_time(timing, "MPI_File_iwrite_at_c", 4, Bytes(8));
  moving_time(timing, "MPI_File_iwrite_at", 4, Bytes(8));
  timing.collective_leave(Time(), Cost::barrier, 4, Bytes(8), "MPI_File_read_at_all_begin");
  EXPECT_EQ(timing.unknowns().posted,
            (std::vector<std::string>{"file_iwrite_at", "file_read_at_all_begin"}));
  EXPECT_THAT(notes_of(timing.unknowns()).back(),
              testing::StartsWith("work on files is done in the call that begins it"));
}

}  // namespace
}  // namespace foretrace::machine
