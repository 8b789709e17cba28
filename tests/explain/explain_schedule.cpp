// Checks what-ifs on schedules for random_what_ifs.py.
//
// Standard input: one JSON object {"machine", "schedule"} per line, as for
// replay_schedule. Every what-if of the graph is compared with a simulation of the
// edited operations. Standard output: one line per schedule, {"time", "fixed",
// "waits": [[rank, call, run time without it]...]} in picoseconds, or "deadlock". Where ranks
// are taken up in the order of time also "edited": [{"calls": [[rank, call]...], "time"}...],
// simulated with calls that do not wait. Where the graph is fixed also "added": [{"latency",
// "overhead_send", "overhead_recv", "per_byte", "time"}...] in picoseconds, simulated with that
// added to the equations. Where it is known which messages meet also "rewrites": [{"rewrite",
// "places": [functions], "time"}...], simulated with other calls.
#include <cmath>
#include <iostream>
#include <random>
#include <set>
#include <string>

#include "explain/balance.hpp"
#include "explain/critical_path.hpp"
#include "explain/edits.hpp"
#include "explain/lanes.hpp"
#include "explain/merge_messages.hpp"
#include "explain/posting.hpp"
#include "explain/rewrites.hpp"
#include "explain/times_without.hpp"
#include "explain/what_if.hpp"
#include "machine/timing.hpp"
#include "sim/engine.hpp"
#include "sim/schedule.hpp"

namespace {

using namespace foretrace;
using nlohmann::json;

class Case {
 public:
  explicit Case(const json& input)
      : model_(sim::parse_machine(input.at("machine"))),
        timing_(model_, machine::Bound::avg),
        schedule_(input.at("schedule")) {
    if (schedule_.contains("network")) network_ = sim::parse_network(schedule_["network"], model_);
  }

  json check() {
    sim::ScheduleSource source = sim::parse_schedule(schedule_);
    explain::RunSink sink(source, run_);
    sim::SimulateOptions first = options();
    first.compute = sim::ComputeMode::annotated;
    first.dependences = &run_.graph;
    try {
      const Time time = sim::simulate(source, timing_, first, sink).time;
      sink.finish();
      if (time != run_.time) fail("the run's time is not that of its end");
    } catch (const sim::Deadlock&) {
      return "deadlock";
    }
    if (simulated({}) != run_.time) fail("a run that is not edited takes another time");
    check_path();
    check_longest_ways();
    json result{{"time", run_.time.count_ps()}, {"fixed", run_.graph.fixed()}};
    if (explain::time_with(run_, {}) != run_.time) fail("the graph gives another time");
    check_lanes();
    result["waits"] = run_.graph.fixed() ? check_single_waits() : json::array();
    if (run_.graph.fixed()) {
      for (int i = 0; i < 4; ++i) check_random_edits();
      check_slack();
      if (network_.options.kind == sim::NetworkKind::datasheet)
        for (int i = 0; i < 3; ++i) result["added"].push_back(simulate_added());
    }
    if (in_order_of_time(source)) result["edited"] = simulate_waitless();
    if (!source.races()) result["rewrites"] = simulate_rewrites();
    return result;
  }

 private:
  bool in_order_of_time(const sim::Source& source) const {
    const sim::NetworkKind kind = network_.options.kind;
    return source.races() ||
           (kind != sim::NetworkKind::datasheet && kind != sim::NetworkKind::hops);
  }

  // Some calls alone, then some at once.
  json simulate_waitless() {
    json all = json::array();
    for (int i = 0; i < 4; ++i) {
      explain::Edits edits;
      explain::take_waits_away(
          run_, [](const explain::Call&) { return false; }, edits);
      json calls = json::array();
      for (std::size_t n = 0; n < (i < 3 ? 1 : 10); ++n) {
        const std::size_t rank = random_() % run_.calls.size();
        const std::size_t call = random_() % run_.calls[rank].size();
        const trace::EventKind kind = run_.calls[rank][call].kind;
        if (kind == trace::EventKind::init || kind == trace::EventKind::finalize) continue;
        edits.waitless[rank][call] = true;
        calls.push_back({rank, call});
      }
      json time;
      try {
        time = simulated(edits).count_ps();
      } catch (const sim::Deadlock&) {
        // Wildcards may take other messages than without the edits.
        time = "deadlock";
      }
      all.push_back({{"calls", calls}, {"time", time}});
    }
    return all;
  }

