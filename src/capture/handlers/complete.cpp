#include <algorithm>
#include <string_view>
#include <vector>

#include "capture/handlers/posting.hpp"
#include "capture/predict/shadow.hpp"

namespace foretrace::capture {
namespace {

// Where MPI puts the statuses that the program does not want.
MPI_Status* room(int count, MPI_Status* given) {
  if (given != MPI_STATUSES_IGNORE) return given;
  auto& statuses = session.thread().statuses;
  if (statuses.size() < static_cast<std::size_t>(count))
    statuses.resize(static_cast<std::size_t>(count));
  return statuses.data();
}

// Looks up the requests of a call before it: completion clears the handles.
// Returns whether any of them is tracked.
bool look_up(int count, const MPI_Request* requests) {
  auto& tracked = session.thread().tracked;
  tracked.assign(static_cast<std::size_t>(std::max(count, 0)), nullptr);
  bool any = false;
  session.requests.claim_several();
  for (int i = 0; i < count; ++i) {
    Request* request = session.requests.claim(&requests[i]);
    if (request && !request->active) request = nullptr;
    tracked[static_cast<std::size_t>(i)] = request;
    any = any || request;
    // MPI may give its handle to another thread before this one has seen that it
    // is complete.
    if (request && session.several_threads()) request->in_call = true;
  }
  return any;
}

void release(Request& request) {
  request.active = request.in_call = request.told = false;
  if (request.persistent) return;
  discard_parts(request);
  if (request.shadow) shadows.let_go(*request.shadow);
  session.requests.remove(request);
}

// Part of a collective: nobody says what came, but it is what was posted.
bool is_described(const Request& request) {
  return request.part && !request.has_status;
}
WorldRank source_of(const Request& request, const MPI_Status& status) {
  return request.comm->world(is_described(request) ? request.peer : status.MPI_SOURCE);
}
int tag_of(const Request& request, const MPI_Status& status) {
  return is_described(request) ? request.tag : status.MPI_TAG;
}

// A completing call under way: takes the requests that it completed, in the
// order in which MPI lists them.
class Completing {
 public:
  explicit Completing(trace::Event& event) : event_(event), waits_(event.enter) {}

  // One of which the program has been told before only goes.
  void take(Request& request, const MPI_Status& status) {
    if (!request.told) take_parts(request, status);
    release(request);
  }

  // It is complete, but remains until another call.
  void tell(Request& request, const MPI_Status& status) {
    take_parts(request, status);
    request.told = true;
  }

  // Without the request itself. Of several parts the receives come first.
  void take_parts(Request& request, const MPI_Status& status) {
    if (!request.several) return take_one(request, status);
    for (Request* part : request.parts)
      if (part->receive) take_one(*part, status);
    for (Request* part : request.parts)
      if (!part->receive) take_one(*part, status);
  }

  void finish() {
    const Time leave = std::max(waits_.leave(), ends_);
    if (event_.completions.empty())
      session.close_as_call();
    else if (session.predicting())
      session.close_at(leave, machine::wait_time(leave, waits_.alone()));
    else
      session.close();
  }

 private:
  void take_one(Request& request, const MPI_Status& status) {
    trace::Completion completion;
    completion.request = request.serial;
    int cancelled = 0;
    if (request.cancelled) PMPI_Test_cancelled(&status, &cancelled);
    completion.cancelled = cancelled != 0;
    if (request.receive && !request.to_nobody && !cancelled) {
      completion.source = source_of(request, status);
      completion.tag = tag_of(request, status);
      completion.bytes = is_described(request) ? request.bytes : received_bytes(status);
    }
    event_.completions.push_back(completion);
    if (request.access) {
      ends_ = std::max(ends_, request.end);
    } else if (request.collective) {
      end_collective(request);
    } else if (session.predicting() && !request.to_nobody) {
      if (cancelled)
        withdraw(request);
      else
        advance(request, completion);
    }
  }

  // One that was posted costs nothing but time, which others in the same call do
  // not add to.
  void end_collective(Request& request) {
    const Blocked blocked{name_of(Fn::MPI_Wait), WorldRank(), 0, 0, false};
    if (session.predicting()) {
      const machine::Timing& timing = session.timing_in(*request.comm);
      const Time latest = request.shadow->latest(blocked);
      const Bytes bytes = timing.charged(request.cost, request.bytes, request.shadow->largest());
      ends_ =
          std::max(ends_, timing.collective_leave(latest, request.cost, request.comm->size, bytes));
    }
    if (request.made != MPI_COMM_NULL)
      session.comms.adopt(request.made, request.shadow->key(blocked));
  }

  static void withdraw(Request& request) {
    if (request.receive) session.piggyback.withdraw(request.recv);
  }

