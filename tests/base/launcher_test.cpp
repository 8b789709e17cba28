#include "base/launcher.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

namespace foretrace {
namespace {

const char* const kAll[] = {"OMPI_COMM_WORLD_RANK",
                            "OMPI_COMM_WORLD_SIZE",
                            "PMI_RANK",
                            "PMI_SIZE",
                            "PMIX_RANK",
                            "HYDI_CONTROL_FD",
                            "SLURM_PROCID",
                            "SLURM_STEP_NUM_TASKS",
                            "SLURM_NTASKS"};

// The environment holds these of the launchers' variables, and no others.
void set_environment(const std::map<std::string, std::string>& variables) {
  for (const char* name : kAll) ::unsetenv(name);
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
}

void expect(const std::optional<Launcher>& found, LauncherKind kind, bool first, int size) {
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, kind);
  EXPECT_EQ(found->first, first);
  EXPECT_EQ(found->size, size);
}

TEST(Launcher, None) {
  set_environment({});
  EXPECT_FALSE(find_launcher());
  set_environment({{"PMI_RANK", "what"}});
  EXPECT_FALSE(find_launcher()) << "makes no sense";
}

TEST(Launcher, EachByItsVariables) {
  set_environment(
      {{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "3"}});
  expect(find_launcher(), LauncherKind::openmpi, false, 4);
  set_environment({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"HYDI_CONTROL_FD", "7"}});
  expect(find_launcher(), LauncherKind::hydra, true, 2);
  set_environment({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"SLURM_PROCID", "1"}});
  expect(find_launcher(), LauncherKind::pmi, false, 2);
  set_environment({{"PMIX_RANK", "0"}});
  expect(find_launcher(), LauncherKind::pmix, true, 0);
}

// A batch script has SLURM_PROCID and the job's SLURM_NTASKS, but is no step.
TEST(Launcher, SlurmsTasksAreThoseOfTheStep) {
  set_environment({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}});
  expect(find_launcher(), LauncherKind::slurm, true, 0);
  set_environment({{"SLURM_PROCID", "2"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"PMIX_RANK", "2"}});
  expect(find_launcher(), LauncherKind::slurm, false, 8);
}

TEST(Launcher, OwnVariablesFirst) {
  set_environment({{"OMPI_COMM_WORLD_RANK", "1"},
                   {"OMPI_COMM_WORLD_SIZE", "2"},
                   {"PMI_RANK", "0"},
                   {"PMI_SIZE", "1"},
                   {"HYDI_CONTROL_FD", "7"}});
  expect(find_launcher(LauncherKind::openmpi), LauncherKind::openmpi, false, 2);
  expect(find_launcher(LauncherKind::hydra), LauncherKind::hydra, true, 1);
}

}  // namespace
}  // namespace foretrace
