// The timing rules: when does a call leave, given when who entered.
//
// This is the one place where they exist; capture (predict) and sim both call
// it. docs/theory.md derives them (Howell's thesis, section 5.2).
// All functions are pure: times in, times out.
//
// s0 is the sender's clock on entry to the call that sends or posts the send,
// r0 the receiver's on entry to the call that receives or posts the receive,
// w0 a clock on entry to a completing call (Wait, Test that succeeds).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "machine/added.hpp"
#include "machine/machine_model.hpp"
#include "machine/path.hpp"
#include "machine/port.hpp"
#include "machine/reduction.hpp"

namespace foretrace::machine {

// What a rank pays for; each evaluates one data-sheet function, or the next
// best one that the model has (mpi_api/stand_ins.txt).
enum class Cost : std::uint8_t {
  send,
  ssend,
  bsend,
  rsend,
  recv,
  recvmin,
  isend1,
  isend2,
  isendoverlap,
  irecv1,
  irecv2,
  irecvoverlap,
  sendrecv,
  barrier,
  bcast,
  scatter,
  scatterv,
  gather,
  gatherv,
  reduce,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  comm_create,
  comm_split,
  comm_dup,
  // Here and below between two ranks, from the call to the end of the flush after it.
  put,
  get,
  accumulate,
  get_accumulate,
  fetch_and_op,
  compare_and_swap,
  // A message after another one of the same rank. Here, since traces have the numbers of those
  // above.
  gap,
  kCount
};

std::string_view name_of(Cost cost);
constexpr bool is_collective(Cost cost) {
  return cost >= Cost::barrier && cost <= Cost::comm_dup;
}

// What predictions evaluate for the function or call of that name ("recv", "rput").
struct Charged {
  bool known = false;                  // the name is a function's
  const Function* function = nullptr;  // it, or what stands in; nullptr: takes no time
};
// Before the names of those that take no time.
constexpr const char* kTakesNoTime =
    "not in the machine model, and nothing stands in, so these take no time: ";
Charged charged_function(const MachineModel& model, std::string_view name);
// The same with what predictions make of it: an access to a window's memory that a receive stands
// in for goes there and back. Keeps the stand-in's name. Nothing: takes no time.
std::optional<Function> predicted_function(const MachineModel& model, std::string_view name);

// How a send behaves on the target.
enum class SendMode : std::uint8_t { standard, synchronous, buffered, ready };

// What a call has to do with a window; the first ones are accesses to the memory of a target.
enum class OneSided : std::uint8_t {
  none,
  put,
  get,
  accumulate,
  get_accumulate,
  fetch_and_op,
  compare_and_swap,
  flush,        // waits for the accesses before it
  flush_local,  // only until their buffers are the program's again
  lock,
  lock_shared,
  unlock,
};
constexpr bool is_access(OneSided what) {
  return what >= OneSided::put && what <= OneSided::compare_and_swap;
}
constexpr bool is_lock(OneSided what) {
  return what == OneSided::lock || what == OneSided::lock_shared;
}
// Whether an access carries its bytes to the target, and whether it brings them from there.
constexpr bool carries_there(OneSided what) {
  return is_access(what) && what != OneSided::get;
}
constexpr bool brings_back(OneSided what) {
  return is_access(what) && what != OneSided::put && what != OneSided::accumulate;
}
// Of an access.
constexpr Cost cost_of(OneSided access) {
  return static_cast<Cost>(static_cast<int>(Cost::put) + static_cast<int>(access) -
                           static_cast<int>(OneSided::put));
}

// Whether a send waits for its receiver: a synchronous one does, a buffered one does not,
// others do from `threshold` bytes on (nothing: never).
constexpr bool is_rendezvous(SendMode mode, Bytes bytes, const std::optional<Bytes>& threshold) {
  if (mode == SendMode::synchronous) return true;
  return mode != SendMode::buffered && threshold && bytes >= *threshold;
}

// What of a call is wait time: how much later it leaves than `alone`, when it would have left
// if whom it waits for had been there.
constexpr Time wait_time(Time leave, Time alone) {
  return std::max(leave - alone, Time());
}

// Who waits for whom in a collective.
enum class Dependence : std::uint8_t {
  all_for_all,   // barrier, allreduce, ...
  all_for_root,  // bcast, scatter: everybody waits for the root's start
  root_for_all,  // gather, reduce: the root waits for all
  prefix,        // scan, exscan: rank i waits for ranks 0..i
};
Dependence dependence_of(Cost collective);

// What travels with a message from its sender to its receiver.
struct MessageStamp {
  Time sent;    // s0
  Bytes bytes;  // the message's size
  bool rendezvous = false;
  bool untouched = false;  // nobody has written its data since it was sent last
};

// A receive as the receiver's side of a transfer.
enum class RecvKind : std::uint8_t { blocking, sendrecv, posted };

// The rules bound to one model and one bound. All look-ups by name are done
// once, here; costs that were asked for lately are remembered, so a Timing
// belongs to one thread.
class Timing {
 public:
  Timing(const MachineModel& model, Bound bound, const Added& added = {});

