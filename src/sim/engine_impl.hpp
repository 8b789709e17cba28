// Engine: the class behind simulate(). Its parts lie in several files:
//
//     engine.cpp              ranks, clocks, the order in which they are taken up
//     engine_messages.cpp     sends, receives, and how they meet
//     engine_requests.cpp     calls that complete requests
//     engine_open.cpp         open wildcards and probes
//     engine_locks.cpp        locks
//     engine_detached.cpp     what-if: calls that go on without what they wait for
//     engine_collectives.cpp  collectives by equation or message by message
//     engine_posted.cpp       posted collectives, message by message
//     engine_progress.cpp     what moves only while its receiver is in a call
//     engine_dependences.cpp  what determined the times, for those who ask
//     engine_report.cpp       why blocked ranks will never go on
#pragma once

#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/end_of_time.hpp"
#include "base/slots.hpp"
#include "sim/collectives.hpp"
#include "sim/engine.hpp"
#include "sim/event_queue.hpp"
#include "sim/matcher.hpp"
#include "sim/network.hpp"
#include "sim/posted_collective.hpp"
#include "sim/rank.hpp"
#include "sim/ready_list.hpp"

namespace foretrace::sim {

// The messages of a communicator's collectives do not meet those of the
// program: they have a communicator of their own.
inline constexpr trace::CommId kCollectiveComm = trace::CommId{1} << 31;
// Beside kCollectiveComm: of posted collectives, several of which may be under way.
inline constexpr trace::CommId kPostedComm = trace::CommId{1} << 30;

// Requests of calls that have gone on without them: nobody asks what becomes of these.
inline constexpr std::uint64_t kDetachedRequest = std::uint64_t{1} << 62;
// Of a message of a posted collective.
inline constexpr std::uint64_t kPartRequest = std::uint64_t{1} << 61;

class Engine {
 public:
  Engine(Source& source, const machine::Timing& timing, const SimulateOptions& options, Sink& sink);
  SimulateResult run();

 private:
  // PendingRecv::request of a probe that takes its message.
  static constexpr std::uint64_t kTakes = UINT64_MAX;
  static constexpr std::uint64_t kSees = UINT64_MAX - 1;
  static constexpr std::uint32_t kNoFlight = UINT32_MAX;
  static constexpr std::uint32_t kNoAccess = UINT32_MAX;

  // What of a rendezvous is on its way; an eager message is data. The answer goes the other
  // way. `handing`: the answer is back, and the data not yet on links.
  enum class Part : std::uint8_t { request, answer, handing, data };

  // A message on links that messages share, or that waits for its sender's port.
  struct Flight {
    WorldRank from;
    WorldRank to;
    Bytes bytes;
    std::uint32_t order = 0;  // among the sender's messages
    machine::SendMode mode = machine::SendMode::standard;
    Part part = Part::data;
    bool rendezvous = false;
    bool left = false;     // the data has left its source; rendezvous only
    bool waited = false;   // an answer that has waited for its rank to hand over data
    bool arrived = false;  // the request, or the data
    bool met = false;
    bool withdrawn = false;  // nobody receives it
    std::uint64_t send_request = 0;
    PendingRecv receive;  // if met
    trace::Endpoint label;
    std::uint64_t payload = 0;
    Time arrival;  // if arrived
    std::uint32_t access = kNoAccess;
  };

  // An access to a target's memory, or a lock, that is two messages: one there, one back.
  // What of it is what, if nothing else is on its way; for the dependences.
  struct AccessParts {
    Time overhead;
    Time latency;
    Time bytes;
  };
  struct Access {
    WorldRank origin;
    WorldRank target;
    trace::CommId comm = 0;
    machine::OneSided what = machine::OneSided::none;
    bool returns = false;       // the second one is under way
    std::uint64_t request = 0;  // 0: none
    Bytes back;
    std::uint32_t number = 0;  // in the order in which they began
    AccessParts parts;
  };
  // A Flight::order: a rank's own messages come before what its interface sends back.
  static constexpr std::uint32_t kSentBack = std::uint32_t{1} << 31;

