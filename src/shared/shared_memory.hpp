// What the simulator and its ranks, one process each, share: one memory object
// without a name, laid out as
//
//     Header | Slot of rank 0 | Slot of rank 1 | ... | heap (heap.hpp)
//
// It is gone when the last of them is. Only pages that were written to take
// memory. Everything in it is plain data, and found by its distance from the
// beginning ("place", never 0), since each process maps it where it likes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "shared/launcher.hpp"

namespace foretrace::live {

// Environment variable with which a rank finds all this: "FD:RANK".
inline constexpr const char* kVariable = "FORETRACE_LIVE";
// "off": ranks begin as after MPI_Pcontrol(0).
inline constexpr const char* kStartVariable = "FORETRACE_START";
// "real": the computer's clocks show the program real time.
inline constexpr const char* kWtimeVariable = "FORETRACE_WTIME";
// "none": waits for files or other processes take no time.
inline constexpr const char* kWaitsVariable = "FORETRACE_WAITS";
// Set for the process from which others are to be made (seed.hpp).
inline constexpr const char* kSeedVariable = "FORETRACE_LIVE_SEED";
// "off": ranks wait for the simulator in every call that a message completes, and in every
// look; for tests.
inline constexpr const char* kAheadVariable = "FORETRACE_LIVE_AHEAD";
// How often each kernel is executed (--sample); not set: always.
inline constexpr const char* kSampleVariable = "FORETRACE_SAMPLE";

inline constexpr std::uint64_t kMagic = 0x3176'696c'7274'6f66;  // "fotrliv1"

// What the processes find out about the computation between calls.
enum class Measured : std::int32_t { nothing, steps, cpu, blocks, instructions };

// What a rank posts; most are operations of the engine. A program that ends the
// run posts kind aborted; `list` then holds a message.
enum class Posting : std::uint8_t {
  operation,
  comm,  // a communicator for its members alone: `list` holds their world ranks
  // The same, of which each member asks by itself (joint_comms.hpp), with `comm`, the parent, and
  // `send_tag`.
  joint_comm,
  catch_up,  // answered when the simulator has come to it, with the rank's clock there
  // An operation (a call) that starts processes: `list` holds which (birth.hpp).
  spawn,
  free,  // this rank has no use for the communicator `comm` any more
  name,  // a name of the program's own (a phase), `name`: `list` holds its characters
  // `list_count` tests in vain in a row, else like this one: a VainLook for each in the
  // postings behind it.
  vain_looks,
};

// A test of which its rank knew that it finds nothing.
struct VainLook {
  std::int64_t compute = 0;
  std::int64_t patience = 0;
};

// One posting. Fields as in sim::Operation and trace::Event; times in
// picoseconds; peers are world ranks, -1 for none. Two cache lines: what only
// collectives need lies where messages have their ends. Of a complete's request
// numbers up to kNear lie in the words that messages need (numbers_near()).
struct alignas(64) Record {
  Posting posting = Posting::operation;
  std::uint8_t kind = 0;
  union {
    std::uint8_t mode = 0;   // send
    std::uint8_t reduction;  // collective, call: machine::Reduction
  };
  std::uint8_t collective = 0;
  std::uint8_t completing = 0;
  std::uint8_t probing = 0;
  std::uint8_t locking = 0;
  bool any_source = false;
  bool any_tag = false;
  bool answer = false;         // the rank waits for the answer
  bool split : 1 = false;      // collective: makes communicators by `colour` and `key`
  bool silent : 1 = false;     // send, recv, call: as in sim::Operation
  bool untouched : 1 = false;  // sends, collective: trace::Endpoint::untouched
  bool foreseen : 1 = false;   // look: the rank knows that it finds something, and what
  std::uint8_t one_sided = 0;  // call: with `comm`, `send_peer` and `bytes`
  std::uint32_t name = 0;
  std::uint32_t comm = 0;
  std::uint32_t count = 1;
  union {
    std::int32_t send_peer = -1;
    std::int32_t root;  // collective
  };
  union {
    std::int32_t send_tag = 0;
    std::int32_t place;         // collective: of this rank in the communicator
    std::int32_t announced_us;  // finalize: of computation, by one of several threads that call
  };
  union {
    std::int32_t recv_peer = -1;
    std::int32_t colour;  // collective
  };
  union {
    std::int32_t recv_tag = 0;
    std::int32_t key;         // collective
    std::int32_t crowded_ms;  // finalize: that its threads waited for cores
  };
  union {
    std::int32_t code = 0;
    std::uint32_t watched;  // complete: as in sim::Operation
    std::uint32_t pieces;   // messages: Endpoint::piece, the receive's in the upper half
    std::int32_t threads;   // finalize: kSeveralCalled and so on
  };
  union {
    std::uint32_t list_count = 0;
    std::uint32_t left;  // finalize: communicators that were not freed
  };
  std::int64_t compute = 0;
  double steps = 0;
  union {
    std::uint64_t request = 0;
    std::uint64_t let_go;  // finalize: requests that were freed before they were complete
  };
  // Message: its number among the rank's (inbox.hpp). Contribution: its bytes if they
  // are not more than a word, else the place of their block. Mark: the bits of its
  // value.
  union {
    std::uint64_t payload = 0;
    std::int64_t counted_wait;  // finalize: for files or other processes, and in its computation
  };
  union {
    std::uint64_t send_bytes = 0;
    std::int64_t slept;  // finalize: between calls
  };
  union {
    std::uint64_t recv_bytes = 0;
    std::uint64_t bytes;  // collective; call: what it moves
    std::int64_t looked;  // finalize: in looks that were given up
  };
  std::uint64_t site = 0;  // where the program calls: place in the list (site_list.hpp)
  union {
    std::uint64_t taken = 0;  // receive
    std::uint64_t lock;       // call with `locking`
    std::uint64_t cancel;     // other call
    std::uint64_t left_at;    // finalize: where the first of `left` was made, as `site`
  };
  union {
    std::int64_t patience = 0;
    std::int64_t waited;  // finalize: by other means than MPI, and in no time of it
  };
  // A block of the heap with `list_count` items (request numbers; of a collective
  // trace::Counts; see Posting); 0: none. The simulator frees both.
  std::uint64_t list = 0;

