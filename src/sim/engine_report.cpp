#include <algorithm>
#include <utility>

#include "sim/engine_impl.hpp"
#include "trace/exit_name.hpp"

namespace foretrace::sim {
namespace {

std::string describe_open(const trace::Endpoint& from) {
  return " from " + (from.peer.valid() ? "rank " + std::to_string(from.peer.value) : "any rank") +
         ", " + (from.tag == kAnyTag ? "any tag" : "tag " + std::to_string(from.tag));
}

constexpr std::size_t kShownHolders = 3;

}  // namespace

// Messages and requests, once everybody has finalized.
void Engine::find_left_over(SimulateResult& result) const {
  for (const Rank& rank : ranks_)
    if (!rank.result.finalized && !rank.absent) return;
  struct Left {
    LeftMessage message;
    std::uint32_t order = 0;  // among the source's messages
  };
  std::vector<Left> left;
  for (const Rank& rank : ranks_) {
    left.clear();
    const auto add = [&](const Route& route, const PendingSend& send) {
      if (route.comm & kCollectiveComm) return;
      const LeftMessage message{route.source, route.destination, route.comm, route.tag,
                                send.stamp.bytes};
      left.push_back({message, send.order});
    };
    matcher_.for_each_message(rank.id, add);
    if (rank.racing)
      for (const HeldMessage& held : rank.racing->held) add(held.route, held.send);
    result.left_message_count += left.size();
    result.left_requests.push_back(rank.requests.size());
    if (result.left_messages.size() == kMostLeftMessages) continue;
    std::ranges::sort(
        left, {}, [](const Left& one) { return std::pair(one.message.source.value, one.order); });
    for (const Left& one : left)
      if (result.left_messages.size() < kMostLeftMessages)
        result.left_messages.push_back(one.message);
  }
}

std::vector<std::string> Engine::diagnose_blocked() {
  std::vector<BlockedRank> blocked;
  std::vector<EndedRank> ended;
  for (Rank& rank : ranks_) {
    if (rank.absent) continue;
    if (rank.blocked) {
      blocked.push_back(describe(rank));
      blocked.back().call += at_place(source_.place(rank.id));
    } else if (!rank.result.finalized) {
      const bool aborted =
          rank.result.events > 0 && rank.operation.kind == trace::EventKind::aborted;
      ended.push_back({rank.id, rank.result.events,
                       aborted ? "the program aborted" : source_.end_reason(rank.id)});
    }
  }
  // Which may be why the others did not come to their end.
  if (!blocked.empty() || !ended.empty())
    for (const Rank& rank : ranks_)
      if (!rank.absent && rank.result.finalized &&
          source_.name(rank.operation.name) == trace::kExitName)
        ended.push_back({rank.id, rank.result.events - 1, "it left without MPI_Finalize"});
  std::ranges::sort(ended, {}, &EndedRank::rank);
  const auto& threshold = options_.network.kind == NetworkKind::datasheet
                              ? timing_.model().loggps.sync_threshold
                              : options_.network.loggps.sync_threshold;
  return diagnose(source_.ranks(), std::move(blocked), ended,
                  threshold ? std::optional(threshold->count) : std::nullopt);
}

BlockedRank Engine::describe(Rank& rank) {
  const Operation& operation = rank.operation;
  BlockedRank blocked;
  blocked.rank = rank.id;
  blocked.event = rank.result.events;
  blocked.call = source_.name(operation.name);
  if (rank.probing) {
    blocked.call += describe_open(operation.recv);
    return blocked;
  }
  if (operation.locking != Locking::none) {
    describe_lock(rank, blocked);
    return blocked;
  }
  if (operation.kind == trace::EventKind::complete) {
    describe_complete(rank, blocked);
  } else if (operation.kind == trace::EventKind::collective) {
    blocked.call =
        describe_collective(source_, operation.name, operation.collective, operation.root) +
        " on " + describe_comm(source_.comm(operation.comm));
    blocked.waits_for = collectives_.missing(operation.comm, rank.id, 0);
  } else {
    describe_point_to_point(rank, blocked);
  }
  return blocked;
}

void Engine::describe_point_to_point(const Rank& rank, BlockedRank& blocked) {
  const Operation& operation = rank.operation;
  const auto add = [&](const char* direction, const trace::Endpoint& end) {
    blocked.call += direction + std::to_string(end.peer.value) + ", tag " +
                    std::to_string(end.tag) + ", " + std::to_string(end.bytes.count) + " bytes";
    blocked.waits_for.push_back(end.peer);
  };
  if (rank.send_open) add(" to rank ", operation.send);
  if (rank.recv_open && is_open(operation.recv))
    blocked.call += describe_open(operation.recv);
  else if (rank.recv_open)
    add(rank.send_open ? " and from rank " : " from rank ", operation.recv);
  blocked.needs_buffer =
      rank.send_open && !rank.recv_open && operation.mode != machine::SendMode::synchronous;
}

void Engine::describe_lock(const Rank& rank, BlockedRank& blocked) const {
  blocked.waits_for = locks_.at(rank.operation.lock).holders;
  blocked.call += ", a lock that ";
  for (std::size_t i = 0; i < blocked.waits_for.size() && i < kShownHolders; ++i)
    blocked.call += (i > 0 ? " and rank " : "rank ") + std::to_string(blocked.waits_for[i].value);
  if (blocked.waits_for.size() > kShownHolders)
    blocked.call += " and " + std::to_string(blocked.waits_for.size() - kShownHolders) + " more";
  blocked.call += blocked.waits_for.size() > 1 ? " hold" : " holds";
}

// Whom a posted collective of the rank waits for: as messages, for those of the step at hand.
std::vector<WorldRank> Engine::missing_in(const Rank& rank, const Request& request) {
  const PostedCollective* const posted = posted_collective(&request);
  if (!posted) return collectives_.missing(request.comm, rank.id, request.serial);
  std::vector<WorldRank> missing;
  for (const PostedCollective::Part& part : posted->open)
    if (!part.done) missing.push_back(part.peer);
  std::ranges::sort(missing);
  missing.erase(std::ranges::unique(missing).begin(), missing.end());
  return missing;
}

void Engine::describe_complete(Rank& rank, BlockedRank& blocked) {
  blocked.needs_buffer = true;
  bool first = true;
  for (const trace::Completion& completion : rank.operation.completions) {
    const Request& request = *rank.requests.find(completion.request);
    if (request.done) continue;
    const char* const of = std::exchange(first, false) ? " of " : " and of ";
    if (request.is_collective) {
      const std::string what = collectives_.describe_posted(request.comm, rank.id, request.serial);
      // A blocking one that was posted and is waited for has one name for both.
      blocked.call = what.starts_with(blocked.call) ? what : blocked.call + of + what;
      const auto missing = missing_in(rank, request);
      if (!rank.any)
        blocked.waits_for.insert(blocked.waits_for.end(), missing.begin(), missing.end());
      blocked.needs_buffer = false;
      continue;
    }
    blocked.call += std::string(of) +
                    (request.is_access ? "an access to rank "
                     : request.is_send ? "a send to rank "
                                       : "a receive from rank ") +
                    (request.peer.valid() ? std::to_string(request.peer.value) : "any") + ", tag " +
                    (request.tag == kAnyTag ? "any" : std::to_string(request.tag));
    // Any of several may let it go on; who that is nobody knows.
    if (request.peer.valid() && !rank.any) blocked.waits_for.push_back(request.peer);
    blocked.needs_buffer = blocked.needs_buffer && request.needs_buffer;
  }
}

}  // namespace foretrace::sim