  // A rank's accesses to one target's memory since it last waited for them all.
  struct AccessesTo {
    std::uint32_t open = 0;      // of which the end is not known
    std::uint32_t fetching = 0;  // of these, whose data comes back
    Time end;                    // the latest one's that is known
    Time fetched;                // of one whose data comes back
    AccessParts of_end, of_fetched;
  };
  // By communicator of the window and target.
  using AccessesOf = std::map<std::pair<trace::CommId, std::int32_t>, AccessesTo>;

  // Something that goes on only while a rank is in a call that moves messages.
  struct Stalled {
    enum class Kind : std::uint8_t { send, meeting, answer, step, collective };
    Kind kind = Kind::send;
    std::uint64_t id = 0;  // no other's; 0: over
    WorldRank from;
    WorldRank to;  // which has to be in a call
    // send: its natural end, and what led to it. `met`: its receiver has entered the call that
    // gets it.
    std::uint64_t request = 0;
    Time end;
    Bytes bytes;
    Link own;
    bool met = false;
    // meeting: of a rendezvous.
    PendingSend send;
    std::int32_t tag = 0;
    PendingRecv receive;
    // answer: to the request of this message; step: of this posted collective; collective: of this
    // one of those that wait for their members.
    std::uint32_t number = 0;
  };
  // Of each rank.
  struct Attendance {
    Time until;                          // it has left the last such call; Time::max(): it is there
    std::vector<std::uint64_t> threads;  // requests that stand for calls which other threads are in
    // Its posted receives that messages belong to whose sends are stalled (Stalled::id).
    std::vector<std::pair<std::uint64_t, std::uint64_t>> receives;
    std::vector<std::uint32_t> waiting;  // Stalled: for its next call
  };
  // A posted collective by equation: it takes its time once so many members have been in a call.
  struct Gathering {
    std::uint32_t missing = 0;
    trace::CommId comm = 0;
    Time latest;  // of those who came
    std::vector<Release> releases;
  };

  // engine.cpp
  void run_in_any_order();
  void run_by_time();
  // Runs one rank until it blocks, ends, has run ahead or must let time pass.
  void advance(Rank& rank);
  bool prepare(Rank& rank);
  void park(Rank& rank);
  Rank* unparked();
  bool is_next(const Rank& rank) const;
  void start(Rank& rank);
  void start_call(Rank& rank);
  void finish(Rank& rank);
  Time settle_leave(Rank& rank);
  Interval leave(Rank& rank);
  void hand_over(Rank& rank, const Interval& interval);
  void add_event(Rank& rank, const Interval& interval);
  void tell_source(Rank& rank, const Interval& interval);
  bool too_far_ahead(const Rank& rank) const;
  void half_done(Rank& rank);
  Time compute_before(const Rank& rank, const Operation& operation) const;
  double slower(const Rank& rank) const;
  Time computed(const Rank& rank);
  // What the rank's operation puts together before it begins, and takes apart before it leaves.
  const machine::Timing& rules_with(const Rank& rank, WorldRank peer) const;
  Time packing(const Rank& rank) const;
  Time unpacking(const Rank& rank) const;
  // The same of a receive that is posted now, when it is completed.
  void note_pieces(const Rank& rank, Request& request);
  Time unpacking_of_posted(const Rank& rank, const Request& request, WorldRank source, Bytes bytes);
  Time call_cost(const Rank& rank);
  Time poll_cost(const Rank& rank);
  Time looked_before(const Rank& rank) const;
  void note_looks(const Rank& rank);
  Rank& rank_of(WorldRank rank) { return ranks_[static_cast<std::size_t>(rank.value)]; }
  Rank& partner(const Rank& rank, WorldRank peer);
  [[noreturn]] void too_late(const Rank& rank) const;
  [[noreturn]] void fail(const Rank& rank, const std::string& what) const;
  SimulateResult result();

