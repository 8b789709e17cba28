// The profiler's counts of messages: how many went to whom, and who was waited for.
#include "capture/profile/profiler.hpp"

#include <algorithm>
#include <optional>

#include "capture/handlers/comm_table.hpp"

namespace foretrace::capture {

using trace::Direction;

namespace {

std::uint64_t wait_hash(std::uint64_t site, std::uint32_t sender) {
  return trace::mixed(site ^ sender);
}

// The world rank of a member that messages come from; nothing: it is in no world.
std::optional<std::uint32_t> world_rank(const ProfiledComm* comm, int member) {
  if (!comm || member < 0 || static_cast<std::size_t>(member) >= comm->peers.size()) return {};
  const int world = comm->peers[static_cast<std::size_t>(member)];
  if (world < 0) return {};
  return static_cast<std::uint32_t>(world);
}

}  // namespace

void Profiler::count_message(OpenCall& call, std::uint64_t bytes, int dest, MPI_Comm comm) {
  const ProfiledComm* known = comms_.find(comm);
  if (dest == MPI_PROC_NULL || !known) return count_size(call, Direction::none, 0, known);
  count_size(call, Direction::sent, bytes, known);
  ++current_site(call).messages;
  const auto world = world_rank(known, dest);
  if (!world) return;
  const std::uint32_t to = *world;
  trace::PeerRecord* peer =
      peers_.find(to, [to](const trace::PeerRecord& record) { return record.rank == to; });
  if (!peer) {
    peer = peers_.add(to, [](const trace::PeerRecord& record) { return record.rank; });
    if (!peer) {
      ++rank_->lost;
      return;
    }
    peer->rank = to;
  }
  ++peer->messages;
  peer->bytes += bytes;
}

void Profiler::message(OpenCall& call, std::uint64_t bytes, int dest, MPI_Comm comm) {
  const Lock lock(*this);
  count_message(call, bytes, dest, comm);
}

void Profiler::moved(OpenCall& call, Direction direction, std::uint64_t bytes, MPI_Comm comm) {
  const Lock lock(*this);
  count_size(call, direction, bytes, comms_.find(comm));
}

// Where the table is full, the site's calls are counted without their sender.
void Profiler::count_wait(OpenCall& call, std::uint32_t sender) {
  const std::uint64_t site = trace::key_of(current_site(call));
  const auto same = [&](const trace::WaitRecord& record) {
    return record.site == site && record.rank == sender;
  };
  const std::uint64_t hash = wait_hash(site, sender);
  trace::WaitRecord* wait = waits_.find(hash, same);
  if (!wait) {
    wait = waits_.add(
        hash, [](const trace::WaitRecord& record) { return wait_hash(record.site, record.rank); });
    if (!wait) {
      ++rank_->lost;
      return;
    }
    wait->site = site;
    wait->rank = sender;
  }
  ++wait->calls;
  wait->ticks += call.ticks;
  wait->longest = std::max(wait->longest, call.ticks);
}

void Profiler::received(OpenCall& call, std::uint64_t bytes, int source, MPI_Comm comm) {
  const Lock lock(*this);
  const ProfiledComm* const known = comms_.find(comm);
  count_size(call, Direction::received, bytes, known);
  if (const auto sender = world_rank(known, source)) count_wait(call, *sender);
}

void Profiler::probed(OpenCall& call, int source, MPI_Comm comm) {
  const Lock lock(*this);
  const ProfiledComm* const known = comms_.find(comm);
  count_size(call, Direction::none, 0, known);
  if (const auto sender = world_rank(known, source)) count_wait(call, *sender);
}

void Profiler::receives(MPI_Request request, int source, MPI_Comm comm) {
  if (request == MPI_REQUEST_NULL) return;
  const Lock lock(*this);
  Sender sender;
  const auto world = world_rank(comms_.find(comm), source);
  if (source == MPI_ANY_SOURCE)
    sender = {Sender::kAny, comm};
  else if (world)
    sender.rank = static_cast<int>(*world);
  else if (source != MPI_PROC_NULL)
    sender.rank = Sender::kSeveral;
  if (sender)
    receives_.get(handle_bits(request)) = sender;
  else if (receives_.find(handle_bits(request)))
    receives_.erase(handle_bits(request));
}

void Profiler::receives_nothing(MPI_Request request) {
  const Lock lock(*this);
  if (receives_.find(handle_bits(request))) receives_.erase(handle_bits(request));
}

Sender Profiler::awaited(int count, const MPI_Request* requests) {
  const Lock lock(*this);
  Sender all;
  for (int i = 0; i < count && requests; ++i) {
    const Sender* const one = receives_.find(handle_bits(requests[i]));
    if (!one) continue;
    if (all && (all != *one || all.rank == Sender::kAny)) return {Sender::kSeveral, MPI_COMM_NULL};
    all = *one;
  }
  if (all.rank == Sender::kAny && count > 1) all.rank = Sender::kSeveral;
  return all;
}

void Profiler::waited(OpenCall& call, const Sender& sender, int source) {
  const Lock lock(*this);
  if (sender.rank >= 0) return count_wait(call, static_cast<std::uint32_t>(sender.rank));
  const auto named =
      sender.rank == Sender::kAny ? world_rank(comms_.known(sender.comm), source) : std::nullopt;
  count_wait(call, named.value_or(trace::kSeveralRanks));
}

void Profiler::prepare(MPI_Request request, std::uint64_t bytes, int dest, MPI_Comm comm) {
  const Lock lock(*this);
  prepared_[handle_bits(request)] = {bytes, dest, comm};
}

void Profiler::started(OpenCall& call, MPI_Request request) {
  const Lock lock(*this);
  const auto found = prepared_.find(handle_bits(request));
  if (found != prepared_.end())
    count_message(call, found->second.bytes, found->second.dest, found->second.comm);
}

void Profiler::forget_request(MPI_Request request) {
  const Lock lock(*this);
  prepared_.erase(handle_bits(request));
}

}  // namespace foretrace::capture
