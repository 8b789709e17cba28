// LiveSource: running processes as a source of operations for the engine.
//
// The processes' MPI library (mpi/) posts what they want into shared memory;
// the engine takes it in the order of virtual time and says when it completed
// and with which message; that goes back as the answer. Messages themselves,
// and what collectives combine, are blocks in shared memory that the processes
// hand each other; the simulator never looks into them.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "live/core_choice.hpp"
#include "live/joint_comms.hpp"
#include "live/processes.hpp"
#include "live/standstill.hpp"
#include "shared/shared_memory.hpp"
#include "sim/source.hpp"
#include "symbols/call_places.hpp"

namespace foretrace::live {

// The program ended the run: MPI_Abort, a fatal error, a signal, an exit
// without MPI_Finalize.
struct RunEnded {
  int status = 1;       // what to exit with
  std::string message;  // may be empty
  bool said = false;    // a rank has said all that there is to say
};

// How long the run may go on after the death of a rank.
inline constexpr std::chrono::nanoseconds kGrace = std::chrono::seconds(1);

// From now on SIGINT, SIGTERM and SIGHUP end a run as RunEnded; ranks get SIGUSR1 and SIGUSR2.
void take_signals();

class LiveSource : public sim::Source {
 public:
  // Makes the shared memory; the processes are started as they are needed.
  // Of the ranks the last `spare` are for what the program starts itself.
  // `nodes`: by rank, of the machine that is simulated; empty: all are on one.
  // Messages of fewer than `eager` bytes are sent without waiting for the receiver.
  LiveSource(const Command& command, int ranks, int spare, Measured measured,
             const std::vector<std::int32_t>& nodes, Bytes eager);

  int ranks() const override { return ranks_; }
  void begin(const sim::ClockRules& rules) override;
  bool next(WorldRank rank, sim::Operation& operation) override;
  bool starts(WorldRank rank) const override;
  std::vector<WorldRank> take_started() override;
  bool ready(WorldRank rank) const override;
  void went_on(WorldRank rank, const sim::Operation& operation) override {
    if (tell_operation_) tell_operation_(rank, operation);
  }
  void completed(WorldRank rank, const sim::Operation& operation, const sim::Interval& interval,
                 const sim::Outcome& outcome) override;
  bool reactive() const override { return true; }
  bool races() const override { return true; }
  std::string_view name(trace::NameId id) const override;
  const trace::Communicator& comm(trace::CommId id) const override;
  std::vector<trace::CommId> take_freed() override;
  const trace::Site& site(trace::SiteId id) const override;
  std::string describe_site(trace::SiteId id) const override;
  std::string place(WorldRank rank) const override;
  std::string end_reason(WorldRank rank) const override;

  // Calls `tell`, once, where for Standstill::kLongEnough ranks have only looked in vain.
  void on_standstill(std::function<void()> tell) { tell_standstill_ = std::move(tell); }
  // Told, once, where no rank has called MPI for kLongSilence, and the simulation can only go on
  // with this one.
  void on_silence(std::function<void(WorldRank)> tell) { tell_silence_ = std::move(tell); }
  static constexpr std::chrono::seconds kLongSilence{20};

  // Calls `tell` whenever a rank has begun an operation.
  void on_operation(std::function<void(WorldRank, const sim::Operation&)> tell) {
    tell_operation_ = std::move(tell);
  }
  // Ranks and their processes. May be asked from any thread.
  std::map<int, int> processes() const { return processes_.living(); }

