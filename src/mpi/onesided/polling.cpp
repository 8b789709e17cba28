#include "mpi/onesided/polling.hpp"

#include <algorithm>
#include <functional>

#include "mpi/core/line.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/core/simulator.hpp"
#include "shared/shared_memory.hpp"

namespace foretrace::mpi {
namespace {

constexpr unsigned kMany = 64;  // looks in vain before time passes
constexpr unsigned kRarely = 16;
constexpr std::int64_t kLeast = 100'000;       // 100 ns, in picoseconds
constexpr std::int64_t kLongest = 10'000'000;  // 10 us

std::int64_t clock_now() {
  return SharedMemory::slot(line.rank()).answer.clock;
}

}  // namespace

Polling polling;

void Polling::look(const Place& place, std::string_view data) {
  const std::size_t hash = std::hash<std::string_view>()(data);
  const std::int64_t now = clock_now();
  const bool time_passed = now != clock_;
  clock_ = now;
  const auto known = std::ranges::find(seen_, place, &Seen::place);
  Seen& seen = known != seen_.end() ? *known : seen_[next_++ % seen_.size()];
  const bool same = known != seen_.end() && seen.hash == hash && !time_passed;
  seen = {place, hash};
  in_vain_ = same ? in_vain_ + 1 : 0;
  line.forget_polls(false);
}

void Polling::write() {
  in_vain_ = 0;
  line.forget_polls(false);
}

void Polling::pass_turn(Win& win) {
  if (in_vain_ < kMany) {
    patience_ = kLeast;
    if (++turns_ % kRarely == 0) virtual_seconds();
    return;
  }
  // A look for a message that never comes, with patience: time passes.
  Record record = line.record(trace::EventKind::call);
  record.comm = win.comm->context | kHidden;
  record.probing = static_cast<std::uint8_t>(sim::Probing::look);
  record.recv_peer = win.comm->world(win.comm->rank);
  record.recv_tag = kNever;
  record.patience = patience_;
  patience_ = std::min(patience_ + patience_ / 8, kLongest);
  clock_ = line.ask(record).clock;
}

}  // namespace foretrace::mpi
