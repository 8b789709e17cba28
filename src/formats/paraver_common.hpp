// What the writer and the reader of Paraver traces agree on: the types and values of MPI's
// events, as Extrae writes them (mpi_prv_events.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/ids.hpp"
#include "machine/timing.hpp"

namespace foretrace::formats {

constexpr std::int64_t kPointToPoint = 50000001;
constexpr std::int64_t kCollective = 50000002;
constexpr std::int64_t kOtherCall = 50000003;
constexpr std::int64_t kOneSided = 50000004;
constexpr std::int64_t kFileCall = 50000005;
constexpr std::int64_t kSentBytes = 50100001;
constexpr std::int64_t kReceivedBytes = 50100002;
constexpr std::int64_t kIsRoot = 50100003;
constexpr std::int64_t kCommunicator = 50100004;
constexpr std::int64_t kUserFunction = 60000019;
// Ours: how many calls in a row a call stands for; 0: it goes on with the one before.
constexpr std::int64_t kCallsInRow = kUserFunction + 2;

constexpr bool is_call_type(std::int64_t type) {
  return type >= kPointToPoint && type <= kFileCall;
}

// Extrae's number of a call; 0: it has none.
int value_of_call(std::string_view name);
// Empty: nothing has that number.
std::string_view call_of_value(std::int64_t value);

// What our models call the collective of that name ("MPI_Bcast").
std::optional<machine::Cost> collective_called(std::string_view name);

}  // namespace foretrace::formats
