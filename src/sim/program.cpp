#include "sim/program.hpp"

#include <algorithm>

namespace foretrace::sim {

using trace::EventKind;

namespace {

// Packed::flags: SendMode in bits 0-1, Completing in 2-4, Probing in 5-7.
constexpr int kCompletingShift = 2;
constexpr int kProbingShift = 5;
constexpr unsigned kMatched = 1u << 8;
constexpr unsigned kAnySource = 1u << 9;
constexpr unsigned kAnyTagGiven = 1u << 10;
constexpr unsigned kHasExtra = 1u << 11;
constexpr unsigned kIdle = 1u << 12;
constexpr unsigned kUntouched = 1u << 13;
constexpr unsigned kJoins = 1u << 14;

// Packed::second.tag of a call.
constexpr std::int32_t kOneSidedMask = 0xff;
constexpr int kReductionShift = 8;
constexpr std::int32_t kReductionMask = 0xff;
constexpr int kLockingShift = 16;

bool is_send(EventKind kind) {
  return kind == EventKind::send || kind == EventKind::isend || kind == EventKind::sendrecv;
}

bool is_receive(EventKind kind) {
  return kind == EventKind::recv || kind == EventKind::irecv || kind == EventKind::call ||
         kind == EventKind::probe;
}

bool can_race(const Operation& operation) {
  const trace::Endpoint& from = operation.recv;
  return operation.completing != Completing::all || operation.probing != Probing::none ||
         (operation.matched && ((from.any_source && !from.peer.valid()) || from.tag == kAnyTag));
}

}  // namespace

Program::Program(int ranks) : streams_(static_cast<std::size_t>(ranks)) {
  trace::Communicator world;
  for (int r = 0; r < ranks; ++r) world.members.push_back(WorldRank(r));
  comms_.push_back(std::move(world));
}

Program::Program(Source& source) : streams_(static_cast<std::size_t>(source.ranks())) {
  for (int r = 0; r < source.ranks(); ++r) {
    const WorldRank rank(r);
    Operation operation;
    while (source.next(rank, operation)) {
      for (auto id = static_cast<trace::NameId>(names_.size()); id <= operation.name; ++id)
        names_.emplace_back(source.name(id));
      if (trace::uses_comm(operation.kind) || operation.comm != 0)
        for (auto id = static_cast<trace::CommId>(comms_.size()); id <= operation.comm; ++id)
          comms_.push_back(source.comm(id));
      add(rank, operation, operation.joins ? source.joining(rank) : Joining());
    }
    Stream& stream = streams_[static_cast<std::size_t>(r)];
    stream.packed.shrink_to_fit();
    stream.completions.shrink_to_fit();
    stream.end_reason = source.end_reason(rank);
  }
}

trace::NameId Program::add_name(std::string_view name) {
  const auto found = std::ranges::find(names_, name);
  if (found == names_.end()) names_.emplace_back(name);
  return static_cast<trace::NameId>(std::distance(names_.begin(), std::ranges::find(names_, name)));
}

trace::CommId Program::add_comm(std::vector<WorldRank> members) {
  comms_.push_back({comms_.size(), std::move(members)});
  return static_cast<trace::CommId>(comms_.size() - 1);
}

void Program::add(WorldRank rank, const Operation& operation, const Joining& joining) {
  Stream& stream = streams_[static_cast<std::size_t>(rank.value)];
  Packed packed;
  packed.kind = operation.kind;
  packed.collective = operation.collective;
  packed.name = operation.name;
  packed.comm = operation.comm;
  packed.compute = operation.compute.count_ps();
  packed.request = operation.request;
  unsigned flags = static_cast<unsigned>(operation.mode) |
                   static_cast<unsigned>(operation.completing) << kCompletingShift |
                   static_cast<unsigned>(operation.probing) << kProbingShift;
  if (operation.matched) flags |= kMatched;
  if (operation.idle) flags |= kIdle;
  if (operation.recv.any_source) flags |= kAnySource;
  if (operation.recv.any_tag) flags |= kAnyTagGiven;
  if (operation.send.untouched) flags |= kUntouched;
  if (operation.joins) flags |= kJoins;
  if (operation.steps != 0 || operation.count != 1 || trace::has_pieces(operation) ||
      operation.joins) {
    flags |= kHasExtra;
    packed.extra = static_cast<std::uint32_t>(stream.extras.size());
    stream.extras.push_back({operation.steps, operation.count, operation.send.piece,
                             operation.recv.piece,
                             static_cast<std::uint32_t>(stream.joinings.size())});
    if (operation.joins) stream.joinings.push_back(joining);
  }
  packed.flags = static_cast<std::uint16_t>(flags);
  const auto end = [](const trace::Endpoint& endpoint) {
    return End{endpoint.peer.value, endpoint.tag, endpoint.bytes.count};
  };
  if (is_send(operation.kind)) packed.first = end(operation.send);
  if (is_receive(operation.kind)) packed.first = end(operation.recv);
  if (operation.kind == EventKind::sendrecv) packed.second = end(operation.recv);
  if (operation.kind == EventKind::recv || operation.kind == EventKind::irecv)
    packed.second.bytes = operation.taken;
  if (operation.kind == EventKind::call)
    packed.second = {operation.send.peer.value,
                     static_cast<std::int32_t>(operation.one_sided) |
                         static_cast<std::int32_t>(operation.reduction) << kReductionShift |
                         static_cast<std::int32_t>(operation.locking) << kLockingShift,
                     operation.bytes.count};
  if (operation.kind == EventKind::collective || operation.kind == EventKind::icollective)
    packed.first = {operation.root.value, 0, operation.bytes.count};
  if (operation.kind == EventKind::collective)
    packed.second.tag = static_cast<std::int32_t>(operation.reduction);
  if (const trace::Counts* counts = counts_of(operation)) packed.first.tag = number_of(*counts);
  if (operation.kind == EventKind::aborted) packed.first.tag = operation.code;
  if (operation.kind == EventKind::complete) {
    packed.second.peer = static_cast<std::int32_t>(operation.completions.size());
    packed.second.bytes = stream.completions.size();
    stream.completions.insert(stream.completions.end(), operation.completions.begin(),
                              operation.completions.end());
  }
  messages_race_ = messages_race_ || can_race(operation);
  has_locks_ = has_locks_ || operation.locking != Locking::none;
  posts_collectives_ = posts_collectives_ || operation.kind == EventKind::icollective;
  stream.packed.push_back(packed);
}

std::int32_t Program::number_of(const trace::Counts& counts) {
  const auto [entry, added] = counts_.try_emplace(counts);
  if (added) {
    counts_in_order_.push_back(&entry->first);
    entry->second = static_cast<std::int32_t>(counts_in_order_.size());
  }
  return entry->second;
}

void Program::unpack(WorldRank rank, const Packed& packed, Operation& operation) const {
  const Stream& stream = streams_[static_cast<std::size_t>(rank.value)];
  const unsigned flags = packed.flags;
  // All but what only running programs have: it is never set here.
  operation.kind = packed.kind;
  operation.collective = packed.collective;
  operation.name = packed.name;
  operation.comm = packed.comm;
  operation.compute = Time::ps(packed.compute);
  operation.request = packed.request;
  operation.mode = static_cast<machine::SendMode>(flags & 3);
  operation.completing = static_cast<Completing>(flags >> kCompletingShift & 7);
  operation.probing = static_cast<Probing>(flags >> kProbingShift & 7);
  operation.matched = (flags & kMatched) != 0;
  operation.idle = (flags & kIdle) != 0;
  operation.joins = (flags & kJoins) != 0;
  operation.steps = 0;
  operation.count = 1;
  operation.send = trace::Endpoint();
  operation.recv = trace::Endpoint();
  operation.bytes = Bytes();
  operation.root = LocalRank();
  operation.locking = Locking::none;
  operation.one_sided = machine::OneSided::none;
  operation.reduction = machine::Reduction::none;
  operation.code = 0;
  operation.taken = 0;
  operation.counts = nullptr;
  operation.completions = {};
  if (flags & kHasExtra) {
    const Extra& extra = stream.extras[packed.extra];
    operation.steps = extra.steps;
    operation.count = extra.count;
    operation.send.piece = extra.send_piece;
    operation.recv.piece = extra.recv_piece;
  }
  const auto end = [](const End& from, trace::Endpoint& to) {
    to.peer = WorldRank(from.peer);
    to.tag = from.tag;
    to.bytes = Bytes(from.bytes);
  };
  switch (packed.kind) {
    case EventKind::sendrecv:
      end(packed.second, operation.recv);
      [[fallthrough]];
    case EventKind::send:
    case EventKind::isend:
      end(packed.first, operation.send);
      break;
    case EventKind::recv:
    case EventKind::irecv:
      operation.taken = packed.second.bytes;
      [[fallthrough]];
    case EventKind::probe:
      end(packed.first, operation.recv);
      break;
    case EventKind::call:
      end(packed.first, operation.recv);
      operation.send.peer = WorldRank(packed.second.peer);
      operation.one_sided = static_cast<machine::OneSided>(packed.second.tag & kOneSidedMask);
      operation.reduction =
          static_cast<machine::Reduction>(packed.second.tag >> kReductionShift & kReductionMask);
      operation.locking = static_cast<Locking>(packed.second.tag >> kLockingShift);
      if (operation.locking != Locking::none)
        operation.lock = lock_of(operation.comm, operation.send.peer);
      operation.bytes = Bytes(packed.second.bytes);
      break;
    case EventKind::collective:
    case EventKind::icollective:
      operation.root = LocalRank(packed.first.peer);
      operation.bytes = Bytes(packed.first.bytes);
      if (packed.kind == EventKind::collective)
        operation.reduction = static_cast<machine::Reduction>(packed.second.tag);
      if (packed.first.tag > 0)
        operation.counts = counts_in_order_[static_cast<std::size_t>(packed.first.tag) - 1];
      break;
    case EventKind::complete:
      operation.completions =
          std::span(stream.completions)
              .subspan(packed.second.bytes, static_cast<std::size_t>(packed.second.peer));
      break;
    case EventKind::aborted:
      operation.code = packed.first.tag;
      break;
    default:
      break;
  }
  operation.recv.any_source = (flags & kAnySource) != 0;
  operation.recv.any_tag = (flags & kAnyTagGiven) != 0;
  operation.send.untouched = (flags & kUntouched) != 0;
}

std::uint64_t Program::operations() const {
  std::uint64_t sum = 0;
  for (const Stream& stream : streams_) sum += stream.packed.size();
  return sum;
}

std::size_t Program::memory() const {
  std::size_t bytes = streams_.capacity() * sizeof(Stream);
  for (const Stream& stream : streams_)
    bytes += stream.packed.capacity() * sizeof(Packed) + stream.extras.capacity() * sizeof(Extra) +
             stream.completions.capacity() * sizeof(trace::Completion) +
             stream.joinings.capacity() * sizeof(Joining);
  for (const auto& [counts, number] : counts_) bytes += counts.capacity() * sizeof(Bytes);
  return bytes;
}

}  // namespace foretrace::sim