  std::uint16_t send_piece() const { return static_cast<std::uint16_t>(pieces); }
  std::uint16_t recv_piece() const { return static_cast<std::uint16_t>(pieces >> 16); }
  void set_send_piece(std::uint16_t piece) { pieces = (pieces & 0xffff0000U) | piece; }
  void set_recv_piece(std::uint16_t piece) {
    pieces = (pieces & 0xffffU) | std::uint32_t{piece} << 16;
  }

  // Number `at` of the requests that a complete names.
  std::uint32_t near_number(std::uint32_t at) const {
    const std::uint64_t words[] = {payload, send_bytes, recv_bytes};
    return static_cast<std::uint32_t>(words[at / 2] >> (32 * (at % 2)));
  }
  void add_near_number(std::uint32_t number) {
    std::uint64_t* const words[] = {&payload, &send_bytes, &recv_bytes};
    *words[list_count / 2] |= std::uint64_t{number} << (32 * (list_count % 2));
    ++list_count;
  }
};
static_assert(sizeof(Record) == 128);
// Of a rank's threads: several called MPI; some that may not call announced what they compute.
inline constexpr std::int32_t kSeveralCalled = 1;
inline constexpr std::int32_t kOthersAnnounced = 2;
inline constexpr std::uint32_t kNear = 6;  // request numbers that have room in a record

// Content of so many bytes travels in the word that else holds its place.
inline constexpr std::uint64_t kWordBytes = sizeof(std::uint64_t);

// What one request of a completing call, or the message of a receive, came to.
struct Result {
  std::uint64_t request = 0;
  std::uint64_t bytes = 0;
  std::uint64_t payload = 0;  // message: its number; collective: place of what was gathered
  std::int32_t source = -1;   // world rank; -1: none
  std::int32_t tag = 0;
  bool cancelled = false;
};

struct Answer {
  std::int64_t clock = 0;          // virtual time on leaving the call
  std::int64_t in_vain_until = 0;  // looks: sim::Outcome
  std::int64_t looked = 0;         // the same
  std::uint32_t completed = 0;     // results, in the slot's table or in `results`
  bool found = false;              // receives, probes: there is a message
  Result message;
  std::uint64_t results = 0;       // place of a block, if not 0
  std::uint64_t gathered = 0;      // collective: place of its Gathering
  std::uint32_t context = 0;       // of a communicator that it made
  std::uint32_t member_count = 0;  // spawn: processes started, 0: none
  std::int32_t first = 0;          // spawn: rank of the first of them
};

inline constexpr std::uint32_t kRing = 128;  // postings under way
// Of these tests so many are posted together, with so many postings for all that is of each.
inline constexpr std::uint32_t kMostVain = 32;
inline constexpr std::uint32_t kVainInPosting = sizeof(Record) / sizeof(VainLook) - 1;
constexpr std::uint32_t postings_of_vain(std::uint32_t looks) {
  return 1 + (looks + kVainInPosting - 1) / kVainInPosting;
}
inline constexpr std::uint32_t kTable = 24;  // results without a block
inline constexpr std::uint32_t kInbox = 32;  // messages without a block

// In the place of a virtual time that is not known.
inline constexpr std::int64_t kNoClock = -1;

// A message that lies in its receiver's inbox (inbox.hpp).
struct Envelope {
  std::uint64_t payload = 0;  // its bytes if they are not more than a word, else their block
  std::uint64_t bytes = 0;
  std::uint64_t number = 0;  // among those of its sender, from 1 on
  std::uint32_t comm = 0;
  std::int32_t source = -1;  // world rank
  std::int32_t tag = 0;
  bool untouched = false;        // trace::Endpoint::untouched
  bool sure = true;              // that its sender comes to send it does not hang on others
  std::int64_t sent = kNoClock;  // virtual time at which the call began that sends it
};

// What a rank has been sent and has not taken out. Under `lock`.
struct Inbox {
  std::atomic<std::uint32_t> lock{0};
  std::uint32_t wanted = 0;   // the rank sleeps until so many more messages are there
  std::uint32_t further = 0;  // so many after them are as much again as it asked for
  bool awaits = false;        // it waits for an answer as well, and goes on with what is first
  std::uint32_t count = 0;    // in `first`
  std::uint64_t more = 0;     // places of the first and the last one behind them, in blocks
  std::uint64_t last = 0;
  Envelope first[kInbox];
};

// A program that cannot be simulated ends the run. One rank says why.
enum class Refusal : std::uint32_t { none, is_being_said, said };
inline constexpr int kRefused = 3;  // the exit status

// The line between one rank and the simulator. What is used by every call comes
// first and is close together: after a switch between processes none of it is
// in the cache, nor is its page's address.
struct alignas(4096) Slot {
  std::atomic<std::uint32_t> posted{0};  // the rank's postings so far
  std::atomic<std::uint32_t> taken{0};   // of which the simulator has read
  // Postings behind these that may still be added to: what is left of them if the rank dies.
  std::atomic<std::uint32_t> held_back{0};
  // 1: the rank may run. The rank sets it to 0 before a posting that it waits for.
  std::atomic<std::uint32_t> go{0};
  std::uint32_t first = 0;  // the posting that is in ring[0]
  // The function that the rank has called last, plus 1, and whether it has left it; 0: none. Where
  // (as Record::site).
  std::atomic<std::uint32_t> last_call{0};
  static constexpr std::uint32_t kLeft = std::uint32_t{1} << 31;
  std::atomic<std::uint64_t> last_site{0};
  // The rank waits for the answer to this posting (awaited_posting()); 0: for none. Who takes
  // that away lets it go on. `answered`: the one that was answered last.
  std::atomic<std::uint64_t> awaits{0};
  std::atomic<std::uint64_t> answered{0};
  std::atomic<std::uint32_t> wants_room{0};  // the rank waits for the ring to have room
  std::atomic<std::int32_t> cores{0};        // that count as this rank's: 0 or 1, for a moment 2
  std::int32_t process = 0;              // that was started for the rank: the program, or a script
  std::atomic<std::int32_t> program{0};  // that has come to MPI_Init
  std::int32_t node = 0;                 // of the machine, on which the rank is
  double slower = 0;                     // how much longer it computes than others would
  WorldPlace world;                      // for its environment
  std::uint64_t birth = 0;               // place of its Birth, if another rank started it
  std::atomic<std::uint64_t> returned{0};  // heap blocks that others gave back
  Inbox inbox;
  Answer answer;           // written by the simulator
  Result results[kTable];  // written by the simulator
  Record ring[kRing];      // written by the rank