  // engine_messages.cpp
  void start_send(Rank& rank);
  void start_recv(Rank& rank, machine::RecvKind kind);
  void start_isend(Rank& rank);
  void start_irecv(Rank& rank);
  Time post_receive_leave(const Rank& rank) const;
  // `stalled`: Stalled::id, 0: its end waits for nobody.
  void connect_send(Rank& rank, const SendTimes& times, bool rendezvous, std::uint64_t request,
                    std::uint64_t stalled = 0);
  void connect_recv(Rank& rank, machine::RecvKind kind, std::uint64_t request);
  void meet(Rank& sender, const PendingSend& send, std::int32_t tag, Rank& receiver,
            const PendingRecv& recv, bool attended = false);
  void sender_done(Rank& sender, std::uint64_t request, Time when, Bytes bytes);
  void receiver_done(Rank& receiver, const PendingRecv& recv, Time arrival,
                     const trace::Endpoint& message, std::uint64_t payload);
  void request_done(Rank& rank, std::uint64_t serial, Time end, const trace::Endpoint& message,
                    std::uint64_t payload);
  void check_room(const Rank& rank, const Request& request, const trace::Endpoint& message);
  // Of the message between a rank and the other end.
  machine::Path path_of(const Rank& rank, const trace::Endpoint& other) const {
    return machine::of_data(network_->path(rank.id, other.peer), other.untouched);
  }
  bool share_a_node() const;
  bool between_nodes(WorldRank from, WorldRank to) const;
  Way way_of(WorldRank from, WorldRank to, bool in_pieces = false) const;
  void enter_at(MessageId message, Time when, EventClass what = EventClass::inject);
  void answer(MessageId message, bool attended = false);
  void send_answer(const Event& event);
  void leave_source(MessageId message, Time sent);
  void land(std::uint32_t flight);
  void enter_links(const Event& event);
  void pass_ports(const Event& event);
  void arrived(MessageId message, Time when);
  void advance_links();

  // engine_requests.cpp
  void start_complete(Rank& rank);
  bool chooses(const Rank& rank);
  machine::ChoiceOrder* order_of_choices(const Rank& rank);
  Time complete_requests(Rank& rank);
  void start_in_vain(Rank& rank);
  void go_on_in_vain(Rank& rank);
  void give_up_later(Rank& rank);
  bool is_patient(const Event& event) const;
  void give_up_at_once();
  void give_up(const Event& event, Time when);
  void start_cancel(Rank& rank);
  bool withdraw_receive(Rank& rank, const Request& request);
  bool withdraw_send(Rank& rank, const Request& request);
  bool watch(Rank& rank);
  bool watched_ended(Rank& rank, Time now);
  bool choose_finished(Rank& rank, Time now, std::vector<trace::Completion>& chosen);
  Time test_fails_until(Rank& rank);
  void wake_at(Rank& rank, Time when);
  void wake(const Event& event);

  // engine_open.cpp
  struct Found {
    Route route;
    PendingSend send;
    Time header;
  };
  static bool is_open(const trace::Endpoint& pattern) {
    return (pattern.any_source && !pattern.peer.valid()) || pattern.tag == kAnyTag;
  }
  void open_receive(Rank& rank, machine::RecvKind kind, std::uint64_t request);
  void note_arrival(Rank& receiver, const Route& route, const PendingSend& send, Time now);
  bool waits(const Rank& receiver, trace::CommId comm, const WaitingMessage& message);
  void look_at(Rank& rank, Time when);
  void look_when_there(Rank& rank, trace::CommId comm, const trace::Endpoint& pattern, Time now);
  bool first_to_arrive(Rank& rank, trace::CommId comm, const trace::Endpoint& pattern,
                       Found& found);
  bool first_from(const Rank& rank, trace::CommId comm, const trace::Endpoint& pattern,
                  Found& found);
  void settle(Rank& rank, Time now);
  void settle_open(Rank& rank);
  static Racing& racing(Rank& rank);
  void start_probe(Rank& rank);
  bool start_known_probe(Rank& rank, Route& route);
  void start_see(Rank& rank);
  void see(Rank& rank, const Route& route, const PendingSend& send);
  void start_take(Rank& rank);
  void take(Rank& rank, const Route& route, const PendingSend& send);
  void receive_taken(Rank& rank, machine::RecvKind kind, std::uint64_t request);
  bool look(Rank& rank, Time now);
  Time others_go_on(const Rank& rank) const;
  // Until when (exclusive) a look that found nothing would find nothing again.
  Time probe_fails_until(Rank& rank);

