// MPI_Wait*, MPI_Test*, and what else a program does with requests.
#include <algorithm>
#include <span>
#include <string>

#include "live_impl.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/core/error.hpp"
#include "mpi/core/line.hpp"
#include "mpi/core/mailbox.hpp"
#include "mpi/p2p/completion.hpp"

namespace foretrace::mpi {
namespace {

using sim::Completing;
using trace::EventKind;

int wrong(const std::string& what) {
  return raise(static_cast<Comm*>(nullptr), MPI_ERR_REQUEST, what);
}

// The requests behind handles; nullptr for MPI_REQUEST_NULL. False if one is no
// request.
bool resolve(int count, const MPI_Request handles[], Few<Request*>& requests) {
  for (int i = 0; i < count; ++i) {
    requests.push_back(handles[i] == MPI_REQUEST_NULL ? nullptr : get<Request>(handles[i]));
    if (!requests[static_cast<std::size_t>(i)] && handles[i] != MPI_REQUEST_NULL) return false;
  }
  return true;
}

// Hands over the status of a completed request, and its end: an inactive
// persistent one, or MPI_REQUEST_NULL. Returns its error.
int conclude(Request& request, MPI_Request& handle, MPI_Status* status) {
  Request::Generalized* const generalized = request.generalized();
  if (generalized && generalized->query)
    request.error = generalized->query(generalized->state, &request.status);
  const int error = request.error;
  if (!is_ignored(status)) {
    const int before = status->MPI_ERROR;
    *status = request.status;
    status->MPI_ERROR = before;
  }
  if (request.persistent) {
    request.active = false;
    return error;
  }
  if (generalized && generalized->free) generalized->free(generalized->state);
  release(&request);
  handle = MPI_REQUEST_NULL;
  return error;
}

// An error of a completed request, on its communicator.
int report(Comm* comm, int error) {
  if (error == MPI_SUCCESS) return error;
  const int result = raise(comm, error,
                           error == MPI_ERR_TRUNCATE ? "the message does not fit the buffer"
                                                     : "the request ended with an error");
  release(comm);
  return result;
}

// The communicator, for report(); only where it will be needed.
Comm* comm_of(const Request& request) {
  return request.error != MPI_SUCCESS ? retain(request.comm) : nullptr;
}

int one(Request* request, MPI_Request& handle, MPI_Status* status) {
  Comm* comm = comm_of(*request);
  return report(comm, conclude(*request, handle, status));
}

// The status of a completed request that stays.
void tell(Request& request, MPI_Status* status) {
  if (is_ignored(status)) return;
  const Request::Generalized* const generalized = request.generalized();
  if (generalized && generalized->query) generalized->query(generalized->state, &request.status);
  *status = request.status;
}

void empty(MPI_Status* status) {
  if (is_ignored(status)) return;
  const int before = status->MPI_ERROR;
  set_empty_status(*status);
  status->MPI_ERROR = before;
}

// Several at once: errors go to the statuses.
int many(const Indices& indices, std::span<Request* const> requests, MPI_Request handles[],
         MPI_Status statuses[], bool by_index) {
  int first = MPI_SUCCESS;
  Comm* comm = nullptr;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto at = static_cast<std::size_t>(indices[i]);
    MPI_Status* status = is_ignored(statuses) ? statuses : &statuses[by_index ? at : i];
    Comm* own = comm_of(*requests[at]);
    const int error = conclude(*requests[at], handles[at], status);
    if (!is_ignored(statuses)) status->MPI_ERROR = error;
    if (error != MPI_SUCCESS && first == MPI_SUCCESS) {
      first = error;
      comm = own;
    } else {
      release(own);
    }
  }
  if (first == MPI_SUCCESS) return first;
  const int code = raise(comm, is_ignored(statuses) ? first : MPI_ERR_IN_STATUS,
                         first == MPI_ERR_TRUNCATE ? "a message does not fit its buffer"
                                                   : "a request ended with an error");
  release(comm);
  return code;
}

bool none_active(std::span<Request* const> requests) {
  return std::ranges::none_of(requests,
                              [](const Request* request) { return request && request->active; });
}

void empty_inactive(std::span<Request* const> requests, MPI_Status statuses[]) {
  if (is_ignored(statuses)) return;
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (!requests[i] || !requests[i]->active) {
      set_empty_status(statuses[i]);
    }
}

int any(Completing how, int count, MPI_Request handles[], int* index, int* flag,
        MPI_Status* status) {
  Few<Request*> requests;
  if (!resolve(count, handles, requests)) return wrong("an element is no request");
  if (none_active(requests)) {
    *index = MPI_UNDEFINED;
    *flag = 1;
    empty(status);
    return MPI_SUCCESS;
  }
  const Indices done = complete(how, requests);
  *flag = done.empty() ? 0 : 1;
  *index = done.empty() ? MPI_UNDEFINED : done.front();
  if (done.empty()) return MPI_SUCCESS;
  const auto at = static_cast<std::size_t>(done.front());
  return one(requests[at], handles[at], status);
}

int some(Completing how, int incount, MPI_Request handles[], int* outcount, int indices[],
         MPI_Status statuses[]) {
  Few<Request*> requests;
  if (!resolve(incount, handles, requests)) return wrong("an element is no request");
  if (none_active(requests)) {
    *outcount = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  const Indices done = complete(how, requests);
  *outcount = static_cast<int>(done.size());
  std::ranges::copy(done, indices);
  return many(done, requests, handles, statuses, false);
}

}  // namespace

namespace impl {

int Wait(MPI_Request* request, MPI_Status* status) {
  if (*request == MPI_REQUEST_NULL) return empty(status), MPI_SUCCESS;
  Request* object = get(*request);
  if (!object) return wrong("not a request");
  if (!object->active) return empty(status), MPI_SUCCESS;
  complete(Completing::all, {&object, 1});
  return one(object, *request, status);
}

int Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  Few<Request*> objects;
  if (!resolve(count, requests, objects)) return wrong("an element is no request");
  empty_inactive(objects, statuses);
  const Indices done = complete(Completing::all, objects);
  return many(done, objects, requests, statuses, true);
}

int Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  int flag = 0;
  return any(Completing::any, count, requests, index, &flag, status);
}

