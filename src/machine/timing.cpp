#include "machine/timing.hpp"

#include <algorithm>

#include "machine/look_time.hpp"
#include "machine/moving.hpp"
#include "mpi_api/groups.hpp"
#include "mpi_api/names.hpp"
#include "mpi_api/stand_ins.hpp"

namespace foretrace::machine {
namespace {

using mpi_api::stand_in_for;
using mpi_api::StandInKind;

constexpr std::size_t index(Cost cost) {
  return static_cast<std::size_t>(cost);
}

constexpr std::size_t index(Reduction reduction) {
  return static_cast<std::size_t>(reduction);
}

// One name per Cost, in its order. What stands in for them: mpi_api/stand_ins.txt.
constexpr std::array<std::string_view, index(Cost::kCount)> kNames{
    "send",
    "ssend",
    "bsend",
    "rsend",
    "recv",
    "recvmin",
    "isend1",
    "isend2",
    "isendoverlap",
    "irecv1",
    "irecv2",
    "irecvoverlap",
    "sendrecv",
    "barrier",
    "bcast",
    "scatter",
    "scatterv",
    "gather",
    "gatherv",
    "reduce",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "allreduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "exscan",
    "comm_create",
    "comm_split",
    "comm_dup",
    "put",
    "get",
    "accumulate",
    "get_accumulate",
    "fetch_and_op",
    "compare_and_swap",
    "gap",
};

// Point-to-point equations were measured with two processes.
constexpr int kPointToPointRanks = 2;

const Function* find_with_stand_in(const MachineModel& model, std::string_view name) {
  const Function* function = model.find(name);
  for (; !function && !name.empty(); function = model.find(name))
    name = stand_in_for(StandInKind::charged, name);
  if (!function || !is_unreliable(*function)) return function;
  while (!(name = stand_in_for(StandInKind::alike, name)).empty())
    if (const Function* other = model.find(name); other && !is_unreliable(*other)) return other;
  return function;
}

// Posting a collective: "ibcast" ("comm_idup"), or as it is measured, "ibcast1".
const Function* find_posting(const MachineModel& model, Cost cost) {
  std::string name(name_of(cost));
  name.insert(name.starts_with("comm_") ? 5 : 0, "i");
  const Function* function = model.find(name);
  return function ? function : model.find(name + "1");
}

// The function of that name ("put"), or its stand-in; nothing for other names.
Charged find_moving(const MachineModel& model, std::string_view name) {
  if (const Function* function = model.find(name)) return {true, function};
  for (const StandInKind kind : {StandInKind::moving, StandInKind::looking}) {
    const std::string_view measured = stand_in_for(kind, name);
    if (!measured.empty()) return {true, model.find(measured)};
  }
  return {};
}

// "put" of "MPI_Put"; "" of what is no function of MPI's.
std::string model_name_of(std::string_view mpi_name) {
  return mpi_name.starts_with("MPI_") ? mpi_api::model_name(mpi_name) : std::string();
}

// The equation of a call of that name ("MPI_Put"), or of its stand-in.
const Function* find_own(const MachineModel& model, std::string_view mpi_name) {
  return find_moving(model, model_name_of(mpi_name)).function;
}

bool makes_a_communicator(Cost collective) {
  return collective == Cost::comm_create || collective == Cost::comm_split ||
         collective == Cost::comm_dup;
}

bool is_charged(std::string_view name) {
  return std::ranges::find(kNames, name) != kNames.end();
}

// "put" of "rput", which is the same with a request.
std::string_view access_of(std::string_view name) {
  return name.starts_with('r') && stand_in_for(StandInKind::moving, name).size() > 0 &&
                 is_charged(name.substr(1))
             ? name.substr(1)
             : name;
}

// Of a function of that name a rule says what it takes, by what it moves.
bool has_a_rule(std::string_view name) {
  return is_charged(access_of(name)) || (name.starts_with('i') && is_charged(name.substr(1)));
}

bool is_of_a_window_or_file(std::string_view mpi_name) {
  return mpi_name.starts_with("MPI_Win_") || mpi_name.starts_with("MPI_File_");
}

// The equation of such a call that all members make; nullptr: it has none, and is a barrier.
const Function* of_a_window_or_file(const Timing& timing, std::string_view mpi_name, Bytes bytes) {
  const Function* own = find_own(timing.model(), mpi_name);
  if (bytes.count == 0) return own;
  if (own)
    timing.note_posted(mpi_name);
  else
    timing.note_missing(mpi_name, " (but for its barriers)");
  return own;
}

}  // namespace

std::string_view name_of(Cost cost) {
  return cost == Cost::kCount ? "none" : kNames[index(cost)];
}

Charged charged_function(const MachineModel& model, std::string_view name) {
  if (is_charged(access_of(name))) name = access_of(name);
  if (is_charged(name)) return {true, find_with_stand_in(model, name)};
  for (const StandInKind kind : {StandInKind::making, StandInKind::together}) {
    const std::string_view charged = stand_in_for(kind, name);
    if (charged.empty()) continue;
    const Function* const own = model.find(name);
    return {true, own ? own : find_with_stand_in(model, charged)};
  }
  return find_moving(model, name);
}

std::optional<Function> predicted_function(const MachineModel& model, std::string_view name) {
  const Function* function = charged_function(model, name).function;
  if (!function) return std::nullopt;
  Function predicted = *function;
  const auto access = std::ranges::find(kNames, access_of(name));
  if (access == kNames.end()) return predicted;
  const auto first = kNames.begin() + static_cast<std::ptrdiff_t>(index(Cost::put));
  const auto last = kNames.begin() + static_cast<std::ptrdiff_t>(index(Cost::compare_and_swap));
  if (access < first || access > last || function != find_with_stand_in(model, "recv"))
    return predicted;
  const auto what =
      static_cast<OneSided>(static_cast<int>(OneSided::put) + static_cast<int>(access - first));
  if (carries_there(what) && brings_back(what)) {
    for (Regime& regime : predicted.regimes) regime.equation.scale(2);
    return predicted;
  }
  add_seconds(model, predicted,
              evaluate_seconds(model, *function, kPointToPointRanks, Bytes(0), Bound::avg));
  return predicted;
}

Dependence dependence_of(Cost collective) {
  switch (collective) {
    case Cost::bcast:
    case Cost::scatter:
    case Cost::scatterv:
      return Dependence::all_for_root;
    case Cost::gather:
    case Cost::gatherv:
    case Cost::reduce:
      return Dependence::root_for_all;
    case Cost::scan:
    case Cost::exscan:
      return Dependence::prefix;
    default:
      return Dependence::all_for_all;
  }
}

Timing::Timing(const MachineModel& model, Bound bound, const Added& added)
    : Timing(model, bound, added, Flat()) {
  for (const Path path : {Path::untouched, Path::node}) {
    if (!knows_path(model, path)) continue;
    auto flat = std::make_shared<const MachineModel>(on_path(model, path));
    const std::shared_ptr<Timing> inner(new Timing(*flat, bound, added, Flat()));
    inner->flat_ = std::move(flat);
    inner_[static_cast<std::size_t>(path)] = inner;
  }
}

Timing::Timing(const MachineModel& model, Bound bound, const Added& added, Flat)
    : model_(&model), bound_(bound), added_(added) {
  for (std::size_t i = 0; i < functions_.size(); ++i)
    functions_[i] = find_with_stand_in(model, kNames[i]);
  // Messages then pass each other, and completions hide what they can, as on a data sheet without
  // these.
  for (const Cost part : {Cost::gap, Cost::isendoverlap, Cost::irecvoverlap})
    if (const Function*& own = functions_[index(part)]; own && is_unreliable(*own))
      own = part == Cost::isendoverlap ? functions_[index(Cost::isend2)] : nullptr;
  for (std::size_t i = index(Cost::barrier); i <= index(Cost::comm_dup); ++i)
    postings_[i] = find_posting(model, static_cast<Cost>(i));
  if (const auto usual = model.reductions.find(Reduction::sum_double);
      usual != model.reductions.end()) {
    per_byte_.fill(usual->second);
    stands_in_.fill(true);
    stands_in_[index(Reduction::none)] = false;
  }
  for (const auto& [reduction, seconds] : model.reductions) {
    per_byte_[index(reduction)] = seconds;
    stands_in_[index(reduction)] = false;
  }
}

Time Timing::cost(Cost what, int ranks, Bytes bytes) const {
  const Function* function = functions_[index(what)];
  if (!function) {
    most_ranks_[index(what)] = ranks;
    return added_.to(what, ranks, bytes);
  }
  const std::uint64_t slot = (bytes.count * 0x9e3779b97f4a7c15u +
                              static_cast<std::uint64_t>(ranks) * 0xbf58476d1ce4e5b9u) >>
                             60;
  Known& known = known_[index(what)][slot];
  if (known.ranks != ranks || known.bytes != bytes) {
    known = {bytes, ranks,
             Time::from_seconds(evaluate_seconds(*model_, *function, ranks, bytes, bound_)) +
                 added_.to(what, ranks, bytes)};
    int& most = most_ranks_[index(what)];
    most = std::max(most, ranks);
    most_bytes_[index(what)] = std::max(most_bytes_[index(what)], bytes);
    took_nothing_[index(what)] = took_nothing_[index(what)] || known.time == Time();
    // Of a collective on one rank nothing is asked.
    std::optional<Bytes>& below = below_zero_[index(what)];
    if (ranks > 1 && (!below || bytes < *below) && is_below_zero(*model_, *function, ranks, bytes))
      below = bytes;
  }
  return known.time;
}

bool Timing::is_measured(Cost collective, int ranks) const {
  const Function* function = functions_[index(collective)];
  return function && function->measured && !is_unreliable(*function) &&
         ranks >= function->measured->ranks.front() && ranks <= function->measured->ranks.back();
}

// Within a regime, the equation's times grow or fall evenly with the size. These are nobody's
// messages, so unknowns() is not to tell of them.
Time Timing::least(Cost what) const {
  const Function* function = functions_[index(what)];
  if (!function) return Time();
  const auto time_of = [&](Bytes bytes) {
    return Time::from_seconds(
               evaluate_seconds(*model_, *function, kPointToPointRanks, bytes, bound_)) +
           added_.to(what, kPointToPointRanks, bytes);
  };
  Time least = time_of(Bytes(0));
  for (const Regime& regime : function->regimes) {
    least = std::min(least, time_of(regime.to));
    if (regime.to.count < UINT64_MAX) least = std::min(least, time_of(Bytes(regime.to.count + 1)));
  }
  // Between two sizes of which its factors are known the product may be below both ends.
  const double between = least_between_factors(*model_, *function, kPointToPointRanks, bound_);
  return std::isfinite(between) ? std::min(least, Time::from_seconds(between)) : least;
}

bool Timing::is_rendezvous(SendMode mode, Bytes bytes) const {
  return machine::is_rendezvous(mode, bytes, model_->loggps.sync_threshold);
}

bool Timing::is_attended(SendMode mode, Bytes bytes) const {
  const std::optional<Bytes>& from = model_->loggps.attended_from;
  return from && machine::is_rendezvous(mode, bytes, from);
}

Time Timing::send_eager_leave(Time s0, SendMode mode, Bytes bytes) const {
  const Cost what = mode == SendMode::buffered ? Cost::bsend
                    : mode == SendMode::ready  ? Cost::rsend
                                               : Cost::send;
  return s0 + cost(what, kPointToPointRanks, bytes);
}

Time Timing::send_rendezvous_leave(Time s0, Time r0, Bytes bytes) const {
  return std::max(s0, r0) + cost(Cost::ssend, kPointToPointRanks, bytes);
}

Time Timing::isend_post_leave(Time s0, Bytes bytes) const {
  return s0 + cost(Cost::isend1, kPointToPointRanks, bytes);
}

// A posted send is over after posting and completing at once, counted from
// where the transfer could start (definition of isend1 and isend2, Howell's thesis
// appendix B); a synchronous one takes what Ssend takes.
Time Timing::isend_end(Time s0, Time r0, SendMode mode, Bytes bytes, bool rendezvous) const {
  const Time start = rendezvous ? std::max(s0, r0) : s0;
  if (mode == SendMode::synchronous) return start + cost(Cost::ssend, kPointToPointRanks, bytes);
  Time end = start + cost(Cost::isend1, kPointToPointRanks, bytes) +
             cost(Cost::isend2, kPointToPointRanks, bytes);
  // It needs its receiver's answer, as a blocking one does.
  if (rendezvous)
    end += added_.to(Cost::ssend, kPointToPointRanks, bytes) -
           added_.to(Cost::isend1, kPointToPointRanks, bytes);
  return end;
}

// What of isend2 cannot be hidden behind computation.
Time Timing::isend_complete_minimum(Bytes bytes) const {
  const Time total = cost(Cost::isend2, kPointToPointRanks, bytes);
  const Time hidden = cost(Cost::isendoverlap, kPointToPointRanks, bytes);
  return std::max(total - hidden, Time());
}

Time Timing::isend_complete_leave(Time w0, Time end, Bytes bytes) const {
  return complete_leave(w0, end, isend_complete_minimum(bytes));
}

// Howell's thesis section 5.2: T_recvend = max(T_recvstart + T_recvmin, T_sendstart + T_recv).
Time Timing::recv_leave(Time r0, const MessageStamp& message) const {
  const Time transfer = recv_transfer(message.bytes);
  if (message.rendezvous) return std::max(r0, message.sent) + transfer;
  return recv_leave(r0, message.sent, recv_minimum(message.bytes), transfer);
}

Time Timing::recv_transfer(Bytes bytes) const {
  return cost(Cost::recv, kPointToPointRanks, bytes);
}

Time Timing::recv_minimum(Bytes bytes) const {
  return cost(Cost::recvmin, kPointToPointRanks, bytes);
}

Time Timing::recv_alone(Time r0, Time other, Bytes bytes) const {
  return std::max(other, r0 + recv_minimum(bytes));
}

Time Timing::irecv_post_leave(Time r0, Bytes bytes) const {
  return r0 + cost(Cost::irecv1, kPointToPointRanks, bytes);
}

Time Timing::irecv_end(Time r0, const MessageStamp& message) const {
  const Time start = message.rendezvous ? std::max(r0, message.sent) : message.sent;
  return start + cost(Cost::irecv1, kPointToPointRanks, message.bytes) +
         cost(Cost::irecv2, kPointToPointRanks, message.bytes);
}

// What of irecv2 cannot be hidden; a model without the overlap's figures has
// the message copied out as a blocking receive of a message that is there.
Time Timing::irecv_complete_minimum(Bytes bytes) const {
  if (!functions_[index(Cost::irecvoverlap)])
    return std::min(recv_minimum(bytes), cost(Cost::irecv2, kPointToPointRanks, bytes));
  const Time total = cost(Cost::irecv2, kPointToPointRanks, bytes);
  const Time hidden = cost(Cost::irecvoverlap, kPointToPointRanks, bytes);
  return std::max(total - hidden, Time());
}

Time Timing::irecv_complete_leave(Time w0, Time end, Bytes bytes) const {
  return complete_leave(w0, end, irecv_complete_minimum(bytes));
}

Time Timing::sendrecv_recv_leave(Time r0, const MessageStamp& message) const {
  const Time transfer = cost(Cost::sendrecv, kPointToPointRanks, message.bytes);
  if (message.rendezvous) return std::max(r0, message.sent) + transfer;
  return std::max(r0 + recv_minimum(message.bytes), message.sent + transfer);
}

// The answer to a message, or the request for one, is empty; it comes by itself where messages
// stand in for accesses. (One that is measured holds it.)
Time Timing::access_time(OneSided access, Bytes bytes) const {
  const Cost what = cost_of(access);
  const Time time = cost(what, kPointToPointRanks, bytes);
  if (functions_[index(what)] != functions_[index(Cost::recv)]) return time;
  const bool both = carries_there(access) && brings_back(access);
  return time + cost(Cost::recv, kPointToPointRanks, both ? bytes : Bytes(0));
}

Time Timing::access_post_time(OneSided access, Bytes bytes) const {
  const Bytes there = carries_there(access) ? bytes : Bytes(0);
  return std::min(cost(Cost::isend1, kPointToPointRanks, there), access_time(access, bytes));
}

// The target's word is changed if nobody holds it.
Time Timing::lock_time() const {
  constexpr Bytes kWord{8};
  if (model_->find("win_lock")) return local_call("MPI_Win_lock", kPointToPointRanks);
  return access_time(OneSided::compare_and_swap, kWord);
}

// What waits on the way to something else has no time of its own.
Time Timing::flush_time(std::string_view mpi_name) const {
  return mpi_name.starts_with("MPI_Win_flush") ? local_call(mpi_name, kPointToPointRanks) : Time();
}

Dependence Timing::dependence(Cost collective) const {
  return model_->collectives.synchronise ? Dependence::all_for_all : dependence_of(collective);
}

Bytes Timing::charged(Cost collective, Bytes own, Bytes largest) const {
  const bool all = dependence(collective) == Dependence::all_for_all;
  return all && model_->collectives.largest_count ? std::max(own, largest) : own;
}

Time Timing::collective_leave(Time latest, Cost collective, int ranks, Bytes bytes,
                              std::string_view mpi_name) const {
  if (is_of_a_window_or_file(mpi_name)) {
    if (const Function* own = of_a_window_or_file(*this, mpi_name, bytes))
      return latest + evaluate(*own, ranks, bytes);
  } else if (makes_a_communicator(collective)) {
    const std::string name = model_name_of(mpi_name);
    const Function* const own =
        stand_in_for(StandInKind::making, name).empty() ? nullptr : model_->find(name);
    if (own) return latest + evaluate(*own, ranks, bytes);
  }
  return latest + cost(collective, ranks, bytes);
}

bool Timing::takes_own_equation(std::string_view mpi_name, Bytes bytes) const {
  return is_of_a_window_or_file(mpi_name) && mpi_name != "MPI_Win_fence" &&
         of_a_window_or_file(*this, mpi_name, bytes);
}

Time Timing::icollective_post_leave(Time s0, Cost collective, int ranks, Bytes bytes) const {
  const Function* posting = postings_[index(collective)];
  if (!posting) return s0;
  return s0 + evaluate(*posting, ranks, bytes);
}

Time Timing::combine_time(Reduction what, Bytes bytes) const {
  if (stands_in_[index(what)]) stood_in_[index(what)] = true;
  const Reduction meant = what == Reduction::none ? Reduction::sum_double : what;
  if (per_byte_[index(what)] == 0 && bytes.count > 0 && !model_->reductions.contains(meant))
    stood_in_[index(meant)] = true;
  return Time::from_seconds(static_cast<double>(bytes.count) * per_byte_[index(what)]);
}

Time Timing::combining_call(std::string_view mpi_name, int ranks, Reduction what,
                            Bytes bytes) const {
  if (model_->reductions.empty() || find_own(*model_, mpi_name))
    return moving_time(*this, mpi_name, ranks, bytes);
  return combine_time(what, bytes);
}

bool Timing::knows_pieces() const {
  return !model_->pieces.empty() || (&on(Path::node) != this && on(Path::node).knows_pieces());
}

Time Timing::packing(Bytes bytes, Bytes piece) const {
  lacks_pieces_ = lacks_pieces_ || (model_->pieces.empty() && piece.count > 0);
  return pieces_time(model_->pieces.send, bytes, piece);
}

Time Timing::unpacking(Bytes bytes, Bytes piece) const {
  lacks_pieces_ = lacks_pieces_ || (model_->pieces.empty() && piece.count > 0);
  return pieces_time(model_->pieces.recv, bytes, piece);
}

std::span<const SizeTime> Timing::rewriting(Cost call) const {
  using mpi_api::StandInKind;
  std::string name(name_of(call));
  for (; !name.empty(); name = mpi_api::stand_in_for(StandInKind::alike, name))
    if (const auto own = model_->rewrite.find(name); own != model_->rewrite.end())
      return own->second;
  const auto messages = model_->rewrite.find(name_of(Cost::send));
  return messages == model_->rewrite.end() ? std::span<const SizeTime>() : messages->second;
}

Time Timing::compute(double steps, double slower) const {
  return Time::from_seconds(steps * (model_->compute_step * slower));
}

Time moving_time(const Timing& timing, std::string_view mpi_name, int ranks, Bytes bytes) {
  const Function* function = find_own(timing.model(), mpi_name);
  if (function) {
    if (bytes.count > 0) timing.note_posted(mpi_name);
    return timing.evaluate(*function, ranks, bytes);
  }
  if (bytes.count > 0) timing.note_missing(mpi_name);
  return Time();
}

Time look_time(const Timing& timing, std::string_view mpi_name, int ranks) {
  return mpi_api::is_poll(mpi_name) ? moving_time(timing, mpi_name, ranks, Bytes(0)) : Time();
}

Time Timing::evaluate(const Function& function, int ranks, Bytes bytes) const {
  if (is_unreliable(function) && std::ranges::find(beside_, &function) == beside_.end())
    beside_.push_back(&function);
  return Time::from_seconds(evaluate_seconds(*model_, function, ranks, bytes, bound_));
}

void Timing::note_missing(std::string_view mpi_name, std::string_view but) const {
  std::string name = model_name_of(mpi_name);
  if (name.empty()) return;
  name += but;
  if (std::ranges::find(missing_moves_, name) == missing_moves_.end())
    missing_moves_.push_back(name);
}

void Timing::note_posted(std::string_view mpi_name) const {
  static const mpi_api::Group* const posts = mpi_api::find_group("file_posts");
  if (!mpi_api::is_in(*posts, mpi_name)) return;
  const std::string name = model_name_of(mpi_name);
  if (std::ranges::find(posted_, name) == posted_.end()) posted_.push_back(name);
}

Time Timing::local_call(std::string_view mpi_name, int ranks) const {
  // It moves nothing (to MPI_PROC_NULL), or nobody knows what.
  if (has_a_rule(model_name_of(mpi_name))) return Time();
  const Time taken = moving_time(*this, mpi_name, ranks, Bytes(0));
  if (mpi_name != "MPI_Wtime") return taken;
  // A program that waits for the clock must see it move.
  constexpr Time kReading = Time::ns(100);
  const Time least = std::max(taken, Time::from_seconds(model_->timer_resolution));
  return least > Time() ? least : kReading;
}

}  // namespace foretrace::machine