  // The rules between ranks that have `path` between them; this one where the model
  // knows no such path. Lives as long as this one.
  const Timing& on(Path path) const {
    if (const Timing* inner = inner_[static_cast<std::size_t>(path)].get()) return *inner;
    return path == Path::untouched ? on(Path::node) : *this;
  }
  bool has_paths() const { return !model_->paths.empty(); }
  bool knows_untouched() const {
    return inner_[static_cast<std::size_t>(Path::untouched)] != nullptr;
  }
  // Of a rank's ports, that of a path: the outer one's where the model knows no such path. What
  // data a message has makes no path of its own.
  Port& port(Ports& ports, Path path) const {
    const auto at = static_cast<std::size_t>(path == Path::untouched ? Path::node : path);
    return ports[inner_[at] ? at : static_cast<std::size_t>(Path::outer)];
  }

  // T(p,d) of one function in whole picoseconds. A function that the model
  // lacks has a stand-in (docs/theory.md); without one it takes no time. With what is added.
  Time cost(Cost what, int ranks, Bytes bytes) const;

  // The least that a message of any size costs, on this path; `what`: of point-to-point
  // functions.
  Time least(Cost what) const;

  // With the model's S.
  bool is_rendezvous(SendMode mode, Bytes bytes) const;
  // Whether the measured MPI ends such a send only while its receiver is in a call.
  bool is_attended(SendMode mode, Bytes bytes) const;

  // Blocking send, eager: when the sender leaves.
  Time send_eager_leave(Time s0, SendMode mode, Bytes bytes) const;
  // Blocking send, rendezvous: the sender leaves once both have come.
  Time send_rendezvous_leave(Time s0, Time r0, Bytes bytes) const;
  // By how much that is later than with a receiver that was there: the sender's wait.
  static constexpr Time rendezvous_delay(Time s0, Time r0) { return wait_time(r0, s0); }
  // A probe that finds a message: when it leaves. `seen`: when the message can be seen, on the
  // data sheet from the moment it is sent; `cost`: of the call alone.
  static constexpr Time probe_leave(Time enter, Time seen, Time cost) {
    return std::max(enter, seen) + cost;
  }
  // Isend and its kin: when the posting call leaves.
  Time isend_post_leave(Time s0, Bytes bytes) const;
  // When the transfer of a posted send ends for its sender. Eager: r0 is not
  // looked at.
  Time isend_end(Time s0, Time r0, SendMode mode, Bytes bytes, bool rendezvous) const;
  // A call that completes one request, whose transfer ended at `end`; `least`: what it takes
  // if that was long ago.
  static constexpr Time complete_leave(Time w0, Time end, Time least) {
    return std::max(w0 + least, end);
  }
  // The completing call of a posted send that ended at `end`.
  Time isend_complete_leave(Time w0, Time end, Bytes bytes) const;

