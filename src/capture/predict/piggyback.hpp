// Piggyback: the time stamps that travel beside the program's messages.
//
// Used by predict. Every message of the program is followed by a stamp from
// its sender to its receiver, through memory that the ranks of a host share or on
// own_comm; for a rendezvous
// the receiver answers with its own start time. A stamp belongs to the n-th
// message of its (communicator, source, tag), and receives take stamps in the
// order in which MPI matches them. While a rank waits, progress() answers
// rendezvous requests for receives that it has posted, as MPI would.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/ticks.hpp"
#include "base/time.hpp"
#include "capture/handlers/comm_table.hpp"
#include "capture/handlers/functions.hpp"
#include "capture/host/board.hpp"
#include "capture/predict/any_source.hpp"
#include "capture/predict/start_letter.hpp"
#include "machine/timing.hpp"

namespace foretrace::capture {

// One receive of the program, from posting to completion.
struct PostedRecv {
  CommInfo* comm = nullptr;
  WorldRank source;  // invalid: any
  int tag = MPI_ANY_TAG;
  Time posted;                            // r0
  bool is_posted = true;                  // false: probed, not received yet; its r0 is not known
  MPI_Request handle = MPI_REQUEST_NULL;  // to ask whether it is matched
  bool matched = false;                   // MPI has completed it: `handle` is void, and its
  WorldRank matched_source;               // message came from here
  int matched_tag = 0;                    // under this tag
  std::optional<int> any_source_tag;      // from whomever: the tag that it names
  bool settled = false;                   // stands in the queue of its stream
  bool has_stamp = false;
  machine::MessageStamp stamp;
  std::uint64_t serial = 0;  // the sender's number for the message

  bool may_match(WorldRank from, int with_tag) const {
    return (!source.valid() || source == from) && (tag == MPI_ANY_TAG || tag == with_tag);
  }
};

// What a rank is waiting for, for reports.
struct Blocked {
  const char* call = "";
  WorldRank peer;  // invalid: nobody in particular
  int tag = 0;
  std::uint64_t bytes = 0;
  bool rendezvous = false;   // waits in a send for the receive to be posted, as S has it
  bool eager = false;        // in a send that waits for nobody on the target
  bool meets = false;        // in a collective that need not wait for all on the target
  bool synchronous = false;  // waits in a send for the receive to be posted, as everywhere
};

class Piggyback {
 public:
  // Collective. `rendezvous`: messages may be rendezvous
  // on the target, so that waiting ranks have to answer each other.
  // `several_threads` may call at once.
  void start(bool rendezvous, bool several_threads);
  // Collective; takes in what nobody received.
  void stop();

  // True if blocking calls of the real MPI must be kept short.
  bool needs_progress() const { return needs_progress_; }

  // Sends the stamp of a message; returns its number.
  std::uint64_t send_stamp(const CommInfo& comm, WorldRank dest, int tag,
                           const machine::MessageStamp& stamp);
  // The receiver's start time r0 of a rendezvous message.
  Time await_answer(std::uint64_t serial, const Blocked& blocked);
  // The same without waiting for it; it remains to be awaited.
  std::optional<Time> find_answer(std::uint64_t serial);

  // A receive was posted.
  void post(PostedRecv& recv);
  // MPI completed the receive with a message from `source` under `tag`. To be
  // said of all that one call completed before any of them is settled: their
  // handles are no more.
  static void set_matched(PostedRecv& recv, WorldRank source, int tag);
  // The receive got its message, from `source` under `tag`: waits for its stamp.
  void settle(PostedRecv& recv, WorldRank source, int tag);
  // The same before the program is told of it.
  void await_stamp(PostedRecv& recv, WorldRank source, int tag);
  // The stamp of the message of (source, tag) that the next receive will get; MPI has it.
  machine::MessageStamp see(CommInfo& comm, WorldRank source, int tag);
  // A probe from whomever has found a message.
  void note_any_source(const CommInfo& comm, int named_tag, WorldRank source, Time sent) {
    any_source_.note(comm.key, named_tag, source, sent);
  }
  const AnySource& any_source() const { return any_source_; }
  // The program posted a receive for a message that it had probed.
  void set_posted(PostedRecv& recv, Time r0);
  // The receive was cancelled or freed before it was matched.
  void withdraw(PostedRecv& recv);

