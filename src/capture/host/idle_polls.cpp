#include "capture/host/idle_polls.hpp"

#include <dlfcn.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <string_view>

#include "base/cpu_clock.hpp"
#include "base/loaded_object.hpp"

namespace foretrace::capture {
namespace {

// The first polls of a row that find nothing just go on: an answer that is on
// its way is not missed for it.
constexpr int kFreePolls = 4;
// Then each hands the core to the next rank, which is the quickest way where
// only ranks of this program want it; a rank that waits for longer sleeps.
constexpr int kYieldsBeforeNap = 500;
// Where somebody computes, who yields gets the core back when that one's slice
// is over. Once a yield has taken that long, ranks sleep instead for a while.
constexpr std::int64_t kSliceNs = 200'000;
constexpr std::int64_t kCrowdedNs = 100'000'000;
constexpr int kPollsBeforeNap = 8;
// A library that yields by itself does so at every poll. A yield is a switch, and the CPU clock
// has to be read anew after it (CpuClock), which costs more than some polls. So of the calls by
// which a program polls one in so many yields; one that waits does from its second poll on.
constexpr int kCallsToOneYield = 2;
// The system adds some 50 us. Who goes on after a nap takes the core from somebody who computes, to
// whom the switch counts as computation (15 us in a virtual machine). So a rank naps the longer the
// longer it has waited: for such a part of that, the larger one where somebody is known to compute,
// and for so long at most.
constexpr std::int64_t kNapNs = 20'000;
constexpr std::int64_t kPartWhereCrowded = 8;
constexpr std::int64_t kPartElsewhere = 64;
constexpr std::int64_t kLongestNapNs = 1'000'000;
// Polls that lie further apart are not made in a row: the program computes
// between them, or the system gave the core to somebody else.
constexpr std::int64_t kRowNs = 100'000;

std::atomic<bool> naps_on{false};
// Found before the first slot is written.
unsigned (*real_progress)(void*) = nullptr;

struct Row {
  int polls = 0;
  int calls = 0;  // that polled, since the last yield
  bool is_own = false;
  std::int64_t begin_ns = 0;
  std::int64_t last_ns = 0;
  std::int64_t crowded_until_ns = 0;
};
thread_local Row row;

std::atomic<const std::atomic<bool>*> soon{nullptr};

bool has_to_go_on_soon() {
  const std::atomic<bool>* const asked = soon.load(std::memory_order_relaxed);
  return asked && asked->load(std::memory_order_relaxed);
}

void nap(std::int64_t waited_ns, bool crowded) {
  const std::int64_t part =
      has_to_go_on_soon() ? 0 : waited_ns / (crowded ? kPartWhereCrowded : kPartElsewhere);
  const timespec length{0, std::clamp(part, kNapNs, kLongestNapNs)};
  ::nanosleep(&length, nullptr);
}

// Another poll has found nothing.
void wait_a_little() {
  if (row.polls < kFreePolls) {
    ++row.polls;
    return;
  }
  const std::int64_t now = monotonic_ns();
  const bool far = row.polls > kFreePolls && now - row.last_ns > kRowNs;
  if (row.polls == kFreePolls) row.begin_ns = now;
  row.last_ns = now;
  row.polls = far ? 1 : row.polls + 1;
  if (far) return;
  const bool crowded = now < row.crowded_until_ns;
  if (row.polls > (crowded ? kPollsBeforeNap : kYieldsBeforeNap)) {
    nap(now - row.begin_ns, crowded);
    row.last_ns = monotonic_ns();
  } else if (!crowded) {
    ::sched_yield();
    row.last_ns = monotonic_ns();
    if (row.last_ns - now > kSliceNs) row.crowded_until_ns = row.last_ns + kCrowdedNs;
  }
}

bool naps_are_on() {
  return naps_on.load(std::memory_order_relaxed);
}

unsigned poll_messages(void* worker) {
  const unsigned found = real_progress(worker);
  if (found)
    row.polls = 0;
  else if (naps_are_on())
    wait_a_little();
  return found;
}

int yield_idly() {
  if (row.is_own) return 0;
  if (naps_are_on()) {
    wait_a_little();
    return 0;
  }
  if (row.polls++ == 0 && ++row.calls < kCallsToOneYield) return 0;
  row.calls = 0;
  return ::sched_yield();
}

bool polls_inside(std::string_view file_name) {
  return file_name.starts_with("libmpi") || file_name.starts_with("libopen-pal");
}

}  // namespace

bool redirect_idle_polls() {
  bool found = false;
  for_each_object([&found](const LoadedObject& object) {
    if (!polls_inside(object.file_name())) return;
    object.for_each_slot([&](std::string_view symbol, void** slot) {
      void* function = nullptr;
      if (symbol == "sched_yield") function = reinterpret_cast<void*>(yield_idly);
      if (symbol == "ucp_worker_progress") {
        if (!real_progress)
          real_progress =
              reinterpret_cast<unsigned (*)(void*)>(::dlsym(RTLD_DEFAULT, "ucp_worker_progress"));
        if (real_progress) function = reinterpret_cast<void*>(poll_messages);
      }
      if (function && (*slot == function || object.redirect(slot, function))) found = true;
    });
  });
  return found;
}

OwnPolls::OwnPolls() {
  row.is_own = true;
}
OwnPolls::~OwnPolls() {
  row.is_own = false;
}

void end_idle_row() {
  row.polls = 0;
}

void keep_naps_short(const std::atomic<bool>* asked) {
  soon.store(asked, std::memory_order_relaxed);
}

void set_idle_naps(bool on) {
  naps_on.store(on, std::memory_order_relaxed);
}

}  // namespace foretrace::capture
