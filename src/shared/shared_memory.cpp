#include "shared/shared_memory.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <new>

#include "base/error.hpp"

namespace foretrace::live {

std::byte* SharedMemory::base_ = nullptr;
int SharedMemory::descriptor_ = -1;
std::uint32_t SharedMemory::self_ = SharedMemory::kSimulator;

namespace {

// Address space, not memory.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;
constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 32;
constexpr std::uint64_t kLargePage = 2 << 20;
constexpr std::uint64_t kHeapAlignment = kLargePage;
// MADV_COLLAPSE, which the C library's headers have since 2.37.
constexpr int kCollapse = 25;

// Maps the object where its large pages can be mapped as such; MAP_FAILED if it cannot.
void* map(int descriptor, std::uint64_t bytes) {
  void* const room = ::mmap(nullptr, bytes + kLargePage, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return room;
  auto* const begin = static_cast<std::byte*>(room);
  const std::uint64_t before = -reinterpret_cast<std::uintptr_t>(begin) % kLargePage;
  if (before > 0) ::munmap(begin, before);
  ::munmap(begin + before + bytes, kLargePage - before);
  void* const base = ::mmap(begin + before, bytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_NORESERVE | MAP_FIXED, descriptor, 0);
  if (base == MAP_FAILED) ::munmap(begin + before, bytes);
  return base;
}

// Of the memory where a rank's next postings go, as much as two rounds with a
// neighbour on either side fill.
constexpr std::uint32_t kFetched = 10;

// The rank will run when the system has changed processes: what it uses first comes
// into the cache meanwhile.
void fetch(Slot& slot) {
  const std::uint32_t posted = slot.posted.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < kFetched; ++i) {
    const auto* const lines = reinterpret_cast<const char*>(&slot.posting(posted + i));
    __builtin_prefetch(lines, 1);
    __builtin_prefetch(lines + 64, 1);
  }
  const auto* const lines = reinterpret_cast<const char*>(&slot.inbox);
  for (int i = 0; i < 4; ++i) __builtin_prefetch(lines + 64 * i, 1);
}

void start_running(Slot& slot) {
  slot.cores.fetch_add(1, std::memory_order_relaxed);
  slot.go.store(1, std::memory_order_release);
  fetch(slot);
  wake_sleeper(slot.go);
}

// The queues, whose lock the caller holds. Who runs next is taken from the front of
// `preferred` as long as there is somebody, else from the front of `others`.
enum Queue : int { preferred, others };

std::uint32_t ends_of(const Header& header, Queue queue) {
  return static_cast<std::uint32_t>(header.ranks + queue);
}

void insert(int rank, std::uint32_t before, std::uint32_t after) {
  QueueLink* const links = SharedMemory::queue();
  const auto self = static_cast<std::uint32_t>(rank);
  links[self].before = 1 + before;
  links[self].after = 1 + after;
  links[before].after = 1 + self;
  links[after].before = 1 + self;
}

void enqueue(Header& header, int rank) {
  const std::uint32_t ends = ends_of(header, others);
  insert(rank, SharedMemory::queue()[ends].before - 1, ends);
}

void dequeue(int rank) {
  QueueLink* const links = SharedMemory::queue();
  QueueLink& link = links[rank];
  links[link.before - 1].after = link.after.load();
  links[link.after.load() - 1].before = link.before;
  link.after = 0;
}

bool queue_is_empty(const Header& header, Queue queue) {
  const std::uint32_t ends = ends_of(header, queue);
  return SharedMemory::queue()[ends].after == 1 + ends;
}

bool none_waits(const Header& header) {
  return queue_is_empty(header, preferred) && queue_is_empty(header, others);
}

// The next rank, which now has the caller's core; -1: none goes on.
int take_turn(Header& header) {
  if (header.starting) return -1;
  for (const Queue queue : {preferred, others}) {
    if (queue_is_empty(header, queue)) continue;
    const auto rank = static_cast<int>(SharedMemory::queue()[ends_of(header, queue)].after - 1);
    dequeue(rank);
    return rank;
  }
  return -1;
}

// Whether who holds a lock will never release it. What it was about to change may be
// changed in part, but nothing leads outside, and the run ends with its death.
bool is_dead(std::uint32_t holder) {
  if (holder <= SharedMemory::kSimulator) return false;
  const auto rank = static_cast<int>(holder - SharedMemory::kSimulator - 1);
  const std::int32_t process = SharedMemory::slot(rank).process;
  return process > 0 && ::kill(process, 0) != 0 && errno == ESRCH;
}

}  // namespace

ShortLock::ShortLock(std::atomic<std::uint32_t>& lock) : lock_(lock) {
  const std::uint32_t self = SharedMemory::self();
  for (std::uint32_t holder = 0;
       !lock_.compare_exchange_strong(holder, self, std::memory_order_acquire);) {
    if (self == SharedMemory::kSimulator && is_dead(holder)) continue;
    holder = 0;
    ::sched_yield();
  }
}

bool sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t value,
              std::chrono::nanoseconds most) {
  const timespec limit{most.count() / 1'000'000'000, most.count() % 1'000'000'000};
  return ::syscall(SYS_futex, &word, FUTEX_WAIT, value, most.count() > 0 ? &limit : nullptr,
                   nullptr, 0) == 0 ||
         errno != ETIMEDOUT;
}

