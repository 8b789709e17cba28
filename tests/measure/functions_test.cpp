#include "measure/core/functions.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/whole_file.hpp"
#include "mpi_api/function_class.hpp"

namespace foretrace::measure {
namespace {

TEST(Functions, NamesAreUniqueAndEveryRowIsComplete) {
  std::set<std::string> names;
  for (const FunctionFacts& each : measured_functions()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_TRUE(each.meaning.ends_with(".")) << each.name;
    const bool data = each.function_class != "barrier" && each.function_class != "local" &&
                      !each.name.ends_with("_open") && !each.name.ends_with("_close");
    EXPECT_EQ(each.bytes.empty(), !data) << each.name;
    EXPECT_EQ(facts_of(each.name), &each);
  }
  EXPECT_GT(names.size(), 100u);
}

TEST(Functions, Classes) {
  EXPECT_EQ(facts_of("send")->function_class, "point-to-point");
  EXPECT_EQ(facts_of("gap")->function_class, "point-to-point");
  EXPECT_EQ(facts_of("allsend")->function_class, "collective");
  EXPECT_EQ(facts_of("ibcastoverlap")->function_class, "collective");
  EXPECT_EQ(facts_of("ibarrier1")->function_class, "barrier");
  EXPECT_EQ(facts_of("barrier_halves_random")->function_class, "barrier");
  EXPECT_EQ(facts_of("put")->function_class, "one-sided");
  EXPECT_EQ(facts_of("file_read_at")->function_class, "file");
  EXPECT_EQ(facts_of("barrier_root"), nullptr);
  EXPECT_EQ(facts_of("nothing"), nullptr);
}

// What a model's function without a class is taken for.
TEST(Functions, ClassesFollowFromNames) {
  const std::set<std::string> patterns{"allsend", "exchange_ring", "exchange_mesh"};
  for (const FunctionFacts& each : measured_functions()) {
    if (patterns.contains(each.name)) continue;
    EXPECT_EQ(mpi_api::function_class_of(each.name), each.function_class) << each.name;
  }
  EXPECT_EQ(mpi_api::function_class_of("file_iwrite_shared"), "file");
  EXPECT_EQ(mpi_api::function_class_of("win_lock"), "one-sided");
  EXPECT_EQ(mpi_api::function_class_of("comm_spawn"), "");
  EXPECT_EQ(mpi_api::function_class_of(""), "");
}

TEST(Functions, MeaningsNameTheCall) {
  EXPECT_EQ(facts_of("reduce_scatter_block")->meaning,
            "From the common start until the last rank leaves MPI_Reduce_scatter_block.");
  EXPECT_EQ(facts_of("ibcast1")->meaning, "Until the last rank leaves MPI_Ibcast: posting it.");
}

// Non-blocking forms and halves are documented by example.
TEST(Functions, AreDocumented) {
  const std::string text = read_if_possible(FORETRACE_SOURCE_DIR "/docs/measure.md");
  for (const FunctionFacts& each : measured_functions()) {
    const bool halves = each.name.find("_halves_") != std::string::npos;
    const bool posted =
        each.name[0] == 'i' && !each.name.starts_with("isend") && !each.name.starts_with("irecv");
    if (halves || posted) continue;
    EXPECT_NE(text.find("`" + each.name + "`"), std::string::npos) << each.name;
  }
  for (const char* example :
       {"`ibarrier1`", "`ibcast2`", "`ibcastoverlap`", "`bcast_halves_block`"})
    EXPECT_NE(text.find(example), std::string::npos) << example;
}

}  // namespace
}  // namespace foretrace::measure