  // Blocking receive: when the receiver leaves.
  Time recv_leave(Time r0, const MessageStamp& message) const;
  // The same of an eager message; `least` and `transfer`: recv_minimum() and recv_transfer().
  static constexpr Time recv_leave(Time r0, Time sent, Time least, Time transfer) {
    return std::max(r0 + least, sent + transfer);
  }
  // From when a message is sent until a blocking receive that waits for it leaves.
  Time recv_transfer(Bytes bytes) const;
  // What a blocking receive takes when its message is there already; a longer
  // stay is wait time.
  Time recv_minimum(Bytes bytes) const;
  // When it leaves then; `other`: the latest that is known of the call's leave (sendrecv: its
  // send's, without the send's delay).
  Time recv_alone(Time r0, Time other, Bytes bytes) const;
  // Irecv: when the posting call leaves; bytes is the posted buffer's size.
  Time irecv_post_leave(Time r0, Bytes bytes) const;
  // When the transfer of a message into a posted receive ends.
  Time irecv_end(Time r0, const MessageStamp& message) const;
  Time irecv_complete_leave(Time w0, Time end, Bytes bytes) const;
  // The least that the completing call of a posted send or receive takes.
  Time isend_complete_minimum(Bytes bytes) const;
  Time irecv_complete_minimum(Bytes bytes) const;

  // Sendrecv is a send and a receive that start together; it leaves when both
  // are done. Receiver's half; the sender's is send_*_leave.
  Time sendrecv_recv_leave(Time r0, const MessageStamp& message) const;

  // Several messages of a rank (Port), in a model that has gap; nothing in others. From when a
  // message leaves until the next one can; what of a rank's time a message takes that it sends,
  // and one that it receives.
  bool has_gap() const { return functions_[static_cast<std::size_t>(Cost::gap)] != nullptr; }
  Time gap(Bytes bytes) const;
  Time sending_takes(Bytes bytes) const;
  Time receiving_takes(Bytes bytes) const;

  // One-sided. What an access takes with the flush after it, if nothing is under way; and of
  // that the call itself.
  Time access_time(OneSided access, Bytes bytes) const;
  Time access_post_time(OneSided access, Bytes bytes) const;
  // What taking a target's lock takes that nobody holds.
  Time lock_time() const;
  // A call of this name that waits for accesses: its own time.
  Time flush_time(std::string_view mpi_name) const;

  // Whether the collective, or what stands in for it, was measured with so many ranks, between its
  // least and its largest number, and can be trusted.
  bool is_measured(Cost collective, int ranks) const;
  // Who waits for whom: dependence_of(), or all for all where the model says so.
  Dependence dependence(Cost collective) const;
  // The size that a member pays for; `largest`: of any member, where all wait for all.
  Bytes charged(Cost collective, Bytes own, Bytes largest) const;
  // Collective: `latest` is the latest start that this rank waits for, its own
  // included (Dependence says whose). `mpi_name`: the call; those of windows and files
  // that are barriers of their members may have an equation of their own.
  Time collective_leave(Time latest, Cost collective, int ranks, Bytes bytes,
                        std::string_view mpi_name = {}) const;
  // Whether a barrier of this name takes an equation of its own however the network is: a window's
  // or a file's, but for MPI_Win_fence, which is a barrier and nothing else. Notes reads and writes
  // that the model does not know.
  bool takes_own_equation(std::string_view mpi_name, Bytes bytes) const;
  // Non-blocking collective: when the posting call leaves.
  Time icollective_post_leave(Time s0, Cost collective, int ranks, Bytes bytes) const;

  // What combining so many bytes with as many others takes; by the class or what stands in for it.
  Time combine_time(Reduction what, Bytes bytes) const;
  // A call that combines two operands of its own rank (MPI_Reduce_local): its own equation's
  // time, else that.
  Time combining_call(std::string_view mpi_name, int ranks, Reduction what, Bytes bytes) const;

  // What it takes to put data together that lies in pieces of `piece` bytes (0: in one), before it
  // is sent; and to take it apart. Nothing where the model does not know.
  bool knows_pieces() const;  // on some path
  Time packing(Bytes bytes, Bytes piece) const;
  Time unpacking(Bytes bytes, Bytes piece) const;

  // How much longer it takes a rank to write again what it gave in this call, at some sizes: by
  // what was measured of the call, of what is as good, or else of messages. Empty: not known.
  std::span<const SizeTime> rewriting(Cost call) const;

  // Compute steps to time (compute.step of the model), of a rank that takes `slower` times as long.
  Time compute(double steps, double slower = 1) const;

  // A call to which no rule above applies: its equation if the model has one of that
  // name, else zero; more for MPI_Wtime (theory.md). `mpi_name` is e.g. "MPI_Comm_rank".
  // That of a message, a collective or an access, which moves nothing then: zero.
  Time local_call(std::string_view mpi_name, int ranks) const;

