#include "shared/own_clock.hpp"

#include <algorithm>

#include "shared/context.hpp"
#include "shared/looks.hpp"
#include "sim/operation.hpp"

namespace foretrace::live {
namespace {

bool is_plain_call(const Record& record) {
  return is_call(record) && record.probing == 0 && record.locking == 0 && record.cancel == 0 &&
         record.one_sided == 0 && record.bytes == 0;
}

// What a call of the record's function takes, if the simulator has said so.
const std::int64_t* cost_of(const Record& record) {
  const Header& header = SharedMemory::header();
  const std::uint64_t costs = header.call_costs.load(std::memory_order_acquire);
  return costs == 0 || record.name >= kOwnNames
             ? nullptr
             : SharedMemory::at<std::int64_t>(costs) + record.name;
}

// The computation before it.
Time compute_of(const Record& record) {
  const Header& header = SharedMemory::header();
  if (!header.by_steps) return Time::ps(record.compute).scaled(header.compute_scale);
  return record.steps == 0 ? Time() : Time::from_seconds(record.steps * header.compute_step);
}

}  // namespace

std::uint64_t OwnClock::look_of(const Record& record) {
  std::uint64_t hash = 0;
  const auto add = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32;
  };
  add(std::uint64_t{record.kind} << 16 | std::uint64_t{record.completing} << 8 | record.probing);
  if (record.probing != 0) {
    add(std::uint64_t{record.comm} << 2 | std::uint64_t{record.any_source} << 1 |
        std::uint64_t{record.any_tag});
    add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(record.recv_peer)) << 32 |
        static_cast<std::uint32_t>(record.recv_tag));
    return hash;
  }
  const std::uint64_t* const numbers =
      record.list != 0 ? SharedMemory::at<std::uint64_t>(record.list) : nullptr;
  for (std::uint32_t i = 0; i < record.list_count - record.watched; ++i)
    add(numbers ? numbers[i] : record.near_number(i));
  return hash;
}

void OwnClock::posted(const Record& record) {
  if (record.posting != Posting::operation) return;
  const std::int64_t* const cost = is_plain_call(record) ? cost_of(record) : nullptr;
  if (known_ && cost)
    now_ += compute_of(record) + Time::ps(*cost * record.count);
  else
    known_ = false;
  // Other ranks may go on because of it.
  if (!is_plain_call(record)) vain_.fill({});
}

void OwnClock::answered(const Record& record, Time clock) {
  now_ = clock;
  known_ = true;
  if (!is_plain_call(record) && (!is_look(record) || record.patience != 0)) vain_.fill({});
}

void OwnClock::learn(std::uint64_t look, Time until) {
  auto at = std::ranges::find(vain_, look, &Vain::look);
  if (at == vain_.end()) at = vain_.begin() + static_cast<std::ptrdiff_t>(next_++ % vain_.size());
  *at = {look, until};
}

bool OwnClock::is_in_vain(const Record& record, std::uint64_t look) {
  const std::int64_t* const cost = cost_of(record);
  if (!known_ || !cost || record.patience != 0) return false;
  const auto at = std::ranges::find(vain_, look, &Vain::look);
  const Time enter = now_ + compute_of(record);
  if (at == vain_.end() || enter >= at->until) return false;
  now_ = enter + std::max(Time::ps(*cost), sim::kLeastPoll);
  return true;
}

}  // namespace foretrace::live