int Waitsome(int incount, MPI_Request requests[], int* outcount, int indices[],
             MPI_Status statuses[]) {
  return some(Completing::some, incount, requests, outcount, indices, statuses);
}

int Test(MPI_Request* request, int* flag, MPI_Status* status) {
  *flag = 1;
  if (*request == MPI_REQUEST_NULL) return empty(status), MPI_SUCCESS;
  Request* object = get(*request);
  if (!object) return wrong("not a request");
  if (!object->active) return empty(status), MPI_SUCCESS;
  *flag = complete(Completing::test_all, {&object, 1}).empty() ? 0 : 1;
  return *flag ? one(object, *request, status) : MPI_SUCCESS;
}

int Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  Few<Request*> objects;
  if (!resolve(count, requests, objects)) return wrong("an element is no request");
  const bool none = none_active(objects);
  const Indices done = complete(Completing::test_all, objects);
  *flag = none || !done.empty() ? 1 : 0;
  if (*flag) empty_inactive(objects, statuses);
  return many(done, objects, requests, statuses, true);
}

int Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  return any(Completing::test_any, count, requests, index, flag, status);
}

int Testsome(int incount, MPI_Request requests[], int* outcount, int indices[],
             MPI_Status statuses[]) {
  return some(Completing::test_some, incount, requests, outcount, indices, statuses);
}

int Request_free(MPI_Request* request) {
  Request* object = get(*request);
  if (!object) return wrong("not a request");
  if (object->is_open_collective()) return wrong("a collective that is under way cannot be freed");
  if (Request::Generalized* const generalized = object->generalized()) {
    if (generalized->complete && generalized->free)
      generalized->free(generalized->state);
    else
      generalized->free_when_complete = true;
  }
  *request = MPI_REQUEST_NULL;
  if (object->active && object->what == Request::What::receive && object->serial != 0) {
    forget_handle(*object);
    keep_freed_receive(object);
    return MPI_SUCCESS;
  }
  if (object->active && object->what == Request::What::send && object->serial != 0)
    note_freed_send();
  release(object);
  return MPI_SUCCESS;
}

int Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  *flag = 1;
  if (request == MPI_REQUEST_NULL) {
    // Here, unlike in MPI_Wait and MPI_Test, MPICH clears the error as well.
    if (!is_ignored(status)) set_empty_status(*status);
    return MPI_SUCCESS;
  }
  Request* object = get(request);
  if (!object) return wrong("not a request");
  if (!object->active) return empty(status), MPI_SUCCESS;
  *flag = complete(Completing::test_all, {&object, 1}).empty() ? 0 : 1;
  if (*flag && !is_ignored(status)) {
    const int before = status->MPI_ERROR;
    tell(*object, status);
    status->MPI_ERROR = before;
  }
  return MPI_SUCCESS;
}