  // engine_locks.cpp
  struct LockWaiter {
    WorldRank rank;
    bool exclusive = false;
  };
  struct Lock {
    std::vector<WorldRank> holders;
    bool exclusive = false;          // held so
    std::deque<LockWaiter> waiting;  // in the order in which they came
  };
  void start_lock(Rank& rank);
  void release_lock(Rank& rank);

  // engine_one_sided.cpp
  void start_one_sided(Rank& rank);
  void start_access(Rank& rank);
  void send_access(Rank& rank, const Access& access, Bytes bytes);
  void access_arrived(MessageId message, Time when);
  void access_done(const Access& access, Time when);
  void start_flush(Rank& rank);
  Time settle_flush(Rank& rank);
  static bool waits_for(const Operation& flush, trace::CommId comm, WorldRank target);
  void ask_for_lock(Rank& rank);

  // engine_detached.cpp
  bool detach(Rank& rank);
  void detach_messages(Rank& rank);
  Time detach_requests(Rank& rank);

  // engine_collectives.cpp
  void start_collective(Rank& rank);
  void start_icollective(Rank& rank);
  // `request`: of a member that does not wait in the call; 0: none.
  void enter_collective(Rank& rank, std::uint64_t request);
  void end_posted_by_equation(const Release& release, trace::CommId comm, Time latest);
  bool has_messages(const Operation& operation);
  bool stands_for_blocking(const Operation& operation);
  // Of a posted collective by equation that is not done.
  static bool stands_for_blocking(Rank& member, std::uint64_t posted);
  CollectiveCall call_of(const Operation& operation, int local);
  StepFunction steps_of(const CollectiveCall& call, std::uint32_t algorithm);
  void expand(Rank& rank);
  // The next step of an Expansion or a PostedCollective that does something; after the last one a
  // wait for what is open. False: it is over.
  template <class Collective>
  static bool take_from(Collective& collective, Step& step) {
    do {
      if (collective.step(collective.call, collective.next++, step)) continue;
      if (collective.open.empty()) return false;
      step = {};
      step.kind = Step::Kind::wait_all;
    } while (step.kind == Step::Kind::nothing ||
             (step.kind == Step::Kind::wait_all && collective.open.empty()));
    return true;
  }
  Time combine_time(machine::Reduction what, Bytes bytes) const;
  bool next_step(Rank& rank);
  const machine::Timing& rules_in(trace::CommId comm, bool untouched = false);
  void forget(trace::CommId comm);
  void end_expansion(Rank& rank);

  // engine_posted.cpp
  std::shared_ptr<const std::vector<WorldRank>> members_of(trace::CommId comm);
  void post_messages(Rank& rank, Request& request, Collectives::Place place);
  void go_on_later(std::uint32_t at);
  void go_on(std::uint32_t at);
  static bool take_step(PostedCollective& posted);
  void post_part(std::uint32_t at, bool sends);
  static bool wait_for_parts(PostedCollective& posted);
  void part_done(std::uint64_t request, Time end, Bytes bytes);
  void end_step(PostedCollective& posted);
  void end_posted(std::uint32_t at);
  Time empty_round(const PostedCollective& posted) const;
  void log_posted(const PostedCollective& posted, Time end);
  PostedCollective* posted_collective(const Request* request);

