// Collectives that are posted: non-blocking and persistent ones.
#include "capture/handlers/posting.hpp"
#include "capture/predict/shadow.hpp"

namespace foretrace::capture {

static void describe_whole(Request& request, Fn fn, CommInfo& info, MPI_Comm comm, Cost cost,
                           int root, SizeOf bytes, CountsOf counts) {
  describe_collective(request, fn, info, comm, cost_between(cost, info), root, bytes(info.shape()));
  tell_counts(request.counts, info, request.cost, counts);
}

int icollective(Fn fn, Cost cost, MPI_Comm comm, int root, SizeOf bytes, CountsOf counts,
                SizeOfPiece between, MPI_Request* variable, Real real) {
  Inside inside;
  CommInfo* info = inside ? session.comms.find(comm) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  Request& request = session.requests.add();
  if (is_messages(cost, *info))
    describe_between(request, *info, cost, root, between);
  else
    describe_whole(request, fn, *info, comm, cost, root, bytes, counts);
  return post_request(fn, request, variable, real);
}

int collective_init(Fn fn, Cost cost, MPI_Comm comm, int root, SizeOf bytes, CountsOf counts,
                    SizeOfPiece between, MPI_Request* variable, Real real) {
  Inside inside;
  CommInfo* info = inside ? session.comms.find(comm) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  return make_persistent(fn, variable, real, [&](Request& request) {
    if (is_messages(cost, *info)) {
      describe_between(request, *info, cost, root, between);
      return;
    }
    describe_whole(request, fn, *info, comm, cost, root, bytes, counts);
    if (!session.predicting()) return;
    request.shadow = &shadows.add();
    request.shadow->prepare({info, request.on, request.cost, root, fn});
  });
}

// The new communicator may be used when the request is complete, and is known to
// us from then on.
int comm_idup(Fn fn, MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* variable, Real real) {
  Inside inside;
  CommInfo* info = inside ? session.comms.find(comm) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  Request& request = session.requests.add();
  describe_collective(request, fn, *info, comm, Cost::comm_dup, -1, Bytes(0));
  const int result = post_request(fn, request, variable, real);
  if (result != MPI_SUCCESS || info->is_inter()) return result;
  request.made = *newcomm;
  if (info->rank.value == 0) request.made_key = session.comms.choose_key();
  PMPI_Ibcast(&request.made_key, 1, MPI_UINT64_T, 0, comm, &request.key_travels);
  return result;
}

}  // namespace foretrace::capture
