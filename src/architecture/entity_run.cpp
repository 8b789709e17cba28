#include "architecture/entity_run.hpp"

#include <atomic>
#include <cmath>
#include <set>

#include "architecture/plugin.hpp"
#include "architecture/queueing.hpp"
#include "architecture/watchdog.hpp"
#include "base/error.hpp"

namespace foretrace::architecture {
namespace {

class Run {
 public:
  Run(const FlatArchitecture& architecture, Recording* recording) : architecture_(architecture) {
    kernel_.record(recording);
    for (const FlatEntity& entity : architecture.entities) {
      Station* station = nullptr;
      std::unique_ptr<entity::Behaviour> made =
          entity.behaviour
              ? make_station(entity.behaviour_name(), *entity.parameters, entity.path, station)
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

  void go(entity::Ps until) {
    try {
      kernel_.start();
      entity::Ps instant = -1;
      std::uint64_t first = 0;
      while (kernel_.next() <= until) {
        kernel_.step();
        progress_.store(kernel_.events(), std::memory_order_relaxed);
        if (kernel_.now() != instant) {
          instant = kernel_.now();
          first = kernel_.events();
        } else if (kernel_.events() - first > most_at_once()) {
          failure_ = who_goes_on() + " without letting time pass";
          return;
        }
      }
      kernel_.run(until);
    } catch (const std::exception& error) {
      failure_ = kernel_.current().name() + ": " + error.what();
    }
  }

  // Where go() does not return.
  std::string who_hangs() const { return kernel_.current().name() + " does not return"; }

  EntityRunResult result(std::vector<SinkTimes>* sinks) const {
    EntityRunResult result;
    result.failure = failure_;
    result.end = kernel_.now();
    result.events = kernel_.events();
    std::size_t at = 0;
    for (const auto& behaviour : made_) {
      report(at, *behaviour, result);
      if (const auto* times = times_of(*behaviour); times && sinks)
        sinks->push_back({architecture_.entities[at].path, *times});
      ++at;
    }
    return result;
  }

  const std::atomic<std::uint64_t>& progress() const { return progress_; }

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

  // Of events at one time: far more than a machine of this size makes.
  std::uint64_t most_at_once() const { return 1'000'000 + 100 * made_.size(); }

  // The entities that the next events are for, since they keep each other going.
  std::string who_goes_on() {
    std::set<std::string> names;
    for (int i = 0; i < 1000; ++i) {
      names.insert(kernel_.current().name());
      kernel_.step();
    }
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    return all + (names.size() == 1 ? " goes on and on" : " keep each other going");
  }

  void report(std::size_t number, const entity::Behaviour& behaviour,
              EntityRunResult& result) const {
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
  std::string failure_;
  std::atomic<std::uint64_t> progress_{0};
};

}  // namespace

EntityRunResult run_entities(const FlatArchitecture& architecture, entity::Ps until,
                             std::vector<SinkTimes>* sinks, double patience, Recording* recording) {
  const auto run = std::make_shared<Run>(architecture, recording);
  if (patience <= 0) {
    run->go(until);
    return run->result(sinks);
  }
  const bool done = finishes_in_time([run, until] { run->go(until); }, run->progress(), patience);
  EntityRunResult result = run->result(sinks);
  if (!done) result.failure = run->who_hangs();
  return result;
}

}  // namespace foretrace::architecture
