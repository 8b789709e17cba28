#include "shared/inbox.hpp"

#include <algorithm>
#include <atomic>

#include "shared/heap.hpp"
#include "shared/horizon.hpp"

namespace foretrace::live::inbox {
namespace {

// A message for which the inbox has no room.
struct Further {
  std::uint64_t next = 0;
  Envelope message;
};

}  // namespace

bool deliver(int to, const Envelope& message) {
  Inbox& inbox = SharedMemory::slot(to).inbox;
  bool wakes = false, prefers = false, puts_off = false;
  {
    const ShortLock lock(inbox.lock);
    horizon::disturb(to);
    if (inbox.more == 0 && inbox.count < kInbox) {
      inbox.first[inbox.count++] = message;
    } else {
      const std::uint64_t place = heap::allocate(sizeof(Further));
      if (place == 0) return false;
      *SharedMemory::at<Further>(place) = {0, message};
      (inbox.more == 0 ? inbox.more : SharedMemory::at<Further>(inbox.last)->next) = place;
      inbox.last = place;
    }
    if (inbox.wanted > 0) {
      wakes = --inbox.wanted == 0 && (!inbox.awaits || stop_awaiting(to));
    } else if (inbox.further > 0) {
      prefers = --inbox.further == 0;
      puts_off = !prefers;
    }
  }
  if (wakes) let_go_on(to);
  if (prefers) prefer(to);
  if (puts_off) put_off(to);
  return true;
}

bool has_messages(int rank) {
  Inbox& inbox = SharedMemory::slot(rank).inbox;
  return std::atomic_ref(inbox.count).load(std::memory_order_relaxed) > 0;
}

void take_out(int rank, std::vector<Envelope>& messages) {
  Inbox& inbox = SharedMemory::slot(rank).inbox;
  const ShortLock lock(inbox.lock);
  messages.insert(messages.end(), inbox.first, inbox.first + inbox.count);
  inbox.count = 0;
  inbox.further = 0;
  while (inbox.more != 0) {
    const Further& further = *SharedMemory::at<Further>(inbox.more);
    messages.push_back(further.message);
    const std::uint64_t next = further.next;
    heap::free(inbox.more);
    inbox.more = next;
  }
}

void sleep_until(int rank, std::uint32_t wanted, std::uint32_t further) {
  Slot& slot = SharedMemory::slot(rank);
  {
    const ShortLock lock(slot.inbox.lock);
    if (slot.inbox.count > 0) return;
    slot.go.store(0, std::memory_order_relaxed);
    slot.inbox.wanted = wanted;
    slot.inbox.further = further;
    slot.inbox.awaits = false;
  }
  give_up_core(rank);
  wait_for_turn(rank);
}

std::optional<Time> sleep_until_answered(int rank, std::uint32_t posting, std::uint32_t wanted,
                                         const horizon::Wish& wish) {
  using horizon::Awaited;
  Slot& slot = SharedMemory::slot(rank);
  const std::uint64_t awaited = awaited_posting(posting);
  slot.go.store(0, std::memory_order_relaxed);
  slot.awaits.store(awaited, std::memory_order_seq_cst);
  bool there = slot.answered.load(std::memory_order_seq_cst) == awaited;
  if (!there) {
    const ShortLock lock(slot.inbox.lock);
    there = slot.inbox.count > 0;
    slot.inbox.wanted = there ? 0 : wanted;
    slot.inbox.further = 0;
    slot.inbox.awaits = true;
    if (!there) horizon::promise(rank, posting, wish.rest);
  }
  const Awaited granted = there ? Awaited::nothing : horizon::await(rank, wish);
  there = there || granted == Awaited::own;
  // Who has let it go on meanwhile has given it another core.
  if (!there || !stop_awaiting(rank)) {
    give_up_core(rank, granted == Awaited::another ||
                           (wish.horizon && horizon::others_bring(rank, *wish.horizon)));
    wait_for_turn(rank);
  }
  const std::optional<Time> ended = horizon::wake_up(rank);
  if (wanted > 0) {
    const ShortLock lock(slot.inbox.lock);
    slot.inbox.wanted = 0;
  }
  return ended;
}

}  // namespace foretrace::live::inbox
