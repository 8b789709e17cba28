#include "live/mpi/rank.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "live/heap.hpp"
#include "live/mpi/completion.hpp"
#include "live/mpi/line.hpp"
#include "live/mpi/mailbox.hpp"
#include "live/mpi/request.hpp"

namespace foretrace::live {

using trace::EventKind;

// --- blocks --------------------------------------------------------------------

std::uint64_t allocate_shared(std::uint64_t bytes) {
  const std::uint64_t place = heap::allocate(bytes);
  if (place == 0) end_run(1, "the memory that the ranks share is full");
  return place;
}

void free_shared(std::uint64_t place) {
  heap::free(place);
}

Block::Block(std::uint64_t bytes)
    : word_(bytes > kWordBytes ? allocate_shared(bytes) : 0), bytes_(bytes) {}

Block::Block(Block&& other) noexcept : word_(other.word_), bytes_(std::exchange(other.bytes_, 0)) {}

Block& Block::operator=(Block&& other) noexcept {
  std::swap(word_, other.word_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Block::~Block() {
  if (bytes_ > kWordBytes) heap::free(word_);
}

std::byte* Block::data() {
  return bytes_ > kWordBytes ? SharedMemory::at(word_) : reinterpret_cast<std::byte*>(&word_);
}

std::uint64_t Block::give_away() {
  return std::exchange(bytes_, 0) == 0 ? 0 : word_;
}

Block Block::take(std::uint64_t word, std::uint64_t bytes) {
  Block block;
  block.word_ = word;
  block.bytes_ = bytes;
  return block;
}

std::byte* address_of(std::uint64_t place) {
  return SharedMemory::at(place);
}

// --- collectives -----------------------------------------------------------------

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
  Record record = line.record(kind);
  record.collective = static_cast<std::uint8_t>(call.cost);
  record.comm = call.comm->together;
  record.root = call.root;
  record.place = call.comm->place();
  record.bytes = call.bytes;
  record.send_bytes = contribution.bytes();
  record.payload = contribution.give_away();
  return record;
}

}  // namespace

Gathered collective(const CollectiveCall& call, Block contribution) {
  if (thread_multiple_level()) {
    // Other threads must not be kept out; and all members have to make the same
    // call, whether they have other threads or not.
    Gathered result;
    wait_for(post_collective(call, std::move(contribution),
                             [&result](Gathered& gathered) { result = std::move(gathered); }, {}));
    return result;
  }
  settle_freed_receives();
  Record record = collective_record(EventKind::collective, call, contribution);
  return Gathered(line.ask(record).gathered);
}

namespace {

Request* post(Record record, const CollectiveCall& call, std::function<void(Gathered&)> finish) {
  auto* request = new Request;
  request->what = Request::What::collective;
  request->active = true;
  request->comm = retain(call.comm);
  request->more().finish = std::move(finish);
  record.request = request->serial = line.new_serial();
  line.post(record);
  return request;
}

// What a split has made for this rank.
Split part_of(const Gathered& gathered, const Comm& comm) {
  const std::span<const std::byte> bytes = gathered.of(comm.place());
  SplitPart part;
  if (bytes.size() < sizeof part) return {};
  std::memcpy(&part, bytes.data(), sizeof part);
  const auto* members = SharedMemory::at<std::int32_t>(part.members);
  return {part.context, {members, members + part.member_count}};
}

}  // namespace

Request* post_collective(const CollectiveCall& call, Block contribution,
                         std::function<void(Gathered&)> finish, std::vector<Object*> keep) {
  Request* request =
      post(collective_record(EventKind::icollective, call, contribution), call, std::move(finish));
  for (Object* object : keep) request->more().keep.push_back(retain(object));
  return request;
}

Split split(const CollectiveCall& call, int colour, int key) {
  const bool posted = thread_multiple_level();  // as in collective()
  Block nothing;
  Record record =
      collective_record(posted ? EventKind::icollective : EventKind::collective, call, nothing);
  record.split = true;
  record.colour = std::max(colour, -1);
  record.key = key;
  if (!posted) return part_of(Gathered(line.ask(record).gathered), *call.comm);
  Split made;
  wait_for(post(record, call, [&](Gathered& all) { made = part_of(all, *call.comm); }));
  return made;
}

ContextId define_context(const std::vector<int>& members) {
  Record record;
  record.posting = Posting::comm;
  record.list_count = static_cast<std::uint32_t>(members.size());
  record.list = allocate_shared(members.size() * sizeof(int));
  std::memcpy(address_of(record.list), members.data(), members.size() * sizeof(int));
  const ContextId context = line.ask(record).context;
  free_shared(record.list);
  return context;
}

void free_context(ContextId context) {
  Record record;
  record.posting = Posting::free;
  record.comm = context;
  line.tell(record);
}

// --- messages of the library's own ---------------------------------------------

void send_bytes(Comm& comm, int partner, int tag, const void* data, std::uint64_t bytes) {
  Block block(bytes);
  if (bytes > 0) std::memcpy(block.data(), data, bytes);
  Record record = line.record(EventKind::send);
  record.comm = comm.context | kHidden;
  record.send_peer = comm.world(partner);
  record.send_tag = tag;
  hand_over(record, std::move(block));
  line.post(record);
  if (is_rendezvous(record)) line.hangs_on_receiver();
}

std::vector<std::byte> receive_bytes(Comm& comm, int partner, int tag) {
  if (threads_multiple()) {
    std::vector<std::byte> bytes;
    wait_for(post_receive(comm, partner, tag, true, UINT64_MAX,
                          [&bytes](std::span<const std::byte> message) {
                            bytes.assign(message.begin(), message.end());
                          }));
    return bytes;
  }
  Record record = line.record(EventKind::recv);
  record.comm = comm.context | kHidden;
  set_source(record, comm, partner, tag);
  const Result message = receive(record);
  const Block block = Block::take(message.payload, message.bytes);
  return {block.data(), block.data() + block.bytes()};
}

// --- locks ---------------------------------------------------------------------

void lock(std::uint64_t number, bool shared) {
  Record record = line.record(EventKind::call);
  record.locking =
      static_cast<std::uint8_t>(shared ? sim::Locking::shared : sim::Locking::exclusive);
  record.lock = number;
  line.ask(record);
}

void unlock(std::uint64_t number) {
  Record record = line.record(EventKind::call);
  record.locking = static_cast<std::uint8_t>(sim::Locking::release);
  record.lock = number;
  line.post(record);
}

std::uint64_t new_lock_numbers(std::uint64_t count) {
  return SharedMemory::header().locks.fetch_add(count);
}

// --- the rank --------------------------------------------------------------------

int world_rank() {
  return line.rank();
}

int world_size() {
  return SharedMemory::mapped() ? SharedMemory::header().ranks : line.size();
}

int process_of(int rank) {
  return SharedMemory::slot(rank).process;
}

int node_of(int rank) {
  return SharedMemory::slot(rank).node;
}

// A program that waits for the clock and does nothing else would look at it millions of
// times: after some times in a row a look stands for more and more of them, up to one in
// `kStep` of the wait so far.
double virtual_seconds() {
  constexpr std::uint64_t kFew = 256;
  constexpr std::uint64_t kStep = 64;
  constexpr std::uint64_t kMost = 1 << 30;
  constexpr std::int64_t kBusy = Time::ns(5000).count_ps();
  static std::uint64_t in_row = 0;
  static std::uint32_t last = 0;  // the rank's postings after the look before
  const std::atomic<std::uint32_t>& posted = SharedMemory::slot(line.rank()).posted;
  if (posted.load(std::memory_order_relaxed) != last) in_row = 0;
  Record record = line.record(EventKind::call);
  record.count = in_row < kFew ? 1 : static_cast<std::uint32_t>(std::min(in_row / kStep, kMost));
  in_row += record.count;
  const std::int64_t clock = line.ask(record).clock;
  // Calls that the library answers by itself are posted with the next one.
  if (posted.load(std::memory_order_relaxed) != last + 1 || record.compute > kBusy ||
      record.steps != 0)
    in_row = 0;
  last = posted.load(std::memory_order_relaxed);
  return static_cast<double>(clock) * 1e-12;
}

void end_run(int exit_status, const std::string& message) {
  if (!line.is_open()) {
    if (!message.empty()) std::fprintf(stderr, "foretrace: %s\n", message.c_str());
    std::_Exit(exit_status == 0 ? 1 : exit_status);
  }
  // What the program printed before would be lost with the process.
  std::fflush(nullptr);
  Record record = line.record(EventKind::aborted);
  record.code = exit_status;
  const std::string text =
      message.empty() ? message : "rank " + std::to_string(world_rank()) + ": " + message;
  if (!text.empty()) {
    record.list_count = static_cast<std::uint32_t>(text.size());
    record.list = heap::allocate(text.size());
    if (record.list != 0)
      std::memcpy(SharedMemory::at<char>(record.list), text.data(), text.size());
  }
  line.ask(record);
  std::_Exit(exit_status);
}

}  // namespace foretrace::live
