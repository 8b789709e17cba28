#include <unordered_map>

#include "capture/handlers/posting.hpp"

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

// A probe, which is a call like others if it finds nothing. `message`: it takes what it finds.
int find_message(Fn fn, int source, int tag, MPI_Comm comm, MPI_Message* message,
                 MPI_Status* status, const int* flag, FunctionRef<int(MPI_Status*)> real) {
  CommInfo* info = session.comms.find(comm);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  trace::Event& event = session.open(trace::EventKind::call, fn);
  const int result = real(status);
  if (!info || result != MPI_SUCCESS || !*flag || source == MPI_PROC_NULL) {
    session.close_as_call();
    return result;
  }
  event.kind = trace::EventKind::probe;
  fill_recv(event, *info, *status, source, tag);
  ProbedMessage* taken = message ? &remember(*info, *message, *status) : nullptr;
  if (taken) event.request = taken->number;
  if (!session.predicting()) {
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
    describe_send(request, *info, mode, data.bytes(), dest, tag);
    request.piece = long_piece(data, request.bytes);
  });
}

int recv_init(Fn fn, const Data& room, int source, int tag, MPI_Comm comm, MPI_Request* variable,
              Real real) {
  Inside inside;
  CommInfo* info = inside ? session.comms.find(comm) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  return make_persistent(fn, variable, real, [&](Request& request) {
    describe_recv(request, *info, room.bytes(), source, tag);
    request.piece = in_one_piece(room);
  });
}

int start(Fn fn, MPI_Request* variable, Real real) {
  Inside inside;
  if (!inside) return real();
  Request* request = session.requests.find(variable);
  return request ? post_request(fn, *request, variable, real) : plain_call(fn, real);
}

int startall(Fn fn, int count, MPI_Request* requests, Real real) {
  Inside inside;
  if (!inside) return real();
  // MPI defines it as Start for each.
  for (int i = 0; i < count; ++i) {
    const auto each = [&] { return PMPI_Start(&requests[i]); };
    Request* request = session.requests.find(&requests[i]);
    const int result =
        request ? post_request(fn, *request, &requests[i], each) : plain_call(fn, each);
    if (result != MPI_SUCCESS) return result;
  }
  return MPI_SUCCESS;
}

int probe(Fn fn, int source, int tag, MPI_Comm comm, MPI_Status* status, Real real) {
  Inside inside;
  if (!inside) return real();
  const int always = 1;
  return find_message(fn, source, tag, comm, nullptr, status, &always, [&](MPI_Status* given) {
    if (!session.predicting() || source == MPI_PROC_NULL)
      return wait_in([&] { return PMPI_Probe(source, tag, comm, given); });
    return poll_until_there(
        fn, tag, [&](int* there) { return PMPI_Iprobe(source, tag, comm, there, given); });
  });
}

int iprobe(Fn fn, int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status, Real) {
  Inside inside;
  if (!inside) return PMPI_Iprobe(source, tag, comm, flag, status);
  const int result =
      find_message(fn, source, tag, comm, nullptr, status, flag,
                   [&](MPI_Status* given) { return PMPI_Iprobe(source, tag, comm, flag, given); });
  session.piggyback.keep_going();
  return result;
}

int improbe(Fn fn, int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
            MPI_Status* status, Real) {
  Inside inside;
  if (!inside) return PMPI_Improbe(source, tag, comm, flag, message, status);
  const int result = find_message(
      fn, source, tag, comm, message, status, flag,
      [&](MPI_Status* given) { return PMPI_Improbe(source, tag, comm, flag, message, given); });
  session.piggyback.keep_going();
  return result;
}

int mprobe(Fn fn, int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status,
           Real real) {
  Inside inside;
  if (!inside) return real();
  const int always = 1;
  return find_message(fn, source, tag, comm, message, status, &always, [&](MPI_Status* given) {
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
  trace::Event& event = session.open(trace::EventKind::recv, fn);
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
  describe_recv(request, *entry->comm, room.bytes(), entry->status.MPI_SOURCE,
                entry->status.MPI_TAG);
  request.piece = in_one_piece(room);
  request.taken = entry->number;
  request.probed = session.predicting() ? &entry->recv : nullptr;
  const int result = post_request(fn, request, variable, real);
  request.probed = nullptr;
  probed.erase(key);
  return result;
}

}  // namespace foretrace::capture
