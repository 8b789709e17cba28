// Ends a launch that does not go on any more, and says where each rank stands.
//
// A launch may stop for ever where an MPI library loses a message, or a host is gone. Then every
// rank writes what it is at to standard error, leaves the file by which the campaign knows that the
// launch is to be made again (kStandstillMark), and ends.
#pragma once

#include <string>

namespace foretrace::measure {

// From now on at_work() has to be called at least every 300 s. For tests
// FORETRACE_MEASURE_STANDSTILL is another number of seconds; throws UsageError if it is none from 1
// to 86400. Uses SIGALRM. `output`: the program's.
void watch_for_standstill(int rank, const std::string& output);

// What this rank is at, as a noun phrase ("send, 4096 bytes, 2 ranks").
void begin_work(const std::string& what);
// It goes on with it.
void at_work();

}  // namespace foretrace::measure
