#include "sim/collectives.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "mpi_api/names.hpp"

namespace foretrace::sim {

using machine::Dependence;
using mpi_api::model_name;

namespace {

// A persistent collective is posted by a call that does not say which it is.
bool is_start(std::string_view name) {
  return model_name(name).starts_with("start");
}

}  // namespace

std::string describe_collective(const Source& source, trace::NameId name, machine::Cost collective,
                                LocalRank root) {
  std::string text(source.name(name));
  if (text.empty()) text = machine::name_of(collective);
  if (root.valid()) text += " (root " + std::to_string(root.value) + ")";
  return text;
}

std::string describe_comm(const trace::Communicator& comm) {
  if (comm.key == 0) return "MPI_COMM_WORLD";
  constexpr std::size_t kShown = 8;
  std::string text = "communicator " + std::to_string(comm.key >> 32) + "." +
                     std::to_string(comm.key & 0xffffffffu) + " (world ranks ";
  for (std::size_t i = 0; i < comm.members.size() && i < kShown; ++i)
    text += (i ? ", " : "") + std::to_string(comm.members[i].value);
  if (comm.members.size() > kShown)
    text += ", ... " + std::to_string(comm.members.size()) + " in all";
  return text + ")";
}

Collectives::CommState& Collectives::state(trace::CommId comm) {
  if (comm >= comms_.size()) comms_.resize(comm + std::size_t{1});
  CommState& state = comms_[comm];
  if (state.comm) return state;
  state.comm = &source_->comm(comm);
  const auto& members = state.comm->members;
  state.next.assign(members.size(), 0);
  for (std::size_t i = 0; i < members.size(); ++i) {
    state.identity = state.identity && members[i].value == static_cast<std::int32_t>(i);
    state.locals.emplace_back(members[i].value, static_cast<std::uint32_t>(i));
  }
  if (state.identity)
    state.locals = {};
  else
    std::ranges::sort(state.locals);
  return state;
}

void Collectives::forget(trace::CommId comm) {
  if (comm < comms_.size()) comms_[comm] = CommState();
}

std::int64_t Collectives::local_rank(const CommState& state, WorldRank rank) {
  if (state.identity)
    return rank.value < static_cast<std::int32_t>(state.next.size()) ? rank.value : -1;
  const auto found = std::ranges::lower_bound(state.locals, rank.value, {},
                                              &std::pair<std::int32_t, std::uint32_t>::first);
  return found != state.locals.end() && found->first == rank.value
             ? static_cast<std::int64_t>(found->second)
             : -1;
}

Collectives::Instance& Collectives::instance(CommState& state, std::uint64_t number) {
  return state.ring[number & (state.ring.size() - 1)];
}

// Opens the instance `state.end` for its first member.
void Collectives::open(CommState& state, const Operation& operation, WorldRank rank) {
  if (state.end - state.base == state.ring.size()) {
    std::vector<Instance> larger(std::max<std::size_t>(state.ring.size() * 2, 2));
    for (std::uint64_t n = state.base; n < state.end; ++n)
      larger[n & (larger.size() - 1)] = std::move(instance(state, n));
    state.ring = std::move(larger);
  }
  Instance& fresh = instance(state, state.end++);
  fresh.collective = operation.collective;
  fresh.name = operation.name;
  fresh.root = operation.root;
  fresh.site = operation.site;
  fresh.first = rank;
  fresh.entered = 0;
  fresh.latest = Time();
  fresh.largest = Bytes();
  fresh.untouched = true;
  fresh.root_entered = false;
  fresh.prefix = 0;
  fresh.waiting.clear();
  fresh.here.clear();
  fresh.posted = operation.kind == trace::EventKind::icollective;
  fresh.requests.clear();
}

void Collectives::check_same_call(const CommState& state, const Instance& instance,
                                  const Operation& operation, WorldRank rank, bool expanded) const {
  const std::string_view name = source_->name(operation.name);
  const std::string_view other = source_->name(instance.name);
  const bool posted = operation.kind == trace::EventKind::icollective;
  const bool same_form = instance.posted == posted && instance.expanded == expanded;
  // A blocking call that other threads of its rank overtook stands in the trace as
  // posted, under its name.
  const bool same_name = instance.name == operation.name || model_name(other) == model_name(name) ||
                         (same_form && posted && (is_start(name) || is_start(other)));
  const bool same_call =
      same_name && instance.collective == operation.collective && instance.root == operation.root;
  if (same_call && (same_form || !(expanded || instance.expanded))) return;
  throw Error("collective calls on " + describe_comm(*state.comm) + " do not match: rank " +
              std::to_string(instance.first.value) + " calls " +
              describe_collective(*source_, instance.name, instance.collective, instance.root) +
              at_place(source_->describe_site(instance.site)) + ", rank " +
              std::to_string(rank.value) + " calls " +
              describe_collective(*source_, operation.name, operation.collective, operation.root) +
              at_place(source_->place(rank)) +
              (same_call ? "; at one of them another thread overtook the call, which only "
                           "--collectives equation takes"
                         : "; all members must make the same calls in the same order"));
}

void Collectives::release(const CommState& state, Instance& instance, Dependence dependence,
                          std::uint32_t local, Time start, bool untouched,
                          std::vector<Release>& released) {
  const auto& members = state.comm->members;
  const bool complete = instance.entered == members.size();
  const bool is_root = static_cast<std::int32_t>(local) == instance.root.value;
  switch (dependence) {
    case Dependence::all_for_all:
      instance.latest = std::max(instance.latest, start);
      if (complete)
        for (const WorldRank member : members)
          released.push_back({member, instance.latest, instance.largest, instance.untouched});
      return;
    case Dependence::all_for_root:
      if (is_root) {
        instance.root_entered = true;
        instance.latest = start;
        released.push_back({members[local], start, {}, instance.untouched});
        for (const std::uint32_t other : instance.waiting)
          released.push_back(
              {members[other], std::max(start, instance.starts[other]), {}, instance.untouched});
        instance.waiting.clear();
      } else if (instance.root_entered) {
        released.push_back(
            {members[local], std::max(start, instance.latest), {}, instance.untouched});
      } else {
        instance.starts.resize(members.size());
        instance.starts[local] = start;
        instance.waiting.push_back(local);
      }
      return;
    case Dependence::root_for_all:
      instance.latest = std::max(instance.latest, start);
      instance.root_entered = instance.root_entered || is_root;
      if (!is_root) released.push_back({members[local], start, {}, untouched});
      if (complete)
        released.push_back({members[static_cast<std::size_t>(instance.root.value)],
                            instance.latest,
                            {},
                            instance.untouched});
      return;
    case Dependence::prefix:
      instance.starts[local] = start;
      for (; instance.prefix < members.size() && instance.here[instance.prefix];
           ++instance.prefix) {
        instance.latest = std::max(instance.latest, instance.starts[instance.prefix]);
        released.push_back({members[instance.prefix], instance.latest, {}, false});
      }
      return;
  }
}

int Collectives::rank_in(const Operation& operation, WorldRank rank) {
  const CommState& comm = state(operation.comm);
  const std::int64_t local = local_rank(comm, rank);
  if (local >= 0) return static_cast<int>(local);
  throw Error("rank " + std::to_string(rank.value) + " calls " +
              describe_collective(*source_, operation.name, operation.collective, operation.root) +
              " on " + describe_comm(*comm.comm) + at_place(source_->place(rank)) +
              ", of which it is no member");
}

// The rank's part in the communicator's next collective, which must be that of
// the other members.
Collectives::Instance& Collectives::join(CommState& comm, int local, const Operation& operation,
                                         WorldRank rank, bool expanded) {
  const std::uint64_t number = comm.next[static_cast<std::size_t>(local)]++;
  if (number == comm.end) {
    open(comm, operation, rank);
    instance(comm, number).expanded = expanded;
  }
  Instance& here = instance(comm, number);
  check_same_call(comm, here, operation, rank, expanded);
  const Dependence dependence = machine::dependence_of(operation.collective);
  const bool rooted =
      dependence == Dependence::all_for_root || dependence == Dependence::root_for_all;
  if (rooted && (here.root.value < 0 ||
                 here.root.value >= static_cast<std::int32_t>(comm.comm->members.size())))
    throw Error(
        "rank " + std::to_string(rank.value) + " calls " +
        describe_collective(*source_, operation.name, operation.collective, operation.root) +
        " on " + describe_comm(*comm.comm) + at_place(source_->place(rank)) +
        ", which has no such root");
  ++here.entered;
  return here;
}

void Collectives::close_complete(CommState& comm) {
  while (comm.base < comm.end && instance(comm, comm.base).entered == comm.comm->members.size())
    ++comm.base;
}

int Collectives::agree(const Operation& operation, WorldRank rank) {
  const int local = rank_in(operation, rank);
  CommState& comm = state(operation.comm);
  join(comm, local, operation, rank, true);
  close_complete(comm);
  return local;
}

Collectives::Place Collectives::enter(const Operation& operation, WorldRank rank, Time start,
                                      std::uint64_t request, bool expanded,
                                      std::vector<Release>& released) {
  const int local = rank_in(operation, rank);
  CommState& comm = state(operation.comm);
  const Place place{local, comm.next[static_cast<std::size_t>(local)]};
  Instance& here = join(comm, local, operation, rank, expanded);
  const Dependence dependence = timing_->dependence(operation.collective);
  here.largest = std::max(here.largest, operation.bytes);
  const bool sends = dependence != Dependence::all_for_root || local == here.root.value;
  here.untouched = here.untouched && (!sends || operation.send.untouched);
  here.here.resize(comm.next.size());
  if (dependence == Dependence::prefix) here.starts.resize(comm.next.size());
  here.here[static_cast<std::size_t>(local)] = true;
  const std::size_t before = released.size();
  if (request != 0) {
    here.requests.resize(comm.next.size());
    here.requests[static_cast<std::size_t>(local)] = request;
  }
  release(comm, here, dependence, static_cast<std::uint32_t>(local), start,
          operation.send.untouched, released);
  for (std::size_t i = before; !here.requests.empty() && i < released.size(); ++i)
    released[i].request =
        here.requests[static_cast<std::size_t>(local_rank(comm, released[i].rank))];
  close_complete(comm);
  return place;
}

std::size_t Collectives::open_instances(trace::CommId comm) const {
  return comm < comms_.size() ? comms_[comm].end - comms_[comm].base : 0;
}

const Collectives::Instance& Collectives::entered(const CommState& state, std::size_t local,
                                                  std::uint64_t request) {
  std::uint64_t number = state.next[local] - 1;
  const auto at = [&]() -> const Instance& { return state.ring[number & (state.ring.size() - 1)]; };
  while (request != 0 && number > state.base &&
         (at().requests.empty() || at().requests[local] != request))
    --number;
  return at();
}

std::string Collectives::describe_posted(trace::CommId comm, WorldRank rank,
                                         std::uint64_t request) const {
  const CommState& state = comms_.at(comm);
  const Instance& here = entered(state, static_cast<std::size_t>(local_rank(state, rank)), request);
  return describe_collective(*source_, here.name, here.collective, here.root) + " on " +
         describe_comm(*state.comm);
}

std::vector<WorldRank> Collectives::missing(trace::CommId comm, WorldRank rank,
                                            std::uint64_t request) const {
  const CommState& state = comms_.at(comm);
  const auto local = static_cast<std::size_t>(local_rank(state, rank));
  const Instance& here = entered(state, local, request);
  const auto& members = state.comm->members;
  const Dependence dependence = timing_->dependence(here.collective);
  if (dependence == Dependence::all_for_root)
    return {members[static_cast<std::size_t>(here.root.value)]};
  const std::size_t end = dependence == Dependence::prefix ? local : members.size();
  std::vector<WorldRank> result;
  for (std::size_t i = 0; i < end; ++i)
    if (!here.here[i]) result.push_back(members[i]);
  return result;
}

std::size_t Collectives::memory() const {
  std::size_t bytes = comms_.capacity() * sizeof(CommState);
  for (const CommState& state : comms_) {
    bytes += state.locals.capacity() * sizeof(state.locals[0]) +
             state.next.capacity() * sizeof(state.next[0]) +
             state.ring.capacity() * sizeof(Instance);
    for (const Instance& instance : state.ring)
      bytes += instance.starts.capacity() * sizeof(Time) + instance.here.capacity() / 8 +
               instance.waiting.capacity() * sizeof(std::uint32_t) +
               instance.requests.capacity() * sizeof(std::uint64_t);
  }
  return bytes;
}

}  // namespace foretrace::sim
