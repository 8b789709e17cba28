// Mutual exclusion in virtual time: the locks behind windows.
#pragma once

#include <cstdint>

#include "mpi/core/simulator.hpp"
#include "shared/shared_memory.hpp"

namespace foretrace::mpi {

// Waits until this rank has the lock; those that wait get it in the order of
// virtual time. Any number of ranks may hold it shared.
void lock(std::uint64_t number, bool shared);
void unlock(std::uint64_t number);
// The same as part of a call that `record` describes.
void lock(Record& record, std::uint64_t number, bool shared);
void unlock(Record& record, std::uint64_t number);
// Numbers that nobody else has, agreed on by telling the others.
std::uint64_t new_lock_numbers(std::uint64_t count);

}  // namespace foretrace::mpi
