#include "compute/work_counter.hpp"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.hpp"

namespace foretrace::compute {
namespace {

// Constructors of the program's objects fill it before main.
constexpr std::size_t kMostCounters = 64;
std::array<BlockCounter, kMostCounters> block_counters;
std::size_t block_counter_count = 0;

std::uint64_t blocks() {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < block_counter_count; ++i) sum += *block_counters[i]();
  return sum;
}

// Instructions of the calling thread in user mode; -1 and errno.
int open_instructions() {
  perf_event_attr event{};
  event.type = PERF_TYPE_HARDWARE;
  event.size = sizeof event;
  event.config = PERF_COUNT_HW_INSTRUCTIONS;
  event.exclude_kernel = 1;
  event.exclude_hv = 1;
  return static_cast<int>(::syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

std::string why_not(int error) {
  std::string text = "this machine does not count instructions for us (perf_event_open: ";
  text += std::strerror(error);
  text += "): ";
  if (error == EACCES || error == EPERM)
    return text + "set kernel.perf_event_paranoid to 2 or less, or use --compute counted:blocks";
  return text +
         "a virtual machine or a container may hide the counters; use --compute counted:blocks";
}

std::size_t page_size() {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

void add_block_counter(BlockCounter counter) noexcept {
  if (block_counter_count < kMostCounters) block_counters[block_counter_count++] = counter;
}

void check_instructions() {
  const int descriptor = open_instructions();
  if (descriptor < 0) throw Error(why_not(errno));
  ::close(descriptor);
}

WorkCounter::~WorkCounter() {
  if (page_) ::munmap(page_, page_size());
  if (descriptor_ >= 0) ::close(descriptor_);
}

void WorkCounter::open(Counter what) {
  if (what == Counter::blocks && block_counter_count == 0)
    throw Error(
        "this program does not count its blocks: compile it with -fsanitize-coverage=trace-pc and "
        "link libforetrace-blocks.a (docs/compute.md)");
  if (what == Counter::instructions) {
    descriptor_ = open_instructions();
    if (descriptor_ < 0) throw Error(why_not(errno));
    void* page = ::mmap(nullptr, page_size(), PROT_READ, MAP_SHARED, descriptor_, 0);
    if (page != MAP_FAILED) page_ = page;
  }
  what_ = what;
}

std::uint64_t WorkCounter::read() const {
  return what_ == Counter::blocks ? blocks() : read_instructions();
}

// As the kernel's header linux/perf_event.h says: without a system call where
// the processor lets us, else with one.
std::uint64_t WorkCounter::read_instructions() const {
#if defined(__x86_64__)
  if (page_) {
    const auto* page = static_cast<const volatile perf_event_mmap_page*>(page_);
    std::uint32_t sequence = 0;
    std::uint32_t index = 0;
    std::uint64_t count = 0;
    do {
      sequence = page->lock;
      asm volatile("" : : : "memory");
      index = page->cap_user_rdpmc ? page->index : 0;
      count = static_cast<std::uint64_t>(page->offset);
      if (index != 0) {
        const unsigned unused = 64U - page->pmc_width;
        const auto raw =
            static_cast<std::uint64_t>(__builtin_ia32_rdpmc(static_cast<int>(index) - 1));
        count += static_cast<std::uint64_t>(static_cast<std::int64_t>(raw << unused) >> unused);
      }
      asm volatile("" : : : "memory");
    } while (page->lock != sequence);
    if (index != 0) return count;
  }
#endif
  std::uint64_t value = 0;
  return ::read(descriptor_, &value, sizeof value) == static_cast<ssize_t>(sizeof value) ? value
                                                                                         : 0;
}

}  // namespace foretrace::compute