  // What one of the model's functions takes by itself: one that no cost stands for.
  Time evaluate(const Function& function, int ranks, Bytes bytes) const;

  // What was asked for so far that nobody measured, on all paths.
  struct Unknowns {
    std::vector<std::string> missing;     // functions without equation or stand-in: took no time
    std::vector<std::string> beyond;      // "bcast with 200 ranks", "send of 1000000 B"
    std::vector<std::string> below_zero;  // "send of 8 B": its equation, which counts as 0
    std::vector<std::string> replaced;    // "gatherv (off by 138 % ...) by gather"
    std::vector<std::string> combined;    // "minmax_int16": reductions that were not measured
    std::vector<std::string> unreliable;  // "bcast (off by 138 % at sizes that were left out)"
    std::vector<std::string> posted;      // "file_iwrite": took its time in the call that posts it
    bool pieces = false;  // data that does not lie together took no longer than other data
  };
  Unknowns unknowns() const;

  // A call of that name moves data, and takes no time for want of an equation; `but`: what does.
  void note_missing(std::string_view mpi_name, std::string_view but = {}) const;
  // A call of that name has taken time; of files it may be one that only begins.
  void note_posted(std::string_view mpi_name) const;

  const MachineModel& model() const { return *model_; }
  Bound bound() const { return bound_; }

 private:
  // On the outer path alone.
  struct Flat {};
  Timing(const MachineModel& model, Bound bound, const Added& added, Flat);

  const MachineModel* model_;
  Bound bound_;
  Added added_;
  // By path, where the model knows it; `flat_` is what such a one is of.
  std::array<std::shared_ptr<const Timing>, kPaths> inner_;
  std::shared_ptr<const MachineModel> flat_;
  // Names of calls that moved data and took no time.
  mutable std::vector<std::string> missing_moves_;
  mutable std::vector<std::string> posted_;      // of files
  mutable bool lacks_pieces_ = false;            // and was asked for them
  mutable std::vector<const Function*> beside_;  // that were evaluated and are unreliable
  // By cost, the most ranks and bytes that it was asked for with; 0 ranks: never.
  mutable std::array<int, static_cast<std::size_t>(Cost::kCount)> most_ranks_{};
  mutable std::array<Bytes, static_cast<std::size_t>(Cost::kCount)> most_bytes_{};
  mutable std::array<bool, static_cast<std::size_t>(Cost::kCount)> took_nothing_{};
  // The least bytes with which its equation was below zero.
  mutable std::array<std::optional<Bytes>, static_cast<std::size_t>(Cost::kCount)> below_zero_{};
  // By class: seconds to combine a byte; whether sum_double stands in for it, and has.
  std::array<double, kReductions> per_byte_{};
  std::array<bool, kReductions> stands_in_{};
  mutable std::array<bool, kReductions> stood_in_{};
  std::array<const Function*, static_cast<std::size_t>(Cost::kCount)> functions_{};
  std::array<const Function*, static_cast<std::size_t>(Cost::kCount)> postings_{};

  // Programs use few sizes: a small table for each cost, indexed by a hash.
  struct Known {
    Bytes bytes;
    int ranks = -1;
    Time time;
  };
  mutable std::array<std::array<Known, 16>, static_cast<std::size_t>(Cost::kCount)> known_{};
};

// A line for each of the two kinds; none where all is known.
std::vector<std::string> notes_of(const Timing::Unknowns& unknowns);

// A call that completes posted requests from w0 on. MPI defines Waitall as Waits in some order:
// here the one in which they are given, each starting when the one before has left.
class WaitsInTurn {
 public:
  explicit WaitsInTurn(Time w0) : leave_(w0), alone_(w0) {}

  // A request whose transfer ended at `end`, by itself; `port`: the rank's on the path of `timing`.
  void complete_send(const Timing& timing, Port& port, Time end, Bytes bytes);
  void complete_receive(const Timing& timing, Port& port, Time end, Bytes bytes);

  Time leave() const { return leave_; }
  // When it leaves if all of them had ended long ago.
  Time alone() const { return alone_; }

 private:
  Time leave_;
  Time alone_;
};

}  // namespace foretrace::machine