#ifdef FORETRACE_STANDARD_ABI
int Request_get_status_all(int count, const MPI_Request requests[], int* flag,
                           MPI_Status statuses[]) {
  Few<Request*> objects;
  if (!resolve(count, requests, objects)) return wrong("an element is no request");
  const bool none = none_active(objects);
  const Indices done = complete(Completing::test_all, objects);
  *flag = none || !done.empty() ? 1 : 0;
  if (*flag == 0 || is_ignored(statuses)) return MPI_SUCCESS;
  empty_inactive(objects, statuses);
  for (const int index : done) tell(*objects[static_cast<std::size_t>(index)], &statuses[index]);
  return MPI_SUCCESS;
}

int Request_get_status_any(int count, const MPI_Request requests[], int* index, int* flag,
                           MPI_Status* status) {
  Few<Request*> objects;
  if (!resolve(count, requests, objects)) return wrong("an element is no request");
  *index = MPI_UNDEFINED;
  *flag = 1;
  if (none_active(objects)) return empty(status), MPI_SUCCESS;
  const Indices done = complete(Completing::test_any, objects);
  *flag = done.empty() ? 0 : 1;
  if (done.empty()) return MPI_SUCCESS;
  *index = done.front();
  tell(*objects[static_cast<std::size_t>(*index)], status);
  return MPI_SUCCESS;
}

int Request_get_status_some(int incount, const MPI_Request requests[], int* outcount, int indices[],
                            MPI_Status statuses[]) {
  Few<Request*> objects;
  if (!resolve(incount, requests, objects)) return wrong("an element is no request");
  *outcount = MPI_UNDEFINED;
  if (none_active(objects)) return MPI_SUCCESS;
  const Indices done = complete(Completing::test_some, objects);
  *outcount = static_cast<int>(done.size());
  for (std::size_t i = 0; i < done.size(); ++i) {
    indices[i] = done[i];
    if (!is_ignored(statuses)) tell(*objects[static_cast<std::size_t>(done[i])], &statuses[i]);
  }
  return MPI_SUCCESS;
}
#endif

int Cancel(MPI_Request* request) {
  Request* object = get(*request);
  if (!object) return wrong("not a request");
  if (object->is_open_collective())
    return wrong("a collective that is under way cannot be cancelled");
  if (const Request::Generalized* const generalized = object->generalized())
    return generalized->cancel
               ? generalized->cancel(generalized->state, generalized->complete ? 1 : 0)
               : MPI_SUCCESS;
  const bool message =
      object->what == Request::What::send || object->what == Request::What::receive;
  if (!message || object->serial == 0) return MPI_SUCCESS;
  // The program will not ask what became of the message, or has loaded late what asks: the
  // receiver may have it already. MPI lets us refuse.
  if (object->what == Request::What::send && line.may_run_ahead()) return MPI_SUCCESS;
  if (object->what == Request::What::receive) mailbox.withdraw(object->incoming);
  Record record = line.record(EventKind::call);
  record.cancel = object->serial;
  line.post(record);
  return MPI_SUCCESS;
}

int Test_cancelled(const MPI_Status* status, int* flag) {
  *flag = status_cancelled(*status) ? 1 : 0;
  return MPI_SUCCESS;
}

int Status_set_cancelled(MPI_Status* status, int flag) {
  set_status_bytes(*status, status_bytes(*status), flag != 0);
  return MPI_SUCCESS;
}

int Grequest_start(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                   MPI_Grequest_cancel_function* cancel_fn, void* extra_state,
                   MPI_Request* request) {
  auto* made = new Request;
  made->what = Request::What::generalized;
  made->active = true;
  made->more().generalized = std::make_unique<Request::Generalized>();
  *made->generalized() = {query_fn, free_fn, cancel_fn, extra_state, false, false};
  set_empty_status(made->status);
  *request = handle_of(made);
  return MPI_SUCCESS;
}

int Grequest_complete(MPI_Request request) {
  Request* object = get(request);
  Request::Generalized* const generalized = object ? object->generalized() : nullptr;
  if (!generalized) return wrong("not a generalized request");
  generalized->complete = true;
  if (!generalized->free_when_complete) return MPI_SUCCESS;
  if (generalized->free) generalized->free(generalized->state);
  release(object);
  return MPI_SUCCESS;
}

}  // namespace impl
}  // namespace foretrace::mpi
