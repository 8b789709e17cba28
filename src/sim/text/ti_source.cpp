#include "sim/text/ti_source.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "sim/new_operation.hpp"

namespace foretrace::sim {

using machine::Cost;
using trace::EventKind;

namespace {

constexpr auto kKinds = static_cast<trace::NameId>(TiKind::collective);

// names_ by number: init and finalize, one for each TiKind but collectives,
// the other modes of send and isend, then the collectives.
constexpr trace::NameId kInit = 0, kFinalize = 1, kFirstKind = 2;
constexpr trace::NameId kFirstMode = kFirstKind + kKinds;  // Ssend Bsend Rsend Issend ...
constexpr trace::NameId kFirstCollective = kFirstMode + 6;
constexpr const char* kTiNames[] = {
    "MPI_Init",     "MPI_Finalize", "MPI_Send",     "MPI_Isend",   "MPI_Recv",     "MPI_Irecv",
    "MPI_Sendrecv", "MPI_Wait",     "MPI_Waitall",  "MPI_Waitany", "MPI_Waitsome", "MPI_Test",
    "MPI_Testall",  "MPI_Testany",  "MPI_Testsome", "MPI_Ssend",   "MPI_Bsend",    "MPI_Rsend",
    "MPI_Issend",   "MPI_Ibsend",   "MPI_Irsend"};
static_assert(std::size(kTiNames) == kFirstCollective);

trace::NameId name_of_kind(TiKind kind) {
  return kFirstKind + static_cast<trace::NameId>(kind);
}

WorldRank world_rank(std::int32_t peer) {
  return peer >= 0 ? WorldRank(peer) : WorldRank();
}

Completing completing_of(TiKind kind) {
  switch (kind) {
    case TiKind::waitany:
      return Completing::any;
    case TiKind::waitsome:
      return Completing::some;
    case TiKind::test:
    case TiKind::testall:
      return Completing::test_all;
    case TiKind::testany:
      return Completing::test_any;
    case TiKind::testsome:
      return Completing::test_some;
    default:
      return Completing::all;
  }
}

}  // namespace

TiSource::TiSource(TiTrace trace) : trace_(std::move(trace)) {
  for (const char* name : kTiNames) names_.emplace_back(name);
  for (int c = static_cast<int>(Cost::barrier); c < static_cast<int>(Cost::comm_create); ++c) {
    std::string name(machine::name_of(static_cast<Cost>(c)));
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    names_.push_back("MPI_" + name);
  }
  for (std::size_t r = 0; r < trace_.ranks.size(); ++r)
    world_.members.emplace_back(static_cast<std::int32_t>(r));
  rewind();
}

void TiSource::rewind() {
  ranks_.clear();
  ranks_.resize(trace_.ranks.size());
}

const trace::Communicator& TiSource::comm(trace::CommId) const {
  return world_;
}

void TiSource::start(Rank& rank, EventKind kind, trace::NameId name, Operation& operation) const {
  operation = kNewOperation;
  operation.kind = kind;
  operation.name = name;
  operation.compute = std::exchange(rank.compute, Time());
}

bool TiSource::next(WorldRank world, Operation& operation) {
  const auto r = static_cast<std::size_t>(world.value);
  Rank& rank = ranks_[r];
  const TiTrace::Rank& from = trace_.ranks[r];
  if (rank.stage == Stage::begin) {
    start(rank, EventKind::init, kInit, operation);
    rank.stage = Stage::actions;
    return true;
  }
  while (rank.stage == Stage::actions) {
    if (rank.at == from.actions.size()) {
      rank.stage = Stage::end;
      rank.compute += from.last_compute;
      if (fill_all(rank, operation)) return true;
      break;
    }
    const TiAction& action = from.actions[rank.at++];
    rank.compute += action.compute;
    if (fill(world.value, rank, action, operation)) return true;
  }
  if (rank.stage == Stage::over) return false;
  start(rank, EventKind::finalize, kFinalize, operation);
  rank.stage = Stage::over;
  return true;
}

bool TiSource::fill(std::int32_t me, Rank& rank, const TiAction& action, Operation& operation) {
  switch (action.kind) {
    case TiKind::send:
    case TiKind::isend:
    case TiKind::recv:
    case TiKind::irecv:
      fill_message(me, rank, action, operation);
      return true;
    case TiKind::sendrecv:
      start(rank, EventKind::sendrecv, name_of_kind(action.kind), operation);
      fill_sendrecv(action, operation);
      return true;
    case TiKind::waitall:
      return fill_all(rank, operation);
    case TiKind::collective: {
      const auto number =
          static_cast<trace::NameId>(action.cost) - static_cast<trace::NameId>(Cost::barrier);
      start(rank, EventKind::collective, kFirstCollective + number, operation);
      operation.collective = action.cost;
      operation.bytes = action.bytes;
      if (action.counts != 0) operation.counts = &trace_.counts[action.counts - std::size_t{1}];
      const auto dependence = machine::dependence_of(action.cost);
      if (dependence == machine::Dependence::all_for_root ||
          dependence == machine::Dependence::root_for_all)
        operation.root = LocalRank(action.peer);
      return true;
    }
    default:
      return fill_completing(rank, action, operation);
  }
}

void TiSource::fill_message(std::int32_t me, Rank& rank, const TiAction& action,
                            Operation& operation) {
  const bool sends = action.kind == TiKind::send || action.kind == TiKind::isend;
  const bool posts = action.kind == TiKind::isend || action.kind == TiKind::irecv;
  trace::NameId name = name_of_kind(action.kind);
  if (sends && action.mode != machine::SendMode::standard)
    name = kFirstMode + (posts ? 3u : 0u) + static_cast<trace::NameId>(action.mode) - 1;
  start(rank,
        sends ? (posts ? EventKind::isend : EventKind::send)
              : (posts ? EventKind::irecv : EventKind::recv),
        name, operation);
  trace::Endpoint& end = sends ? operation.send : operation.recv;
  end.peer = world_rank(action.peer);
  end.bytes = action.bytes;
  end.any_source = action.peer == TiAction::kAny;
  end.any_tag = action.tag == TiAction::kAny;
  end.tag = end.any_tag ? kAnyTag : action.tag;
  operation.mode = action.mode;
  if (!posts) return;
  operation.request = ++rank.posted;
  const std::int32_t peer = std::max(action.peer, TiAction::kAny);
  rank.open.push_back({rank.posted, sends ? me : peer, sends ? peer : me, action.tag});
}

void TiSource::fill_sendrecv(const TiAction& action, Operation& operation) {
  operation.send.peer = world_rank(action.peer);
  operation.send.bytes = action.bytes;
  operation.recv.peer = world_rank(action.second);
  operation.recv.bytes = action.received;
}

// The oldest request that the action names; its number of open requests if
// there is none. A request with wildcards has them in its name, but what a wait
// writes may be what was received.
std::size_t TiSource::find(const Rank& rank, const TiAction& action) {
  for (std::size_t i = 0; i < rank.open.size(); ++i) {
    const Open& open = rank.open[i];
    if (open.source == action.peer && open.destination == action.second && open.tag == action.tag)
      return i;
  }
  for (std::size_t i = 0; i < rank.open.size(); ++i) {
    const Open& open = rank.open[i];
    if ((open.source == action.peer || open.source == TiAction::kAny) &&
        open.destination == action.second && (open.tag == action.tag || open.tag == TiAction::kAny))
      return i;
  }
  return rank.open.size();
}

bool TiSource::fill_completing(Rank& rank, const TiAction& action, Operation& operation) {
  rank.completions.clear();
  if (action.kind == TiKind::wait || action.kind == TiKind::test) {
    // A test that succeeded leaves waits without a request behind it.
    const std::size_t found = find(rank, action);
    if (found == rank.open.size()) return false;
    rank.completions.emplace_back().request = rank.open[found].request;
    if (action.kind == TiKind::wait)
      rank.open.erase(rank.open.begin() + static_cast<std::ptrdiff_t>(found));
  } else {
    if (rank.open.empty()) return false;
    for (const Open& open : rank.open) rank.completions.emplace_back().request = open.request;
  }
  start(rank, EventKind::complete, name_of_kind(action.kind), operation);
  operation.completing = completing_of(action.kind);
  operation.completions = rank.completions;
  return true;
}

bool TiSource::fill_all(Rank& rank, Operation& operation) const {
  if (rank.open.empty()) return false;
  rank.completions.clear();
  for (const Open& open : rank.open) rank.completions.emplace_back().request = open.request;
  rank.open.clear();
  start(rank, EventKind::complete, name_of_kind(TiKind::waitall), operation);
  operation.completions = rank.completions;
  return true;
}

void TiSource::completed(WorldRank rank, const Operation& operation, const Interval&,
                         const Outcome& outcome) {
  if (operation.kind != EventKind::complete || operation.completing == Completing::all) return;
  std::vector<Open>& open = ranks_[static_cast<std::size_t>(rank.value)].open;
  for (const trace::Completion& completion : outcome.completions)
    std::erase_if(open, [&](const Open& o) { return o.request == completion.request; });
}

}  // namespace foretrace::sim
