#include "mpi/core/sent.hpp"

#include "base/sent_data.hpp"
#include "mpi/core/line.hpp"
#include "mpi/core/rank.hpp"
#include "shared/rewriting.hpp"
#include "shared/shared_memory.hpp"

namespace foretrace::mpi {

namespace {

SentData sent_data;
std::uint64_t written_again = 0;  // rewritten()

bool asks() {
  return live::SharedMemory::header().asks_of_data.load(std::memory_order_relaxed);
}

}  // namespace

bool note_sent(const void* data, MPI_Count count, const Datatype& type, std::uint64_t to) {
  written_again = 0;
  if (!type.dense || !asks()) return false;
  const bool untouched = sent_data.send(data, packed_bytes(count, type), to);
  if (rewriting::is_known()) written_again = sent_data.rewritten();
  return untouched;
}

bool note_message(const void* data, MPI_Count count, const Datatype& type, int to) {
  const bool untouched = note_sent(data, count, type, static_cast<std::uint64_t>(to));
  if (rewritten() > 0 && to != world_rank() && node_of(to) == node_of(world_rank()))
    count_rewriting(machine::Cost::send);
  return untouched;
}

std::uint64_t rewritten() {
  return written_again;
}

void count_rewriting(machine::Cost call) {
  sent_data.count_rewritten();
  line.compute_in_call(rewriting::takes(call, Bytes(written_again)));
}

void note_room(const void* data, MPI_Count count, const Datatype& type) {
  if (type.dense && !sent_data.is_empty()) sent_data.receive(data, packed_bytes(count, type));
}

}  // namespace foretrace::mpi