  Record& posting(std::uint32_t number) { return ring[(number - first) % kRing]; }
  // Look `at` of those in a row of which posting `number` tells.
  VainLook& vain_look(std::uint32_t number, std::uint32_t at) {
    Record& room = posting(number + 1 + at / kVainInPosting);
    // Behind what says of other postings what they are.
    return reinterpret_cast<VainLook*>(&room)[1 + at % kVainInPosting];
  }
  // The rank has made `number` postings and makes one more: where. The ring begins
  // anew when all has been read, so that the same few of it are used.
  Record& next_posting(std::uint32_t number) {
    if (taken.load(std::memory_order_acquire) == number) first = number;
    return posting(number);
  }
};

// What the members of a communicator laid down for one collective, in the
// heap; behind it `members` contributions.
struct Gathering {
  std::atomic<std::uint32_t> holders{0};  // members that have not let go
  std::uint32_t members = 0;
  std::atomic<std::uint32_t> common_state{0};  // 0: nobody computes, 1: somebody, 2: ready
  std::uint64_t common = 0;                    // place of the block, or its bytes
  std::uint64_t common_bytes = 0;
  std::uint64_t splits = 0;  // place of the new communicators' members, freed with it
};
struct Contribution {
  std::uint64_t place = 0;  // or the bytes, as Record::payload
  std::uint64_t bytes = 0;
};
// In the place of a contribution: the communicator that a split made for the member.
struct SplitPart {
  std::uint64_t members = 0;  // place of their world ranks, int32 each
  std::uint32_t context = 0;
  std::uint32_t member_count = 0;
};

// The line between the simulator and the process from which it has ranks made.
struct SeedLine {
  std::int32_t simulator = 0;                              // its process
  std::atomic<std::int32_t> process{0};                    // that waits for requests; 0: none
  std::atomic<std::uint32_t> request{0};                   // 1 + the rank to be made
  std::atomic<std::uint32_t> reply{0};                     // its process, or kNoProcess
  static constexpr std::uint32_t kStop = UINT32_MAX;       // as a request: be gone
  static constexpr std::uint32_t kNoProcess = UINT32_MAX;  // as a reply
};

struct Header {
  std::uint64_t magic = kMagic;
  std::int32_t ranks = 0;   // with those that may be started by others
  std::int32_t world = 0;   // those that are there from the beginning
  std::uint64_t total = 0;  // bytes of the object
  std::uint64_t heap = 0;   // where the heap begins
  Measured measured = Measured::nothing;
  Launcher launcher = Launcher::any;
  std::atomic<std::uint64_t> heap_end{0};  // what was given out of the heap
  // Functions' names, written by the first rank: count, then null-ended strings.
  std::atomic<std::uint64_t> names{0};
  std::atomic<std::uint32_t> names_taken{0};
  std::atomic<std::uint64_t> locks{1};  // numbers of locks given out
  // The simulator goes: it ends the programs in Slot::program, and who comes there later leaves.
  std::atomic<bool> over{false};
  std::uint64_t services = 0;  // place of the first open port or published name
  std::uint64_t sites = 0;     // place of the list of call sites (site_list.hpp)
  std::atomic<std::uint32_t> site_count{0};
  // Messages of fewer bytes are sent without waiting for the receiver.
  std::uint64_t eager_bytes = 0;
  // How ranks' clocks move on (sim::ClockRules). `call_costs`: place of what a call of each
  // function and a look of it in vain take, in picoseconds, by its number; 0: not known.
  std::atomic<std::uint64_t> call_costs{0};
  std::atomic<std::uint64_t> message_costs{0};  // place of a table (message_costs.hpp); 0: none
  std::atomic<std::uint64_t> horizon{0};        // the same (horizon.hpp)
  std::atomic<std::uint64_t> rewriting{0};      // the same (rewriting.hpp)
  std::atomic<bool> tells_compute{false};       // the next three say what computation takes
  bool by_steps = false;     // computation: annotated steps, of `compute_step` seconds each
  double compute_scale = 1;  // else of Record::compute
  double compute_step = 0;
  double tick = 1e-9;                        // of MPI_Wtick, seconds
  std::atomic<bool> asks_of_data{false};     // whether it is untouched, or written again
  std::atomic<bool> knows_pieces{false};     // what data takes that does not lie together
  std::atomic<bool> told_of_threads{false};  // that call and may not
  bool run_ahead = true;  // ranks do not wait for the simulator where data flow suffices
  std::atomic<Refusal> refusal{Refusal::none};
  SeedLine seed;
  // Who runs: ranks that may go on wait in a queue for a core.
  alignas(64) std::atomic<std::uint32_t> queue_lock{0};
  std::int32_t running = 0;
  bool occupied = false;  // the simulator is one of these
  // Not all processes have been started: before that no rank goes on that has waited, since
  // it would wait again at once, for those that are not there.
  bool starting = true;
  std::atomic<std::uint32_t> hand_overs{0};  // cores given up so far
  std::atomic<std::int32_t> cores{1};
  // How often one more was lent, since a rank may have waited for one without, by other means than
  // MPI.
  std::atomic<std::uint32_t> lendings{0};
  // 0, or 1 + the core on which all ranks without other threads run now: where
  // they hand over to each other all the time, moving between cores costs most.
  std::atomic<std::int32_t> together{0};
  alignas(64) std::atomic<std::uint32_t> bell{0};    // rung when the simulator should look
  std::atomic<std::uint32_t> listens{0};             // the simulator sleeps
  std::atomic<std::uint64_t> simulator_returned{0};  // heap blocks of the simulator's
};

// Of a circle through the ranks of a queue and its two ends: 1 + the neighbours' places.
// 0: the rank does not wait for a core.
struct QueueLink {
  std::uint32_t before = 0;
  std::atomic<std::uint32_t> after{0};
};

// Ranks go on from the first of these that is not empty.
inline constexpr int kQueues = 2;

// Held for some twenty instructions. The lock says by whom, so that the simulator can take
// over what a rank held when it was killed; ranks wait until the simulator ends them.
class ShortLock {
 public:
  explicit ShortLock(std::atomic<std::uint32_t>& lock);
  ~ShortLock() { lock_.store(0, std::memory_order_release); }
  ShortLock(const ShortLock&) = delete;
  ShortLock& operator=(const ShortLock&) = delete;