void wake_sleeper(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void SharedMemory::create(int ranks, int cores, int spare) {
  const int descriptor = ::memfd_create("foretrace", MFD_CLOEXEC);
  if (descriptor < 0)
    throw Error(std::string("cannot make shared memory for the ranks: ") + std::strerror(errno));
  std::uint64_t total = kMostBytes;
  void* base = MAP_FAILED;
  for (; total >= kLeastBytes; total /= 2) {
    if (::ftruncate(descriptor, static_cast<off_t>(total)) != 0) continue;
    base = map(descriptor, total);
    if (base != MAP_FAILED) break;
  }
  if (base == MAP_FAILED) {
    const std::string reason = std::strerror(errno);
    ::close(descriptor);
    throw Error("cannot map shared memory for the ranks: " + reason + " (see ulimit -v)");
  }
  base_ = static_cast<std::byte*>(base);
  descriptor_ = descriptor;
  Header& header = *new (base_) Header;
  header.ranks = ranks;
  header.world = ranks - spare;
  header.seed.simulator = ::getpid();
  header.total = total;
  header.cores = cores;
  const auto count = static_cast<std::uint64_t>(ranks);
  const std::uint64_t end = kSlots + count * sizeof(Slot) + (count + kQueues) * sizeof(QueueLink);
  header.heap = (end + kHeapAlignment - 1) / kHeapAlignment * kHeapAlignment;
  header.heap_end.store(header.heap);
  for (const Queue each : {preferred, others}) {
    const std::uint32_t ends = ends_of(header, each);
    queue()[ends].before = 1 + ends;
    queue()[ends].after = 1 + ends;
  }
  use_large_pages();
}

bool SharedMemory::attach(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || status.st_size < static_cast<off_t>(kLeastBytes))
    return false;
  const auto total = static_cast<std::size_t>(status.st_size);
  void* base = map(descriptor, total);
  if (base == MAP_FAILED) return false;
  if (static_cast<Header*>(base)->magic != kMagic) {
    ::munmap(base, total);
    return false;
  }
  base_ = static_cast<std::byte*>(base);
  descriptor_ = descriptor;
  return true;
}

// A rank that runs after many others finds none of its page tables in the cache: the
// fewer it needs for its slot and those of its partners, the better. Where the system
// has no large pages for shared memory, nothing happens.
void SharedMemory::use_large_pages() {
  for (std::uint64_t place = 0; place < header().heap; place += kLargePage) {
    // What nobody has touched is not collapsed.
    auto& word = *at<std::atomic<std::uint8_t>>(place);
    word.fetch_or(0, std::memory_order_relaxed);
    ::madvise(base_ + place, kLargePage, kCollapse);
  }
}

void let_go_on(int rank) {
  Header& header = SharedMemory::header();
  {
    const ShortLock lock(header.queue_lock);
    if (header.starting || header.running >= header.cores || !none_waits(header)) {
      enqueue(header, rank);
      if (header.starting || header.running >= header.cores) return;
      rank = take_turn(header);
    }
    ++header.running;
  }
  start_running(SharedMemory::slot(rank));
}

void set_answered(int rank, std::uint32_t number) {
  SharedMemory::slot(rank).answered.store(awaited_posting(number), std::memory_order_seq_cst);
}

void let_go_on_if_awaits(int rank, std::uint32_t number) {
  std::uint64_t awaited = awaited_posting(number);
  if (SharedMemory::slot(rank).awaits.compare_exchange_strong(awaited, 0,
                                                              std::memory_order_seq_cst))
    let_go_on(rank);
}

bool stop_awaiting(int rank) {
  return SharedMemory::slot(rank).awaits.exchange(0, std::memory_order_seq_cst) != 0;
}

void put_off(int rank) {
  const QueueLink& link = SharedMemory::queue()[rank];
  if (link.after.load(std::memory_order_relaxed) == 0) return;
  Header& header = SharedMemory::header();
  const ShortLock lock(header.queue_lock);
  if (link.after == 0) return;
  dequeue(rank);
  enqueue(header, rank);
}

void prefer(int rank) {
  const QueueLink& link = SharedMemory::queue()[rank];
  Header& header = SharedMemory::header();
  const ShortLock lock(header.queue_lock);
  if (link.after == 0) return;
  dequeue(rank);
  const std::uint32_t ends = ends_of(header, preferred);
  insert(rank, ends, SharedMemory::queue()[ends].after - 1);
}

bool goes_on(int rank) {
  return SharedMemory::slot(rank).cores.load(std::memory_order_relaxed) > 0 ||
         SharedMemory::queue()[rank].after.load(std::memory_order_relaxed) != 0;
}

