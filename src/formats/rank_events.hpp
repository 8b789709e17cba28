// RankEvents: what a foreign trace tells of one rank, in its order, made into events.
//
// A reader of a format says when calls begin and end and which messages, requests and
// collectives they were about; the time between the calls becomes their computation. What a
// format says only later (a posted receive learns from its completion what it got) is waited
// for: memory grows with how long requests are open, not with the trace. Knows no format.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/notes.hpp"
#include "trace/event.hpp"
#include "trace/trace_writer.hpp"

namespace foretrace::formats {

// What an event holds that the foreign format has no place for, where somebody (we) wrote it
// beside the call. Nothing of it needs to be there.
struct CallHints {
  std::optional<trace::EventKind> kind;
  std::optional<Time> compute;
  Time wait;
  double steps = 0;
  std::optional<trace::Site> site;
  std::optional<machine::SendMode> mode;
  std::optional<trace::Endpoint> posted;  // irecv, probe: as the program posted it
  bool any_source = false;
  bool any_tag = false;
  bool untouched = false;
  std::uint16_t send_piece = 0;
  std::uint16_t recv_piece = 0;
  std::uint64_t taken = 0;
  std::uint64_t request = 0;  // where no record has it
  std::optional<machine::Cost> cost;
  std::optional<Bytes> bytes;
  std::optional<std::size_t> comm;  // as RankEvents' calls have it
  WorldRank peer;                   // call: the one that it moves to or from
  LocalRank root;
  std::uint32_t count = 1;
  std::int32_t code = 0;
  machine::OneSided one_sided = machine::OneSided::none;
  machine::Reduction reduction = machine::Reduction::none;
  trace::Join join;
  trace::Join second;
};

// One direction of a message. `comm` is an index into the communicators of all ranks.
struct ForeignMessage {
  std::size_t comm = 0;
  WorldRank peer;
  std::int32_t tag = 0;
  Bytes bytes;
};

struct ForeignCollective {
  machine::Cost cost = machine::Cost::barrier;
  std::size_t comm = 0;
  LocalRank root;
  Bytes bytes;  // d of its equation
};

class RankEvents {
 public:
  // `own`: the foreign trace was written by us; then it has all events, init and finalize
  // included, and the numbers of requests are those of the events.
  RankEvents(trace::TraceWriter& writer, WorldRank rank,
             const std::vector<trace::Communicator>& comms, bool own, Missing& missing);

  // A call of MPI, or another region of the program, which becomes a phase. Regions within
  // calls are nobody's business.
  void enter(Time at, const std::string& name, bool is_mpi, CallHints hints = {});
  void leave(Time at, const std::string& name, bool is_mpi);
  // Our own phases, with what belongs to them.
  void phase(Time at, const std::string& name, bool begins, CallHints hints);
  void mark(Time at, const std::string& name, double value, CallHints hints = {});

  // What the call under way is about; outside of calls these are counted as missing.
  void sent(const ForeignMessage& message);
  void received(const ForeignMessage& message);
  void posted_send(std::uint64_t request, const ForeignMessage& message);
  void posted_receive(std::uint64_t request);
  void posted_collective(std::uint64_t request);
  void collective(const ForeignCollective& what);
  void completed(std::uint64_t request);  // a send, or one with MPI_PROC_NULL
  void completed_receive(std::uint64_t request, const ForeignMessage& message);
  void completed_collective(std::uint64_t request, const ForeignCollective& what);
  void cancelled(std::uint64_t request);

  // The rank's stream is over.
  void finish(Time at);

 private:
  enum class What : std::uint8_t {
    send,
    recv,
    isend,
    irecv,
    icollective,
    collective,
    done,
    recv_done,
    collective_done,
    cancelled
  };
  struct Record {
    What what;
    std::uint64_t request = 0;
    ForeignMessage message;
    ForeignCollective collective;
  };
  struct Pending {
    trace::Event event;
    bool open = false;  // something of it is not known yet
  };
  struct Request {
    std::uint64_t serial = 0;
    std::uint64_t place = 0;  // of its event, counted from the stream's first
    What what = What::isend;
  };

  void begin(Time at);
  void close_call(Time at);
  void take_record(const Record& record);
  trace::Event start_event(trace::EventKind kind);
  void add(trace::Event event, bool open = false);
  void add_posts();
  void add_blocking();
  void add_completions();
  void add_recordless();
  void add_message(const Record& record);
  void add_sendrecv();
  void add_collective(const ForeignCollective& what);
  void add_irecv(const Record& record);
  trace::Completion completion_of(const Record& record);
  void resolve(const Request& request, const Record& record);
  std::uint64_t serial_of(std::uint64_t request);
  std::size_t count(What what) const;
  void flush();
  trace::NameId name_id(const std::string& name);
  trace::SiteId site_id(const trace::Site& site);
  trace::CommId comm_id(std::size_t comm);

  trace::TraceWriter& writer_;
  WorldRank rank_;
  const std::vector<trace::Communicator>& comms_;
  bool own_;
  Missing& missing_;

  bool begun_ = false;
  bool finalized_ = false;
  Time last_leave_;
  std::uint64_t serials_ = 0;
  std::vector<std::string> outer_;  // regions of the program that are open before it begins

  // The call under way.
  int depth_ = 0;
  std::string call_;
  Time entered_;
  Time left_;
  CallHints hints_;
  std::vector<Record> records_;
  bool first_of_call_ = true;

  std::deque<Pending> pending_;
  std::uint64_t flushed_ = 0;
  std::unordered_map<std::uint64_t, Request> requests_;
  std::unordered_map<std::string, trace::NameId> names_;
  std::map<std::pair<std::string, std::uint64_t>, trace::SiteId> sites_;
  std::unordered_map<std::size_t, trace::CommId> comm_ids_;
};

}  // namespace foretrace::formats