 private:
  std::atomic<std::uint32_t>& lock_;
};

// The mapped object. One for each process.
class SharedMemory {
 public:
  // The simulator's: makes it, for `ranks`, of which the last `spare` are not there
  // from the beginning. Throws Error.
  static void create(int ranks, int cores, int spare = 0);
  // A rank's: maps what `descriptor` refers to; false if it is not ours.
  static bool attach(int descriptor);

  // Who this process is; the simulator if it is not said.
  static void be(int rank) { self_ = kSimulator + 1 + static_cast<std::uint32_t>(rank); }
  // What a lock holds that this process holds.
  static std::uint32_t self() { return self_; }
  // Slot::slower of the rank that this process is.
  static double own_slower() {
    return self_ > kSimulator ? slot(static_cast<int>(self_ - kSimulator - 1)).slower : 1;
  }
  static constexpr std::uint32_t kSimulator = 1;

  static bool mapped() { return base_ != nullptr; }
  static int descriptor() { return descriptor_; }
  static Header& header() { return *reinterpret_cast<Header*>(base_); }
  static Slot& slot(int rank) {
    return reinterpret_cast<Slot*>(base_ + kSlots)[static_cast<std::size_t>(rank)];
  }
  // Of the ranks, and behind them of the queues themselves.
  static QueueLink* queue() {
    return reinterpret_cast<QueueLink*>(base_ + header().heap) - header().ranks - kQueues;
  }
  template <class Type = std::byte>
  static Type* at(std::uint64_t place) {
    return reinterpret_cast<Type*>(base_ + place);
  }
  static std::uint64_t place_of(const void* address) {
    return static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - base_);
  }

