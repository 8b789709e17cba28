// Functions that are INVALID: nobody's time comes from them in silence.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "constant_function.hpp"
#include "machine/machine_file.hpp"
#include "machine/moving.hpp"
#include "machine/timing.hpp"

namespace foretrace::machine {
namespace {

constexpr Bytes kLarge{800};

MachineModel shipped_t3d() {
  return read_machine_file(FORETRACE_SOURCE_DIR "/machines/cray-t3d.toml");
}

// As if the model lacked it: what can be hidden is then all of isend2, and of a receive what a
// blocking one of a message that is there takes.
TEST(Overlap, ThatIsInvalidCountsAsNoneAndIsTold) {
  const MachineModel whole = shipped_t3d();
  for (const char* part : {"isendoverlap", "irecvoverlap"}) {
    MachineModel without = whole;
    without.functions.erase(part);
    MachineModel invalid = whole;
    invalid.functions[part].valid = false;
    const Timing expected(without, Bound::avg);
    const Timing timing(invalid, Bound::avg);
    EXPECT_TRUE(timing.unknowns().replaced.empty()) << part;
    EXPECT_EQ(timing.isend_complete_minimum(kLarge), expected.isend_complete_minimum(kLarge));
    EXPECT_EQ(timing.irecv_complete_minimum(kLarge), expected.irecv_complete_minimum(kLarge));
    EXPECT_TRUE(timing.unknowns().unreliable.empty()) << part;
    const std::vector<std::string> told = timing.unknowns().replaced;
    ASSERT_EQ(told.size(), 1u) << part;
    EXPECT_TRUE(told.front().starts_with(part)) << told.front();
  }
}

// What no cost stands for: a call by its own equation, posting a collective, a file.
TEST(Unreliable, IsToldWhereverItIsAskedFor) {
  MachineModel model;
  const auto add = [&model](const char* name) {
    Function function = constant(name, 1);
    function.valid = false;
    model.functions[name] = function;
  };
  for (const char* name : {"comm_rank", "ibcast1", "file_open", "file_read_at"}) add(name);
  const Timing timing(model, Bound::avg);
  EXPECT_TRUE(timing.unknowns().unreliable.empty());
  for (int i = 0; i < 2; ++i) {
    timing.local_call("MPI_Comm_rank", 2);
    timing.icollective_post_leave(Time(), Cost::bcast, 2, Bytes(8));
    timing.collective_leave(Time(), Cost::barrier, 2, Bytes(0), "MPI_File_open");
    moving_time(timing, "MPI_File_read_at", 2, Bytes(8));
  }
  EXPECT_EQ(timing.unknowns().unreliable.size(), 4u);
  EXPECT_EQ(timing.unknowns().unreliable.front().substr(0, 10), "comm_rank ");
}

// Untouched data has the functions of its node, which are told once.
TEST(Unreliable, IsToldOnceForDataOfAnyKind) {
  MachineModel model = shipped_t3d();
  model.functions["recv"].untouched = {{Bytes(1024), 0.5}};
  model.functions["recv"].valid = false;
  const Timing timing(model, Bound::avg);
  timing.recv_transfer(kLarge);
  timing.on(Path::untouched).recv_transfer(kLarge);
  ASSERT_EQ(timing.unknowns().unreliable.size(), 1u);
  EXPECT_EQ(timing.unknowns().unreliable.front().find("path"), std::string::npos);
}

}  // namespace
}  // namespace foretrace::machine
