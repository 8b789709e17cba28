// What if a call need not wait, where ranks are taken up in the order of time. What it
// waits for lies ahead and is not known yet. So the call posts what it would do, goes on
// after as long as it takes where nobody is late (Operation::alone), and never asks what
// becomes of it.

#include "base/error.hpp"
#include "sim/engine_impl.hpp"

namespace foretrace::sim {

using trace::EventKind;

// False for a call that never waits for others: it is made as always.
bool Engine::detach(Rank& rank) {
  const Operation& operation = rank.operation;
  if (log_) throw Error("dependences are not known of calls that do not wait");
  Time unpacking;
  switch (operation.kind) {
    case EventKind::send:
      if (!operation.send.peer.valid() ||
          (!network_->is_rendezvous(path_of(rank, operation.send), operation.mode,
                                    operation.send.bytes) &&
           !is_attended(rank, operation.send, operation.mode)))
        return false;
      detach_messages(rank);
      break;
    case EventKind::recv:
    case EventKind::sendrecv:
      detach_messages(rank);
      break;
    case EventKind::complete:
      if (operation.patience != Time() || operation.watched != 0) return false;
      if (operation.completing >= Completing::test_all) return false;
      if (operation.completing != Completing::all)
        fail(rank, "cannot be without its wait: which request would end it is not known");
      unpacking = detach_requests(rank);
      break;
    case EventKind::collective:
      enter_collective(rank, kDetachedRequest | ++detached_);
      break;
    case EventKind::probe:
      if (trace::leaves_message(operation)) break;
      fail(rank, "cannot be without its wait: which message it would take is not known");
    case EventKind::call:
      if (operation.locking == Locking::shared || operation.locking == Locking::exclusive)
        fail(rank, "cannot do without its wait: two ranks would hold the lock at once");
      if (operation.probing != Probing::wait) return false;
      break;
    default:
      return false;
  }
  const std::size_t step =
      rank.expansion && rank.expansion->active ? rank.expansion->next - std::size_t{1} : 0;
  rank.leave = rank.enter + operation.alone[step] + unpacking;
  return true;
}

void Engine::detach_messages(Rank& rank) {
  const Operation& operation = rank.operation;
  const trace::Endpoint& to = operation.send;
  if (operation.kind != EventKind::recv && to.peer.valid()) {
    const bool rendezvous = network_->is_rendezvous(path_of(rank, to), operation.mode, to.bytes);
    const SendTimes times = network_->begin_send(rank.id, to.peer, rank.enter, operation.mode,
                                                 to.bytes, rendezvous, to.untouched);
    connect_send(rank, times, rendezvous, kDetachedRequest | ++detached_);
  }
  if (operation.kind == EventKind::send) return;
  const trace::Endpoint& from = operation.recv;
  if (operation.taken != 0) fail(rank, "cannot be without its wait: a probe has taken its message");
  if (is_open(from)) {
    if (!races_) fail(rank, "a wildcard receive whose message is not known; run the program live");
  } else if (!from.peer.valid()) {
    return;
  }
  connect_recv(rank, machine::RecvKind::posted, kDetachedRequest | ++detached_);
}

// Returns what taking apart takes of what they receive.
Time Engine::detach_requests(Rank& rank) {
  Time unpacking;
  for (const trace::Completion& completion : rank.operation.completions) {
    Request* request = rank.requests.find(completion.request);
    if (!request || request->detached)
      fail(rank, "completes request " + std::to_string(completion.request) +
                     ", which is not posted or completed before");
    unpacking += unpacking_of_posted(rank, *request, completion.source, completion.bytes);
    if (request->done)
      rank.requests.erase(completion.request);
    else
      request->detached = true;
  }
  return unpacking;
}

}  // namespace foretrace::sim
