#include <algorithm>

#include "capture/handlers/posting.hpp"

namespace foretrace::capture {
namespace {

// Whether the starts travel before the program's call: where all wait for all, so
// that a deadlock is seen, and where ranks answer each other's rendezvous, so that
// none disappears into a blocking collective before all have come, which a correct
// program cannot tell. Else they follow it: a call that MPI refuses on one rank
// only has no counterpart on the others.
bool starts_come_first(machine::Dependence dependence) {
  return dependence == machine::Dependence::all_for_all || session.piggyback.needs_progress();
}

// The latest start that this rank waits for, its own included; `bytes` becomes what it
// pays for.
Time latest_start(Fn fn, const CommInfo& info, MPI_Comm comm, Cost cost, int root, Time own,
                  Bytes& bytes) {
  Piggyback& piggyback = session.piggyback;
  const machine::Dependence dependence = session.timing().dependence(cost);
  const bool all = dependence == machine::Dependence::all_for_all;
  Piggyback::Starts starts{own, own, bytes};
  if (all || piggyback.needs_progress())
    starts = piggyback.exchange_starts(info, own, bytes, root, fn);
  bytes = session.timing().charged(cost, bytes, starts.largest);
  if (all) return starts.latest;
  std::int64_t latest = own.count_ps();
  switch (dependence) {
    case machine::Dependence::all_for_all:
      break;
    case machine::Dependence::all_for_root:
      if (piggyback.needs_progress()) return std::max(own, starts.root);
      wait_in([&] { return PMPI_Bcast(&latest, 1, MPI_INT64_T, root, comm); });
      return std::max(own, Time::ps(latest));
    case machine::Dependence::root_for_all:
      if (info.rank.value != root) starts.latest = own;
      if (piggyback.needs_progress()) return starts.latest;
      wait_in([&] {
        return PMPI_Reduce(info.rank.value == root ? MPI_IN_PLACE : &latest, &latest, 1,
                           MPI_INT64_T, MPI_MAX, root, comm);
      });
      break;
    case machine::Dependence::prefix:
      wait_in([&] { return PMPI_Scan(MPI_IN_PLACE, &latest, 1, MPI_INT64_T, MPI_MAX, comm); });
      break;
  }
  return Time::ps(latest);
}

}  // namespace

int run_collective(Fn fn, Cost cost, CommInfo& info, MPI_Comm comm, int root, Bytes bytes,
                   CountsOf counts, const Reduces& reduces, Real real) {
  trace::Event& event = session.open(trace::EventKind::collective, fn);
  event.comm = session.comm_id(info);
  event.collective = cost;
  event.bytes = bytes;
  event.root = LocalRank(root);
  event.reduction = machine::told(class_of(reduces));
  trace::Counts& parts = session.thread().counts;
  // Two groups would have two lists.
  if (!info.is_inter()) counts(info.shape(), parts);
  if (!trace::are_told(cost, parts)) parts.clear();
  session.may_split();
  const bool first = session.predicting() && starts_come_first(session.timing().dependence(cost));
  Time latest;
  if (first) latest = latest_start(fn, info, comm, cost, root, event.enter, bytes);
  const int size = info.size;
  // All have come to it: that is all that a barrier is for.
  const bool is_done = first && fn == Fn::MPI_Barrier && !info.is_inter();
  const int result = is_done ? MPI_SUCCESS : wait_in(real);
  if (is_refused(result)) {
    session.close_as_call();
    return result;
  }
  if (!session.predicting()) {
    session.close();
    return result;
  }
  if (!first) latest = latest_start(fn, info, comm, cost, root, event.enter, bytes);
  session.close_at(session.timing_in(info).collective_leave(latest, cost, size, bytes, name_of(fn)),
                   latest - event.enter);
  return result;
}

int collective(Fn fn, Cost cost, MPI_Comm comm, int root, SizeOf bytes, CountsOf counts,
               const Reduces& reduces, SizeOfPiece between, Real real) {
  Inside inside;
  if (!inside) return real();
  CommInfo* info = session.comms.find(comm);
  if (!info) return plain_call(fn, real);
  if (!is_messages(cost, *info))
    return run_collective(fn, cost_between(cost, *info), *info, comm, root, bytes(info->shape()),
                          counts, reduces, real);
  Request whole;
  describe_between(whole, *info, cost, root, between);
  return run_messages(fn, *info, whole, real);
}

int reduce_local(Fn fn, Bytes bytes, const Reduces& reduces, Real real) {
  Inside inside;
  if (!inside) return real();
  if (bytes.count == 0) return plain_call(fn, real);
  trace::Event& event = session.open(trace::EventKind::call, fn);
  const int result = wait_in(real);
  if (result != MPI_SUCCESS) {
    session.close_as_call();
    return result;
  }
  event.bytes = bytes;
  event.reduction = class_of(reduces);
  if (!session.predicting()) {
    session.close();
    return result;
  }
  const Time takes = session.timing().combining_call(name_of(fn), session.comms.world_size(),
                                                     event.reduction, bytes);
  session.close_at(event.enter + takes, Time());
  return result;
}

int comm_create(Fn fn, Cost cost, MPI_Comm comm, MPI_Comm* newcomm, Real real) {
  Inside inside;
  if (!inside) return real();
  CommInfo* info = session.comms.find(comm);
  // Its members may be no processes of this run.
  if (!info) return plain_call(fn, real);
  // The two groups tell each other their keys before.
  if (cost == Cost::comm_split && info->is_inter())
    run_collective(fn, cost, *info, comm, -1, Bytes(0), [] { return MPI_SUCCESS; });
  const int result = run_collective(fn, cost, *info, comm, -1, Bytes(0), real);
  if (result == MPI_SUCCESS) session.comms.adopt(*newcomm);
  return result;
}

// The call that made *newcomm is a collective of its members.
static int close_creation(Fn fn, trace::Event& event, Time latest, const MPI_Comm* newcomm,
                          int result) {
  CommInfo* info = result == MPI_SUCCESS ? session.comms.find(*newcomm) : nullptr;
  if (!info) {
    session.close_as_call();
    return result;
  }
  event.comm = session.comm_id(*info);
  if (session.predicting())
    session.close_at(session.timing_in(*info).collective_leave(latest, Cost::comm_create,
                                                               info->size, Bytes(0), name_of(fn)),
                     latest - event.enter);
  else
    session.close();
  return result;
}

// Collective over the group alone, which is a communicator only afterwards.
int comm_create_group(Fn fn, MPI_Group group, MPI_Comm* newcomm, Real real) {
  Inside inside;
  if (!inside) return real();
  trace::Event& event = session.open(trace::EventKind::collective, fn);
  event.collective = Cost::comm_create;
  Time latest = event.enter;
  if (session.predicting()) {
    CommInfo members = session.comms.describe(group);
    for (const WorldRank member : members.members)
      members.key = (members.key + static_cast<std::uint64_t>(member.value) + 1) * 1099511628211u;
    latest = session.piggyback.exchange_starts(members, event.enter, Bytes(0), -1, fn).latest;
  }
  const int result = wait_in(real);
  if (result == MPI_SUCCESS) session.comms.adopt(*newcomm);
  return close_creation(fn, event, latest, newcomm, result);
}

// Nobody but the leaders knows the other group before.
int intercomm_create(Fn fn, MPI_Comm comm, MPI_Comm* newcomm, Real real) {
  Inside inside;
  if (!inside) return real();
  CommInfo* local = session.comms.find(comm);
  if (!local) return plain_call(fn, real);
  trace::Event& event = session.open(trace::EventKind::collective, fn);
  event.collective = Cost::comm_create;
  // None is stuck in the call before while others disappear into the real call.
  if (session.predicting() && session.piggyback.needs_progress())
    session.piggyback.exchange_starts(*local, Time(), Bytes(0), -1, fn);
  const int result = wait_in(real);
  if (result == MPI_SUCCESS) session.comms.adopt(*newcomm);
  CommInfo* both = result == MPI_SUCCESS ? session.comms.find(*newcomm) : nullptr;
  Time latest = event.enter;
  if (session.predicting() && both)
    latest = session.piggyback.exchange_starts(*both, event.enter, Bytes(0), -1, fn).latest;
  return close_creation(fn, event, latest, newcomm, result);
}

int synchronising(Fn fn, MPI_Comm comm, Real real) {
  Inside inside;
  if (!inside) return real();
  const CommInfo* info = session.comms.find(comm);
  return plain_state(fn, [&] {
    // The exchange is for its side effect: all answer each other until all
    // have come, and none is stuck in the call before.
    if (info && session.predicting() && session.piggyback.needs_progress())
      session.piggyback.exchange_starts(*info, Time(), Bytes(0), -1, fn);
    return wait_in(real);
  });
}

int comm_free(Fn fn, MPI_Comm* comm, Real real) {
  Inside inside;
  if (!inside) return real();
  if (comm) session.comms.forget(*comm);
  return plain_call(fn, real);
}

}  // namespace foretrace::capture
