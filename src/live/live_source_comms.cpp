// LiveSource's communicators, and the collectives on them: who laid down what, and
// which communicators come of it.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "base/threads_note.hpp"
#include "base/waits_note.hpp"
#include "live/live_source.hpp"
#include "shared/context.hpp"
#include "shared/heap.hpp"

namespace foretrace::live {

using trace::EventKind;

namespace {

constexpr std::uint64_t kHiddenKey = std::uint64_t{1} << 63;

}  // namespace

std::uint64_t LiveSource::allocate(std::uint64_t bytes) {
  const std::uint64_t place = heap::allocate(bytes);
  if (place == 0) throw Error("the memory that the ranks share is full");
  return place;
}

void LiveSource::enter_collective(WorldRank rank, const Record& record) {
  CommState& comm = comm_state(record.comm);
  const std::size_t members = comms_[record.comm].members.size();
  if (comm.next.empty()) comm.next.resize(members);
  const auto place = static_cast<std::size_t>(record.place);
  const auto kind = static_cast<EventKind>(record.kind);
  Rank& of = state(rank);
  of.instance = comm.next.at(place)++;
  Instance& current = instance(record.comm, of.instance);
  if (current.place == 0 &&
      (record.send_bytes != 0 || record.split ||
       static_cast<machine::Cost>(record.collective) != machine::Cost::barrier))
    make_gathering(record.comm, current);
  if (record.send_bytes != 0) {
    auto* contributions =
        reinterpret_cast<Contribution*>(SharedMemory::at<Gathering>(current.place) + 1);
    contributions[place] = {record.payload, record.send_bytes};
  }
  if (record.split) {
    current.split = true;
    current.colours.resize(members);
    current.colours[place] = {record.colour, record.key};
    // A posted one is asked for no more once all have posted it.
    if (++current.asked == members && kind == EventKind::icollective)
      make_split(record.comm, current);
  }
  if (kind != EventKind::icollective) return;
  of.posted[record.request] = {record.comm, current.place};
  // Who posts it takes nothing from it later.
  leave_instance(record.comm, current);
}

LiveSource::Instance& LiveSource::instance(trace::CommId id, std::uint64_t number) {
  CommState& comm = comm_state(id);
  while (comm.base + comm.open.size() <= number) comm.open.emplace_back();
  return comm.open[number - comm.base];
}

void LiveSource::make_gathering(trace::CommId comm, Instance& instance) {
  const std::size_t members = comms_[comm].members.size();
  instance.place = allocate(sizeof(Gathering) + members * sizeof(Contribution));
  auto* gathering = new (SharedMemory::at<Gathering>(instance.place)) Gathering;
  gathering->members = static_cast<std::uint32_t>(members);
  gathering->holders.store(gathering->members, std::memory_order_relaxed);
  std::uninitialized_value_construct_n(reinterpret_cast<Contribution*>(gathering + 1), members);
}

// The communicators of a split: a group for each colour, by key, then place. Each
// member finds its own where it would have laid something down.
void LiveSource::make_split(trace::CommId comm, Instance& instance) {
  if (SharedMemory::at<Gathering>(instance.place)->splits != 0) return;
  const std::vector<WorldRank> members = comms_[comm].members;
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return instance.colours[a] < instance.colours[b];
  });
  auto* gathering = SharedMemory::at<Gathering>(instance.place);
  auto* parts = reinterpret_cast<Contribution*>(gathering + 1);
  const std::uint64_t lists = allocate(members.size() * sizeof(std::int32_t));
  gathering->splits = lists;
  auto* list = SharedMemory::at<std::int32_t>(lists);
  for (std::size_t i = 0; i < order.size(); ++i) list[i] = members[order[i]].value;
  for (std::size_t first = 0; first < order.size();) {
    const std::int32_t colour = instance.colours[order[first]].first;
    std::size_t last = first;
    std::vector<WorldRank> group;
    for (; last < order.size() && instance.colours[order[last]].first == colour; ++last)
      group.push_back(members[order[last]]);
    if (colour >= 0) {
      const trace::CommId made = add_comm(std::move(group));
      const SplitPart part{lists + first * sizeof(std::int32_t), made,
                           static_cast<std::uint32_t>(last - first)};
      for (std::size_t i = first; i < last; ++i) {
        const std::uint64_t place = allocate(sizeof part);
        *SharedMemory::at<SplitPart>(place) = part;
        parts[order[i]] = {place, sizeof part};
      }
    }
    first = last;
  }
}

