// Inter-communicators: made from two groups, merged to one.
#include "mpi/comm/inter.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "live_impl.hpp"
#include "mpi/collective/gathered.hpp"
#include "mpi/comm/contexts.hpp"
#include "mpi/comm/create.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/core/block.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/p2p/own_messages.hpp"
#include "mpi/p2p/request.hpp"

namespace foretrace::mpi {

Block to_block(const Agreement& agreement) {
  const auto members = static_cast<std::uint32_t>(agreement.remote.size());
  const std::uint32_t head[] = {agreement.context, agreement.first, members};
  const std::size_t text = sizeof head + members * sizeof(int);
  Block block(text + agreement.refusal.size());
  std::memcpy(block.data(), head, sizeof head);
  std::ranges::copy(std::as_bytes(std::span(agreement.remote)), block.data() + sizeof head);
  std::ranges::copy(std::as_bytes(std::span(agreement.refusal)), block.data() + text);
  return block;
}

Agreement from_bytes(std::span<const std::byte> bytes) {
  std::uint32_t head[3] = {};
  Agreement agreement;
  if (bytes.size() < sizeof head) return agreement;
  std::memcpy(head, bytes.data(), sizeof head);
  agreement.context = head[0];
  agreement.first = head[1];
  const std::size_t text = sizeof head + head[2] * sizeof(int);
  if (bytes.size() < text) return {};
  agreement.remote.resize(head[2]);
  std::ranges::copy(bytes.subspan(sizeof head, text - sizeof head),
                    std::as_writable_bytes(std::span(agreement.remote)).begin());
  agreement.refusal.resize(bytes.size() - text);
  std::ranges::copy(bytes.subspan(text),
                    std::as_writable_bytes(std::span(agreement.refusal)).begin());
  return agreement;
}

int check_group(Comm* comm, int root) {
  if (!comm) return raise_no_comm();
  if (comm->is_inter()) return raise(comm, MPI_ERR_COMM, "an inter-communicator");
  if (root < 0 || root >= comm->size())
    return raise(
        comm, MPI_ERR_ROOT,
        "root " + std::to_string(root) + ", expected 0 to " + std::to_string(comm->size() - 1));
  return MPI_SUCCESS;
}

namespace {

void send_block(Comm& comm, int partner, int tag, const Agreement& agreement) {
  const Block block = to_block(agreement);
  send_bytes(comm, partner, tag, block.data(), block.bytes(), true);
}

Agreement receive_block(Comm& comm, int partner, int tag) {
  return from_bytes(receive_bytes(comm, partner, tag, true));
}

bool overlap(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<bool> in_a;
  for (const int member : a) {
    if (static_cast<std::size_t>(member) >= in_a.size()) {
      in_a.resize(static_cast<std::size_t>(member) + 1);
    }
    in_a[static_cast<std::size_t>(member)] = true;
  }
  for (const int member : b) {
    if (static_cast<std::size_t>(member) < in_a.size() && in_a[static_cast<std::size_t>(member)]) {
      return true;
    }
  }
  return false;
}

}  // namespace

// The leaders' talk. The group with the leader of lower world rank comes first,
// and its leader makes the context.
Agreement agree_with_peer(const Group& local, Comm& peer, int remote_leader, int tag) {
  const int other = peer.world(remote_leader);
  const bool first = world_rank() < other;
  if (!first) {
    send_block(peer, remote_leader, tag, {.context = 0, .first = 0, .remote = local.members});
    Agreement agreement = receive_block(peer, remote_leader, tag);
    agreement.first = 0;
    return agreement;
  }
  Agreement agreement = receive_block(peer, remote_leader, tag);
  agreement.first = 1;
  if (overlap(local.members, agreement.remote)) {
    agreement.remote.clear();
    send_block(peer, remote_leader, tag, {});
    return agreement;
  }
  std::vector<int> all = local.members;
  all.insert(all.end(), agreement.remote.begin(), agreement.remote.end());
  agreement.context = define_context(all);
  send_block(peer, remote_leader, tag,
             {.context = agreement.context, .first = 0, .remote = local.members});
  return agreement;
}

Comm* make_inter(Comm& comm, const Agreement& agreement) {
  if (agreement.remote.empty()) return nullptr;
  return make_comm(&comm, agreement.context, retain(comm.group), make_group(agreement.remote),
                   agreement.first != 0);
}

Comm* make_inter(Comm& comm, int leader, Block told, std::string& refusal) {
  // Only the leader knows how long the list is; all must say the same.
  constexpr std::uint64_t kBytes = sizeof(std::uint32_t[2]);
  const Gathered gathered =
      collective({.comm = &comm, .cost = machine::Cost::bcast, .root = leader, .bytes = kBytes},
                 std::move(told));
  Agreement agreement = from_bytes(gathered.of(leader));
  refusal = std::move(agreement.refusal);
  return make_inter(comm, agreement);
}

namespace {

int raise_leader(Comm* comm, const char* which, int leader, int size) {
  return raise(comm, MPI_ERR_RANK,
               std::string(which) + " leader " + std::to_string(leader) + ", expected 0 to " +
                   std::to_string(size - 1));
}

}  // namespace

namespace impl {

int Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader,
                     int tag, MPI_Comm* newintercomm) {
  Comm* comm = get(local_comm);
  if (!comm) return raise_no_comm();
  if (comm->is_inter()) return raise(comm, MPI_ERR_COMM, "an inter-communicator");
  if (local_leader < 0 || local_leader >= comm->size()) {
    return raise_leader(comm, "local", local_leader, comm->size());
  }
  if (tag < 0) return raise(comm, MPI_ERR_TAG, "tag " + std::to_string(tag));
  Agreement agreement;
  Comm* peer = nullptr;
  if (comm->rank == local_leader) {
    peer = get(peer_comm);
    if (!peer) return raise(comm, MPI_ERR_COMM, "null or freed peer communicator");
    const int peers = peer->partners().size();
    if (remote_leader < 0 || remote_leader >= peers) {
      return raise_leader(comm, "remote", remote_leader, peers);
    }
    if (peer->world(remote_leader) == world_rank()) {
      return raise(comm, MPI_ERR_RANK, "the two leaders are the same process");
    }
    agreement = agree_with_peer(*comm->group, *peer, remote_leader, creation_tag(tag));
  }
  const Block told = to_block(agreement);
  agreement = from_bytes(tell_group(*comm, *comm->group, local_leader, creation_tag(tag),
                                    {told.data(), told.data() + told.bytes()}));
  Comm* made = make_inter(*comm, agreement);
  if (!made) {
    // They meet where they are, since they have told each other so in no time.
    if (peer) {
      send_bytes(*peer, remote_leader, creation_tag(tag), nullptr, 0);
      receive_bytes(*peer, remote_leader, creation_tag(tag));
    }
    meet_in(comm);
    return raise(comm, MPI_ERR_COMM, "the two groups have members in common");
  }
  *newintercomm = handle_of(meet_in(made));
  return MPI_SUCCESS;
}

int Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  Comm* comm = get(intercomm);
  if (!comm) return raise_no_comm();
  if (!comm->is_inter()) {
    return raise(comm, MPI_ERR_COMM, "an intra-communicator, expected an inter-communicator");
  }
  // Where both sides say the same, the group that comes first anyway does.
  const int key = (high ? 2 : 0) + (comm->first ? 0 : 1);
  Split made = split({.comm = comm, .cost = machine::Cost::comm_create}, 0, key);
  *newintracomm = handle_of(make_comm(comm, made.context, make_group(std::move(made.members))));
  return MPI_SUCCESS;
}

}  // namespace impl
}  // namespace foretrace::mpi
