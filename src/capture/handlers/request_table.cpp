#include "capture/handlers/request_table.hpp"

#include "capture/host/fortran_requests.hpp"

namespace foretrace::capture {

Request& RequestTable::add() {
  if (free_.empty()) return slab_.emplace_back();
  Request& request = *free_.back();
  free_.pop_back();
  // A copy takes a fifth of the time of a new one, which is cleared as a block first.
  static const Request& blank = *new Request;  // programs call MPI until their very end
  request = blank;
  return request;
}

void RequestTable::index(Request& request, const MPI_Request* variable) {
  request.handle = *variable;
  request.variable = fortran_requests.variable_of(variable);
  SameHandle& list = by_handle_.get(handle_bits(*variable));
  request.next = nullptr;
  request.previous = list.last;
  (list.last ? list.last->next : list.first) = &request;
  list.last = &request;
}

Request* RequestTable::find_untold(MPI_Request handle) {
  if (handle == MPI_REQUEST_NULL) return nullptr;
  const SameHandle* const list = by_handle_.find(handle_bits(handle));
  Request* request = list ? list->first : nullptr;
  while (request && (request->in_call || request->told || !request->active))
    request = request->next;
  return request;
}

Request* RequestTable::claim(const MPI_Request* variable) {
  Request* request = search(variable, claims_, false);
  if (request) request->claimed_by = claims_;
  return request;
}

// Programs wait for requests in the order in which they posted them: after a
// hit the next one is tried first.
Request* RequestTable::search(const MPI_Request* handle, std::uint64_t not_claimed_by,
                              bool in_calls) {
  // Also of null handles: the first one asked for is the first of the call.
  const void* variable = fortran_requests.variable_of(handle);
  if (!handle || *handle == MPI_REQUEST_NULL) return nullptr;
  SameHandle* const found = by_handle_.find(handle_bits(*handle));
  if (!found) return nullptr;
  SameHandle& list = *found;
  const auto is_free = [&](const Request* request) {
    if (request->in_call && !in_calls) return false;
    return not_claimed_by == 0 || request->claimed_by != not_claimed_by;
  };
  if (list.first == list.last) return is_free(list.first) ? list.first : nullptr;
  Request* oldest = nullptr;
  Request* hit = nullptr;
  if (list.hint && list.hint->variable == variable && is_free(list.hint)) hit = list.hint;
  for (Request* each = list.first; each && !hit; each = each->next) {
    if (!is_free(each)) continue;
    if (each->variable == variable) hit = each;
    if (!oldest) oldest = each;
  }
  if (!hit) return oldest;
  list.hint = hit->next;
  return hit;
}

void RequestTable::remove(Request& request) {
  orphan(request);
  free_.push_back(&request);
}

void RequestTable::orphan(Request& request) {
  SameHandle* const list = by_handle_.find(handle_bits(request.handle));
  if (!list) return;
  if (list->hint == &request) list->hint = request.next;
  if (list->first == list->last) return by_handle_.erase(handle_bits(request.handle));
  (request.previous ? request.previous->next : list->first) = request.next;
  (request.next ? request.next->previous : list->last) = request.previous;
}

}  // namespace foretrace::capture
