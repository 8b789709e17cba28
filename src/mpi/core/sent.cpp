#include "mpi/core/sent.hpp"

#include "base/sent_data.hpp"
#include "mpi/core/line.hpp"
#include "mpi/core/rank.hpp"
#include "shared/rewriting.hpp"
#include "shared/shared_memory.hpp"

namespace foretrace::mpi {
namespace {

SentData sent_data;
SentData read_data;  // by others of the node, whoever they are

bool asks() {
  return live::SharedMemory::header().asks_of_data.load(std::memory_order_relaxed);
}

}  // namespace

bool note_sent(const void* data, MPI_Count count, const Datatype& type, std::uint64_t to) {
  return type.dense && asks() && sent_data.send(data, packed_bytes(count, type), to);
}

bool asks_of_reading() {
  return live::rewriting::is_known();
}

void note_read(const void* data, MPI_Count count, const Datatype& type, machine::Cost call) {
  constexpr std::uint64_t kSomebody = 0;
  if (!type.dense) return;
  read_data.send(data, packed_bytes(count, type), kSomebody);
  if (const Bytes again(read_data.rewritten()); again.count > 0)
    line.compute_in_call(live::rewriting::takes(call, again));
}

bool note_message(const void* data, MPI_Count count, const Datatype& type, int to,
                  machine::SendMode mode) {
  const bool untouched = note_sent(data, count, type, static_cast<std::uint64_t>(to));
  if (asks_of_reading() && mode != machine::SendMode::buffered && to != world_rank() &&
      node_of(to) == node_of(world_rank()))
    note_read(data, count, type, machine::Cost::send);
  return untouched;
}

void note_room(const void* data, MPI_Count count, const Datatype& type) {
  if (!type.dense) return;
  for (SentData* known : {&sent_data, &read_data})
    if (!known->is_empty()) known->receive(data, packed_bytes(count, type));
}

}  // namespace foretrace::mpi
