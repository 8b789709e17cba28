// Replays schedules for random_schedules.py and random_networks.py.
//
// Standard input: one JSON object {"machine", "schedule"} per line (formats:
// reference.py, reference_networks.py; with "collectives" they are messages, as
// --collectives says). Standard output: one line per schedule,
// for each rank [finish, [leave, wait] of each call...] in picoseconds, or
// "deadlock". Each schedule runs under all orders of ready ranks and with the
// smallest run-ahead; all must give the same.
#include <iostream>
#include <optional>
#include <string>

#include "machine/path.hpp"
#include "machine/timing.hpp"
#include "schedule.hpp"
#include "sim/engine.hpp"

namespace {

using namespace foretrace;
using nlohmann::json;

class TimesSink : public sim::Sink {
 public:
  explicit TimesSink(int ranks) : times_(static_cast<std::size_t>(ranks), json::array({0})) {}

  void finished(WorldRank rank, const sim::Operation& operation,
                const sim::Interval& interval) override {
    json& times = times_[static_cast<std::size_t>(rank.value)];
    if (operation.kind == trace::EventKind::finalize)
      times[0] = interval.enter.count_ps();
    else if (operation.kind != trace::EventKind::init)
      times.push_back({interval.leave.count_ps(), interval.wait.count_ps()});
  }
  json take() { return times_; }

 private:
  std::vector<json> times_;
};

json replay(const json& input, sim::SimulateOptions options) {
  const machine::MachineModel model = sim::parse_machine(input.at("machine"));
  const machine::Timing timing(model, machine::Bound::avg);
  const json& schedule = input.at("schedule");
  sim::ScheduleSource source = sim::parse_schedule(schedule);
  sim::ParsedNetwork network;
  if (schedule.contains("network")) network = sim::parse_network(schedule["network"], model);
  std::optional<sim::AlgorithmTable> algorithms;
  if (schedule.contains("collectives")) {
    algorithms.emplace(schedule["collectives"].get<std::string>());
    options.algorithms = &*algorithms;
  }
  options.network = network.options;
  if (network.topology) options.network.topology = &*network.topology;
  if (schedule.contains("nodes"))
    for (const json& node : schedule["nodes"]) options.network.placement.emplace_back(node);
  options.compute = sim::ComputeMode::annotated;
  if (machine::attended_from(model)) options.progress = sim::Progress::calls;
  TimesSink sink(source.ranks());
  try {
    sim::simulate(source, timing, options, sink);
  } catch (const sim::Deadlock&) {
    return "deadlock";
  }
  return sink.take();
}

}  // namespace

int main() {
  std::string line;
  try {
    while (std::getline(std::cin, line)) {
      const json input = json::parse(line);
      const json times = replay(input, {});
      sim::SimulateOptions other;
      for (const auto order : {sim::ReadyOrder::lowest_rank_first, sim::ReadyOrder::by_time}) {
        other.order = order;
        if (replay(input, other) != times) throw Error("the order of ready ranks has an effect");
      }
      other.order = sim::ReadyOrder::last_in_first_out;
      other.run_ahead = 0;
      if (replay(input, other) != times) throw Error("running ahead has an effect");
      std::cout << times.dump() << '\n';
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
