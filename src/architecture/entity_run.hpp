// EntityRun: the sources, queues, disks, sinks and plug-ins of an architecture, on the kernel.
//
// Each entity is a behaviour of foretrace_entity.hpp; what is asked for afterwards are its counts,
// times and queue lengths. Switches and processors run elsewhere (flit_network.hpp).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "architecture/elaborate.hpp"
#include "architecture/recording.hpp"
#include "foretrace_entity.hpp"

namespace foretrace::architecture {

struct EntityReport {
  std::string path;
  std::string behaviour;
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
  double in_system = 0;  // packets, mean over time: waiting and in service
  std::int64_t most_in_system = 0;
  double utilisation = 0;
  double stay =
      0;  // seconds in the entity, mean over those that left; sink: since they were created
  // Little's law: packets times picoseconds from both sides; equal on every queue.
  __int128 packet_time = 0;  // the number in the entity, over time
  __int128 stay_time = 0;    // of all packets: those that left, and those still in it
};

struct EntityRunResult {
  std::vector<EntityReport> entities;
  entity::Ps end = 0;
  std::uint64_t events = 0;
  std::string failure;  // of a plug-in: the run ended there, with what was until then
};

// A time for each packet that a sink takes, in the order of coming: since it was created.
struct SinkTimes {
  std::string path;
  std::vector<entity::Ps> times;
};

// Until `until` picoseconds, or nothing more happens. The run ends with a failure that names the
// entity where one throws, where events follow each other without end at one time, or where a
// handler needs more than `patience` seconds of processor time (0: it may; then what runs does so
// in this thread). Throws Error for entities of other kinds and plug-ins that cannot be loaded.
EntityRunResult run_entities(const FlatArchitecture& architecture, entity::Ps until,
                             std::vector<SinkTimes>* sinks = nullptr, double patience = 0,
                             Recording* recording = nullptr);

}  // namespace foretrace::architecture