  // What a member says of its part in a collective.
  struct Start {
    Time at;
    Bytes bytes;
    bool untouched = false;  // what it sends (trace::Endpoint)
  };
  // Exchanges the starts of a collective among the members of `comm`;
  // all have come when it returns. `root` is a local rank, or -1. Where members have called
  // different functions, or named different roots, says so and ends the program.
  struct Starts {
    Time latest;
    Time root;               // start of `root`
    Bytes largest;           // size
    bool untouched = false;  // what all of them send
    bool root_untouched = false;
  };
  Starts exchange_starts(const CommInfo& comm, const Start& own, int root, Fn fn);
  // The same where only the times are asked for.
  Starts exchange_starts(const CommInfo& comm, Time own, Bytes bytes, int root, Fn fn) {
    return exchange_starts(comm, Start{own, bytes}, root, fn);
  }

  // Of a collective that was posted: to one that waits for this rank's start (Shadow); and takes
  // in those that have come.
  void send_start(const StartLetter& start, WorldRank dest);
  void take_starts();

  // The rank has called a collective with this root whose starts are not exchanged.
  void note_root(const CommInfo& comm, machine::Cost cost, int root, bool posted);
  // Collective over all ranks: whether all members of each communicator have noted the same.
  bool roots_match() const;

  // Takes in what others have said, and answers them.
  void progress();
  // Answers others now and then; for program loops that poll, perhaps at every step of
  // their work: a look for what others want takes as long as such a poll.
  void keep_going() {
    if (!needs_progress_) return;
    const std::uint64_t now = read_ticks(even_counter_);
    if (now - kept_going_ < rest_ticks_) return;
    kept_going_ = now;
    progress();
  }

  // How far the rank is (the program goes on from there), or that it waits for others.
  void show(Time clock) { board_.show(clock.count_ps()); }
  void show_waiting() { board_.show(Board::kWaits); }
  // The rank looks for something again and again and works in between. Gives the others of its
  // host the time to come as far as `now`: else how long it works would be by this machine's
  // cores. Not for ever: who is behind may wait for the rank by other means than MPI. Those that
  // wait in MPI have a moment to go on: what they wait for may be there.
  void let_others_catch_up(Time now);
  // Whether all ranks were waited for so, and none in vain.
  bool paces_looks() const;
  // How far it went ahead of them at most, since waiting for them took too much.
  Time most_ahead() const { return Time::ps(most_ahead_ps_); }

  // Repeats `done` until it holds, or the monotonic clock shows `until_ns`.
  template <class Done>
  void poll_until(std::int64_t until_ns, Done done) {
    for (unsigned spin = 0; !done() && monotonic_ns() < until_ns; ++spin) {
      progress();
      give_way(spin);
    }
  }

  // Repeats `done` until it holds, without keeping others waiting.
  template <class Done>
  void poll(Done done, const Blocked& blocked) {
    for (unsigned spin = 0; !done(); ++spin) {
      if (spin == 0) show_waiting();
      if (needs_progress_) progress();
      if (spin >= kSpins) relax(spin, blocked);
      if (several_threads_) let_others_in();
    }
    if (watching_) end_report();
  }

 private:
  struct StreamKey {
    std::uint64_t comm;
    std::int32_t source;
    std::int32_t tag;
    bool operator==(const StreamKey&) const = default;
  };
  struct StreamHash {
    std::size_t operator()(const StreamKey& key) const;
  };
  struct Wire {  // a stamp on its way
    std::uint64_t comm;
    std::int64_t sent_ps;
    std::uint64_t bytes;
    std::uint64_t serial;
    std::int32_t tag;
    std::int16_t rendezvous;
    std::int16_t untouched;
    std::uint64_t order;  // among the stamps from the one to the other
  };
  struct Answer {
    std::uint64_t serial;
    std::int64_t posted_ps;
  };
  struct Report {  // "I wait" (or, with peer kNotBlocked, "I go on"), to world rank 0
    std::int32_t rank = -1;
    std::int32_t peer = 0;
    std::int32_t tag = 0;
    std::int8_t rendezvous = 0;
    std::int8_t eager = 0;
    std::int8_t meets = 0;
    std::int8_t synchronous = 0;
    std::uint64_t bytes = 0;
    char call[32] = {};
    char place[64] = {};  // where it stands in the program
  };
  // Messages without a receive, or receives without a message, never both.
  struct Stream {
    std::deque<Wire> stamps;
    std::deque<PostedRecv*> receives;
  };
  struct Outgoing {
    alignas(8) char bytes[120];
    MPI_Request request = MPI_REQUEST_NULL;
  };

