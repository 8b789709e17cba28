// The names that every model program has: MPI's calls, numbered as Operation::name.
// For model_rank.cpp, which makes the calls, and model_program.cpp, which knows
// their names.
#pragma once

#include <array>

#include "machine/timing.hpp"
#include "trace/event.hpp"

namespace foretrace::sim::model_names {

// The collectives' follow, by machine::Cost.
enum Number : trace::NameId {
  kInit,
  kFinalize,
  kSend,
  kSsend,
  kBsend,
  kRsend,
  kRecv,
  kSendrecv,
  kIsend,
  kIssend,
  kIbsend,
  kIrsend,
  kIrecv,
  kWait,
  kWaitall,
  kWaitany,
  kWaitsome,
  kTest,
  kTestall,
  kTestany,
  kTestsome,
  kProbe,
  kIprobe,
  kWtime,
  kCollectives,
};
inline constexpr std::array<const char*, kCollectives> kNames{
    "MPI_Init",    "MPI_Finalize", "MPI_Send",     "MPI_Ssend",   "MPI_Bsend",    "MPI_Rsend",
    "MPI_Recv",    "MPI_Sendrecv", "MPI_Isend",    "MPI_Issend",  "MPI_Ibsend",   "MPI_Irsend",
    "MPI_Irecv",   "MPI_Wait",     "MPI_Waitall",  "MPI_Waitany", "MPI_Waitsome", "MPI_Test",
    "MPI_Testall", "MPI_Testany",  "MPI_Testsome", "MPI_Probe",   "MPI_Iprobe",   "MPI_Wtime"};

}  // namespace foretrace::sim::model_names