  // Waits for the processes to end after the run. The exit status of the first rank
  // that did not end with 0; 128 + its signal. Throws RunEnded.
  int wait_for_processes();
  // "2 communicators were not freed (...)"; empty if all were.
  std::string left_communicators() const;
  // "rank 2 waited 0.3 s for something else than MPI ..."; empty if no rank waited so for a good
  // part of the predicted time, `all`. What the prediction leaves out, and what is in it.
  std::string waited_otherwise(Time all) const;
  std::string waited_and_counted(Time all) const;
  // "rank 2 slept for 0.3 s, which takes no time with --compute none", likewise. `compute`: one
  // that leaves sleep out.
  std::string slept(Time all, const std::string& compute) const;
  // "rank 2: its threads waited 0.3 s for cores ...", likewise.
  std::string lacked_cores(Time all) const;
  std::string announced_beside_others(Time all) const;
  // Of a program whose steps count.
  std::string announced_unasked() const;
  // The same of looks that a rank gave up, and for which the simulator looked longer.
  std::string looked_for_nothing(Time all) const;
  // What the rank called last, and where: "in MPI_Recv at ring.c:5", "after ..." if it has left
  // that; empty: nothing.
  std::string last_call(WorldRank rank);
  bool is_finalized(WorldRank rank) const;
  // Requests that the rank gave back by MPI_Request_free before they were complete.
  std::uint64_t freed_requests(WorldRank rank) const;
  // "rank 1 ended without MPI_Finalize ..."; empty if none did.
  std::string left_without_finalize() const;
  bool tells_all_computation() const override { return without_finalize_.empty(); }

 private:
  // A collective that not all members have left.
  struct Instance {
    std::uint64_t place = 0;  // of its Gathering; 0: not made yet
    std::uint32_t left = 0;   // members that have what they want of it
    bool split = false;
    std::uint32_t asked = 0;  // split: members that have said what they want
    std::vector<std::pair<std::int32_t, std::int32_t>> colours;  // split: colour and key by place
  };
  struct CommState {
    std::vector<std::uint64_t> next;  // per member: the instance it enters next
    std::uint64_t base = 0;
    std::deque<Instance> open;
    std::size_t freed = 0;  // members that have no use for it any more
  };
  struct Rank {
    Record record;                // the operation that the engine has
    trace::SiteId site = 0;       // where it is
    trace::NameId last_name = 0;  // of the last call, however the rank ended after it
    trace::SiteId last_site = 0;
    std::vector<trace::Completion> requests;
    trace::Counts counts;
    std::vector<sim::VainLook> vains;
    Time clock;  // when the last operation left
    std::uint64_t instance = 0;
    std::unordered_map<std::uint64_t, std::pair<trace::CommId, std::uint64_t>>
        posted;                        // collectives by request
    std::vector<std::uint32_t> names;  // the program's own: rank's number to ours
    bool gone = false;
    bool initialized = false;
    bool finalized = false;
    std::uint64_t freed_requests = 0;
    Ended end;
    bool reported = false;  // its end was handed on as an operation
  };

  Slot& slot(WorldRank rank) const { return SharedMemory::slot(rank.value); }
  Rank& state(WorldRank rank) { return states_[static_cast<std::size_t>(rank.value)]; }
  bool ready_to_read(WorldRank rank) const;
  bool came(WorldRank rank) const;
  bool some_came() const;
  bool all_gone() const;
  bool went(WorldRank rank) const;
  bool died(WorldRank rank) const;
  void go_on(WorldRank rank);
  void wait_for(WorldRank rank);
  bool sleep(std::uint32_t bell, std::chrono::nanoseconds most);
  void occupy_core(bool occupy);
  void choose_cores();
  void look_after_processes();
  void end_if_dead();
  void heed_signals();
  void await_others();
  bool treat(WorldRank rank, sim::Operation& operation);
  bool reads_clock(const sim::Operation& operation) const;
  void note_end(WorldRank rank, const sim::Operation& operation, bool found);
  bool end_of(WorldRank rank, sim::Operation& operation);
  trace::NameId name_number(std::string_view name) const;
  void end_if_none_came();
  void end_if_some_wait();
  std::string describe_end(WorldRank rank) const;
  int first_failure() const;
  void read_vain_looks(WorldRank rank);
  void answer(WorldRank rank, std::uint32_t number);
  void fill(WorldRank rank, const Record& record, sim::Operation& operation);
  void enter_collective(WorldRank rank, const Record& record);
  Instance& instance(trace::CommId comm, std::uint64_t number);
  void leave_instance(trace::CommId comm, Instance& instance);
  static std::uint64_t allocate(std::uint64_t bytes);
  void make_gathering(trace::CommId comm, Instance& instance);
  void make_split(trace::CommId comm, Instance& instance);
  void answer_collective(const Record& record, std::uint64_t number, Answer& answer);
  void spawn(const Record& record, Answer& answer);
  void answer_completions(Rank& state, Slot& slot, const sim::Outcome& outcome);
  trace::CommId comm_of(const Record& record);
  trace::CommId add_comm(std::vector<WorldRank> members);
  trace::CommId comm_for(WorldRank rank, const Record& record);
  CommState& comm_state(trace::CommId comm);
  void free_comm(trace::CommId comm);
  void note_left(const Record& record);
  void note_oddities(WorldRank rank, const Record& record);
  bool stalled();
  void lend_core();
  void take_back_cores();
  static void place_world(int first, int size);
  void read_names() const;
  void publish_costs(std::uint64_t functions) const;
  void publish_costs(const sim::Operation& operation, const sim::Outcome& outcome) const;
  trace::SiteId site_number(std::uint64_t place);

