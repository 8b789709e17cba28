// The machine's [topology] from what was measured between its hosts: all of them on one switch,
// which is what can be told from ranks that stand in no known order of switches.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "machine/machine_model.hpp"
#include "measure/core/hosts.hpp"

namespace foretrace::measure {

// What text_of(Hosts) writes. Throws Error for anything else.
Hosts parse_hosts(std::string_view text);

// A crossbar of the hosts, with the ranks that the fullest of them has. Of each of a message's two
// links:
//   latency    L / 2, with the L that `--network loggps` takes (machine::loggps_times); less what
//              the header takes, where none passes at once
//   bandwidth  1 / G of the longest messages, or what every host's ranks send at the same time
//              where that is more: in exchange_ring of d bytes, the model's largest, a host's k
//              ranks send 2 k d in T
//   burst      what every message from 4 KiB on is earlier than its bytes / bandwidth, in bytes,
//   and
//              the header: by the equation of pingpong, where sizes agree within 20 %; else none
// The second is a lower bound of what the host's interface can do. Nothing on one host, or where
// G is not known. `header`: what a message adds to its bytes (header_of); 0: not known.
std::optional<machine::ModelTopology> measured_star(const Hosts& hosts,
                                                    const machine::MachineModel& model,
                                                    std::uint64_t header = 0);
// What header_of found, of the samples' facts. Throws Error for anything else.
std::uint64_t parse_header(std::string_view text);

}  // namespace foretrace::measure