void give_up_core(int rank, bool waits_for_ranks) {
  Header& header = SharedMemory::header();
  SharedMemory::slot(rank).cores.fetch_sub(1, std::memory_order_relaxed);
  int next = -1;
  std::uint32_t hand_overs = 0;
  bool others_run = false;
  {
    const ShortLock lock(header.queue_lock);
    hand_overs = header.hand_overs.load(std::memory_order_relaxed) + 1;
    header.hand_overs.store(hand_overs, std::memory_order_relaxed);
    if (header.running <= header.cores) next = take_turn(header);
    if (next < 0) --header.running;
    others_run = header.running > (header.occupied ? 1 : 0);
  }
  if (next >= 0) start_running(SharedMemory::slot(next));
  if ((next < 0 && !(waits_for_ranks && others_run)) ||
      (hand_overs % kHandOverSample == 0 && header.together.load(std::memory_order_relaxed) == 0))
    ring_bell();
}

void wait_for_turn(int rank) {
  std::atomic<std::uint32_t>& go = SharedMemory::slot(rank).go;
  while (go.load(std::memory_order_acquire) == 0) sleep_on(go, 0);
}

void wait_for_room(int rank, std::uint32_t posted) {
  Slot& slot = SharedMemory::slot(rank);
  const auto full = [&] { return posted - slot.taken.load(std::memory_order_seq_cst) >= kRing; };
  // A wish is sometimes granted for room that was taken before it was made: then
  // the ring is full still.
  while (full()) {
    slot.go.store(0, std::memory_order_relaxed);
    slot.wants_room.store(1, std::memory_order_seq_cst);
    // The simulator may have made room before it could see that we wait.
    if (!full() && slot.wants_room.exchange(0, std::memory_order_acq_rel) != 0) {
      slot.go.store(1, std::memory_order_relaxed);
      return;
    }
    give_up_core(rank);
    wait_for_turn(rank);
  }
}

bool make_room(int rank) {
  Slot& slot = SharedMemory::slot(rank);
  const std::uint32_t taken = slot.taken.load(std::memory_order_relaxed) + 1;
  slot.taken.store(taken, std::memory_order_seq_cst);
  return slot.posted.load(std::memory_order_relaxed) - taken <= kRing / 2 &&
         slot.wants_room.load(std::memory_order_seq_cst) != 0 &&
         slot.wants_room.exchange(0, std::memory_order_acq_rel) != 0;
}

namespace {

void count_running(int change, bool occupies) {
  Header& header = SharedMemory::header();
  int next = -1;
  {
    const ShortLock lock(header.queue_lock);
    header.running += change;
    if (occupies) header.occupied = change > 0;
    if (header.running < header.cores && (next = take_turn(header)) >= 0) ++header.running;
  }
  if (next >= 0) start_running(SharedMemory::slot(next));
}

}  // namespace

void count_running(int change) {
  count_running(change, false);
}

void occupy_core(bool occupy) {
  count_running(occupy ? +1 : -1, true);
}

void all_are_started() {
  Header& header = SharedMemory::header();
  if (!header.starting) return;
  {
    const ShortLock lock(header.queue_lock);
    header.starting = false;
  }
  for (int i = 0; i < header.cores; ++i) count_running(0);
}

void run_together(bool together, int cores) {
  Header& header = SharedMemory::header();
  header.together.store(together ? 1 + std::max(::sched_getcpu(), 0) : 0);
  header.cores.store(together ? 1 : cores);
  for (int i = 0; i < cores; ++i) count_running(0);
}

namespace {

// What the process may run on where it does not follow.
cpu_set_t before;

}  // namespace

void follow_core(std::int32_t& followed) {
  const std::int32_t now = SharedMemory::header().together.load(std::memory_order_relaxed);
  if (now == followed) return;
  // With more cores than fit there it stays where it is.
  if (followed == 0 && ::sched_getaffinity(0, sizeof before, &before) != 0) return;
  followed = now;
  cpu_set_t one;
  CPU_ZERO(&one);
  if (now > 0) CPU_SET(static_cast<std::size_t>(now - 1), &one);
  ::sched_setaffinity(0, sizeof before, now > 0 ? &one : &before);
}

void follow_no_core(std::int32_t& followed) {
  if (followed <= 0) return;
  followed = 0;
  ::sched_setaffinity(0, sizeof before, &before);
}

bool core_is_free() {
  Header& header = SharedMemory::header();
  const ShortLock lock(header.queue_lock);
  return header.running < header.cores && (header.starting || none_waits(header));
}

bool some_wait_for_core() {
  Header& header = SharedMemory::header();
  const ShortLock lock(header.queue_lock);
  return !none_waits(header);
}

void change_cores(int change) {
  SharedMemory::header().cores.fetch_add(change);
  for (int i = 0; i < change; ++i) count_running(0);
}

void ring_bell() {
  Header& header = SharedMemory::header();
  header.bell.fetch_add(1, std::memory_order_seq_cst);
  if (header.listens.load(std::memory_order_seq_cst) != 0) wake_sleeper(header.bell);
}

bool wait_for_bell(std::uint32_t bell, std::chrono::nanoseconds most) {
  Header& header = SharedMemory::header();
  header.listens.store(1, std::memory_order_seq_cst);
  const bool rang = sleep_on(header.bell, bell, most);
  header.listens.store(0, std::memory_order_relaxed);
  return rang;
}

}  // namespace foretrace::live
