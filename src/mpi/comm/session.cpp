// Sessions (MPI 4), and communicators from groups alone.
//
// A session is only a name for the processes that are there. A program that has
// sessions and no MPI_Init begins with its first session and ends with its last;
// it cannot begin again, nor call MPI_Init afterwards.
#include <mpi.h>
#include <strings.h>

#if MPI_VERSION >= 4

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "live_impl.hpp"
#include "mpi/comm/contexts.hpp"
#include "mpi/comm/create.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/core/buffers.hpp"
#include "mpi/core/info.hpp"
#include "mpi/p2p/own_messages.hpp"

namespace foretrace::mpi {

struct Session : Object {
  Session() : Object(ObjectKind::session) {}
  ~Session() override {
    release(errhandler);
    release(info);
  }
  Errhandler* errhandler = nullptr;  // owned
  Info* info = nullptr;              // owned
};

namespace {

int open_sessions = 0;
bool began_by_session = false;

constexpr const char* kSets[] = {"mpi://WORLD", "mpi://SELF"};

int raise_in(Session* session, int error_class, const std::string& what) {
  const Errhandler* handler = session ? session->errhandler : nullptr;
  if (!handler || handler->what == Errhandler::What::fatal ||
      handler->what == Errhandler::What::abort) {
    return raise(world_comm, error_class, what);
  }
  if (handler->what == Errhandler::What::function) {
    MPI_Session handle = handle_of(session);
    handler->on_session(&handle, &error_class);
  }
  return error_class;
}

int raise_no_session() {
  return raise(world_comm, MPI_ERR_SESSION, "null or finalized session");
}

// Members of a process set; nullptr if there is no such set.
// Names are URIs, whose case does not matter here.
Group* find_set(const char* name) {
  if (!name) return nullptr;
  if (::strcasecmp(name, kSets[0]) == 0) return world_comm->group;
  return ::strcasecmp(name, kSets[1]) == 0 ? self_comm->group : nullptr;
}

// Tag from a string, so that simultaneous makings are told apart.
int tag_of(const char* text) {
  std::uint32_t hash = 2166136261U;
  for (; text && *text; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 16777619U;
  return creation_tag(static_cast<int>(hash & 0x0fffffff));
}

// What a new communicator gets besides its context.
int hand_out(Comm* comm, MPI_Errhandler errhandler, MPI_Info info, MPI_Comm* newcomm) {
  if (Errhandler* handler = get(errhandler)) {
    release(comm->errhandler);
    comm->errhandler = retain(handler);
  }
  comm->info = copy_of(get<Info>(info));
  *newcomm = handle_of(comm);
  return MPI_SUCCESS;
}

}  // namespace

namespace impl {

int Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* handle) {
  int finalized = 0;
  Finalized(&finalized);
  if (finalized) missing("MPI_Session_init", "after the program's end in MPI");
  if (!world_comm) {
    int provided = 0;
    const int wanted = wanted_thread_level(get<Info>(info));
    if (const int error = Init_thread(nullptr, nullptr, wanted, &provided)) return error;
    began_by_session = true;
  }
  ++open_sessions;
  auto* session = new Session;
  session->errhandler = retain(get<Errhandler>(errhandler));
  session->info = copy_of(get<Info>(info));
  *handle = handle_of(session);
  return MPI_SUCCESS;
}

int Session_finalize(MPI_Session* handle) {
  Session* session = handle ? get<Session>(*handle) : nullptr;
  if (!session) return raise_no_session();
  forget_buffer(session);
  release(session);
  *handle = MPI_SESSION_NULL;
  return --open_sessions == 0 && began_by_session ? Finalize() : MPI_SUCCESS;
}

int Session_get_info(MPI_Session handle, MPI_Info* info) {
  Session* session = get(handle);
  if (!session) return raise_no_session();
  Info* copy = session->info ? copy_of(session->info) : new Info;
  // The level is that of the program, whatever this session asked for.
  std::erase_if(copy->entries, [](const auto& entry) { return entry.first == kThreadLevel; });
  copy->entries.emplace_back(kThreadLevel, thread_level_name());
  *info = handle_of(copy);
  return MPI_SUCCESS;
}

int Session_get_num_psets(MPI_Session handle, MPI_Info, int* number) {
  if (!get<Session>(handle)) return raise_no_session();
  *number = static_cast<int>(std::size(kSets));
  return MPI_SUCCESS;
}

int Session_get_nth_pset(MPI_Session handle, MPI_Info, int n, int* pset_len, char* pset_name) {
  Session* session = get(handle);
  if (!session) return raise_no_session();
  if (n < 0 || n >= static_cast<int>(std::size(kSets))) {
    return raise_in(session, MPI_ERR_ARG, "process set number " + std::to_string(n));
  }
  // The lengths count the end of the string; 0 asks for the length alone.
  const char* name = kSets[n];
  const int length = static_cast<int>(std::strlen(name)) + 1;
  if (*pset_len > 0) {
    const auto fits = static_cast<std::size_t>(std::min(*pset_len, length)) - 1;
    std::memcpy(pset_name, name, fits);
    pset_name[fits] = '\0';
  }
  *pset_len = length;
  return MPI_SUCCESS;
}

int Session_get_pset_info(MPI_Session handle, const char* pset_name, MPI_Info* info) {
  Session* session = get(handle);
  if (!session) return raise_no_session();
  const Group* group = find_set(pset_name);
  if (!group) return raise_in(session, MPI_ERR_ARG, "no such process set");
  auto* made = new Info;
  made->entries.emplace_back("mpi_size", std::to_string(group->size()));
  *info = handle_of(made);
  return MPI_SUCCESS;
}

int Group_from_session_pset(MPI_Session handle, const char* pset_name, MPI_Group* newgroup) {
  Session* session = get(handle);
  if (!session) return raise_no_session();
  Group* group = find_set(pset_name);
  if (!group) return raise_in(session, MPI_ERR_ARG, "no such process set");
  *newgroup = handle_of(retain(group));
  return MPI_SUCCESS;
}

int Session_create_errhandler(MPI_Session_errhandler_function* function,
                              MPI_Errhandler* errhandler) {
  if (!function || !errhandler) return raise(world_comm, MPI_ERR_ARG, "null pointer");
  auto* handler = new Errhandler;
  handler->what = Errhandler::What::function;
  handler->takes = ObjectKind::session;
  handler->on_session = function;
  *errhandler = handle_of(handler);
  return MPI_SUCCESS;
}

int Session_set_errhandler(MPI_Session handle, MPI_Errhandler errhandler) {
  Session* session = get(handle);
  if (!session) return raise_no_session();
  Errhandler* handler = get(errhandler);
  if (!handler) return raise_in(session, MPI_ERR_ARG, "null or freed error handler");
  if (handler->what == Errhandler::What::function && handler->takes != ObjectKind::session) {
    return raise_in(session, MPI_ERR_ARG, "an error handler for another kind of object");
  }
  release(session->errhandler);
  session->errhandler = retain(handler);
  return MPI_SUCCESS;
}

int Session_get_errhandler(MPI_Session handle, MPI_Errhandler* errhandler) {
  Session* session = get(handle);
  if (!session) return raise_no_session();
  *errhandler = handle_of(retain(session->errhandler ? session->errhandler : errors_are_fatal));
  return MPI_SUCCESS;
}

int Session_call_errhandler(MPI_Session handle, int errorcode) {
  Session* session = get(handle);
  if (!session) return raise_no_session();
  raise_in(session, errorcode, "called by the program");
  return MPI_SUCCESS;
}

int Comm_create_from_group(MPI_Group group_handle, const char* stringtag, MPI_Info info,
                           MPI_Errhandler errhandler, MPI_Comm* newcomm) {
  Group* group = get(group_handle);
  if (!group) return raise_no_group();
  *newcomm = MPI_COMM_NULL;
  if (group->rank == MPI_UNDEFINED) return MPI_SUCCESS;
  const ContextId context = join_context(kNoParent, tag_of(stringtag), group->members);
  return hand_out(meet_in(make_comm(nullptr, context, retain(group))), errhandler, info, newcomm);
}

int Intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group,
                                 int remote_leader, const char* stringtag, MPI_Info info,
                                 MPI_Errhandler errhandler, MPI_Comm* newintercomm) {
  Group* local = get(local_group);
  Group* remote = get(remote_group);
  if (!local || !remote) return raise_no_group();
  *newintercomm = MPI_COMM_NULL;
  if (local->rank == MPI_UNDEFINED) return MPI_SUCCESS;
  if (local_leader < 0 || local_leader >= local->size() || remote_leader < 0 ||
      remote_leader >= remote->size()) {
    return raise(world_comm, MPI_ERR_ARG, "no such leader");
  }
  const int tag = tag_of(stringtag);
  const int leader = local->members[static_cast<std::size_t>(local_leader)];
  const int other = remote->members[static_cast<std::size_t>(remote_leader)];
  const bool first = leader < other;
  ContextId context = 0;
  if (local->rank == local_leader && first) {
    std::vector<int> all = local->members;
    all.insert(all.end(), remote->members.begin(), remote->members.end());
    context = define_context(all);
    send_bytes(*world_comm, other, tag, &context, sizeof context, true);
  } else if (local->rank == local_leader) {
    const std::vector<std::byte> told = receive_bytes(*world_comm, other, tag, true);
    std::memcpy(&context, told.data(), std::min(told.size(), sizeof context));
  }
  const auto* const bytes = reinterpret_cast<const std::byte*>(&context);
  const std::vector<std::byte> told =
      tell_group(*world_comm, *local, local_leader, tag, {bytes, bytes + sizeof context});
  std::memcpy(&context, told.data(), std::min(told.size(), sizeof context));
  Comm* comm = make_comm(nullptr, context, retain(local), retain(remote), first);
  return hand_out(meet_in(comm), errhandler, info, newintercomm);
}

}  // namespace impl
}  // namespace foretrace::mpi

#endif
