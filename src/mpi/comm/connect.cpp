// Groups of processes that find each other: ports, published names, sockets.
//
// A port's name says which rank opened it; that rank accepts. Who connects sends
// its group there, in a message below all communicators.
#include <sys/socket.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live_impl.hpp"
#include "mpi/comm/contexts.hpp"
#include "mpi/comm/create.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/core/block.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/core/services.hpp"
#include "mpi/p2p/own_messages.hpp"

namespace foretrace::mpi {
namespace {

// Tags of these messages; a port's number tells several of one rank apart.
constexpr int kConnectTag = 0x70000000;
constexpr int kAcceptTag = 0x50000000;
constexpr int kJoinTag = 0x40000000;
constexpr unsigned kMostPorts = 0x0fffffff;

struct Port {
  int rank = 0;
  unsigned number = 0;
};

constexpr const char* kPortFormat = "foretrace-port:%d:%u";

// The name of a port, MPI_MAX_PORT_NAME characters.
void name_port(const Port& port, char* name) {
  std::snprintf(name, MPI_MAX_PORT_NAME, kPortFormat, port.rank, port.number);
}

std::optional<Port> port_of(const char* name) {
  Port port;
  if (!name || std::sscanf(name, kPortFormat, &port.rank, &port.number) != 2 || port.rank < 0 ||
      port.rank >= world_size() || port.number > kMostPorts)
    return std::nullopt;
  char same[MPI_MAX_PORT_NAME];
  name_port(port, same);
  return std::strcmp(name, same) == 0 ? std::optional(port) : std::nullopt;
}

int raise_anywhere(int error_class, const std::string& what) {
  return raise(static_cast<Comm*>(nullptr), error_class, what);
}

std::string quoted(const char* text) {
  return text ? "'" + std::string(text) + "'" : "null pointer";
}

// All processes of the run, also those that are not started yet: for messages of
// the library's own between different worlds. Never freed.
Comm& everyone() {
  static Comm* const comm = [] {
    std::vector<int> all(static_cast<std::size_t>(world_size()));
    std::iota(all.begin(), all.end(), 0);
    return make_comm(nullptr, 0, make_group(std::move(all)));
  }();
  return *comm;
}

// Who connects: its rank and its group.
struct Caller {
  int rank = 0;
  std::vector<int> group;
};

void call(const Port& port, const Group& group) {
  std::vector<int> words{world_rank()};
  words.insert(words.end(), group.members.begin(), group.members.end());
  send_bytes(everyone(), port.rank, kConnectTag | static_cast<int>(port.number), words.data(),
             words.size() * sizeof(int));
}

Caller answer_call(const Port& port) {
  const std::vector<std::byte> bytes =
      receive_bytes(everyone(), MPI_ANY_SOURCE, kConnectTag | static_cast<int>(port.number));
  std::vector<int> words(bytes.size() / sizeof(int));
  std::memcpy(words.data(), bytes.data(), words.size() * sizeof(int));
  return {words.front(), {words.begin() + 1, words.end()}};
}

Agreement accept_one(const Port& port, const Group& local) {
  Caller caller = answer_call(port);
  std::vector<int> all = local.members;
  all.insert(all.end(), caller.group.begin(), caller.group.end());
  const ContextId context = define_context(all);
  const Block reply = to_block({.context = context, .first = 0, .remote = local.members});
  send_bytes(everyone(), caller.rank, kAcceptTag | static_cast<int>(port.number), reply.data(),
             reply.bytes());
  return {.context = context, .first = 1, .remote = std::move(caller.group)};
}

Agreement connect_to(const Port& port, const Group& local) {
  call(port, local);
  return from_bytes(
      receive_bytes(everyone(), port.rank, kAcceptTag | static_cast<int>(port.number)));
}

// Of accept and connect: the root alone knows the port.
template <class Agree>
int meet(const char* port_name, int root, MPI_Comm handle, MPI_Comm* newcomm, Agree agree) {
  Comm* comm = get(handle);
  if (const int error = check_group(comm, root)) return error;
  Block told;
  std::string refusal;
  if (comm->rank == root) {
    const std::optional<Port> port = port_of(port_name);
    // What is no port, all members must learn.
    told = to_block(port && find_service(ServiceKind::port, port_name) ? agree(*port, *comm->group)
                                                                       : Agreement());
  }
  Comm* made = make_inter(*comm, root, std::move(told), refusal);
  *newcomm = MPI_COMM_NULL;
  if (!made)
    return raise(comm, MPI_ERR_PORT,
                 comm->rank == root ? quoted(port_name) + " is no open port that fits the call"
                                    : std::string("the root's is no open port"));
  *newcomm = handle_of(made);
  return MPI_SUCCESS;
}

// The other process's rank, over a socket that both have; -1: there is none.
int exchange_ranks(int descriptor) {
  struct Hello {
    char magic[8];
    std::int32_t rank;
  };
  constexpr char kWord[9] = "ft-join1";
  Hello mine{}, other{};
  std::memcpy(mine.magic, kWord, sizeof mine.magic);
  mine.rank = world_rank();
  if (::send(descriptor, &mine, sizeof mine, MSG_NOSIGNAL) != sizeof mine) return -1;
  std::size_t got = 0;
  while (got < sizeof other) {
    // The other one may want a core first: it gets one after a while.
    const ssize_t more =
        ::recv(descriptor, reinterpret_cast<char*>(&other) + got, sizeof other - got, 0);
    if (more <= 0) return -1;
    got += static_cast<std::size_t>(more);
  }
  const bool known = std::memcmp(other.magic, kWord, sizeof other.magic) == 0 && other.rank >= 0 &&
                     other.rank < world_size() && other.rank != world_rank();
  return known ? other.rank : -1;
}

}  // namespace

namespace impl {

int Open_port(MPI_Info, char* port_name) {
  static unsigned opened = 0;
  if (!port_name) return raise_anywhere(MPI_ERR_ARG, "null pointer");
  name_port({world_rank(), opened++ & kMostPorts}, port_name);
  add_service(ServiceKind::port, port_name, "");
  return MPI_SUCCESS;
}

int Close_port(const char* port_name) {
  if (!port_of(port_name) || !remove_service(ServiceKind::port, port_name))
    return raise_anywhere(MPI_ERR_PORT, quoted(port_name) + " is no open port");
  return MPI_SUCCESS;
}

int Publish_name(const char* service_name, MPI_Info, const char* port_name) {
  if (!service_name || !port_name) return raise_anywhere(MPI_ERR_ARG, "null pointer");
  if (!add_service(ServiceKind::name, service_name, port_name))
    return raise_anywhere(MPI_ERR_SERVICE, quoted(service_name) + " is published already");
  return MPI_SUCCESS;
}

int Unpublish_name(const char* service_name, MPI_Info, const char*) {
  if (!service_name || !remove_service(ServiceKind::name, service_name))
    return raise_anywhere(MPI_ERR_SERVICE, quoted(service_name) + " is not published");
  return MPI_SUCCESS;
}

int Lookup_name(const char* service_name, MPI_Info, char* port_name) {
  if (!service_name || !port_name) return raise_anywhere(MPI_ERR_ARG, "null pointer");
  const std::optional<std::string> port = find_service(ServiceKind::name, service_name);
  if (!port) return raise_anywhere(MPI_ERR_NAME, quoted(service_name) + " is not published");
  std::snprintf(port_name, MPI_MAX_PORT_NAME, "%s", port->c_str());
  return MPI_SUCCESS;
}

int Comm_accept(const char* port_name, MPI_Info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
  return meet(port_name, root, comm, newcomm, [](const Port& port, const Group& group) {
    // Who connects asks the rank that opened it.
    return port.rank == world_rank() ? accept_one(port, group) : Agreement();
  });
}

int Comm_connect(const char* port_name, MPI_Info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
  return meet(port_name, root, comm, newcomm, [](const Port& port, const Group& group) {
    // Nobody is in both groups.
    return group.index_of(port.rank) == MPI_UNDEFINED ? connect_to(port, group) : Agreement();
  });
}

int Comm_join(int fd, MPI_Comm* intercomm) {
  *intercomm = MPI_COMM_NULL;
  const int other = exchange_ranks(fd);
  if (other < 0)
    return raise_anywhere(MPI_ERR_OTHER,
                          "no process of this run is behind the socket " + std::to_string(fd));
  *intercomm = handle_of(meet_in(
      make_inter(*self_comm, agree_with_peer(*self_comm->group, everyone(), other, kJoinTag))));
  return MPI_SUCCESS;
}

}  // namespace impl
}  // namespace foretrace::mpi