trace::CommId LiveSource::add_comm(std::vector<WorldRank> members) {
  trace::Communicator comm;
  const WorldRank first = members.front();
  comm.key = static_cast<std::uint64_t>(first.value) << 32 |
             ++comms_of_[static_cast<std::size_t>(first.value)];
  comm.members = std::move(members);
  comms_.push_back(std::move(comm));
  comm_states_.emplace_back();
  return static_cast<trace::CommId>(comms_.size() - 1);
}

trace::CommId LiveSource::comm_for(WorldRank rank, const Record& record) {
  const auto* members = SharedMemory::at<std::int32_t>(record.list);
  std::vector<WorldRank> ranks;
  for (std::uint64_t i = 0; i < record.list_count; ++i) ranks.emplace_back(members[i]);
  if (record.posting == Posting::comm) return add_comm(std::move(ranks));
  return joint_comms_.join(rank, {record.comm, record.send_tag, std::move(ranks)},
                           [this](std::vector<WorldRank> all) { return add_comm(std::move(all)); });
}

LiveSource::CommState& LiveSource::comm_state(trace::CommId comm) {
  std::unique_ptr<CommState>& state = comm_states_.at(comm);
  if (!state) state = std::make_unique<CommState>();
  return *state;
}

// What was known of it goes; its number is never another's.
void LiveSource::free_comm(trace::CommId comm) {
  comm_states_[comm].reset();
  comms_[comm].members = {};
  freed_.push_back(comm);
  if (const auto hidden = hidden_.find(comm); hidden != hidden_.end()) {
    comm_states_[hidden->second].reset();
    comms_[hidden->second].members = {};
    hidden_.erase(hidden);
  }
}

std::vector<trace::CommId> LiveSource::take_freed() {
  return std::exchange(freed_, {});
}

// The rank finalises: communicators that it has not freed. Its process is there
// still, to say where the first one was made.
void LiveSource::note_left(const Record& record) {
  if (record.left == 0) return;
  ++leaving_ranks_;
  left_comms_ = std::max<std::uint64_t>(left_comms_, record.left);
  if (left_place_.empty()) left_place_ = describe_site(site_number(record.left_at));
}

std::string LiveSource::left_communicators() const {
  if (leaving_ranks_ == 0) return {};
  return std::to_string(left_comms_) +
         (left_comms_ == 1 ? " communicator was not freed" : " communicators were not freed") +
         (leaving_ranks_ == 1 ? " on a rank" : " on " + std::to_string(leaving_ranks_) + " ranks") +
         (left_place_.empty() ? "" : ", the first made at " + left_place_);
}

std::string LiveSource::looked_for_nothing(Time all) const {
  if (longest_look_ == Time() || longest_look_.seconds() < 0.01 * all.seconds()) return {};
  constexpr const char* kGivenUp =
      "rank %d looked for messages in vain (MPI_Test, MPI_Iprobe, ...) and then did something "
      "else; %.3g s of the predicted time are in such looks, more than on a machine";
  constexpr const char* kBesideOthers =
      "rank %d waited in MPI while other threads of it ran or called; such waits may end late, "
      "here by up to %.3g s of the predicted time";
  char line[240];
  std::snprintf(line, sizeof line, threads_look_ ? kBesideOthers : kGivenUp, longest_looking_.value,
                longest_look_.seconds());
  return line;
}

