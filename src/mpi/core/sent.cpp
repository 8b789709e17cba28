#include "mpi/core/sent.hpp"

#include "base/sent_data.hpp"
#include "shared/context.hpp"
#include "shared/shared_memory.hpp"

namespace foretrace::mpi {
namespace {

SentData sent_data;

bool asks() {
  return live::SharedMemory::header().asks_of_data.load(std::memory_order_relaxed);
}

}  // namespace

bool note_sent(const void* data, MPI_Count count, const Datatype& type, std::uint64_t to) {
  return type.dense && asks() && sent_data.send(data, packed_bytes(count, type), to);
}

void note_room(const void* data, MPI_Count count, const Datatype& type) {
  if (type.dense && !sent_data.is_empty()) sent_data.receive(data, packed_bytes(count, type));
}

}  // namespace foretrace::mpi
