#include "mpi/collective/gathered.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "mpi/core/block.hpp"
#include "mpi/core/line.hpp"
#include "mpi/core/mailbox.hpp"
#include "mpi/core/simulator.hpp"
#include "mpi/core/threads.hpp"
#include "mpi/p2p/completion.hpp"
#include "mpi/p2p/request.hpp"
#include "shared/heap.hpp"
#include "shared/horizon.hpp"

namespace foretrace::mpi {

using trace::EventKind;

Gathered::Gathered(std::uint64_t place) : place_(place) {}

Gathered::Gathered(Gathered&& other) noexcept
    : place_(std::exchange(other.place_, 0)), own_(std::move(other.own_)) {}

Gathered& Gathered::operator=(Gathered&& other) noexcept {
  std::swap(place_, other.place_);
  std::swap(own_, other.own_);
  return *this;
}

Gathered::~Gathered() {
  if (place_ == 0) return;
  auto& gathering = *SharedMemory::at<Gathering>(place_);
  if (gathering.holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const auto* contributions = reinterpret_cast<const Contribution*>(&gathering + 1);
  for (std::uint32_t i = 0; i < gathering.members; ++i)
    Block::take(contributions[i].place, contributions[i].bytes);
  Block::take(gathering.common, gathering.common_bytes);
  if (gathering.splits != 0) heap::free(gathering.splits);
  heap::free(place_);
}

namespace {

// What was given away as `word`, which stays where it is.
std::span<const std::byte> bytes_of(const std::uint64_t& word, std::uint64_t bytes) {
  return {bytes > kWordBytes ? SharedMemory::at(word) : reinterpret_cast<const std::byte*>(&word),
          bytes};
}

}  // namespace

std::span<const std::byte> Gathered::of(int place) const {
  if (place_ == 0) return {};
  const auto* gathering = SharedMemory::at<Gathering>(place_);
  const auto& contribution =
      reinterpret_cast<const Contribution*>(gathering + 1)[static_cast<std::size_t>(place)];
  return bytes_of(contribution.place, contribution.bytes);
}

std::span<const std::byte> Gathered::common(std::uint64_t bytes,
                                            const std::function<void(std::byte*)>& compute) {
  enum : std::uint32_t { nobody, somebody, ready };
  auto& gathering = *SharedMemory::at<Gathering>(place_);
  std::uint32_t state = nobody;
  if (gathering.common_state.load(std::memory_order_acquire) == nobody &&
      gathering.common_state.compare_exchange_strong(state, somebody)) {
    Block block(bytes);
    compute(block.data());
    gathering.common = block.give_away();
    gathering.common_bytes = bytes;
    gathering.common_state.store(ready, std::memory_order_release);
  }
  if (gathering.common_state.load(std::memory_order_acquire) == ready)
    return bytes_of(gathering.common, gathering.common_bytes);
  // Somebody is at it, perhaps without a core: the same once more is sooner done.
  own_ = Block(bytes);
  compute(own_.data());
  return {own_.data(), bytes};
}

namespace {

Record collective_record(EventKind kind, const CollectiveCall& call, Block& contribution) {
  ++call.comm->collectives;
  horizon::enter(call.comm->together);
  Record record = line.record(kind);
  record.collective = static_cast<std::uint8_t>(call.cost);
  record.comm = call.comm->together;
  record.root = call.root;
  record.place = call.comm->place();
  record.bytes = call.bytes;
  record.send_bytes = contribution.bytes();
  record.payload = contribution.give_away();
  if (!call.counts.empty())
    Line::list(record, std::span(&call.counts.front().count, call.counts.size()));
  return record;
}

// By reference, since GCC tells of the ABI of values that are aligned so.
Request* post_request(Record&& record, const CollectiveCall& call,
                      std::function<void(Gathered&)> finish) {
  auto* request = new Request;
  request->what = Request::What::collective;
  request->active = true;
  request->comm = retain(call.comm);
  request->more().finish = std::move(finish);
  if (machine::dependence_of(call.cost) == machine::Dependence::all_for_all)
    request->more().entries =
        call.comm->collectives * static_cast<std::uint64_t>(call.comm->places());
  record.request = request->serial = line.new_serial();
  note_open_collective(*request);
  line.post(record);
  return request;
}

// Other threads must not be kept out of the library by one that waits in a collective; and all
// members have to make the same call, whether they have other threads or not. The simulator knows
// such a call by its name, and times it as the blocking one that it is.
bool posts_blocking_calls() {
  return thread_multiple_level();
}

// What a split has made for this rank.
Split own_split(const Gathered& gathered, const Comm& comm) {
  const std::span<const std::byte> bytes = gathered.of(comm.place());
  SplitPart part;
  if (bytes.size() < sizeof part) return {};
  std::memcpy(&part, bytes.data(), sizeof part);
  const auto* members = SharedMemory::at<std::int32_t>(part.members);
  return {part.context, {members, members + part.member_count}};
}

}  // namespace

Gathered collective(const CollectiveCall& call, Block contribution) {
  const bool posted = posts_blocking_calls();
  if (!posted) settle_freed_receives();
  Record record = collective_record(posted ? EventKind::icollective : EventKind::collective, call,
                                    contribution);
  record.reduction = static_cast<std::uint8_t>(machine::told(call.reduction));
  record.untouched = call.untouched;
  if (!posted) return Gathered(line.ask(record).gathered);
  Gathered result;
  wait_for(post_request(std::move(record), call,
                        [&result](Gathered& gathered) { result = std::move(gathered); }));
  return result;
}

Request* post_collective(const CollectiveCall& call, Block contribution,
                         std::function<void(Gathered&)> finish, std::vector<Object*> keep) {
  Request* request = post_request(collective_record(EventKind::icollective, call, contribution),
                                  call, std::move(finish));
  for (Object* object : keep) request->more().keep.push_back(retain(object));
  return request;
}

Split split(const CollectiveCall& call, int colour, int key) {
  const bool posted = posts_blocking_calls();
  Block nothing;
  Record record =
      collective_record(posted ? EventKind::icollective : EventKind::collective, call, nothing);
  record.split = true;
  record.colour = std::max(colour, -1);
  record.key = key;
  if (!posted) return own_split(Gathered(line.ask(record).gathered), *call.comm);
  Split made;
  wait_for(post_request(std::move(record), call,
                        [&](Gathered& all) { made = own_split(all, *call.comm); }));
  return made;
}

}  // namespace foretrace::mpi
