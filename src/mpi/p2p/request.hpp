// Requests: point-to-point, collective, persistent, generalized, I/O, one-sided.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "machine/timing.hpp"
#include "mpi/core/block.hpp"
#include "mpi/core/mailbox.hpp"
#include "mpi/core/object.hpp"

namespace foretrace::mpi {

class Gathered;

struct Request : Object {
  enum class What : std::uint8_t {
    send,
    receive,
    collective,
    several,      // done when all `parts` are (neighbourhood collectives)
    done,         // nothing to wait for: I/O, MPI_PROC_NULL; one-sided: but for the engine
    generalized,  // MPI_Grequest_start
  };
  struct Generalized;
  Request();
  ~Request() override;

  What what = What::done;
  bool persistent = false;
  bool active = false;  // posted and not completed; always true where not persistent
  bool cancelled = false;
  bool hidden = false;  // on the context of the library's own messages
  machine::SendMode mode = machine::SendMode::standard;
  bool rendezvous = false;       // send: waits for its receiver
  bool untouched = false;        // send: trace::Endpoint::untouched
  std::uint16_t in_pieces = 0;   // trace::Endpoint::piece
  std::int64_t sent = kNoClock;  // send: when it began, in virtual time
  Incoming incoming;             // receive
  int error = MPI_SUCCESS;       // once done
  std::uint64_t serial = 0;      // the engine's number; 0: the engine does not know it

  Comm* comm = nullptr;      // one reference
  Datatype* type = nullptr;  // one reference
  void* buffer = nullptr;
  MPI_Count count = 0;
  int peer = MPI_PROC_NULL;
  int tag = 0;
  std::uint64_t capacity = 0;  // of the message, or the receive's buffer, in bytes
  MPI_Status status{};         // once done

  // What a plain message has not; made when it is asked for.
  struct More;
  More& more();
  bool has_more() const { return more_ != nullptr; }
  // nullptr, nothing where there is no such thing.
  Generalized* generalized() const;
  std::span<Request* const> parts() const;
  // Whether the engine has nothing to say about it any more.
  bool settled() const;
  // Of a collective call that is under way: such a one is neither cancelled nor freed
  // (MPI 4.0, 6.12).
  bool is_open_collective() const;

 private:
  std::unique_ptr<More> more_;
};

struct Request::More {
  std::uint64_t taken = 0;                                  // receive: number of the matched probe
  std::function<void(std::span<const std::byte>)> arrived;  // receive: takes the message, if set
  std::function<void(Gathered&)> finish;                    // collective
  // Collective that waits for all: horizon::entries() when all have come to it; else 0.
  std::uint64_t entries = 0;
  std::vector<Request*> parts;         // several; owned
  std::function<void()> finish_parts;  // several: when all are done
  bool finished = false;               // several: finish_parts has run
  bool collective = false;             // several: of a collective call
  int channel = 0;                     // partitioned: the tag of its messages
  int unready = 0;            // partitioned send: partitions that the program has not given yet
  std::vector<Object*> keep;  // released with the request
  // persistent: MPI_Start; makes what has to be waited for anew, into *this.
  std::function<void(Request&)> start;
  std::unique_ptr<Generalized> generalized;
};

// The capacity of receives that take whatever comes; posting them costs what posting one of 0
// bytes does.
inline constexpr std::uint64_t kAnySize = UINT64_MAX;

// Posts a message of packed bytes, or a receive of at most `capacity` bytes,
// on the context comm.context | (hidden ? kHidden : 0); partner and tag as in MPI.
Request* post_send(Comm& comm, int partner, int tag, bool hidden, machine::SendMode mode,
                   Block data);
// `arrived(bytes, source, tag)` gets the packed message at completion.
Request* post_receive(Comm& comm, int partner, int tag, bool hidden, std::uint64_t capacity,
                      std::function<void(std::span<const std::byte>)> arrived);
// A request that is done when all parts are; then `finish` runs.
Request* post_several(Comm& comm, std::vector<Request*> parts, std::function<void()> finish,
                      const std::vector<Object*>& keep);
// One that is done at once.
Request* done_request(const MPI_Status& status, int error = MPI_SUCCESS);
// An inactive persistent one: start(request) is called by MPI_Start and makes
// it active by taking over (adopt) what a post_* above returned.
Request* persistent_request(Comm& comm, std::function<void(Request&)> start,
                            const std::vector<Object*>& keep);
void adopt(Request& persistent, Request* posted);
// Waits for it (one that was just posted) and releases it.
void wait_for(Request* request);

}  // namespace foretrace::mpi
