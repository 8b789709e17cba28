// The raw measurements of SimGrid's platform-calibration program, and tables of
// means in the form of Cornebize's thesis.
//
// Raw, without a header: function, size in bytes, start, duration in seconds.
// PingPong.csv has pairs of MPI_Send and MPI_Recv with one start, whose sum is the whole
// round trip; Recv.csv MPI_Recv of a message that should be there; Isend.csv the posting
// alone; Wtime.csv a row of ten million calls. A table of means has the header
// experiment,cluster,msg_size,duration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "imported/input.hpp"
#include "imported/measurements.hpp"

namespace foretrace::imported {

// `cluster`: whose rows of a table of means are taken; empty: there is only one. Throws
// Error "FILE:LINE: ...".
Measurements read_simgrid_csv(const std::vector<InputFile>& files, const std::string& cluster);

// Where messages begin to wait for their receiver: MPI_Isend, which copied until then, from there
// on only says that there is something, and takes at most three quarters of the time. Nothing
// where that is not to be seen.
std::optional<std::uint64_t> find_sync_threshold(const Measurements& measurements);

}  // namespace foretrace::imported
