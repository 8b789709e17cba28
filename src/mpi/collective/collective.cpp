#include "mpi/collective/collective.hpp"

#include <algorithm>
#include <utility>

#include "mpi/collective/gathered.hpp"
#include "mpi/core/block.hpp"
#include "mpi/core/error.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/core/sent.hpp"

namespace foretrace::mpi {

Plan::~Plan() {
  for (Object* object : held) release(object);
}

void Plan::hold(Object* object) {
  if (object) held.push_back(retain(object));
}

namespace {

Block contribution(const Plan& plan) {
  return plan.contribute ? plan.contribute() : Block();
}

int raise_outcome(const Plan& plan, const Outcome& outcome) {
  return outcome.error == MPI_SUCCESS ? MPI_SUCCESS : raise(plan.comm, outcome.error, outcome.what);
}

// An error that shows when a request completes is the request's.
void note(const Plan& plan, const Outcome& outcome) {
  if (outcome.error != MPI_SUCCESS && plan.current) plan.current->error = outcome.error;
}

Request* post_messages(const std::shared_ptr<Plan>& plan) {
  std::vector<Request*> parts;
  parts.reserve(plan->incoming.size() + plan->outgoing.size());
  for (const Plan::Incoming& in : plan->incoming)
    parts.push_back(post_receive(*plan->comm, in.partner, in.tag, true, in.capacity, in.arrived));
  for (const Plan::Outgoing& out : plan->outgoing)
    parts.push_back(post_send(*plan->comm, out.partner, out.tag, true, machine::SendMode::standard,
                              out.contribute()));
  Request* posted = post_several(*plan->comm, std::move(parts),
                                 [plan] {
                                   if (plan->finish_messages) note(*plan, plan->finish_messages());
                                 },
                                 {});
  posted->more().collective = true;
  return posted;
}

Request* post_plan(const std::shared_ptr<Plan>& plan) {
  if (plan->by_messages) return post_messages(plan);
  return post_collective(plan->call, contribution(*plan),
                         [plan](Gathered& gathered) {
                           if (plan->finish) note(*plan, plan->finish(gathered));
                         },
                         {});
}

}  // namespace

namespace {

void note_room(const Plan& plan) {
  if (plan.room.type) mpi::note_room(plan.room.data, plan.room.count, *plan.room.type);
}

bool is_on_one_node(Comm& comm) {
  if (!comm.on_one_node)
    comm.on_one_node = comm.size() > 1 && std::ranges::all_of(comm.group->members, [](int member) {
                         return node_of(member) == node_of(world_rank());
                       });
  return *comm.on_one_node;
}

// The root of a gather gives itself what it has.
bool gives_to_others(const Plan& plan) {
  return machine::dependence_of(plan.call.cost) != machine::Dependence::root_for_all ||
         plan.comm->world(plan.call.root) != world_rank();
}

void note_data(Plan& plan) {
  if (plan.comm->is_inter()) return;
  note_room(plan);
  // No rank has such a number.
  const std::uint64_t to =
      (std::uint64_t{plan.comm->together} << 8 | static_cast<std::uint64_t>(plan.call.cost)) +
      (std::uint64_t{1} << 63);
  plan.call.untouched =
      plan.sent.type && note_sent(plan.sent.data, plan.sent.count, *plan.sent.type, to);
  if (plan.sent.type && asks_of_reading() && gives_to_others(plan) && is_on_one_node(*plan.comm))
    note_read(plan.sent.data, plan.sent.count, *plan.sent.type, plan.call.cost);
}

}  // namespace

int run(const Planned& planned) {
  if (!planned.plan) return planned.error;
  Plan& plan = *planned.plan;
  if (!plan.by_messages) {
    note_data(plan);
    Gathered gathered = collective(plan.call, contribution(plan));
    return plan.finish ? raise_outcome(plan, plan.finish(gathered)) : MPI_SUCCESS;
  }
  if (plan.incoming.empty() && plan.outgoing.empty()) return MPI_SUCCESS;
  Request* request = retain(post_messages(planned.plan));
  plan.current = request;
  wait_for(request);
  const int error = request->error;
  plan.current = nullptr;
  release(request);
  return raise_outcome(plan, {error, "a message does not fit what is expected"});
}

int post(const Planned& planned, MPI_Request* request) {
  if (!planned.plan) return planned.error;
  note_room(*planned.plan);
  planned.plan->current = post_plan(planned.plan);
  *request = handle_of(planned.plan->current);
  return MPI_SUCCESS;
}

int prepare(const Planned& planned, MPI_Request* request) {
  if (!planned.plan) return planned.error;
  const std::shared_ptr<Plan>& plan = planned.plan;
  *request = handle_of(persistent_request(*plan->comm,
                                          [plan](Request& persistent) {
                                            plan->current = &persistent;
                                            note_room(*plan);
                                            adopt(persistent, post_plan(plan));
                                          },
                                          {}));
  return MPI_SUCCESS;
}

// --- arguments ------------------------------------------------------------------

Arguments::Arguments(MPI_Comm handle) {
  Comm* comm = get(handle);
  if (!comm) {
    fail(MPI_ERR_COMM, "no valid communicator");
    return;
  }
  plan_ = std::make_shared<Plan>();
  plan_->comm = comm;
  plan_->call.comm = comm;
  plan_->hold(comm);
}

void Arguments::fail(int error_class, std::string what) {
  if (error_ != MPI_SUCCESS) return;
  error_ = error_class;
  what_ = std::move(what);
}

Planned Arguments::refuse() const {
  return {raise(plan_ ? plan_->comm : static_cast<Comm*>(nullptr), error_, what_), nullptr};
}

void Arguments::intra_only() {
  if (inter()) fail(MPI_ERR_COMM, "an inter-communicator, expected an intra-communicator");
}

void Arguments::root(int root) {
  if (!*this || (root >= 0 && root < partners())) return;
  if (inter() && (root == MPI_ROOT || root == MPI_PROC_NULL)) return;
  fail(MPI_ERR_ROOT,
       "root " + std::to_string(root) + ", expected 0 to " + std::to_string(partners() - 1));
}

void Arguments::count(MPI_Count count, const char* what) {
  if (count < 0)
    fail(MPI_ERR_COUNT, std::string(what) + " is " + std::to_string(count) + ", below 0");
}

void Arguments::counts(const int* counts, int members, const char* what) {
  if (!*this) return;
  if (!counts && members > 0) fail(MPI_ERR_ARG, std::string(what) + " is a null pointer");
  for (int i = 0; *this && i < members; ++i)
    if (counts[i] < 0)
      fail(MPI_ERR_COUNT, std::string(what) + "[" + std::to_string(i) + "] is " +
                              std::to_string(counts[i]) + ", below 0");
}

Datatype* Arguments::type(MPI_Datatype handle, const char* what) {
  if (!*this) return nullptr;
  Datatype* type = get(handle);
  if (!type) {
    fail(MPI_ERR_TYPE, std::string(what) + " is no valid datatype");
    return nullptr;
  }
  if (!type->committed) {
    fail(MPI_ERR_TYPE, std::string(what) + " is not committed");
    return nullptr;
  }
  plan_->hold(type);
  return type;
}

std::vector<Datatype*> Arguments::types(const MPI_Datatype* handles, const int* counts, int members,
                                        const char* what) {
  std::vector<Datatype*> types;
  for (int i = 0; *this && i < members; ++i)
    types.push_back(counts[i] > 0 ? type(handles[i], what) : nullptr);
  return types;
}

Op* Arguments::op(MPI_Op handle, const Datatype* type) {
  if (!*this) return nullptr;
  Op* op = get(handle);
  if (!op || handle == MPI_REPLACE || handle == MPI_NO_OP) {
    fail(MPI_ERR_OP, op ? "an operation for one-sided communication only" : "no valid operation");
    return nullptr;
  }
  if (type && !fits(*op, *type)) {
    fail(MPI_ERR_OP, "the operation is not defined for " + described(*type));
    return nullptr;
  }
  plan_->hold(op);
  return op;
}

void Arguments::buffer(const void* buffer, MPI_Count count, const Datatype* type,
                       const char* what) {
  // Other types may hold addresses, relative to MPI_BOTTOM.
  if (*this && !buffer && count > 0 && type && type->dense && type->size > 0)
    fail(MPI_ERR_BUFFER, std::string(what) + " is a null pointer");
}

void Arguments::not_in_place(const void* buffer, const char* what) {
  if (buffer == MPI_IN_PLACE)
    fail(MPI_ERR_BUFFER, std::string(what) + " may not be MPI_IN_PLACE here");
}

void Arguments::distinct([[maybe_unused]] const void* send, [[maybe_unused]] const void* receive,
                         [[maybe_unused]] MPI_Count count) {
  // Open MPI takes them.
#ifndef OPEN_MPI
  if (send == receive && send && count > 0 && send != MPI_IN_PLACE)
    fail(MPI_ERR_BUFFER, "send and receive buffer are the same; expected MPI_IN_PLACE");
#endif
}

int place_of_partner(const Comm& comm, int partner) {
  return partner + (comm.remote && comm.first ? comm.size() : 0);
}

}  // namespace foretrace::mpi
