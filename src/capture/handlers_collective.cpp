#include <algorithm>

#include "capture/handlers.hpp"

namespace foretrace::capture {
namespace {

// Waits for a collective of ours, answering others meanwhile.
void finish(Fn fn, MPI_Request* request) {
  session.piggyback.poll(
      [request] {
        int done = 0;
        PMPI_Test(request, &done, MPI_STATUS_IGNORE);
        return done != 0;
      },
      Blocked{name_of(fn), WorldRank(), 0, 0, false});
}

std::int64_t latest_of_all(Fn fn, MPI_Comm comm, std::int64_t own) {
  std::int64_t latest = own;
  if (session.piggyback.needs_progress()) {
    MPI_Request request;
    PMPI_Iallreduce(&own, &latest, 1, MPI_INT64_T, MPI_MAX, comm, &request);
    finish(fn, &request);
  } else {
    PMPI_Allreduce(&own, &latest, 1, MPI_INT64_T, MPI_MAX, comm);
  }
  return latest;
}

// Exchanges the ranks' start times as the collective's dependence asks;
// returns the latest start that this rank waits for, its own included.
Time latest_start(Fn fn, const CommInfo& info, MPI_Comm comm, machine::Dependence dependence,
                  int root, Time mine) {
  const std::int64_t own = mine.count_ps();
  std::int64_t latest = own;
  if (dependence == machine::Dependence::all_for_all)
    return Time::ps(latest_of_all(fn, comm, own));
  // Where ranks answer each other's rendezvous, none may disappear into a
  // blocking collective before all have come: a correct program cannot tell.
  if (session.piggyback.needs_progress()) {
    MPI_Request barrier;
    PMPI_Ibarrier(comm, &barrier);
    finish(fn, &barrier);
  }
  switch (dependence) {
    case machine::Dependence::all_for_all:
      break;
    case machine::Dependence::all_for_root:
      PMPI_Bcast(&latest, 1, MPI_INT64_T, root, comm);
      latest = std::max(latest, own);
      break;
    case machine::Dependence::root_for_all:
      PMPI_Reduce(&own, &latest, 1, MPI_INT64_T, MPI_MAX, root, comm);
      if (info.rank.value != root) latest = own;
      break;
    case machine::Dependence::prefix:
      PMPI_Scan(&own, &latest, 1, MPI_INT64_T, MPI_MAX, comm);
      break;
  }
  return Time::ps(latest);
}

int run_collective(Fn fn, Cost cost, CommInfo& info, MPI_Comm comm, int root, Bytes bytes,
                   Real real) {
  trace::Event& event = session.open(trace::EventKind::collective, fn);
  event.comm = session.comm_id(info);
  event.collective = cost;
  event.bytes = bytes;
  event.root = LocalRank(root);
  if (!session.predicting()) {
    const int result = real();
    session.close();
    return result;
  }
  const Time latest =
      latest_start(fn, info, comm, machine::dependence_of(cost), root, event.enter);
  const int size = info.size;
  const int result = real();
  session.close_at(session.timing().collective_leave(latest, cost, size, bytes),
                   latest - event.enter);
  return result;
}

}  // namespace

int collective(Fn fn, Cost cost, MPI_Comm comm, int root,
               FunctionRef<Bytes(const CommInfo&)> bytes, Real real) {
  Inside inside;
  if (!inside) return real();
  CommInfo* info = session.comms.find(comm);
  if (!info) return plain_call(fn, real);
  return run_collective(fn, cost, *info, comm, root, bytes(*info), real);
}

int comm_create(Fn fn, Cost cost, MPI_Comm comm, MPI_Comm* newcomm, Real real) {
  Inside inside;
  if (!inside) return real();
  CommInfo* info = session.comms.find(comm);
  const int result =
      info ? run_collective(fn, cost, *info, comm, -1, Bytes(0), real) : plain_call(fn, real);
  if (result == MPI_SUCCESS) session.comms.adopt(*newcomm);
  return result;
}

int comm_adopt(Fn fn, Cost, MPI_Comm, MPI_Comm* newcomm, Real real) {
  Inside inside;
  if (!inside) return real();
  const int result = plain_call(fn, real);
  if (result == MPI_SUCCESS) session.comms.adopt(*newcomm);
  return result;
}

int comm_free(Fn fn, MPI_Comm* comm, Real real) {
  Inside inside;
  if (!inside) return real();
  session.comms.forget(*comm);
  return plain_call(fn, real);
}

}  // namespace foretrace::capture