  void advance(Request& request, const trace::Completion& completion) {
    const WorldRank partner =
        request.receive ? completion.source : request.comm->world(request.peer);
    machine::Port& port = session.port_with(partner);
    if (request.receive) {
      session.piggyback.settle(request.recv, completion.source, completion.tag);
      const machine::MessageStamp& stamp = request.recv.stamp;
      const machine::Timing& timing = session.timing_with(partner, stamp.untouched);
      waits_.complete_receive(timing, port, timing.irecv_end(request.posted, stamp), stamp.bytes);
      return;
    }
    const machine::Timing& timing = session.timing_with(partner, request.untouched);
    Time r0;
    if (request.rendezvous) {
      const Blocked blocked{name_of(Fn::MPI_Wait), request.comm->world(request.peer), request.tag,
                            request.bytes.count, true};
      r0 = session.piggyback.await_answer(request.stamp_serial, blocked);
    }
    const Time end =
        timing.isend_end(request.sent, r0, request.mode, request.bytes, request.rendezvous);
    waits_.complete_send(timing, port, end, request.bytes);
  }

  trace::Event& event_;
  machine::WaitsInTurn waits_;
  Time ends_;  // of collectives and accesses
};

// For whom a waiting call waits: the first of its requests that is not done.
Blocked blocked_on(Fn fn, int count) {
  Blocked blocked{name_of(fn), WorldRank(), 0, 0, false};
  const std::string_view name = blocked.call;
  if (name == "MPI_Waitany" || name == "MPI_Waitsome") return blocked;  // for none of them alone
  for (int i = 0; i < count; ++i) {
    const Request* request = session.thread().tracked[static_cast<std::size_t>(i)];
    if (!request || request->to_nobody) continue;
    int complete = 0;
    PMPI_Request_get_status(request->handle, &complete, MPI_STATUS_IGNORE);
    if (complete) continue;
    if (request->several && !request->parts.empty()) request = request->parts.front();
    blocked.peer = request->comm->world(request->peer);
    blocked.tag = request->tag;
    blocked.bytes = request->bytes.count;
    break;
  }
  return blocked;
}

// The call is over: requests that it did not complete may be found again.
void let_go() {
  if (!session.several_threads()) return;
  for (Request* request : session.thread().tracked)
    if (request) request->in_call = false;
}

// A test that completed nothing.
void poll_failed() {
  let_go();
  session.piggyback.keep_going();
  session.close_as_call();
}

using TestCall = FunctionRef<int(int* flag)>;

// Makes a waiting call: the real one, or under predict its test again and
// again, so that nobody is kept waiting for this rank.
int wait_for(Fn fn, int count, FunctionRef<int()> real, TestCall test) {
  if (!session.predicting()) return wait_in(real);
  int result = MPI_SUCCESS;
  Blocked blocked;
  unsigned tries = 0;
  const auto done = [&] {
    int flag = 0;
    result = test(&flag);
    if (flag != 0 || result != MPI_SUCCESS) return true;
    // For whom it waits changes as messages come.
    if (tries++ % 1024 == 1) blocked = blocked_on(fn, count);
    return false;
  };
  if (done()) return result;
  session.piggyback.poll(done, blocked);
  return result;
}

// MPICH's Testall fails where there are persistent collectives or partitioned
// messages, which are not tracked.
bool testall_may_fail(int count) {
  const auto& tracked = session.thread().tracked;
  const auto is_one = [](const Request* request) {
    return !request || (request->persistent && (request->collective || request->several));
  };
  return std::any_of(tracked.begin(), tracked.begin() + count, is_one);
}

// Testall by other means: Tests of what is not complete yet, again and again.
class TestEach {
 public:
  explicit TestEach(int count) : complete_(static_cast<std::size_t>(count)) {}

