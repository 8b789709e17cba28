// A SimGrid platform with SMPI's parameters, as its calibration writes them.
//
// os, ois, or: what MPI_Send, MPI_Isend, MPI_Recv cost, by size; the message itself takes latency x
// lat-factor + bytes / (bandwidth x bw-factor). A single factor has no meaning of its own, sums
// have: send = os, isend1 = ois, recvmin = or, recv = os + transfer + or; wtime is itself. From the
// detached threshold on a message waits for its receiver, and send is all of it. No fit, no errors:
// the file has none.
#pragma once

#include <optional>

#include "imported/input.hpp"
#include "imported/model.hpp"

namespace foretrace::imported {

// Of the whole way of a message between two hosts.
struct LinkOfPlatform {
  double latency = 0;    // seconds
  double bandwidth = 0;  // bytes per second
};

// `link`: what the factors belong to, instead of what the file's <cluster> says. Throws Error
// "FILE:LINE: ...".
ImportedModel read_smpi_platform(const InputFile& file, const Provenance& provenance,
                                 const std::optional<LinkOfPlatform>& link = {});

}  // namespace foretrace::imported
