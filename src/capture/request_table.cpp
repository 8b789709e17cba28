#include "capture/request_table.hpp"

namespace foretrace::capture {

Request& RequestTable::add() {
  if (free_.empty()) return slab_.emplace_back();
  Request& request = *free_.back();
  free_.pop_back();
  request = Request();
  return request;
}

void RequestTable::index(Request& request, const MPI_Request* variable) {
  request.handle = *variable;
  request.variable = variable;
  request.recv.handle = *variable;
  request.next_same_handle = nullptr;
  Request*& first = by_handle_[handle_bits(*variable)];
  if (!first) {
    first = &request;
    return;
  }
  Request* last = first;
  while (last->next_same_handle) last = last->next_same_handle;
  last->next_same_handle = &request;
}

Request* RequestTable::find(const MPI_Request* variable) const {
  if (*variable == MPI_REQUEST_NULL) return nullptr;
  const auto found = by_handle_.find(handle_bits(*variable));
  if (found == by_handle_.end()) return nullptr;
  Request* first = found->second;
  if (!first->next_same_handle) return first;
  for (Request* each = first; each; each = each->next_same_handle)
    if (each->variable == variable) return each;
  return first;
}

void RequestTable::remove(Request& request) {
  const auto found = by_handle_.find(handle_bits(request.handle));
  if (found != by_handle_.end()) {
    Request** link = &found->second;
    while (*link && *link != &request) link = &(*link)->next_same_handle;
    if (*link) *link = request.next_same_handle;
    if (!found->second) by_handle_.erase(found);
  }
  free_.push_back(&request);
}

}  // namespace foretrace::capture
