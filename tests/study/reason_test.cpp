#include "study/reason.hpp"

#include <gmock/gmock.h>

namespace {

using foretrace::study::notes_in;
using foretrace::study::reason_in;

constexpr const char* kBox =
    "--------------------------------------------------------------------------\n"
    "Primary job  terminated normally, but 1 process returned\n"
    "a non-zero exit code. Per user-direction, the job has been aborted.\n"
    "--------------------------------------------------------------------------\n"
    "--------------------------------------------------------------------------\n"
    "mpirun noticed that process rank 0 exited on signal 11 (Segmentation fault).\n"
    "--------------------------------------------------------------------------\n";
constexpr const char* kSummary =
    "foretrace: predicted time 0.1 s on 2 ranks of Cray T3D, 14 events -> r.work/run-1.ftr\n";

TEST(Reason, IsTheProgramsOwnLastLine) {
  EXPECT_EQ(reason_in(std::string("reading\nlife: unknown option '--bad'  \n") + kBox + kSummary),
            "life: unknown option '--bad'");
  EXPECT_EQ(reason_in(std::string("[vm:1234] *** Process received signal ***\n") +
                      "life: the matrix is empty\n[vm:1234] [ 0] libc.so.6\n" + kSummary),
            "life: the matrix is empty");
}

TEST(Reason, IsOursWhereWeRefuse) {
  EXPECT_EQ(reason_in("about to start\nforetrace: rank 1: deadlock in MPI_Recv\n"),
            "foretrace: rank 1: deadlock in MPI_Recv");
}

TEST(Reason, IsTheLaunchersWhereThereIsNoOther) {
  EXPECT_EQ(reason_in(std::string(kBox) + kSummary),
            "mpirun noticed that process rank 0 exited on signal 11 (Segmentation fault).");
  EXPECT_EQ(reason_in("=================================================\n"
                      "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
                      "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n"),
            "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)");
  EXPECT_EQ(reason_in(kSummary), "");
  EXPECT_EQ(reason_in(""), "");
}

TEST(Reason, NotesAreToldApartFromSummaries) {
  EXPECT_THAT(
      notes_in(std::string("a line of the program\nforetrace: g is taken as 0\n") + kSummary),
      testing::ElementsAre("g is taken as 0"));
}

}  // namespace