  // engine_progress.cpp
  bool is_attended(const Rank& sender, const trace::Endpoint& to, machine::SendMode mode) const;
  bool moves_messages(const Rank& rank);
  void enter_call(Rank& rank);
  void leave_call(Rank& rank);
  void end_attendance(const Rank& rank);
  std::uint64_t end_when_attended(Rank& sender, std::uint64_t request, const SendTimes& times);
  Stalled* stalled_send(std::uint64_t id);
  void meet_stalled(std::uint64_t id, const Rank& receiver, const PendingRecv& recv);
  bool waits_as_send(const Rank& rank) const;
  bool meet_when_attended(const Meeting& meeting, const PendingSend& send, std::int32_t tag,
                          const PendingRecv& recv);
  bool answer_when_attended(MessageId message);
  bool step_when_attended(const Event& event);
  void gather_when_attended(const Rank& rank);
  void await_members(Gathering gathering, std::span<const WorldRank> members);
  bool is_in_call(WorldRank rank, Time now) const;
  void flush_waiting(Attendance& attendance, Time when);
  std::uint64_t wait_for_receiver(Stalled stalled, Time when);
  void look_for_receiver(const Event& event);
  void go_on_attended(std::uint32_t number, Time when, bool late);
  void end_attended_send(const Stalled& send, Time when, bool late);

  // engine_dependences.cpp
  void log_send(const Rank& rank, const SendTimes& times, bool rendezvous, bool ends_later);
  void log_probe(const Rank& rank, WorldRank sender, const PendingSend& send, Time there);
  void log_meeting(const Meeting& meeting, const Rank& sender, const PendingSend& send,
                   const Rank& receiver, const PendingRecv& recv, const Delivery& delivery);
  // Where the ends of a message entered their calls.
  struct Ends {
    Dependences::Sent sent;
    MomentId receiver = kNoMoment;
  };
  Dependences::Flying ways_of_parts(const Meeting& meeting, const Ends& ends) const;
  Dependences::Flying ways_of_eager(const Meeting& meeting, const Ends& ends) const;
  Link beyond(const Meeting& meeting) const;
  void log_completion(Rank& rank, std::span<const trace::Completion> completed);
  AccessParts parts_of_equation(const Access& access, Bytes bytes) const;
  AccessParts parts_of_messages(const Access& access, Bytes there, Bytes back) const;
  // The rank's call, which would leave at `alone`, waits for an access.
  void log_access(const Rank& rank, Time alone, const AccessParts& parts);
  void log_access_end(const Access& access, Time when);
  void log_grant(const Rank& from, const Rank& to);
  void log_join(const Rank& rank);
  void log_release(const Release& release, trace::CommId comm, Time end, Time empty);

  // engine_report.cpp
  void find_left_over(SimulateResult& result) const;
  std::vector<std::string> diagnose_blocked();
  BlockedRank describe(Rank& rank);
  void describe_point_to_point(const Rank& rank, BlockedRank& blocked);
  void describe_complete(Rank& rank, BlockedRank& blocked);
  std::vector<WorldRank> missing_in(const Rank& rank, const Request& request);
  void describe_lock(const Rank& rank, BlockedRank& blocked) const;

  void count_step() {
    constexpr std::uint64_t kStepsBetween = 1 << 14;
    if (tells_ && ++steps_ % kStepsBetween == 0) options_.tell(stats_);
  }