  int operator()(MPI_Request* requests, int* flag, MPI_Status* statuses) {
    *flag = 1;
    for (std::size_t i = 0; i < complete_.size(); ++i) {
      if (complete_[i]) continue;
      int one = 0;
      const int result = PMPI_Test(
          &requests[i], &one, statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
      if (result != MPI_SUCCESS) return result;
      complete_[i] = one != 0;
      if (!one) *flag = 0;
    }
    return MPI_SUCCESS;
  }

 private:
  std::vector<bool> complete_;
};

// Under predict, what waits for all of the requests in place of Waitall. Unlike
// that, tests leave the errors in the statuses as they were (MPICH's Testall, any
// MPI's Test).
int wait_for_all(Fn fn, int count, MPI_Request* requests, MPI_Status* statuses, Real real) {
  if (!session.predicting()) return wait_in(real);
  const bool each = testall_may_fail(count);
  TestEach test_each(each ? count : 0);
  const int result = wait_for(fn, count, real, [&](int* flag) {
    return each ? test_each(requests, flag, statuses)
                : PMPI_Testall(count, requests, flag, statuses);
  });
  if (result == MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE)
    for (int i = 0; i < count; ++i) statuses[i].MPI_ERROR = MPI_SUCCESS;
  return result;
}

// A call completed the request; what it got is known from now on.
void note_match(Request& request, const MPI_Status& status) {
  if (request.told) return;
  for (Request* part : request.parts) note_match(*part, status);
  if (!request.receive || request.to_nobody) return;
  int cancelled = 0;
  if (request.cancelled) PMPI_Test_cancelled(&status, &cancelled);
  if (cancelled)
    session.piggyback.withdraw(request.recv);
  else
    Piggyback::set_matched(request.recv, source_of(request, status), tag_of(request, status));
}

// The requests numbered `indices` (all of them: nullptr) were completed.
void take_completed(trace::Event& event, int count, const int* indices,
                    const MPI_Status* statuses) {
  Completing completing(event);
  if (session.predicting()) {
    for (int i = 0; i < count; ++i)
      if (Request* request =
              session.thread().tracked[static_cast<std::size_t>(indices ? indices[i] : i)])
        note_match(*request, statuses[i]);
  }
  for (int i = 0; i < count; ++i) {
    const int index = indices ? indices[i] : i;
    Request*& request = session.thread().tracked[static_cast<std::size_t>(index)];
    if (request) completing.take(*request, statuses[i]);
    request = nullptr;
  }
  let_go();
  completing.finish();
}

}  // namespace

int complete_parts(Fn fn, Request& whole, Real real) {
  trace::Event& event = session.open(trace::EventKind::complete, fn);
  const int result = real();
  Completing completing(event);
  completing.take_parts(whole, MPI_Status());
  completing.finish();
  return result;
}

int wait(Fn fn, MPI_Request* request, MPI_Status* status, Real real) {
  Inside inside;
  if (!inside) return real();
  if (!look_up(1, request))
    return plain_state(fn, [&] {
      return wait_for(fn, 1, real, [&](int* flag) { return PMPI_Test(request, flag, status); });
    });
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  trace::Event& event = session.open(trace::EventKind::complete, fn);
  const int result = wait_for(
      fn, 1, [&] { return PMPI_Wait(request, status); },
      [&](int* flag) { return PMPI_Test(request, flag, status); });
  take_completed(event, 1, nullptr, status);
  return result;
}

int waitall(Fn fn, int count, MPI_Request* requests, MPI_Status* statuses, Real real) {
  Inside inside;
  if (!inside) return real();
  if (!look_up(count, requests))
    return plain_state(fn, [&] { return wait_for_all(fn, count, requests, statuses, real); });
  statuses = room(count, statuses);
  trace::Event& event = session.open(trace::EventKind::complete, fn);
  const int result = wait_for_all(fn, count, requests, statuses,
                                  [&] { return PMPI_Waitall(count, requests, statuses); });
  take_completed(event, count, nullptr, statuses);
  return result;
}

int waitany(Fn fn, int count, MPI_Request* requests, int* index, MPI_Status* status, Real real) {
  Inside inside;
  if (!inside) return real();
  if (!look_up(count, requests))
    return plain_state(fn, [&] {
      return wait_for(fn, count, real, [&](int* flag) {
        return PMPI_Testany(count, requests, index, flag, status);
      });
    });
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  trace::Event& event = session.open(trace::EventKind::complete, fn);
  const int result = wait_for(
      fn, count, [&] { return PMPI_Waitany(count, requests, index, status); },
      [&](int* flag) { return PMPI_Testany(count, requests, index, flag, status); });
  take_completed(event, *index == MPI_UNDEFINED ? 0 : 1, index, status);
  return result;
}

int waitsome(Fn fn, int count, MPI_Request* requests, int* outcount, int* indices,
             MPI_Status* statuses, Real real) {
  Inside inside;
  if (!inside) return real();
  if (!look_up(count, requests))
    return plain_state(fn, [&] {
      return wait_for(fn, count, real, [&](int* flag) {
        const int code = PMPI_Testsome(count, requests, outcount, indices, statuses);
        *flag = *outcount != 0;
        return code;
      });
    });
  statuses = room(count, statuses);
  trace::Event& event = session.open(trace::EventKind::complete, fn);
  const int result = wait_for(
      fn, count, [&] { return PMPI_Waitsome(count, requests, outcount, indices, statuses); },
      [&](int* flag) {
        const int code = PMPI_Testsome(count, requests, outcount, indices, statuses);
        *flag = *outcount != 0;
        return code;
      });
  take_completed(event, *outcount == MPI_UNDEFINED ? 0 : *outcount, indices, statuses);
  return result;
}

int test(Fn fn, MPI_Request* request, int* flag, MPI_Status* status, Real real) {
  Inside inside;
  if (!inside) return real();
  if (!look_up(1, request)) {
    session.piggyback.keep_going();
    return plain_call(fn, real);
  }
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  trace::Event& event = session.open(trace::EventKind::complete, fn);
  const int result = PMPI_Test(request, flag, status);
  if (*flag)
    take_completed(event, 1, nullptr, status);
  else
    poll_failed();
  return result;
}

int testall(Fn fn, int count, MPI_Request* requests, int* flag, MPI_Status* statuses, Real real) {
  Inside inside;
  if (!inside) return real();
  if (!look_up(count, requests)) {
    session.piggyback.keep_going();
    return plain_call(fn, real);
  }
  statuses = room(count, statuses);
  trace::Event& event = session.open(trace::EventKind::complete, fn);
  const int result = PMPI_Testall(count, requests, flag, statuses);
  if (*flag)
    take_completed(event, count, nullptr, statuses);
  else
    poll_failed();
  return result;
}

int testany(Fn fn, int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status,
            Real real) {
  Inside inside;
  if (!inside) return real();
  if (!look_up(count, requests)) {
    session.piggyback.keep_going();
    return plain_call(fn, real);
  }
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  trace::Event& event = session.open(trace::EventKind::complete, fn);
  const int result = PMPI_Testany(count, requests, index, flag, status);
  if (*flag && *index != MPI_UNDEFINED)
    take_completed(event, 1, index, status);
  else
    poll_failed();
  return result;
}

int testsome(Fn fn, int count, MPI_Request* requests, int* outcount, int* indices,
             MPI_Status* statuses, Real real) {
  Inside inside;
  if (!inside) return real();
  if (!look_up(count, requests)) {
    session.piggyback.keep_going();
    return plain_call(fn, real);
  }
  statuses = room(count, statuses);
  trace::Event& event = session.open(trace::EventKind::complete, fn);
  const int result = PMPI_Testsome(count, requests, outcount, indices, statuses);
  if (*outcount != MPI_UNDEFINED && *outcount > 0)
    take_completed(event, *outcount, indices, statuses);
  else
    poll_failed();
  return result;
}

// A look at a request by its handle. The call that finds the request complete is the one that
// completes it, for the rank's clock as for the trace; what frees it later is a call like others.
static int look_at(Fn fn, MPI_Request handle, const int* flag, const MPI_Status* status,
                   Real real) {
  Request* const request = session.requests.find_untold(handle);
  if (!request) {
    session.piggyback.keep_going();
    return plain_call(fn, real);
  }
  trace::Event& event = session.open(trace::EventKind::complete, fn);
  const int result = real();
  if (result != MPI_SUCCESS || !*flag) {
    session.piggyback.keep_going();
    session.close_as_call();
    return result;
  }
  Completing completing(event);
  if (session.predicting()) note_match(*request, *status);
  completing.tell(*request, *status);
  completing.finish();
  return result;
}

int get_status(Fn fn, MPI_Request handle, int* flag, MPI_Status* status, Real real) {
  Inside inside;
  if (!inside) return real();
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  return look_at(fn, handle, flag, status,
                 [&] { return PMPI_Request_get_status(handle, flag, status); });
}

// The message is there as a whole, with all its partitions.
int parrived(Fn fn, MPI_Request handle, int* flag, Real real) {
  Inside inside;
  if (!inside) return real();
  const MPI_Status nothing{};
  return look_at(fn, handle, flag, &nothing, real);
}

int request_free(Fn fn, MPI_Request* variable, Real real) {
  Inside inside;
  if (!inside) return real();
  Request* request = session.requests.find(variable);
  if (request) request->in_call = session.several_threads();
  const int result = plain_call(fn, real);
  if (request) request->in_call = false;
  if (!request || result != MPI_SUCCESS) return result;
  const bool may_match =
      !request->told && (request->several || (request->receive && !request->to_nobody));
  if (may_match && request->active && session.predicting()) {
    session.requests.orphan(*request);
    return result;
  }
  discard_parts(*request);
  if (request->shadow) shadows.let_go(*request->shadow);
  session.requests.remove(*request);
  return result;
}

int cancel(Fn fn, MPI_Request* variable, Real real) {
  Inside inside;
  if (!inside) return real();
  // Another thread may wait for it.
  if (Request* request = session.requests.find_any(variable)) request->cancelled = true;
  return plain_call(fn, real);
}

}  // namespace foretrace::capture
