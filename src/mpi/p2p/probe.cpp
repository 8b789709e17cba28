// Probes and matched probes.
#include "live_impl.hpp"
#include "mpi/core/line.hpp"
#include "mpi/core/mailbox.hpp"
#include "mpi/core/message.hpp"
#include "mpi/core/threads.hpp"
#include "mpi/p2p/checks.hpp"
#include "mpi/p2p/completion.hpp"

namespace foretrace::mpi {
namespace {

using sim::Probing;
using trace::EventKind;

// What a probe found; `found` is false if nothing.
struct Sight {
  bool found = false;
  Result message;
};

Sight look(Probing probing, const Comm& comm, int source, int tag, std::uint64_t number) {
  Sight sight;
  const bool waits = probing == Probing::wait || probing == Probing::take_wait;
  const auto once = [&](Probing how) {
    Record record = line.record(EventKind::call);
    record.comm = comm.context;
    record.probing = static_cast<std::uint8_t>(how);
    record.request = number;
    set_source(record, comm, source, tag);
    if (how == Probing::wait || how == Probing::take_wait) {
      const Answer& answer = line.ask(record);
      sight = {answer.found, answer.message};
      return;
    }
    Ends ends(record);
    const Answer* const answer = line.poll(record, Line::kNoRequest | comm.context, waits,
                                           may_run_ahead() && mailbox.follows() ? &ends : nullptr);
    sight = answer ? Sight{answer->found, answer->message} : Sight{true, result_of(ends.seen())};
  };
  if (!threads_multiple()) {
    once(probing);
    return sight;
  }
  const bool takes = probing == Probing::take_wait || probing == Probing::take_look;
  do {
    once(takes ? Probing::take_look : Probing::look);
    if (waits && !sight.found) let_threads_in();
  } while (waits && !sight.found);
  return sight;
}

void fill(MPI_Status* status, const Comm& comm, const Sight& sight, int source) {
  if (is_ignored(status)) return;
  const int before = status->MPI_ERROR;
  if (source == MPI_PROC_NULL)
    set_null_status(*status);
  else
    set_status(*status, comm, sight.message);
  status->MPI_ERROR = before;
}

int probe(Probing probing, int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  const Checked checked = check_source(source, tag, comm);
  if (!checked) return checked.error;
  Sight sight;
  if (source != MPI_PROC_NULL) sight = look(probing, *checked.comm, source, tag, 0);
  *flag = source == MPI_PROC_NULL || sight.found ? 1 : 0;
  if (*flag) fill(status, *checked.comm, sight, source);
  return MPI_SUCCESS;
}

int take(Probing probing, int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
         MPI_Status* status) {
  const Checked checked = check_source(source, tag, comm);
  if (!checked) return checked.error;
  *flag = 1;
  if (source == MPI_PROC_NULL) {
    *message = MPI_MESSAGE_NO_PROC;
    fill(status, *checked.comm, {}, source);
    return MPI_SUCCESS;
  }
  const std::uint64_t number = line.new_serial();
  const Sight sight = look(probing, *checked.comm, source, tag, number);
  *flag = sight.found ? 1 : 0;
  *message = MPI_MESSAGE_NULL;
  if (!sight.found) return MPI_SUCCESS;
  mailbox.probe_took();
  auto* taken = new Message;
  taken->comm = retain(checked.comm);
  taken->number = number;
  taken->source = partner_of(*checked.comm, sight.message.source);
  taken->tag = sight.message.tag;
  *message = handle_of(taken);
  fill(status, *checked.comm, sight, source);
  return MPI_SUCCESS;
}

}  // namespace

Message::~Message() {
  release(comm);
}

namespace impl {

int Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  int flag = 0;
  return probe(Probing::wait, source, tag, comm, &flag, status);
}

int Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  return probe(Probing::look, source, tag, comm, flag, status);
}

int Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  int flag = 0;
  return take(Probing::take_wait, source, tag, comm, &flag, message, status);
}

int Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
            MPI_Status* status) {
  return take(Probing::take_look, source, tag, comm, flag, message, status);
}

int Imrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message,
           MPI_Request* request) {
  if (*message == MPI_MESSAGE_NO_PROC) {
    *message = MPI_MESSAGE_NULL;
    MPI_Status status;
    set_null_status(status);
    *request = handle_of(done_request(status));
    return MPI_SUCCESS;
  }
  Message* taken = get(*message);
  if (!taken)
    return raise(static_cast<Comm*>(nullptr), MPI_ERR_REQUEST, "expected a message of a probe");
  const Checked checked =
      check_recv(buf, count, datatype, taken->source, taken->tag, handle_of(taken->comm));
  if (!checked) return checked.error;
  Request* receive = describe_recv(checked, buf, count, taken->source, taken->tag);
  receive->more().taken = taken->number;
  post_again(*receive, {});
  mailbox.probed_is_received();
  release(taken);
  *message = MPI_MESSAGE_NULL;
  *request = handle_of(receive);
  return MPI_SUCCESS;
}

int Mrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status) {
  Message* taken = *message == MPI_MESSAGE_NO_PROC ? nullptr : get<Message>(*message);
  if (!taken) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int error = Imrecv(buf, count, datatype, message, &request);
    return error == MPI_SUCCESS ? Wait(&request, status) : error;
  }
  const Checked checked =
      check_recv(buf, count, datatype, taken->source, taken->tag, handle_of(taken->comm));
  if (!checked) return checked.error;
  const std::uint64_t number = taken->number;
  const int source = taken->source;
  const int tag = taken->tag;
  *message = MPI_MESSAGE_NULL;
  release(taken);
  const int error = receive_now(checked, buf, count, source, tag, number, status);
  mailbox.probed_is_received();
  return error;
}

}  // namespace impl
}  // namespace foretrace::mpi
