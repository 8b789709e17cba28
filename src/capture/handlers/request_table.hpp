// RequestTable: what the program's requests stand for, from posting to
// completion.
//
// MPIs give the same handle to several sends that completed at once, so a
// handle alone does not name a request: among requests with one handle the one
// posted from the same variable is taken, else the oldest.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "capture/handlers/comm_table.hpp"
#include "capture/handlers/functions.hpp"
#include "capture/host/handle_map.hpp"
#include "capture/predict/piggyback.hpp"
#include "machine/timing.hpp"
#include "trace/counts.hpp"

namespace foretrace::capture {

class Shadow;

struct Request {
  MPI_Request handle = MPI_REQUEST_NULL;
  const void* variable = nullptr;  // of the program, in C or Fortran
  Request* next = nullptr;         // with the same handle, posted later
  Request* previous = nullptr;
  std::uint64_t claimed_by = 0;  // the last RequestTable::claim() that found it

  std::uint64_t serial = 0;  // in the trace, from 1; of the last start if persistent
  bool receive = false;
  bool collective = false;
  bool access = false;   // to a window's memory
  bool several = false;  // complete when all `parts` are
  bool persistent = false;
  bool active = false;
  bool cancelled = false;  // MPI_Cancel was called
  bool told = false;       // MPI_Request_get_status said that it is complete
  bool in_call = false;    // one that several threads may overtake completes it
  bool to_nobody = false;  // MPI_PROC_NULL
  CommInfo* comm = nullptr;
  machine::SendMode mode = machine::SendMode::standard;
  int peer = MPI_PROC_NULL;  // local rank, or MPI_ANY_SOURCE
  int tag = 0;
  const void* piece = nullptr;  // message: in_one_piece()
  std::uint16_t in_pieces = 0;  // message: piece_of()
  Bytes bytes;  // the message sent, or the buffer posted; collective: d of its equation

  machine::Cost cost = machine::Cost::kCount;  // collective
  int root = -1;
  trace::Counts counts;         // collective; empty: it has none
  MPI_Comm on = MPI_COMM_NULL;  // collective: where its shadow takes place
  Fn fn{};                      // collective: that posted it, or made it if persistent
  Shadow* shadow = nullptr;     // what travels beside the collective
  // A collective that makes a communicator: it, its key, and the key's way here.
  MPI_Comm made = MPI_COMM_NULL;
  std::uint64_t made_key = 0;
  MPI_Request key_travels = MPI_REQUEST_NULL;
  std::vector<Request*> parts;  // in the order in which they are posted and completed
  bool part = false;            // of another request
  bool has_status = false;      // part: what came is what the whole's status says
  int partitions = 0;           // of a partitioned send, whose only part is posted when all are
  int unready = 0;              // ready; so many are not

  std::uint64_t taken = 0;  // receive: the number of the probe that took its message

  // Predict only.
  Time posted;
  Time sent;  // a send: when its message leaves
  Time end;   // access
  bool rendezvous = false;
  bool untouched = false;  // a send: as Endpoint has it
  std::uint64_t stamp_serial = 0;
  PostedRecv recv;
  PostedRecv* probed = nullptr;  // while posting the receive of a probed message
};

class RequestTable {
 public:
  Request& add();
  // Makes the request findable under what the MPI call gave back.
  void index(Request& request, const MPI_Request* variable);
  // nullptr: a request that is not tracked (or MPI_REQUEST_NULL).
  Request* find(const MPI_Request* variable) { return search(variable, 0, false); }
  // Also those that a call of another thread completes.
  Request* find_any(const MPI_Request* variable) { return search(variable, 0, true); }

  // By its handle alone: the oldest active one of which the program has not been told that it is
  // complete.
  Request* find_untold(MPI_Request handle);

  // For calls with several requests: two entries with one handle are two
  // requests. Begin with claim_several(), then claim() each entry in turn.
  void claim_several() { ++claims_; }
  Request* claim(const MPI_Request* variable);

  void remove(Request& request);
  // Of a request that was never indexed.
  void discard(Request& request) { free_.push_back(&request); }
  // Makes the request unfindable but keeps it: a freed receive still takes the
  // message that MPI matches it with.
  void orphan(Request& request);
  std::uint64_t next_serial() { return ++serials_; }
  std::uint64_t newest() const { return serials_; }

 private:
  struct SameHandle {
    Request* first = nullptr;
    Request* last = nullptr;
    Request* hint = nullptr;  // where the next search may well succeed
    explicit operator bool() const { return first != nullptr; }
  };

  Request* search(const MPI_Request* handle, std::uint64_t not_claimed_by, bool in_calls);

  std::deque<Request> slab_;
  std::vector<Request*> free_;
  HandleMap<SameHandle> by_handle_;
  std::uint64_t serials_ = 0;
  std::uint64_t claims_ = 0;
};

}  // namespace foretrace::capture
