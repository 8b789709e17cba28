// What messages cost, by their size, as far as the simulator has met such: with it ranks
// follow their own clocks past them (own_clock.hpp). Only where a message's times follow
// from the data sheet and from its size alone.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace foretrace::live {

// What machine::Timing tells of eager messages.
enum class MessageCost : std::uint8_t {
  post_send,      // an Isend
  sent,           // from the Isend to the end of the transfer for its sender
  complete_send,  // the least that the call takes that completes it
  post_receive,   // an Irecv; of the size of the buffer
  received,       // from when the message was sent to the end of its transfer
  complete_receive,
  send,     // a blocking one of the standard mode
  receive,  // a blocking one, from when the message was sent
  receive_at_least,
  gap,            // until the next message can leave; of rendezvous, too
  sending_takes,  // of the rank's time
  receiving_takes,
  kCount
};

namespace message_costs {

// Under which size the costs of a message stand: those of untouched data apart from others.
constexpr std::uint64_t sized(std::uint64_t bytes, bool untouched) {
  return untouched ? bytes | std::uint64_t{1} << 63 : bytes;
}

// The simulator's: makes the table, which is empty.
void begin();
bool is_known(Bytes size, MessageCost what);
void publish(Bytes size, MessageCost what, Time cost);
// A rank's; nothing if it is not known.
std::optional<Time> find(Bytes size, MessageCost what);

}  // namespace message_costs
}  // namespace foretrace::live
