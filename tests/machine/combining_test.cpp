// What combining takes: the machine's [reduction] by class.
#include <gtest/gtest.h>

#include "machine/timing.hpp"

namespace foretrace::machine {
namespace {

Function two_seconds() {
  Regime regime;
  regime.equation.constant.value = 2;
  return {"reduce_local", "local", "", {regime}};
}

// By the class, or as sum_double, which is told; without a table it takes no time.
TEST(Combining, TakesTheTimeOfItsClass) {
  const Reduction product = reduction_of(Combining::prod, Operand::int16);
  MachineModel model;
  const Timing none(model, Bound::avg);
  EXPECT_EQ(none.combine_time(product, Bytes(1000)), Time());
  none.combine_time(Reduction::none, Bytes(8));
  EXPECT_EQ(notes_of(none.unknowns()).back(),
            "reductions that the machine model lacks: sum_double (takes no time), prod_int16 "
            "(takes no time)");
  model.reductions = {{Reduction::sum_double, 1e-9}, {product, 3e-9}};
  const Timing timing(model, Bound::avg);
  EXPECT_EQ(timing.combine_time(product, Bytes(1000)), Time::ns(3000));
  EXPECT_EQ(timing.combine_time(Reduction::none, Bytes(1000)), Time::ns(1000));
  EXPECT_EQ(timing.combine_time(Reduction::sum_double, Bytes(1)), Time::ns(1));
  EXPECT_TRUE(timing.unknowns().combined.empty());
  EXPECT_EQ(timing.combine_time(Reduction::other, Bytes(10)), Time::ns(10));
  EXPECT_EQ(timing.unknowns().combined, std::vector<std::string>{"other"});
  EXPECT_EQ(notes_of(timing.unknowns()).back(),
            "reductions that the machine model lacks, taken as sum_double: other");
}

// MPI_Reduce_local: the table's time, its own equation's before that; without both none, and that
// is told.
TEST(Combining, OfACall) {
  MachineModel model;
  const auto takes = [&](const Timing& timing) {
    return timing.combining_call("MPI_Reduce_local", 4, Reduction::sum_double, Bytes(1000));
  };
  const Timing none(model, Bound::avg);
  EXPECT_EQ(takes(none), Time());
  EXPECT_EQ(none.unknowns().missing, std::vector<std::string>{"reduce_local"});
  model.reductions = {{Reduction::sum_double, 1e-9}};
  const Timing timing(model, Bound::avg);
  EXPECT_EQ(takes(timing), Time::ns(1000));
  EXPECT_TRUE(timing.unknowns().missing.empty());
  model.functions["reduce_local"] = two_seconds();
  EXPECT_EQ(takes(Timing(model, Bound::avg)), Time::from_seconds(2));
}

}  // namespace
}  // namespace foretrace::machine