  struct Partner {
    int place = -1;           // on the board
    std::uint64_t sent = 0;   // stamps to it
    std::uint64_t taken = 0;  // stamps from it, in order
  };

  static constexpr unsigned kSpins = 64;
  static constexpr std::size_t kFewStreams = 128;
  static constexpr std::uint64_t kRestNs = 20'000;

  void open_board();
  Board::Meeting* meet_on_board(const CommInfo& comm);
  Starts exchange_on_board(Board::Meeting& meeting, const CommInfo& comm, const Start& own,
                           int root, Fn fn);
  void relax(unsigned spin, const Blocked& blocked);
  void give_way(unsigned spin) const;
  static void let_others_in();
  void send_small(const void* data, int bytes, WorldRank dest, int tag);
  Partner& partner(WorldRank rank) { return partners_[static_cast<std::size_t>(rank.value)]; }
  template <class Text>
  void tell(const Text& text, WorldRank dest, int tag);
  void take_letters();
  void take_message(WorldRank source);
  void take_stamp(WorldRank source);
  void take_in(const Wire& wire, WorldRank source);
  void use(const Wire& wire, WorldRank source);
  void take_in(const Answer& answer);
  Stream& stream(const StreamKey& key);
  void enqueue(PostedRecv& recv, WorldRank source, int tag);
  static machine::MessageStamp stamp_of(const Wire& wire);
  void pair(PostedRecv& recv, const Wire& wire, WorldRank source);
  void answer_if_known(const PostedRecv& recv, WorldRank source);
  void settle_earlier(CommInfo& comm, const PostedRecv* than, WorldRank source, int tag);
  void settle_before(PostedRecv& recv, WorldRank source, int tag);
  enum class Match { none, message, cancelled };
  Match ask_match(PostedRecv& recv);

  // Deadlock detection (deadlock.cpp).
  void watch(const Blocked& blocked);
  void end_report();
  void send_report(const Report& report);
  void take_reports();
  void look_for_deadlock();
  bool paces_too_much() const;
  void pace(std::int64_t begin_ns);
  [[noreturn]] void report_deadlock(const std::vector<std::int32_t>& cycle);

  WorldRank rank_;
  bool needs_progress_ = false;
  bool yields_ = false;
  bool several_threads_ = false;
  Board board_;
  std::vector<std::int64_t>
      left_behind_;  // by place: what it showed when it was waited for in vain
  bool has_left_behind_ = false;
  std::int64_t pacing_ns_ = 0;  // CPU time for waiting so
  std::int64_t ahead_ps_ = 0;   // who is behind by less is not waited for
  std::int64_t most_ahead_ps_ = 0;
  std::uint64_t still_waiting_ = 0;    // and those that waited (Board::Others)
  std::vector<std::int32_t> on_host_;  // world ranks that share it, by their place there
  std::vector<Partner> partners_;      // by world rank
  std::uint64_t start_tags_ = 0;       // how many tags exchange_starts() may use
  std::uint64_t serials_ = 0;
  std::atomic<std::uint64_t> roots_ = 0;
  AnySource any_source_;
  std::unordered_map<StreamKey, Stream, StreamHash> streams_;
  std::size_t most_streams_ = kFewStreams;  // when there are so many, empty ones go
  std::map<std::pair<std::int32_t, std::uint64_t>, Wire> early_;  // by source and order
  std::unordered_map<std::uint64_t, Time> answers_;
  std::uint64_t unanswered_ = 0;  // rendezvous whose answer has not come
  bool even_counter_ = false;
  std::uint64_t kept_going_ = 0;            // ticks
  std::uint64_t rest_ticks_ = 0;            // about kRestNs
  std::vector<CommInfo*> unsettled_comms_;  // those with unsettled receives
  std::deque<Outgoing> outgoing_;
  std::size_t next_outgoing_ = 0;

  bool watching_ = false;  // this wait is long enough to have been noticed
  bool reported_ = false;
  WorldRank reported_peer_;
  int reported_tag_ = 0;
  std::int64_t blocked_since_ns_ = 0;
  std::vector<Report> reports_;  // rank 0: the last report of each rank
  std::int64_t reports_changed_ns_ = 0;
};

}  // namespace foretrace::capture
