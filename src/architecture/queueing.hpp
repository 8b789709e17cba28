// The built-in behaviours of queueing networks: source, queue (first come first served, or shared),
// disk, sink.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "foretrace_entity.hpp"

namespace foretrace::architecture {

// What all of them tell.
class Station {
 public:
  virtual ~Station() = default;
  entity::TimeAverage in_system;
  entity::TimeAverage busy;  // 1 while it serves
  entity::Histogram stays;
  // Picoseconds that packets were in it until `now`, those that are still there included.
  virtual __int128 stay_time(entity::Ps now) const = 0;
};

class SinkBehaviour;

// By name ("source", "queue", "disk", "sink"); nullptr: another. `path`: of the entity. `station`
// is set where it has one.
std::unique_ptr<entity::Behaviour> make_station(std::string_view behaviour,
                                                const entity::Parameters& parameters,
                                                std::string_view path, Station*& station);
// Of a sink: the times since packets were created.
const std::vector<entity::Ps>* times_of(const entity::Behaviour& behaviour);

}  // namespace foretrace::architecture
