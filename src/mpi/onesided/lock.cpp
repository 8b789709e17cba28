#include "mpi/onesided/lock.hpp"

#include "mpi/core/line.hpp"
#include "mpi/core/simulator.hpp"

namespace foretrace::mpi {

void lock(std::uint64_t number, bool shared) {
  Record record = line.record(trace::EventKind::call);
  lock(record, number, shared);
}

void unlock(std::uint64_t number) {
  Record record = line.record(trace::EventKind::call);
  unlock(record, number);
}

void lock(Record& record, std::uint64_t number, bool shared) {
  record.locking =
      static_cast<std::uint8_t>(shared ? sim::Locking::shared : sim::Locking::exclusive);
  record.lock = number;
  line.ask(record);
}

void unlock(Record& record, std::uint64_t number) {
  record.locking = static_cast<std::uint8_t>(sim::Locking::release);
  record.lock = number;
  line.post(record);
}

std::uint64_t new_lock_numbers(std::uint64_t count) {
  return SharedMemory::header().locks.fetch_add(count);
}

}  // namespace foretrace::mpi