  Source& source_;
  const machine::Timing& timing_;
  const SimulateOptions& options_;
  const bool tells_ = static_cast<bool>(options_.tell);
  std::uint64_t steps_ = 0;
  Sink& sink_;
  Dependences* const log_;
  std::unique_ptr<Network> network_;
  const Time least_transfer_;
  SharedNetwork* const links_;  // nullptr: messages do not meet on their way
  const bool ports_;            // they meet at their ends
  const bool reactive_;
  const bool races_;
  const bool in_calls_;  // what moves does so in calls alone: Progress::calls
  const bool by_time_;
  std::vector<Rank> ranks_;
  ReadyList ready_;
  std::vector<std::size_t> deferred_;  // ranks that let others go first, in that order
  std::size_t deferred_from_ = 0;
  // In any order: ranks whose next operation was not there, by their clocks. By
  // time they are among the events.
  std::set<std::pair<Time, std::int32_t>> parked_;
  std::pair<Time, std::int32_t> looked_at_;  // the last of them
  EventQueue events_;
  EventQueue patience_;      // when calls that look end in vain
  Time now_;                 // of the last event that was one of a rank's own
  std::uint32_t looks_ = 0;  // and wake-ups: for a fixed order at one time
  Matcher matcher_;
  Collectives collectives_;
  std::vector<std::optional<machine::Path>> comm_paths_;  // by communicator; not set: not known yet
  std::unordered_map<std::uint64_t, Lock> locks_;         // that somebody holds
  Slots<Flight> flights_;
  Slots<Access> accesses_;  // that are messages
  std::uint32_t access_count_ = 0;
  std::unordered_map<std::int32_t, AccessesOf> accesses_of_;  // by rank, of those that make any
  std::vector<Time> handing_until_;                           // by rank: links_ only
  std::vector<Attendance> attendances_;                       // by rank: in_calls_ only
  Slots<Stalled> stalled_;
  Slots<Gathering> gatherings_;
  std::uint32_t stalled_count_ = 0;
  std::vector<Arrival> arrivals_;
  std::vector<Release> released_;
  CollectiveCall chosen_for_;  // the last choice of an algorithm, same on all ranks
  StepFunction chosen_step_ = nullptr;
  std::vector<char> blocking_names_;  // by NameId: what is known of them
  Slots<PostedCollective> posted_;
  std::uint32_t posted_count_ = 0;
  // Of communicators on which collectives were posted message by message.
  std::unordered_map<trace::CommId, std::shared_ptr<const std::vector<WorldRank>>> posting_members_;
  std::vector<Finished> finished_;
  Time in_vain_until_;          // the look at hand (Outcome)
  bool found_nothing_ = false;  // a test or probe that is left
  // Reactive sources, by rank: Outcome::looked.
  std::vector<Time> looked_;
  // By rank, those that Joining asks for.
  std::unordered_map<std::int32_t, std::unordered_map<std::uint64_t, Time>> moments_;
  std::vector<trace::Completion> chosen_;  // what the operation at hand completed
  std::vector<std::uint64_t> chosen_payloads_;
  std::uint64_t detached_ = 0;  // calls so far
  struct CallCosts {
    Time call = Time::ps(-1);  // negative: not known yet
    Time look;                 // in vain, of a call of that name
    bool moves = false;        // other people's messages
    bool reads_clock = false;
  };
  const CallCosts& costs_of(const Rank& rank);
  std::vector<CallCosts> call_costs_;          // by name
  std::vector<std::uint64_t> clock_readings_;  // by rank; empty: none yet
  // By name, whether it is a call that chooses among requests: 1, 0 or not known yet, -1.
  std::vector<signed char> choosing_;
  // By rank, of those that choose.
  std::unordered_map<std::int32_t, machine::ChoiceOrder> choices_;
  // Endpoint::piece of posted receives, by rank and request.
  std::map<std::pair<std::int32_t, std::uint64_t>, Bytes> posted_pieces_;
  Time unpacking_;  // of what the call at hand completes
  Stats stats_;
  std::optional<LongMessage> long_message_;
  std::uint64_t long_messages_ = 0;
  bool announced_ = false;
};

}  // namespace foretrace::sim
