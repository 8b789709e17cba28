#include "shared/rewriting.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.hpp"
#include "machine/size_times.hpp"
#include "shared/heap.hpp"
#include "shared/shared_memory.hpp"

namespace foretrace::live::rewriting {
namespace {

using machine::Cost;
using machine::SizeTime;

// Of a call: where its times lie, and how many.
struct Row {
  std::uint64_t place = 0;
  std::uint64_t count = 0;
};
using Table = std::array<Row, static_cast<std::size_t>(Cost::kCount)>;

std::uint64_t allocate(std::uint64_t bytes) {
  const std::uint64_t place = heap::allocate(bytes);
  if (place == 0) throw Error("the memory that the ranks share is full");
  return place;
}

}  // namespace

void begin(const machine::Timing& timing, double factor) {
  Table rows;
  bool any = false;
  for (std::size_t call = 0; call < rows.size(); ++call) {
    const std::span<const SizeTime> known = timing.rewriting(static_cast<Cost>(call));
    if (known.empty()) continue;
    any = true;
    rows[call] = {allocate(known.size_bytes()), known.size()};
    auto* to = SharedMemory::at<SizeTime>(rows[call].place);
    for (const SizeTime& each : known) *to++ = {each.bytes, each.time.scaled(factor)};
  }
  if (!any) return;
  const std::uint64_t place = allocate(sizeof rows);
  *SharedMemory::at<Table>(place) = rows;
  SharedMemory::header().rewriting.store(place, std::memory_order_release);
}

bool is_known() {
  return SharedMemory::header().rewriting.load(std::memory_order_acquire) != 0;
}

Time takes(Cost call, Bytes bytes) {
  const std::uint64_t place = SharedMemory::header().rewriting.load(std::memory_order_acquire);
  if (place == 0) return Time();
  const Row& row = (*SharedMemory::at<Table>(place))[static_cast<std::size_t>(call)];
  return machine::time_at({SharedMemory::at<SizeTime>(row.place), row.count}, bytes)
      .scaled(1 / SharedMemory::own_slower());
}

}  // namespace foretrace::live::rewriting
