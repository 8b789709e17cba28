// Posting: the calls that begin what another call completes.
//
// A Request says what is begun; here it gets its event and, under predict, its
// stamp, its place among the receives, or its shadow.
#pragma once

#include "capture/handlers/handlers.hpp"

namespace foretrace::capture {

// Whether MPI refused the call for its arguments: nothing has begun.
bool is_refused(int result);

// Where the data lies, if in one piece; nullptr: it does not. Of what is sent and so long that it
// is followed (SentData).
const void* in_one_piece(const Data& data);
const void* long_piece(const Data& data, Bytes bytes);
// Something of one piece is sent, or there is room for it: whether it is untouched (Endpoint).
// nullptr: it is not.
bool note_sent(const void* piece, Bytes bytes, WorldRank to);
void note_room(const void* piece, Bytes bytes);
void note_room(const Data& room);

// Of a message that is sent now.
machine::MessageStamp stamp_of(WorldRank to, SendMode mode, Bytes bytes, Time s0, bool untouched);
// When a receive leaves that by itself would at `end`, beside this rank's other messages.
Time received_at(WorldRank source, Time end, const machine::MessageStamp& message);
// Ends a blocking receive that has got this message, under predict.
void close_receive(const trace::Event& event, const machine::MessageStamp& stamp);
// A receive, posted and not yet matched.
PostedRecv posted_recv(CommInfo& comm, int source, int tag, Time r0, MPI_Request handle);

// Describe what is posted, before it has a handle.
void describe_send(Request& request, CommInfo& comm, SendMode mode, Bytes bytes, int dest, int tag);
void describe_send(Request& request, CommInfo& comm, SendMode mode, const Data& data, int dest,
                   int tag);
void describe_recv(Request& request, CommInfo& comm, Bytes bytes, int source, int tag);
void describe_recv(Request& request, CommInfo& comm, const Data& room, int source, int tag);
void describe_collective(Request& request, Fn fn, CommInfo& comm, MPI_Comm handle, Cost cost,
                         int root, Bytes bytes);

// How much each member has, where one size does not tell it.
void tell_counts(trace::Counts& told, const CommInfo& comm, Cost cost, CountsOf counts);
// A collective on an inter-communicator: what it counts as, and whether it
// consists of messages.
Cost cost_between(Cost cost, const CommInfo& comm);
bool is_messages(Cost cost, const CommInfo& comm);
void describe_between(Request& whole, CommInfo& comm, Cost cost, int root, SizeOfPiece between);

// Begins the event of posting `request`, makes the call, tracks the request
// and ends the event.
int post_request(Fn fn, Request& request, MPI_Request* variable, Real real);
// The same for one with parts, each of which has its event. Tracks it if there is
// a variable of the program's.
int post_several(Fn fn, Request& whole, MPI_Request* variable, Real real);
// One part alone, of what another call has begun.
int post_part(Fn fn, Request& part, MPI_Request handle, Real real);
// A persistent request is made: `describe` fills it in.
int make_persistent(Fn fn, MPI_Request* variable, Real real, FunctionRef<void(Request&)> describe);

// The parts of `whole`, in the order in which they are posted.
Request& add_part(Request& whole);
void discard_parts(Request& whole);

// A blocking collective: one operation of all members.
int run_collective(Fn fn, Cost cost, CommInfo& info, MPI_Comm comm, int root, Bytes bytes,
                   CountsOf counts, const Reduces& reduces, const CollectiveData& data, Real real);
inline int run_collective(Fn fn, Cost cost, CommInfo& info, MPI_Comm comm, int root, Bytes bytes,
                          Real real) {
  return run_collective(
      fn, cost, info, comm, root, bytes, [](const mpi_api::CommShape&, trace::Counts&) {}, {}, {},
      real);
}
// A blocking collective that consists of messages, the parts of `whole`, on `comm`.
int run_messages(Fn fn, const CommInfo& comm, Request& whole, Real real);
// A call that completes all parts of `whole` at once (complete.cpp); `real` waits for them.
int complete_parts(Fn fn, Request& whole, Real real);

// Blocking, and without content: of a call that MPI itself sends or waits for such a message in.
void send_by_itself(Fn fn, CommInfo& comm, int dest, int tag);
void receive_by_itself(Fn fn, CommInfo& comm, int source, int tag);

}  // namespace foretrace::capture
