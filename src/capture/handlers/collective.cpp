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

// Of one of a communicator's members.
Data times(const Data& data, int members) {
  return {data.at, data.count * members, data.type};
}

// Notes what this rank gives and gets; whether what it sends is untouched (trace::Endpoint).
bool note_data(Cost cost, const CommInfo& info, int root, const CollectiveData& data) {
  if (info.is_inter() || !session.follows_data()) return false;
  const bool is_root = info.rank.value == root;
  const machine::Dependence dependence = machine::dependence_of(cost);
  const bool sends = is_root || dependence != machine::Dependence::all_for_root;
  // The root of a scatter gets a part of its own data. Elsewhere what describes a room means
  // nothing.
  const bool receives = cost == Cost::bcast                               ? !is_root
                        : dependence == machine::Dependence::root_for_all ? is_root
                                                                          : true;
  const bool to_each = cost == Cost::alltoall || cost == Cost::scatter;
  const bool from_each = cost == Cost::alltoall || cost == Cost::allgather || cost == Cost::gather;
  if (receives && data.received.at && data.received.at != MPI_IN_PLACE)
    note_room(from_each ? times(data.received, info.size) : data.received);
  if (!sends || !data.sent.at || data.sent.at == MPI_IN_PLACE) return false;
  const Data sent = to_each ? times(data.sent, info.size) : data.sent;
  const Bytes bytes = sent.bytes();
  const void* const piece = long_piece(sent, bytes);
  const std::uint64_t to = (info.key << 8 | static_cast<std::uint64_t>(cost)) + (UINT64_C(1) << 63);
  return piece && session.sent_data.send(piece, bytes.count, to);
}

// The latest start that this rank waits for, its own included; `own` becomes what it
// pays for.
Time latest_start(Fn fn, const CommInfo& info, MPI_Comm comm, Cost cost, int root,
                  Piggyback::Start& own) {
  Piggyback& piggyback = session.piggyback;
  const machine::Dependence dependence = session.timing().dependence(cost);
  const bool all = dependence == machine::Dependence::all_for_all;
  const bool exchanges = all || piggyback.needs_progress();
  Piggyback::Starts starts{own.at, own.at, own.bytes, own.untouched, own.untouched};
  if (exchanges)
    starts = piggyback.exchange_starts(info, own, root, fn);
  else if (root >= 0)
    piggyback.note_root(info, cost, root, false);
  own.bytes = session.timing().charged(cost, own.bytes, starts.largest);
  std::int64_t told[2] = {own.at.count_ps(), !own.untouched};  // what counts is the larger one
  switch (dependence) {
    case machine::Dependence::all_for_all:
      own.untouched = starts.untouched;
      return starts.latest;
    case machine::Dependence::all_for_root:
      if (!exchanges) {
        wait_in([&] { return PMPI_Bcast(told, 2, MPI_INT64_T, root, comm); });
        starts.root = Time::ps(told[0]);
        starts.root_untouched = told[1] == 0;
      }
      own.untouched = starts.root_untouched;
      return std::max(own.at, starts.root);
    case machine::Dependence::root_for_all:
      if (!exchanges) {
        wait_in([&] {
          return PMPI_Reduce(info.rank.value == root ? MPI_IN_PLACE : told, told, 2, MPI_INT64_T,
                             MPI_MAX, root, comm);
        });
        starts.latest = Time::ps(told[0]);
        starts.untouched = told[1] == 0;
      }
      if (info.rank.value != root) return own.at;
      own.untouched = starts.untouched;
      return starts.latest;
    case machine::Dependence::prefix:
      own.untouched = false;
      wait_in([&] { return PMPI_Scan(MPI_IN_PLACE, told, 1, MPI_INT64_T, MPI_MAX, comm); });
      return Time::ps(told[0]);
  }
  return own.at;
}

}  // namespace

int run_collective(Fn fn, Cost cost, CommInfo& info, MPI_Comm comm, int root, Bytes bytes,
                   CountsOf counts, const Reduces& reduces, const CollectiveData& data, Real real) {
  trace::Event& event = session.open(trace::EventKind::collective, fn);
  event.comm = session.comm_id(info);
  event.collective = cost;
  event.bytes = bytes;
  event.root = LocalRank(root);
  event.reduction = machine::told(class_of(reduces));
  tell_counts(session.thread().counts, info, cost, counts);
  event.send.untouched = note_data(cost, info, root, data);
  session.may_split();
  const bool first = session.predicting() && starts_come_first(session.timing().dependence(cost));
  Time latest;
  Piggyback::Start own{event.enter, bytes, event.send.untouched};
  if (first) latest = latest_start(fn, info, comm, cost, root, own);
  const int size = info.size;
  // All have come to it: that is all that a barrier is for.
  const bool is_done = first && fn == Fn::MPI_Barrier && !info.is_inter();
  const int result = is_done ? MPI_SUCCESS : wait_in(real);
  // Functions that copy or delete attributes may have called before it. All ranks come, also those
  // that MPI has refused.
  if (first && (cost == Cost::comm_dup || fn == Fn::MPI_Win_free)) {
    own.at = event.enter;
    latest = latest_start(fn, info, comm, cost, root, own);
  }
  if (is_refused(result)) {
    session.close_as_call();
    return result;
  }
  if (!session.predicting()) {
    session.close();
    return result;
  }
  if (!first) latest = latest_start(fn, info, comm, cost, root, own);
  session.close_at(session.timing_in(info, own.untouched)
                       .collective_leave(latest, cost, size, own.bytes, name_of(fn)),
                   latest - event.enter);
  return result;
}

int collective(Fn fn, Cost cost, MPI_Comm comm, int root, SizeOf bytes, CountsOf counts,
               const Reduces& reduces, const CollectiveData& data, SizeOfPiece between, Real real) {
  Inside inside;
  if (!inside) return real();
  CommInfo* info = session.comms.find(comm);
  if (!info) return plain_call(fn, real);
  if (!is_messages(cost, *info))
    return run_collective(fn, cost_between(cost, *info), *info, comm, root, bytes(info->shape()),
                          counts, reduces, data, real);
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
  const AfterEvent after;
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
    // Whoever is not of the group is given MPI_COMM_NULL, and meets nobody.
    if (members.rank.valid())
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
  const MPI_Comm freed = comm ? *comm : MPI_COMM_NULL;
  const CommInfo* const info = session.comms.known(freed);
  // Functions that delete its attributes may use it.
  const int result = plain_call(fn, real);
  const AfterEvent after;
  if (!is_refused(result)) session.comms.forget(freed, info);
  return result;
}

}  // namespace foretrace::capture
