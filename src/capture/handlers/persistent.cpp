#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "capture/handlers/pieces.hpp"
#include "capture/handlers/posting.hpp"
#include "capture/host/idle_polls.hpp"
#include "capture/session/start_up.hpp"
#include "mpi_api/partitioned.hpp"

namespace foretrace::capture {
namespace {

// A message between its probe and its receive.
struct ProbedMessage {
  CommInfo* comm = nullptr;
  MPI_Status status;
  std::uint64_t number = 0;
  PostedRecv recv;
};

// Nodes stay in place while they wait: Piggyback points at `recv`.
std::unordered_map<std::uint64_t, ProbedMessage> probed;

ProbedMessage& remember(CommInfo& comm, MPI_Message message, const MPI_Status& status) {
  ProbedMessage& entry = probed[handle_bits(message)];
  entry = ProbedMessage();
  entry.comm = &comm;
  entry.status = status;
  entry.number = session.requests.next_serial();
  return entry;
}

// What a look finds that comes after work: a message that is sent by then in virtual time.
struct TimelyProbe {
  bool applies = false;  // else it finds what is here
  bool finds = false;
  int source = 0;  // to look for, as the real call does
  int tag = 0;
};

TimelyProbe probe_in_time(CommInfo& info, int source, int tag, MPI_Comm comm) {
  constexpr int kMostAsked = 256;
  TimelyProbe look{false, false, source, tag};
  if (source == MPI_PROC_NULL) return look;
  // Numbers of requests are small.
  const std::uint64_t about = info.key * 0x9e3779b97f4a7c15 +
                              static_cast<std::uint32_t>(source) * 0xc2b2ae3d27d4eb4f +
                              static_cast<std::uint32_t>(tag);
  if (!session.hides_finds(about | std::uint64_t{1} << 63)) return look;
  MPI_Status status;
  bool comes_later = false;
  const OwnPolls own;
  const auto finds = [&](int from) {
    int there = 0;
    if (PMPI_Iprobe(from, tag, comm, &there, &status) != MPI_SUCCESS || !there) return false;
    const WorldRank sender = info.world(status.MPI_SOURCE);
    if (session.piggyback.see(info, sender, status.MPI_TAG).sent <= session.look_time())
      return true;
    comes_later = true;
    return false;
  };
  look.applies = true;
  look.finds = finds(source);
  // The first one here may be sent later than another one.
  const int senders = info.is_inter() ? static_cast<int>(info.remote.size()) : info.size;
  if (source == MPI_ANY_SOURCE && senders <= kMostAsked)
    for (int from = 0; !look.finds && from < senders; ++from) look.finds = finds(from);
  if (!look.finds) {
    if (comes_later) session.note_hidden_find();
    return look;
  }
  look.source = status.MPI_SOURCE;
  look.tag = status.MPI_TAG;
  return look;
}

// A probe, which is a call like others if it finds nothing. `message`: it takes what it finds.
int find_message(Fn fn, int source, int tag, MPI_Comm comm, MPI_Message* message,
                 MPI_Status* status, int* flag,
                 FunctionRef<int(int source, int tag, MPI_Status*)> real) {
  CommInfo* info = session.comms.find(comm);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  trace::Event& event = session.open(trace::EventKind::call, fn);
  const bool looks = fn == Fn::MPI_Iprobe || fn == Fn::MPI_Improbe;
  TimelyProbe found{false, false, source, tag};
  if (looks && info) found = probe_in_time(*info, source, tag, comm);
  const bool early = found.applies && !found.finds;
  const int result = early ? MPI_SUCCESS : real(found.source, found.tag, status);
  if (early) *flag = 0;
  const bool is_named = info && source >= 0;
  const auto place = [&](WorldRank from) -> LookChoices::Place {
    return {info->key, static_cast<std::uint32_t>(from.value), static_cast<std::uint32_t>(tag)};
  };
  if (!info || result != MPI_SUCCESS || !*flag || source == MPI_PROC_NULL) {
    if (is_named && result == MPI_SUCCESS && !*flag)
      session.look_choices.looked_in_vain(place(info->world(source)));
    session.close_as_call();
    return result;
  }
  event.kind = trace::EventKind::probe;
  fill_recv(event, *info, *status, source, tag);
  ProbedMessage* taken = message ? &remember(*info, *message, *status) : nullptr;
  if (taken) event.request = taken->number;
  if (!session.predicting()) {
    if (is_named) session.look_choices.take(place(info->world(source)), Time(), looks);
    session.close();
    return result;
  }
  const WorldRank from = info->world(status->MPI_SOURCE);
  machine::MessageStamp stamp;
  if (taken) {
    taken->recv.comm = info;
    taken->recv.source = from;
    taken->recv.tag = status->MPI_TAG;
    taken->recv.is_posted = false;
    session.piggyback.settle(taken->recv, from, status->MPI_TAG);
    stamp = taken->recv.stamp;
  } else {
    stamp = session.piggyback.see(*info, from, status->MPI_TAG);
  }
  if (source == MPI_ANY_SOURCE) session.piggyback.note_any_source(*info, tag, from, stamp.sent);
  if (is_named) session.look_choices.take(place(from), stamp.sent, looks);
  const Time cost = session.call_cost(fn);
  const Time leave = machine::Timing::probe_leave(event.enter, stamp.sent, cost);
  session.close_at(leave, machine::wait_time(leave, event.enter + cost));
  return result;
}

// Under predict: looks again and again, without keeping others waiting.
int poll_until_there(Fn fn, int tag, FunctionRef<int(int*)> look) {
  int code = MPI_SUCCESS;
  session.piggyback.poll(
      [&] {
        int there = 0;
        code = look(&there);
        return there != 0 || code != MPI_SUCCESS;
      },
      Blocked{name_of(fn), WorldRank(), tag, 0, false});
  return code;
}

ProbedMessage* find_probed(MPI_Message message) {
  const auto found = probed.find(handle_bits(message));
  return found == probed.end() ? nullptr : &found->second;
}

}  // namespace

int send_init(Fn fn, SendMode mode, const Data& data, int dest, int tag, MPI_Comm comm,
              MPI_Request* variable, Real real) {
  Inside inside;
  CommInfo* info = inside ? session.comms.find(comm) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  return make_persistent(fn, variable, real, [&](Request& request) {
    describe_send(request, *info, mode, data, dest, tag);
  });
}

int recv_init(Fn fn, const Data& room, int source, int tag, MPI_Comm comm, MPI_Request* variable,
              Real real) {
  Inside inside;
  CommInfo* info = inside ? session.comms.find(comm) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  return make_persistent(fn, variable, real, [&](Request& request) {
    describe_recv(request, *info, room, source, tag);
    request.piece = in_one_piece(room);
  });
}

namespace {

bool is_any_told = false;

// Partitioned messages meet no others: they are on the library's own communicator.
int partitioned_init(Fn fn, bool sends, int partitions, Bytes each, int partner, int tag,
                     MPI_Comm comm, MPI_Request* variable, Real real) {
  Inside inside;
  CommInfo* info = inside ? session.comms.find(comm) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  // Of those that name nobody it is not known which meet.
  if (partner == MPI_ANY_SOURCE || tag == MPI_ANY_TAG) {
    if (!std::exchange(is_any_told, true))
      say("rank " + std::to_string(session.comms.world_rank().value) + ": " + name_of(fn) +
          " from anybody, or of any tag: such messages carry no virtual time yet");
    return plain_call(fn, real);
  }
  return make_persistent(fn, variable, real, [&](Request& request) {
    CommInfo& hidden = session.comms.hidden(*info);
    request.several = true;
    request.comm = &hidden;
    request.partitions = sends ? partitions : 0;
    const Bytes bytes(each.count * static_cast<std::uint64_t>(partitions));
    const int channel = mpi_api::partitioned_tag(tag, hidden.partitioned[{sends, partner, tag}]++);
    if (sends)
      describe_send(add_part(request), hidden, SendMode::standard, bytes, partner, channel);
    else
      describe_recv(add_part(request), hidden, bytes, partner, channel);
  });
}

int start_one(Fn fn, MPI_Request* variable, Real real) {
  Request* const request = session.requests.find(variable);
  if (!request) return plain_call(fn, real);
  if (request->partitions == 0) return post_request(fn, *request, variable, real);
  const int result = wait_in(real);
  if (result != MPI_SUCCESS) return result;
  request->active = true;
  request->cancelled = false;
  request->unready = request->partitions;
  return result;
}

// A call that has sent nothing yet is a call like others.
int tell_start(Fn fn, int result) {
  return session.thread().goes_on ? result : plain_state(fn, [result] { return result; });
}

}  // namespace

int psend_init(Fn fn, int partitions, Bytes each, int dest, int tag, MPI_Comm comm,
               MPI_Request* variable, Real real) {
  return partitioned_init(fn, true, partitions, each, dest, tag, comm, variable, real);
}

int precv_init(Fn fn, int partitions, Bytes each, int source, int tag, MPI_Comm comm,
               MPI_Request* variable, Real real) {
  return partitioned_init(fn, false, partitions, each, source, tag, comm, variable, real);
}

int pready(Fn fn, int partitions, MPI_Request handle, Real real) {
  Inside inside;
  if (!inside) return real();
  session.piggyback.keep_going();
  // Another thread may wait for it.
  Request* const request = session.requests.find_any(&handle);
  if (!request || request->unready == 0) return plain_call(fn, real);
  request->unready -= std::min(partitions, request->unready);
  return request->unready > 0 ? plain_call(fn, real)
                              : post_part(fn, *request->parts.front(), handle, real);
}

int start(Fn fn, MPI_Request* variable, Real real) {
  Inside inside;
  return inside ? tell_start(fn, start_one(fn, variable, real)) : real();
}

int startall(Fn fn, int count, MPI_Request* requests, Real real) {
  Inside inside;
  if (!inside) return real();
  // MPI defines it as Start for each.
  for (int i = 0; i < count; ++i) {
    const int result = start_one(fn, &requests[i], [&] { return PMPI_Start(&requests[i]); });
    if (result != MPI_SUCCESS) return tell_start(fn, result);
  }
  return tell_start(fn, MPI_SUCCESS);
}

int probe(Fn fn, int source, int tag, MPI_Comm comm, MPI_Status* status, Real real) {
  Inside inside;
  if (!inside) return real();
  int always = 1;
  return find_message(
      fn, source, tag, comm, nullptr, status, &always, [&](int, int, MPI_Status* given) {
        if (!session.predicting() || source == MPI_PROC_NULL)
          return wait_in([&] { return PMPI_Probe(source, tag, comm, given); });
        return poll_until_there(
            fn, tag, [&](int* there) { return PMPI_Iprobe(source, tag, comm, there, given); });
      });
}

int iprobe(Fn fn, int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status, Real) {
  Inside inside;
  if (!inside) return PMPI_Iprobe(source, tag, comm, flag, status);
  const int result = find_message(fn, source, tag, comm, nullptr, status, flag,
                                  [&](int from, int with_tag, MPI_Status* given) {
                                    return PMPI_Iprobe(from, with_tag, comm, flag, given);
                                  });
  session.piggyback.keep_going();
  return result;
}

int improbe(Fn fn, int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
            MPI_Status* status, Real) {
  Inside inside;
  if (!inside) return PMPI_Improbe(source, tag, comm, flag, message, status);
  const int result = find_message(fn, source, tag, comm, message, status, flag,
                                  [&](int from, int with_tag, MPI_Status* given) {
                                    return PMPI_Improbe(from, with_tag, comm, flag, message, given);
                                  });
  session.piggyback.keep_going();
  return result;
}

int mprobe(Fn fn, int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status,
           Real real) {
  Inside inside;
  if (!inside) return real();
  int always = 1;
  return find_message(
      fn, source, tag, comm, message, status, &always, [&](int, int, MPI_Status* given) {
        if (!session.predicting())
          return wait_in([&] { return PMPI_Mprobe(source, tag, comm, message, given); });
        return poll_until_there(fn, tag, [&](int* there) {
          return PMPI_Improbe(source, tag, comm, there, message, given);
        });
      });
}

int mrecv(Fn fn, const Data& room, MPI_Message* message, MPI_Status* status, RealStatus real) {
  Inside inside;
  if (!inside) return real(status);
  if (!message) return plain_call(fn, [&] { return real(status); });
  // MPI may give the handle to another thread before the call is over.
  const auto node = probed.extract(handle_bits(*message));
  if (!node) return plain_call(fn, [&] { return real(status); });
  ProbedMessage* const entry = &node.mapped();
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const std::uint16_t piece = entry->status.MPI_SOURCE == MPI_PROC_NULL ? 0 : piece_of(room);
  trace::Event& event = session.open(trace::EventKind::recv, fn);
  event.recv.piece = piece;
  note_room(room);
  if (session.predicting()) session.piggyback.set_posted(entry->recv, event.enter);
  const int result = wait_in([&] { return real(status); });
  fill_recv(event, *entry->comm, *status, entry->status.MPI_SOURCE, entry->status.MPI_TAG);
  event.taken = entry->number;
  if (!session.predicting()) {
    session.close();
  } else {
    close_receive(event, entry->recv.stamp);
  }
  return result;
}

int imrecv(Fn fn, const Data& room, MPI_Message* message, MPI_Request* variable, Real real) {
  Inside inside;
  if (!inside) return real();
  ProbedMessage* entry = message ? find_probed(*message) : nullptr;
  if (!entry) return plain_call(fn, real);
  const std::uint64_t key = handle_bits(*message);
  Request& request = session.requests.add();
  describe_recv(request, *entry->comm, room, entry->status.MPI_SOURCE, entry->status.MPI_TAG);
  request.piece = in_one_piece(room);
  request.taken = entry->number;
  request.probed = session.predicting() ? &entry->recv : nullptr;
  const int result = post_request(fn, request, variable, real);
  request.probed = nullptr;
  probed.erase(key);
  return result;
}

}  // namespace foretrace::capture