  int cores_;
  CoreChoice core_choice_;
  // Since it was looked last how quick the ranks are: hand-overs until then, and postings taken.
  std::uint32_t hand_overs_ = 0;
  std::uint64_t taken_ = 0;
  bool occupies_core_ = false;
  std::chrono::steady_clock::time_point counted_since_;
  std::int32_t followed_ = 0;
  int ranks_;
  Processes processes_;
  std::string hint_;
  std::vector<Rank> states_;
  std::deque<trace::Communicator> comms_;
  std::vector<std::unique_ptr<CommState>> comm_states_;  // made when they are needed
  std::vector<WorldRank> begun_;                         // which the engine does not know
  std::vector<trace::CommId> freed_;                     // by all, which the engine does not know
  std::vector<std::uint32_t> comms_of_;  // by rank: communicators that it came first in
  JointComms joint_comms_;
  std::unordered_map<trace::CommId, trace::CommId> hidden_;
  mutable std::deque<std::string> names_;
  const machine::Timing* timing_ = nullptr;  // once it is known that ranks may use it
  bool by_size_ = false;                     // and what it tells of messages
  std::unordered_map<std::string, std::uint32_t> own_names_;
  std::vector<std::uint64_t> site_places_;  // by number - 1: in the list of call sites
  mutable std::unordered_map<trace::SiteId, trace::Site> sites_;
  mutable symbols::CallPlaces call_places_;
  Standstill standstill_;
  std::function<void()> tell_standstill_;
  std::function<void(WorldRank)> tell_silence_;
  std::function<void(WorldRank, const sim::Operation&)> tell_operation_;
  std::optional<std::chrono::steady_clock::time_point> died_;  // when the first rank did
  std::string message_;                                        // of the rank that ends the run
  std::uint64_t left_comms_ = 0;                               // most that a rank left
  int leaving_ranks_ = 0;
  std::vector<WorldRank> without_finalize_;  // that ended with status 0
  std::int32_t longest_crowded_ms_ = 0;      // a rank's threads waited for cores
  WorldRank most_crowded_;
  std::int32_t most_announced_us_ = 0;  // by a rank of whose threads several call
  WorldRank most_announcing_;
  std::optional<WorldRank> unasked_announcing_;
  Time longest_counted_wait_;
  WorldRank longest_counted_waiting_;
  Time longest_wait_;  // by other means than MPI
  WorldRank longest_waiting_;
  bool threads_call_ = false;  // of that rank
  Time longest_sleep_;         // between calls
  WorldRank longest_sleeping_;
  Time longest_look_;  // in looks that were given up
  WorldRank longest_looking_;
  bool threads_look_ = false;   // of that rank
  std::string left_place_;      // where the first of them was made
  std::uint64_t postings_ = 0;  // of all ranks, when it was looked last
  std::uint64_t ticks_ = 0;     // CPU time of those that had a core
  int stalls_ = 0;              // looks in a row at which nothing had been posted
  int lent_cores_ = 0;
};

}  // namespace foretrace::live