  json simulate_added() {
    const auto some = [this](unsigned most) { return static_cast<std::int64_t>(random_() % most); };
    machine::Added added;
    added.latency = Time::ps(some(3) * some(20'000'000));
    added.overhead_send = Time::ps(some(2) * some(5'000'000));
    added.overhead_recv = Time::ps(some(2) * some(5'000'000));
    const std::int64_t per_byte = some(2) * some(100'000);
    added.per_byte = static_cast<double>(per_byte) * 1e-12;
    const machine::Timing more(model_, machine::Bound::avg, added);
    return {{"latency", added.latency.count_ps()},
            {"overhead_send", added.overhead_send.count_ps()},
            {"overhead_recv", added.overhead_recv.count_ps()},
            {"per_byte", per_byte},
            {"time", simulated({}, more).count_ps()}};
  }

  json simulate_rewrites() {
    const std::set<std::string> all{"send", "isend", "recv", "sendrecv"};
    json results = json::array();
    results.push_back(rewritten("barriers", {}));
    results.push_back(rewritten("merge", {"isend"}));
    results.push_back(rewritten("merge", all));
    results.push_back(rewritten("post", {"recv"}));
    results.push_back(rewritten("post", {"send"}));
    results.push_back(rewritten("post", all));
    return results;
  }

  json rewritten(const std::string& how, const std::set<std::string>& functions) {
    explain::LoadedRun loaded(
        std::make_unique<sim::ScheduleSource>(sim::parse_schedule(schedule_)));
    const explain::Edits none;
    const explain::Open open = [&]() -> std::unique_ptr<sim::Source> {
      return std::make_unique<explain::EditedSource>(loaded.open(), run_, none);
    };
    const explain::PlaceSet places = [&](const explain::Place& place) {
      return functions.contains(place.function);
    };
    const explain::Rewrites rewrites = how == "barriers" ? explain::without_barriers(*open())
                                       : how == "merge"
                                           ? explain::with_merged_messages(loaded, open, places)
                                           : explain::with_posted_messages(loaded, open, places);
    json result{{"rewrite", how}, {"places", functions}, {"changed", rewrites.changed()}};
    explain::RewrittenSource source(open(), rewrites);
    sim::NullSink sink;
    try {
      result["time"] = sim::simulate(source, timing_, options(), sink).time.count_ps();
    } catch (const sim::Deadlock&) {
      result["time"] = "deadlock";
    }
    return result;
  }

  [[noreturn]] static void fail(const std::string& what) { throw Error(what); }

  sim::SimulateOptions options() const {
    sim::SimulateOptions options;
    options.network = network_.options;
    if (schedule_.contains("nodes"))
      for (const json& node : schedule_["nodes"]) options.network.placement.emplace_back(node);
    if (network_.topology) options.network.topology = &*network_.topology;
    return options;
  }

  Time simulated(const explain::Edits& edits) { return simulated(edits, timing_); }
  Time simulated(const explain::Edits& edits, const machine::Timing& timing) {
    explain::EditedSource source(
        std::make_unique<sim::ScheduleSource>(sim::parse_schedule(schedule_)), run_, edits);
    sim::NullSink sink;
    return sim::simulate(source, timing, options(), sink).time;
  }
  void compare(const explain::Edits& edits, const char* what) {
    const Time graph = explain::time_with(run_, edits);
    const Time fresh = simulated(edits);
    if (graph != fresh)
      fail(std::string(what) + ": the graph says " + std::to_string(graph.count_ps()) +
           " ps, a simulation " + std::to_string(fresh.count_ps()));
  }

  void check_path() {
    Time length;
    for (const explain::Step& step : explain::critical_path(run_)) length += step.parts.sum();
    if (length != run_.time) fail("the critical path is not as long as the run");
  }

  // Without regard to any order: every link is tried until no way to a moment grows.
  void check_longest_ways() {
    std::vector<Time> longest(run_.graph.size());
    for (sim::MomentId id = 0; id < run_.graph.size(); ++id)
      longest[id] = run_.graph.links(id).empty() ? run_.graph[id].at : Time::ps(INT64_MIN / 2);
    for (bool grew = true; grew;) {
      grew = false;
      for (sim::MomentId id = 0; id < run_.graph.size(); ++id)
        for (const sim::Link& link : run_.graph.links(id)) {
          const Time way = longest[link.from] + link.takes;
          if (way <= longest[id]) continue;
          longest[id] = way;
          grew = true;
        }
    }
    for (sim::MomentId id = 0; id < run_.graph.size(); ++id)
      if (longest[id] != run_.graph[id].at) fail("a moment is not at the end of its longest way");
  }

  json check_single_waits() {
    const explain::TimesWithout times(run_);
    json all = json::array();
    for (sim::MomentId id = 0; id < run_.graph.size(); ++id) {
      const sim::Moment& moment = run_.graph[id];
      if (moment.kind != sim::MomentKind::leave || moment.wait() == Time()) continue;
      explain::Edits edits;
      explain::take_waits_away(
          run_, [](const explain::Call&) { return false; }, edits);
      edits.waitless[static_cast<std::size_t>(moment.rank.value)][moment.operation] = true;
      if (simulated(edits) != times[id]) fail("without one wait the run takes another time");
      all.push_back({moment.rank.value, moment.operation, times[id].count_ps()});
    }
    return all;
  }

  // Several what-ifs at once are what each is alone.
  void check_lanes() {
    const auto some = [](const explain::Call& call) { return call.place % 2 == 0; };
    const std::vector<Time> faster = explain::times_faster(run_, some, explain::kSpeedUps);
    for (std::size_t i = 0; i < faster.size(); ++i) {
      const double factor = explain::kSpeedUps[i];
      explain::Edits edits;
      explain::speed_up(run_, some, factor == 0 ? HUGE_VAL : factor, edits);
      if (explain::time_with(run_, edits) != faster[i])
        fail("a lane differs from what it stands for");
      if (run_.graph.fixed() && i % 3 == 0 && simulated(edits) != faster[i])
        fail("a point of a curve differs from its simulation");
    }
    explain::Edits edits;
    explain::take_waits_away(run_, some, edits);
    explain::equalise(run_, some, edits);
    const double shares[] = {0, 1};
    const Time longest = explain::longest_wait(run_, edits);
    const std::vector<Time> shared = explain::times_with_shares(run_, edits, longest, shares);
    if (shared[0] != run_.time) fail("no share of edits changes the run");
    if (run_.graph.fixed() && shared[1] < explain::time_with(run_, edits))
      fail("all shares of edits bring more than the edits");
  }

  void check_random_edits() {
    explain::Edits edits;
    const auto some = [this](const explain::Call&) { return random_() % 3 == 0; };
    if (random_() % 2 == 0) explain::take_waits_away(run_, some, edits);
    const std::uint64_t salt = random_();
    const auto fixed = [salt](const explain::Call& call) { return (call.place + salt) % 2 == 0; };
    if (random_() % 2 == 0) explain::equalise(run_, fixed, edits);
    if (random_() % 2 == 0) explain::speed_up(run_, fixed, 1.7, edits);
    compare(edits, "edited at random");
  }

  // A call may begin as much later as its slack, and not a picosecond more.
  void check_slack() {
    std::vector<Time> tails(run_.graph.size());
    explain::each_tail(run_, [&](sim::MomentId id, Time tail) { tails[id] = tail; });
    for (int i = 0; i < 4; ++i) {
      const std::size_t rank = random_() % run_.calls.size();
      const std::size_t call = random_() % run_.calls[rank].size();
      const sim::MomentId enter = run_.calls[rank][call].enter;
      if (tails[enter] < Time() || run_.calls[rank][call].kind == trace::EventKind::init) continue;
      explain::Edits edits;
      explain::speed_up(
          run_, [](const explain::Call&) { return false; }, 1, edits);
      edits.compute[rank][call] += explain::slack(run_, enter, tails[enter]);
      if (simulated(edits) != run_.time) fail("a call's slack makes the run longer");
      edits.compute[rank][call] += Time::ps(1);
      if (simulated(edits) != run_.time + Time::ps(1)) fail("a call has more than its slack");
    }
  }

  machine::MachineModel model_;
  machine::Timing timing_;
  json schedule_;
  sim::ParsedNetwork network_;
  explain::Run run_;
  std::mt19937 random_{1};
};

}  // namespace

int main() {
  std::string line;
  try {
    while (std::getline(std::cin, line))
      std::cout << Case(json::parse(line)).check().dump() << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
