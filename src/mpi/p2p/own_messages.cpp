#include "mpi/p2p/own_messages.hpp"

#include <cstring>
#include <utility>

#include "mpi/core/block.hpp"
#include "mpi/core/line.hpp"
#include "mpi/core/mailbox.hpp"
#include "mpi/core/simulator.hpp"
#include "mpi/core/threads.hpp"
#include "mpi/p2p/completion.hpp"
#include "mpi/p2p/request.hpp"

namespace foretrace::mpi {

using trace::EventKind;

void send_bytes(Comm& comm, int partner, int tag, const void* data, std::uint64_t bytes,
                bool silent) {
  Block block(bytes);
  if (bytes > 0) std::memcpy(block.data(), data, bytes);
  Record record = line.record(EventKind::send);
  record.comm = comm.context | kHidden;
  record.send_peer = comm.world(partner);
  record.send_tag = tag;
  record.silent = silent;
  hand_over(record, std::move(block));
  line.post(record);
  if (is_rendezvous(record)) line.hangs_on_receiver();
}

std::vector<std::byte> receive_bytes(Comm& comm, int partner, int tag, bool silent) {
  if (threads_multiple()) {
    std::vector<std::byte> bytes;
    wait_for(post_receive(comm, partner, tag, true, kAnySize,
                          [&bytes](std::span<const std::byte> message) {
                            bytes.assign(message.begin(), message.end());
                          }));
    return bytes;
  }
  Record record = line.record(EventKind::recv);
  record.comm = comm.context | kHidden;
  record.silent = silent;
  set_source(record, comm, partner, tag);
  const Result message = receive(record);
  const Block block = Block::take(message.payload, message.bytes);
  return {block.data(), block.data() + block.bytes()};
}

}  // namespace foretrace::mpi