 private:
  static void use_large_pages();

  static constexpr std::size_t kSlots = 4096;
  static std::byte* base_;
  static int descriptor_;
  static std::uint32_t self_;
};

// --- waiting for each other --------------------------------------------------------

// Sleeps while the word has this value, not longer than `most` unless that is 0; may
// wake too early. False if it was not woken for so long.
bool sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t value,
              std::chrono::nanoseconds most = {});
// Wakes one that sleeps on it.
void wake_sleeper(std::atomic<std::uint32_t>& word);

// --- who runs ------------------------------------------------------------------
// As many ranks run at the same time as there are cores.

// The rank may go on: it does so at once if a core is free, else when its turn
// comes.
void let_go_on(int rank);
// A rank that waits for its turn lets the others go first: it will have more to do then.
void put_off(int rank);
// A rank that waits for its turn goes before all others: it has enough to do, and what it
// uses is still in the caches, since those that gave it more to do ran just now.
void prefer(int rank);
// Posting `number` as Slot::awaits has it.
constexpr std::uint64_t awaited_posting(std::uint32_t number) {
  return std::uint64_t{1} << 32 | number;
}
// The simulator has answered it. The rank goes on if it still waits for that.
void set_answered(int rank, std::uint32_t number);
void let_go_on_if_awaits(int rank, std::uint32_t number);
// The rank need not wait for the answer any more. False if it has been let go on already.
bool stop_awaiting(int rank);
// The calling rank gives up its core: to the next in the queue, or else it rings
// the simulator's bell. Not so if other ranks run, of which it `waits_for_ranks`.
void give_up_core(int rank, bool waits_for_ranks = false);
// Whether it runs, or waits for its turn.
bool goes_on(int rank);
// The calling rank waits until it may go on.
void wait_for_turn(int rank);
// The calling rank has made `posted` postings: waits until its ring has room for
// one more.
void wait_for_room(int rank, std::uint32_t posted);
// The simulator has read one more posting of the rank; true if that one is to go on:
// it waits for room, and half of the ring is free.
bool make_room(int rank);
// The simulator: a process came or went with a core.
void count_running(int change);
// The simulator takes a core, or gives it back.
void occupy_core(bool occupy);
// The simulator: all processes have been started.
void all_are_started();
// Whether a process may be started.
bool core_is_free();
bool some_wait_for_core();
// The simulator: so many more ranks may run, or fewer.
void change_cores(int change);
// After so many cores given up the bell rings: whether all had better be on one core?
inline constexpr std::uint32_t kHandOverSample = 1024;
// The simulator: all on one core, or on all `cores` again.
void run_together(bool together, int cores);
// The calling process follows; or is to run wherever it did before.
void follow_core(std::int32_t& followed);
void follow_no_core(std::int32_t& followed);
// The simulator waits until something may have changed since it read `bell`; not
// longer than `most`, unless that is 0.
// False if nobody rang for so long.
bool wait_for_bell(std::uint32_t bell, std::chrono::nanoseconds most = {});
void ring_bell();

}  // namespace foretrace::live
