#include "architecture/entity_run.hpp"

#include <cmath>

#include "architecture/plugin.hpp"
#include "architecture/queueing.hpp"
#include "base/error.hpp"

namespace foretrace::architecture {
namespace {

class Run {
 public:
  Run(const FlatArchitecture& architecture) : architecture_(architecture) {
    for (const FlatEntity& entity : architecture.entities) {
      Station* station = nullptr;
      std::unique_ptr<entity::Behaviour> made =
          entity.behaviour ? make_station(entity.behaviour_name(), *entity.parameters, station)
                           : make_from_plugin(*entity.kind, *entity.parameters);
      if (!made)
        throw Error(
            entity.where.text() + ": '" + entity.path + "' is a " +
            std::string(entity.behaviour_name()) +
            "; run is for sources, queues, disks, sinks and plug-ins; for messages there are "
            "foretrace traffic and foretrace simulate --network arch:FILE");
      kernel_.add(*made, entity.path);
      made_.push_back(std::move(made));
      stations_.push_back(station);
    }
    for (const FlatLink& link : architecture.links) {
      connect(link, link.from, link.to);
      if (!link.one_way) connect(link, link.to, link.from);
    }
  }

  EntityRunResult go(entity::Ps until, std::vector<SinkTimes>* sinks) {
    EntityRunResult result;
    std::size_t at = 0;
    try {
      kernel_.start();
      kernel_.run(until);
    } catch (const std::exception& error) {
      result.failure = error.what();
    }
    result.end = kernel_.now();
    result.events = kernel_.events();
    for (const auto& behaviour : made_) {
      report(at, *behaviour, result);
      if (const auto* times = times_of(*behaviour); times && sinks)
        sinks->push_back({architecture_.entities[at].path, *times});
      ++at;
    }
    return result;
  }

 private:
  void connect(const FlatLink& link, const FlatEnd& from, const FlatEnd& to) {
    entity::OutPort out;
    out.entity = static_cast<std::uint32_t>(to.entity);
    out.port = number_of(to);
    if (link.speed.latency) out.latency = link.speed.latency->count_ps();
    if (link.speed.bytes_per_second) out.ps_per_byte = 1e12 / *link.speed.bytes_per_second;
    made_[static_cast<std::size_t>(from.entity)]->connect(number_of(from), out);
  }

  // Ports in the order of the kind's list; those that take several links are one for receiving.
  static std::uint32_t number_of(const FlatEnd& end) {
    return static_cast<std::uint32_t>(end.port);
  }

  void report(std::size_t number, const entity::Behaviour& behaviour, EntityRunResult& result) {
    const FlatEntity& entity = architecture_.entities[number];
    EntityReport one;
    one.path = entity.path;
    one.behaviour = entity.behaviour_name();
    one.received = behaviour.received();
    one.sent = behaviour.sent();
    if (const Station* station = stations_[number]) {
      one.received =
          station->stays.count() + static_cast<std::uint64_t>(station->in_system.value());
      one.in_system = station->in_system.average(result.end);
      one.most_in_system = station->in_system.most();
      one.utilisation = station->busy.average(result.end);
      one.stay = station->stays.mean() * 1e-12;
      one.packet_time = station->in_system.integral(result.end);
      one.stay_time = station->stay_time(result.end);
    } else if (const auto* times = times_of(behaviour)) {
      one.received = times->size();
      double sum = 0;
      for (const entity::Ps time : *times) sum += static_cast<double>(time);
      one.stay = times->empty() ? 0 : sum / static_cast<double>(times->size()) * 1e-12;
    } else {
      one.in_system = behaviour.queued().average(result.end);
      one.most_in_system = behaviour.queued().most();
    }
    result.entities.push_back(std::move(one));
  }

  const FlatArchitecture& architecture_;
  entity::Kernel kernel_;
  std::vector<std::unique_ptr<entity::Behaviour>> made_;
  std::vector<Station*> stations_;
};

}  // namespace

EntityRunResult run_entities(const FlatArchitecture& architecture, entity::Ps until,
                             std::vector<SinkTimes>* sinks) {
  Run run(architecture);
  return run.go(until, sinks);
}

}  // namespace foretrace::architecture