// What is said of the rank in the end, if no other one has more of it.
void LiveSource::note_oddities(WorldRank rank, const Record& record) {
  if (longest_look_ < Time::ps(record.looked)) {
    longest_look_ = Time::ps(record.looked);
    longest_looking_ = rank;
    threads_look_ = (record.threads & kSeveralCalled) != 0;
  }
  if (longest_sleep_ < Time::ps(record.slept)) {
    longest_sleep_ = Time::ps(record.slept);
    longest_sleeping_ = rank;
  }
  if (longest_wait_ < Time::ps(record.waited)) {
    longest_wait_ = Time::ps(record.waited);
    longest_waiting_ = rank;
    threads_call_ = (record.threads & kSeveralCalled) != 0;
  }
  if (longest_crowded_ms_ < record.crowded_ms) {
    longest_crowded_ms_ = record.crowded_ms;
    most_crowded_ = rank;
  }
  if (most_announced_us_ < record.announced_us) {
    most_announced_us_ = record.announced_us;
    most_announcing_ = rank;
  }
  if (longest_counted_wait_ < Time::ps(record.counted_wait)) {
    longest_counted_wait_ = Time::ps(record.counted_wait);
    longest_counted_waiting_ = rank;
  }
  if ((record.threads & kOthersAnnounced) != 0)
    unasked_announcing_ = std::min(rank, unasked_announcing_.value_or(rank));
}

std::string LiveSource::announced_unasked() const {
  if (!unasked_announcing_) return {};
  return "rank " + std::to_string(unasked_announcing_->value) + kUnaskedAnnouncements;
}

std::string LiveSource::waited_otherwise(Time all) const {
  if (!is_wait_told(longest_wait_, all)) return {};
  return note_of_waits(longest_waiting_.value, longest_wait_.seconds(),
                       threads_call_ ? kThreadsTimeForWaits : kNoTimeForWaits);
}

std::string LiveSource::waited_and_counted(Time all) const {
  if (!is_wait_told(longest_counted_wait_, all)) return {};
  return note_of_counted_waits(longest_counted_waiting_.value, longest_counted_wait_.seconds());
}

std::string LiveSource::slept(Time all, const std::string& compute) const {
  if (!is_wait_told(longest_sleep_, all)) return {};
  return note_of_sleep(longest_sleeping_.value, longest_sleep_.seconds(), compute);
}

std::string LiveSource::lacked_cores(Time all) const {
  const Time longest = Time::ns(longest_crowded_ms_ * std::int64_t{1'000'000});
  return is_wait_told(longest, all) ? note_of_crowding(most_crowded_.value, longest.seconds()) : "";
}

std::string LiveSource::announced_beside_others(Time all) const {
  constexpr double kLeastShare = 0.01;
  const double seconds = 1e-6 * most_announced_us_;
  if (seconds == 0 || seconds < kLeastShare * all.seconds()) return {};
  char line[320];
  std::snprintf(
      line, sizeof line,
      "rank %d: its threads announced %.3g s of computation beside others that call MPI; "
      "that takes no time here, so what these do meanwhile, as to answer a message, comes "
      "after it, and times may be too long",
      most_announcing_.value, seconds);
  return line;
}

void LiveSource::answer_collective(const Record& record, std::uint64_t number, Answer& answer) {
  CommState& comm = comm_state(record.comm);
  Instance& current = comm.open[number - comm.base];
  answer.gathered = current.place;
  if (current.split) make_split(record.comm, current);
  leave_instance(record.comm, current);
}

// Of those at the front that all have left nothing is wanted any more.
void LiveSource::leave_instance(trace::CommId id, Instance& instance) {
  ++instance.left;
  CommState& comm = comm_state(id);
  while (!comm.open.empty() && comm.open.front().left == comms_[id].members.size()) {
    comm.open.pop_front();
    ++comm.base;
  }
}

const trace::Communicator& LiveSource::comm(trace::CommId id) const {
  return comms_.at(id);
}

// The engine's number of the communicator of a record. The library's own
// messages have one beside that of the program's.
trace::CommId LiveSource::comm_of(const Record& record) {
  if (!(record.comm & kHidden)) return record.comm;
  const trace::CommId of = record.comm & ~kHidden;
  const auto [entry, added] = hidden_.try_emplace(of, static_cast<trace::CommId>(comms_.size()));
  if (added) {
    trace::Communicator comm = comms_.at(of);
    comm.key |= kHiddenKey;
    comms_.push_back(std::move(comm));
    comm_states_.emplace_back();
  }
  return entry->second;
}

}  // namespace foretrace::live
