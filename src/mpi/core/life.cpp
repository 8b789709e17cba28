// The life of the program: initialisation, its end, clocks.
#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/other_mpi.hpp"
#include "live_impl.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/core/error.hpp"
#include "mpi/core/keyvals.hpp"
#include "mpi/core/line.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/core/simulator.hpp"
#include "mpi/core/threads.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/p2p/completion.hpp"
#include "shared/seed.hpp"
#include "shared/shared_memory.hpp"

namespace foretrace::mpi {
namespace {

using trace::EventKind;

enum class Stage { before, running, after };
Stage stage = Stage::before;
int thread_level = MPI_THREAD_SINGLE;
pthread_t main_thread;

void start(int level) {
  line.open();
  thread_level = level;
  set_thread_level(level);
  main_thread = ::pthread_self();
  if (line.rank() == 0)
    if (const std::string complaint = complain_of_other_mpi(FORETRACE_MPI_NAME); !complaint.empty())
      std::fprintf(stderr, "foretrace: %s\n", complaint.c_str());
  create_predefined_comms();
  stage = Stage::running;
  Record record = line.record(EventKind::init);
  line.post(record);
}

// What a rank has printed is there if it is ended: its lines stay whole among those of others, too.
// Launchers that give ranks a terminal have the same effect.
void print_by_lines() {
  static_cast<void>(std::setvbuf(stdout, nullptr, _IOLBF, 0));
}

__attribute__((constructor)) void load() {
  print_by_lines();
  create_predefined_types();
  create_predefined_ops();
  leave_seed();
}

}  // namespace

namespace impl {

int Init_thread(int*, char***, int required, int* provided) {
  if (stage != Stage::before)
    return raise(static_cast<Comm*>(nullptr), MPI_ERR_OTHER,
                 stage == Stage::running ? "MPI is initialised already" : "MPI is finalised");
  start(required);
  if (provided) *provided = required;
  return MPI_SUCCESS;
}

int Init(int* argc, char*** argv) {
  return Init_thread(argc, argv, MPI_THREAD_SINGLE, nullptr);
}

int Finalize() {
  if (stage != Stage::running)
    return raise(static_cast<Comm*>(nullptr), MPI_ERR_OTHER,
                 stage == Stage::after ? "MPI is finalised" : "MPI is not initialised");
  if (line.is_childs()) {  // as Python's mpi4py does at the end of any process
    stage = Stage::after;
    return MPI_SUCCESS;
  }
  // Attributes of MPI_COMM_SELF are how programs clean up (MPI 3.1, 8.7.1).
  delete_attributes(*self_comm);
  delete_attributes(*world_comm);
  settle_freed_receives();
  line.complain_of_phases();
  line.forget_polls();
  Record record = line.record(EventKind::finalize);
  const std::vector<const Comm*> left = open_comms();
  record.left = static_cast<std::uint32_t>(left.size());
  record.let_go = freed_and_open();
  const thread_calls::WaitedAlong along = thread_calls::waited_along();
  record.waited = (line.waits().left_out() + along.left_out).count_ps();
  record.counted_wait = (line.waits().counted() + along.counted).count_ps();
  record.slept = (line.slept() + along.slept).count_ps();
  record.looked = line.looked_for_nothing().count_ps();
  record.threads = (line.several_called() ? live::kSeveralCalled : 0) |
                   (line.others_announced() ? live::kOthersAnnounced : 0);
  record.announced_us =
      static_cast<std::int32_t>(std::min(line.announced_beside_others().seconds() * 1e6, 2e9));
  record.crowded_ms =
      static_cast<std::int32_t>(std::min(thread_calls::crowded().seconds() * 1e3, 2e9));
  if (!left.empty()) record.left_at = left.front()->made_at;
  // Nothing after it happens before the simulator has come to it.
  line.ask(record);
  line.close();
  stage = Stage::after;
  return MPI_SUCCESS;
}

int Initialized(int* flag) {
  *flag = stage != Stage::before ? 1 : 0;
  return MPI_SUCCESS;
}

int Finalized(int* flag) {
  *flag = stage == Stage::after ? 1 : 0;
  return MPI_SUCCESS;
}

int Query_thread(int* provided) {
  *provided = thread_level;
  return MPI_SUCCESS;
}

int Is_thread_main(int* flag) {
  *flag = ::pthread_equal(::pthread_self(), main_thread) ? 1 : 0;
  return MPI_SUCCESS;
}

int Abort(MPI_Comm, int errorcode) {
  end_run(errorcode, "MPI_Abort with error code " + std::to_string(errorcode));
}

double Wtime() {
  return line.is_open() ? virtual_seconds() : line.time_beyond().seconds();
}

double Wtick() {
  return SharedMemory::mapped() ? SharedMemory::header().tick : 1e-9;
}

}  // namespace impl
}  // namespace foretrace::mpi
