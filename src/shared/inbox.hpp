// The inbox of a rank: every point-to-point message goes from its sender straight to
// its receiver; the simulator knows it by its sender and number, and never sees its
// bytes. The receiver sleeps until messages are there without asking the simulator,
// where which ones it gets follows from the program alone (mpi/core/mailbox.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "shared/horizon.hpp"
#include "shared/shared_memory.hpp"

namespace foretrace::live::inbox {

// Leaves a message with the rank `to`, and lets that go on if it was the last one that
// it slept for. False if there is no memory left.
bool deliver(int to, const Envelope& message);
// Moves all messages of the calling rank to the end of `messages`.
void take_out(int rank, std::vector<Envelope>& messages);
// Whether there may be some: a look without the lock.
bool has_messages(int rank);
// The calling rank gives up its core until `wanted` (at least 1) more messages are
// there; with `further` (at least 1) after them it has enough to go on twice. Returns at
// once if one has come since the last take_out().
void sleep_until(int rank, std::uint32_t wanted, std::uint32_t further);

// The same in a look, until the simulator has answered the posting of that number, or `wish` is
// granted (horizon.hpp), if that is first; `wanted` may be 0. When the look ended, if it did since
// all ranks did nothing but look.
std::optional<Time> sleep_until_answered(int rank, std::uint32_t posting, std::uint32_t wanted,
                                         const horizon::Wish& wish);

}  // namespace foretrace::live::inbox
