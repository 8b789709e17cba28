#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/handlers/completing.hpp"
#include "capture/handlers/posting.hpp"
#include "capture/host/fortran_requests.hpp"
#include "capture/host/idle_polls.hpp"
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

void note_look_in_vain(const Request& request) {
  if (request.receive && !request.to_nobody)
    session.look_choices.looked_in_vain({request.serial, 0, 0});
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

// Whether a look that finds such a request complete may have to wait for others.
bool may_wait_for_others(const Request* request) {
  return request && (request->collective || (!request->receive && request->rendezvous));
}

// What has ended when it is looked for is there; here MPI may need some more steps of those who
// take part to see that. Not for ever: one of them may wait for this rank by other means than MPI.
void await_what_has_ended(Request& request, std::int64_t until_ns) {
  if (!is_known_to_end_by(request, session.look_time())) return;
  session.piggyback.poll_until(until_ns, [&] {
    int complete = 0;
    MPI_Status status;
    return PMPI_Request_get_status(request.handle, &complete, &status) != MPI_SUCCESS ||
           complete != 0;
  });
}

// What a look finds that comes after work: of its requests those that are complete, and do not end
// later in virtual time, when the program may have worked on. Any look, as it must not wait: those
// that are complete, and of which it is known when they end. Ascending; nothing: it finds what is
// here.
std::optional<std::vector<int>> timely_finds(int count, const MPI_Request* requests) {
  const auto& tracked = session.thread().tracked;
  if (!session.predicting() || session.others_called()) return std::nullopt;
  const auto first = std::ranges::find_if(tracked, [](const Request* r) { return r != nullptr; });
  const bool hides = first != tracked.end() && session.hides_finds((*first)->serial);
  if (!hides && std::ranges::none_of(tracked, may_wait_for_others)) return std::nullopt;
  MPI_Status* const statuses = room(count, MPI_STATUSES_IGNORE);
  std::vector<int> found;
  constexpr std::int64_t kAtMostNs = 1'000'000'000;
  const std::int64_t begin_ns = monotonic_ns();
  const OwnPolls own;
  for (int i = 0; i < count; ++i) {
    Request* const request = tracked[static_cast<std::size_t>(i)];
    if (!request && requests[i] == MPI_REQUEST_NULL) continue;
    if (!request || request->several || request->cancelled) return std::nullopt;
    if (hides) await_what_has_ended(*request, begin_ns + kAtMostNs);
    int complete = 0;
    if (PMPI_Request_get_status(request->handle, &complete, &statuses[i]) != MPI_SUCCESS)
      return std::nullopt;
    if (complete) found.push_back(i);
  }
  if (hides) session.leave_out_of_looks(monotonic_ns() - begin_ns);
  const auto request_at = [&](int i) -> Request& { return *tracked[static_cast<std::size_t>(i)]; };
  for (const int i : found) note_match(request_at(i), statuses[i]);
  bool comes_later = false;
  std::erase_if(found, [&](int i) {
    Request& request = request_at(i);
    if (request.told) return false;
    if (waits_for_others(request)) return true;
    if (!hides || !ends_after(request, statuses[i], session.look_time())) return false;
    return comes_later = true;
  });
  if (comes_later) session.note_hidden_find();
  return found;
}

// Whether such a look does not find all of its requests.
bool is_too_early(int count, const MPI_Request* requests) {
  const auto found = timely_finds(count, requests);
  const auto is_active = [](const Request* request) { return request != nullptr; };
  const auto& tracked = session.thread().tracked;
  return found &&
         std::ssize(*found) < std::count_if(tracked.begin(), tracked.begin() + count, is_active);
}

// Whatever such a look found: `real` has only those requests before it, and says by `indices` which
// of them it completed.
template <class RealCall>
int test_some(const std::vector<int>& found, MPI_Request* requests, int* outcount, int* indices,
              RealCall real) {
  std::vector<MPI_Request> handles;
  for (const int i : found) handles.push_back(requests[i]);
  const int result = real(static_cast<int>(handles.size()), handles.data());
  for (std::size_t k = 0; k < handles.size(); ++k) requests[found[k]] = handles[k];
  for (int k = 0; k < *outcount; ++k) indices[k] = found[static_cast<std::size_t>(indices[k])];
  return result;
}

void note_variables(int count, const MPI_Request* requests, std::vector<const void*>& to) {
  to.clear();
  for (int i = 0; i < count; ++i) to.push_back(fortran_requests.variable_of(&requests[i]));
}

// The requests numbered `indices` (all of them: nullptr) were completed; `looked_at`: by a look, to
// which they were given.
void take_completed(trace::Event& event, int count, const int* indices, const MPI_Status* statuses,
                    const MPI_Request* looked_at = nullptr) {
  Completing completing(event, looked_at != nullptr, indices != nullptr);
  if (completing.found()) note_variables(count, looked_at, completing.found()->variables);
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

// A call about requests none of which is active. If it shows that the program did not care what its
// last look found, it completes that, and the look was one in vain; else it is a state. `looks`: it
// is a look itself.
template <class RealCall>
int nothing_active(Fn fn, int count, const MPI_Request* requests, bool looks, RealCall real) {
  if (!session.found_look().is_held) return plain_state(fn, real);
  std::vector<const void*> variables;
  note_variables(count, requests, variables);
  if (!session.asks_again(variables, looks)) return plain_state(fn, real);
  session.take_back_found();
  const std::vector<Taken> taken = std::move(session.found_look().taken);
  trace::Event& event = session.open(trace::EventKind::complete, fn);
  const int result = real();
  Completing completing(event, looks);
  if (FoundLook* const found = completing.found()) {
    found->variables = std::move(variables);
    found->is_ignored = true;
  }
  for (const Taken& each : taken) completing.take_again(each);
  completing.finish();
  return result;
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
    return nothing_active(fn, 1, request, false, [&] {
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
    return nothing_active(fn, count, requests, false,
                          [&] { return wait_for_all(fn, count, requests, statuses, real); });
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
    return nothing_active(fn, 1, request, true, [&] { return wait_in(real); });
  }
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  trace::Event& event = session.open(trace::EventKind::complete, fn);
  const bool early = is_too_early(1, request);
  const int result = early ? MPI_SUCCESS : PMPI_Test(request, flag, status);
  if (early) *flag = 0;
  if (*flag) {
    take_completed(event, 1, nullptr, status, request);
  } else {
    note_look_in_vain(*session.thread().tracked.front());
    poll_failed();
  }
  return result;
}

int testall(Fn fn, int count, MPI_Request* requests, int* flag, MPI_Status* statuses, Real real) {
  Inside inside;
  if (!inside) return real();
  if (!look_up(count, requests)) {
    session.piggyback.keep_going();
    return nothing_active(fn, count, requests, true, [&] { return wait_in(real); });
  }
  statuses = room(count, statuses);
  trace::Event& event = session.open(trace::EventKind::complete, fn);
  const bool early = is_too_early(count, requests);
  const int result = early ? MPI_SUCCESS : PMPI_Testall(count, requests, flag, statuses);
  if (early) *flag = 0;
  if (*flag)
    take_completed(event, count, nullptr, statuses, requests);
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
  const auto found = timely_finds(count, requests);
  int result = MPI_SUCCESS;
  if (found && found->empty()) {
    *flag = 0;
    *index = MPI_UNDEFINED;
  } else if (found) {
    int one = 1;
    result = test_some(*found, requests, &one, index, [&](int n, MPI_Request* handles) {
      return PMPI_Testany(n, handles, index, flag, status);
    });
  } else {
    result = PMPI_Testany(count, requests, index, flag, status);
  }
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
  const auto found = timely_finds(count, requests);
  int result = MPI_SUCCESS;
  if (found && found->empty())
    *outcount = 0;
  else if (found)
    result = test_some(*found, requests, outcount, indices, [&](int n, MPI_Request* handles) {
      return PMPI_Testsome(n, handles, outcount, indices, statuses);
    });
  else
    result = PMPI_Testsome(count, requests, outcount, indices, statuses);
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
    if (result == MPI_SUCCESS) note_look_in_vain(*request);
    session.piggyback.keep_going();
    session.close_as_call();
    return result;
  }
  Completing completing(event);
  completing.be_look();
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
