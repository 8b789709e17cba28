// What the generated wrappers call: one function for each class of MPI
// functions in src/mpi_api/functions.txt.
//
// Each takes the arguments that matter and the real call (or the non-blocking
// calls that stand in for it under predict), and returns MPI's result.
#pragma once

#include <mpi.h>

#include <climits>
#include <cstdint>
#include <set>
#include <string>

#include "base/function_ref.hpp"
#include "capture/handlers/functions.hpp"
#include "capture/handlers/reductions.hpp"
#include "capture/session/session.hpp"
#include "machine/timing.hpp"
#include "mpi_api/sizes.hpp"

namespace foretrace::capture {

using machine::Cost;
using machine::OneSided;
using machine::SendMode;
using mpi_api::message_bytes;
using Real = FunctionRef<int()>;
using RealStatus = FunctionRef<int(MPI_Status*)>;
using Post = FunctionRef<int(MPI_Request*)>;
// What a call sends, or has room for.
struct Data {
  const void* at = nullptr;  // nullptr: somewhere
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;

  Bytes bytes() const { return message_bytes(count, type); }
};
// What a member of a collective gives, and where it gets what.
struct CollectiveData {
  Data sent;
  Data received;
};
// d of a collective.
using SizeOf = FunctionRef<Bytes(const mpi_api::CommShape&)>;
// The parts of its members, where it has a count for each; else it adds nothing.
using CountsOf = FunctionRef<void(const mpi_api::CommShape&, trace::Counts&)>;
// What goes to, or comes from, the i-th partner.
using SizeOfPiece = FunctionRef<Bytes(int i)>;

// --- any call

// Inside a wrapper: a state without partners. `action` lets others in where it
// may wait.
template <class Action>
auto plain_state(Fn fn, Action action) {
  session.open(trace::EventKind::call, fn);
  auto result = action();
  session.close_as_call();
  return result;
}

template <class RealCall>
auto plain_call(Fn fn, RealCall real) {
  return plain_state(fn, [&] { return wait_in(real); });
}

// The program has given a communicator an error handler.
inline bool sets_error_handlers = false;

// Programs poll with such calls (MPI_Win_test, MPI_Parrived), so others get their answers
// here too.
template <class RealCall>
auto generic(Fn fn, RealCall real) {
  constexpr Fn kSets = function_named("MPI_Comm_set_errhandler");
  constexpr Fn kSetsToo = function_named("MPI_Errhandler_set");
  if (fn == kSets || fn == kSetsToo) sets_error_handlers = true;
  Inside inside;
  if (!inside) return real();
  session.piggyback.keep_going();
  return plain_call(fn, real);
}

// --- life of the program (life.cpp)
int init(Fn fn, int* argc, char*** argv, Real real);
int init(Fn fn, int* argc, char*** argv, int required, int* provided, Real real);
int finalize(Fn fn, Real real);
int abort(Fn fn, MPI_Comm comm, int code, Real real);
int pcontrol(Fn fn, int level, Real real);
double wtime(Fn fn, FunctionRef<double()> real);
double wtick(Fn fn, FunctionRef<double()> real);

// --- point-to-point (p2p.cpp)
int send(Fn fn, SendMode mode, const Data& data, int dest, int tag, MPI_Comm comm, Real real,
         Post post);
int isend(Fn fn, SendMode mode, const Data& data, int dest, int tag, MPI_Comm comm,
          MPI_Request* request, Real real);
int recv(Fn fn, const Data& room, int source, int tag, MPI_Comm comm, MPI_Status* status,
         RealStatus real, Post post);
int irecv(Fn fn, const Data& room, int source, int tag, MPI_Comm comm, MPI_Request* request,
          Real real);
int sendrecv(Fn fn, const Data& data, int dest, int sendtag, const Data& room, int source,
             int recvtag, MPI_Comm comm, MPI_Status* status, RealStatus real, Post post_send,
             Post post_recv);
int sendrecv_replace(Fn fn, const Data& data, int dest, int sendtag, int source, int recvtag,
                     MPI_Comm comm, MPI_Status* status, RealStatus real, Post post_recv);

int isendrecv(Fn fn, const Data& data, int dest, int sendtag, const Data& room, int source,
              int recvtag, MPI_Comm comm, MPI_Request* request, Real real);

// --- persistent requests and matched probes (persistent.cpp)
int send_init(Fn fn, SendMode mode, const Data& data, int dest, int tag, MPI_Comm comm,
              MPI_Request* request, Real real);
int recv_init(Fn fn, const Data& room, int source, int tag, MPI_Comm comm, MPI_Request* request,
              Real real);
// Messages in partitions, of so many bytes each. They travel when all partitions are ready.
int psend_init(Fn fn, int partitions, Bytes each, int dest, int tag, MPI_Comm comm,
               MPI_Request* request, Real real);
int precv_init(Fn fn, int partitions, Bytes each, int source, int tag, MPI_Comm comm,
               MPI_Request* request, Real real);
int pready(Fn fn, int partitions, MPI_Request request, Real real);
int parrived(Fn fn, MPI_Request request, int* flag, Real real);
int start(Fn fn, MPI_Request* request, Real real);
int startall(Fn fn, int count, MPI_Request* requests, Real real);
int probe(Fn fn, int source, int tag, MPI_Comm comm, MPI_Status* status, Real real);
int mprobe(Fn fn, int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status,
           Real real);
int iprobe(Fn fn, int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status, Real real);
int improbe(Fn fn, int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
            MPI_Status* status, Real real);
int mrecv(Fn fn, const Data& room, MPI_Message* message, MPI_Status* status, RealStatus real);
int imrecv(Fn fn, const Data& room, MPI_Message* message, MPI_Request* request, Real real);

// --- completion (complete.cpp)
int wait(Fn fn, MPI_Request* request, MPI_Status* status, Real real);
int waitall(Fn fn, int count, MPI_Request* requests, MPI_Status* statuses, Real real);
int waitany(Fn fn, int count, MPI_Request* requests, int* index, MPI_Status* status, Real real);
int waitsome(Fn fn, int count, MPI_Request* requests, int* outcount, int* indices,
             MPI_Status* statuses, Real real);
int test(Fn fn, MPI_Request* request, int* flag, MPI_Status* status, Real real);
int testall(Fn fn, int count, MPI_Request* requests, int* flag, MPI_Status* statuses, Real real);
int testany(Fn fn, int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status,
            Real real);
int testsome(Fn fn, int count, MPI_Request* requests, int* outcount, int* indices,
             MPI_Status* statuses, Real real);
int get_status(Fn fn, MPI_Request request, int* flag, MPI_Status* status, Real real);
int request_free(Fn fn, MPI_Request* request, Real real);
int cancel(Fn fn, MPI_Request* request, Real real);

// --- collectives that are posted (posted.cpp)
int icollective(Fn fn, Cost cost, MPI_Comm comm, int root, SizeOf bytes, CountsOf counts,
                SizeOfPiece between, MPI_Request* request, Real real);
int collective_init(Fn fn, Cost cost, MPI_Comm comm, int root, SizeOf bytes, CountsOf counts,
                    SizeOfPiece between, MPI_Request* request, Real real);
int comm_idup(Fn fn, MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request, Real real);

// --- neighbourhoods (neighbour.cpp)
int neighbor(Fn fn, MPI_Comm comm, SizeOfPiece out, SizeOfPiece in, Real real);
int ineighbor(Fn fn, MPI_Comm comm, SizeOfPiece out, SizeOfPiece in, MPI_Request* request,
              Real real);
int neighbor_init(Fn fn, MPI_Comm comm, SizeOfPiece out, SizeOfPiece in, MPI_Request* request,
                  Real real);

// --- collectives and communicators (collective.cpp)
// `between` is the size of the message to or from each partner where the call is
// on an inter-communicator and has a root; nobody asks for it elsewhere.
int collective(Fn fn, Cost cost, MPI_Comm comm, int root, SizeOf bytes, CountsOf counts,
               const Reduces& reduces, const CollectiveData& data, SizeOfPiece between, Real real);
// `real` makes the operation of the function that it is given. Fortran's functions, and those of a
// large count, have four addresses as arguments, too.
template <class Function, class RealCreate>
int op_create(Fn fn, Function* function, RealCreate real) {
  Inside inside;
  if (!inside) return real(function);
  Function* stand_in = function;
  if (function)
    stand_in = reinterpret_cast<Function*>(measured(reinterpret_cast<Combiner*>(function)));
  return plain_call(fn, [&] { return real(stand_in); });
}
// Combines operands of the caller's own.
int reduce_local(Fn fn, Bytes bytes, const Reduces& reduces, Real real);
int comm_create(Fn fn, Cost cost, MPI_Comm comm, MPI_Comm* newcomm, Real real);
int comm_create_group(Fn fn, MPI_Group group, MPI_Comm* newcomm, Real real);
int intercomm_create(Fn fn, MPI_Comm comm, MPI_Comm* newcomm, Real real);
// A blocking collective that has no rule yet.
int synchronising(Fn fn, MPI_Comm comm, Real real);
int comm_free(Fn fn, MPI_Comm* comm, Real real);

// --- attributes of communicators (attributes.cpp)
int set_attribute(Fn fn, MPI_Comm comm, int keyval, Real real);
int delete_attribute(Fn fn, MPI_Comm comm, int keyval, Real real);
// Those of MPI_COMM_SELF, as MPI_Finalize does it first: programs clean up in functions that are
// called so (MPI 3.1, 8.7.1), and what these call are still calls of the run.
void delete_own_attributes();

// --- windows (one_sided.cpp); targets are ranks of the window
inline constexpr int kAllTargets = INT_MIN;
int win_create(Fn fn, MPI_Comm comm, const MPI_Win* win, Real real);
int win_free(Fn fn, const MPI_Win* win, Real real);
int win_fence(Fn fn, MPI_Win win, Real real);
// What an access is to: a place of the target's memory; and where the caller's data lies, or comes.
struct Place {
  MPI_Aint at = 0;
  const void* own = nullptr;
  bool no_op = false;  // MPI_NO_OP: it reads, and leaves the target's memory as it is
};
// `variable`: of the request that the call makes, or nullptr.
int win_access(Fn fn, OneSided what, MPI_Win win, int target, const Place& place, Bytes bytes,
               MPI_Request* variable, Real real);
// Looks in vain by accesses: the place of memory where this rank made most.
struct Looks {
  std::uint64_t count = 0;
  Time took;       // predict
  std::string by;  // "MPI_Get at life+0x4b09"
};
Looks most_looks();
// Accesses of this rank that change a place and bring back what others may have left there.
struct Fetches {
  std::uint64_t count = 0;
  Fn fn{};                      // of the latest
  std::set<WorldRank> targets;  // whose memory it was; of a file's pointer its first member
  bool under_lock = false;      // the latest
};
const Fetches& fetches();
void note_fetch(Fn fn, WorldRank target, bool under_lock);
// What this rank waited under predict for locks that others had got before it here.
Time waited_for_locks();
int win_flush(Fn fn, OneSided how, MPI_Win win, int target, Real real);
int win_lock(Fn fn, int type, int target, int assertion, MPI_Win win, Real real);
int win_unlock(Fn fn, int target, MPI_Win win, Real real);
int win_start(Fn fn, MPI_Group group, int assertion, MPI_Win win, Real real);
int win_complete(Fn fn, MPI_Win win, Real real);
int win_post(Fn fn, MPI_Group group, int assertion, MPI_Win win, Real real);
int win_wait(Fn fn, MPI_Win win, Real real);
int win_test(Fn fn, MPI_Win win, int* flag, Real real);

// --- files (together.cpp)
int file_open(Fn fn, MPI_Comm comm, const MPI_File* file, Real real);
int file_close(Fn fn, const MPI_File* file, Real real);
// What moves `bytes` to or from a file.
int file_access(Fn fn, MPI_File file, Bytes bytes, Real real);
// All members meet so many times, the last time with their data.
int file_collective(Fn fn, MPI_File file, int meetings, Bytes bytes, Real real);

// --- shared by the handlers (p2p.cpp)

// The number of bytes that a completed receive brought.
Bytes received_bytes(const MPI_Status& status);
void fill_send(trace::Event& event, CommInfo& comm, SendMode mode, Bytes bytes, int dest, int tag);
// What a receive waits for, before anything has come.
void fill_expected(trace::Event& event, CommInfo& comm, int source, int tag);
// What a settled receive got.
void fill_recv(trace::Event& event, CommInfo& comm, const MPI_Status& status, int source, int tag);

}  // namespace foretrace::capture
