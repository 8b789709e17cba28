#include "views/explain/json.hpp"

#include "explain/lanes.hpp"
#include "views/draw/json_text.hpp"
#include "views/draw/units.hpp"
#include "views/explain/report.hpp"

namespace foretrace::views {
namespace {

using explain::Explanation;
using nlohmann::ordered_json;

// A place in the source; the function where it is not known.
ordered_json place_of(const explain::Place& place) {
  return place.site.empty() ? place.function : place.site;
}

void put_place(ordered_json& entry, const explain::Place& place) {
  entry["place"] = place_of(place);
  entry["function"] = place.function;
  entry["phase"] = place.phase;
}

ordered_json ranks_of(const std::vector<WorldRank>& ranks) {
  ordered_json list = ordered_json::array();
  for (const WorldRank rank : ranks) list.push_back(rank.value);
  return list;
}

void put_parts(ordered_json& entry, const explain::Parts& parts) {
  entry["compute"] = to_seconds(parts.compute);
  entry["overhead"] = to_seconds(parts.overhead);
  entry["latency"] = to_seconds(parts.latency);
  entry["bytes"] = to_seconds(parts.bytes);
  entry["synchronisation"] = to_seconds(parts.synchronisation);
  entry["files"] = to_seconds(parts.files);
  entry["queue"] = to_seconds(parts.queue);
}

ordered_json path_of(const explain::PathSummary& path) {
  ordered_json entry;
  entry["length"] = to_seconds(path.parts.sum());
  put_parts(entry, path.parts);
  entry["messages"] = path.messages;
  ordered_json states;
  for (const auto& [name, time] : path.by_state) states[name] = to_seconds(time);
  entry["states"] = states;
  const auto shares = [](const std::vector<explain::Share>& list, auto label) {
    ordered_json all = ordered_json::array();
    for (const explain::Share& share : list) {
      ordered_json one;
      label(one, share);
      one["time"] = to_seconds(share.parts.sum());
      put_parts(one, share.parts);
      all.push_back(one);
    }
    return all;
  };
  entry["places"] = shares(
      path.by_place, [](ordered_json& one, const auto& share) { put_place(one, share.place); });
  entry["ranks"] = shares(
      path.by_rank, [](ordered_json& one, const auto& share) { one["rank"] = share.rank.value; });
  entry["phases"] = shares(path.by_phase, [](ordered_json& one, const auto& share) {
    one["phase"] = share.place.phase;
  });
  ordered_json passages = ordered_json::array();
  for (const explain::Passage& passage : path.passages) {
    ordered_json one;
    put_place(one["from"], passage.from);
    put_place(one["to"], passage.to);
    one["count"] = passage.count;
    one["time"] = to_seconds(passage.parts.sum());
    put_parts(one, passage.parts);
    passages.push_back(one);
  }
  entry["passages"] = passages;
  ordered_json near = ordered_json::array();
  for (const auto& one : path.near) near.push_back({{"slack", one.share}, {"calls", one.calls}});
  entry["near"] = near;
  entry["calls"] = path.calls;
  return entry;
}

ordered_json efficiency_of(const explain::Efficiency& efficiency) {
  return {{"parallel", efficiency.parallel},
          {"load_balance", efficiency.load_balance},
          {"communication", efficiency.communication},
          {"serialisation", efficiency.serialisation},
          {"files", efficiency.files},
          {"transfer", efficiency.transfer}};
}

ordered_json phases_of(const std::vector<explain::PhaseEfficiency>& phases) {
  ordered_json list = ordered_json::array();
  for (const explain::PhaseEfficiency& one : phases) {
    ordered_json entry = {{"phase", one.phase},
                          {"ranks", one.ranks},
                          {"time", to_seconds(one.time)},
                          {"ideal_network", to_seconds(one.ideal)},
                          {"compute", to_seconds(one.compute)}};
    entry.update(efficiency_of(one.efficiency));
    list.push_back(entry);
  }
  return list;
}

ordered_json delays_of(const Explanation& explanation) {
  const explain::DelayCosts& delays = explanation.delays;
  ordered_json list = ordered_json::array();
  for (std::size_t i = 0; i < delays.costs.size(); ++i) {
    const explain::DelayCost& cost = delays.costs[i];
    ordered_json entry;
    entry["what"] = std::string(explain::name_of(cost.kind));
    put_place(entry, explanation.delay_places[i]);
    entry["direct"] = cost.direct;
    entry["indirect"] = cost.indirect;
    entry["ranks"] = ranks_of(cost.ranks);
    entry["most"] = cost.most.value;
    list.push_back(entry);
  }
  return {{"waits", delays.waits}, {"unexplained", delays.unexplained}, {"costs", list}};
}

ordered_json bounds_of(const explain::Bounds& bounds) {
  return {{"no_waits", to_seconds(bounds.no_waits)},
          {"balanced", to_seconds(bounds.balanced)},
          {"ideal_network", to_seconds(bounds.ideal_network)},
          {"zero_latency", to_seconds(bounds.zero_latency)},
          {"infinite_bandwidth", to_seconds(bounds.infinite_bandwidth)},
          {"no_files", bounds.no_files ? ordered_json(to_seconds(*bounds.no_files)) : nullptr},
          {"moving_always",
           bounds.moving_always ? ordered_json(to_seconds(*bounds.moving_always)) : nullptr},
          {"balanced_ideal_network", to_seconds(bounds.balanced_ideal)},
          {"compute_half", to_seconds(bounds.half_compute)},
          {"compute_double", to_seconds(bounds.double_compute)}};
}

ordered_json waits_of(const std::vector<explain::WaitGroup>& groups) {
  ordered_json list = ordered_json::array();
  for (const explain::WaitGroup& group : groups) {
    ordered_json entry;
    entry["kind"] = std::string(explain::name_of(group.kind));
    put_place(entry, group.place);
    entry["ranks"] = ranks_of(group.ranks);
    entry["count"] = group.count;
    entry["time"] = to_seconds(group.time);
    entry["longest"] = to_seconds(group.longest);
    entry["late"] = nullptr;
    if (group.late) {
      ordered_json late;
      put_place(late, *group.late);
      late["rank"] = group.late_rank.value;
      late["time"] = to_seconds(group.late_time);
      entry["late"] = late;
    }
    entry["cause"] = nullptr;
    if (group.blamed) {
      ordered_json cause;
      put_place(cause, *group.blamed);
      cause["what"] = std::string(explain::name_of(group.blamed_kind));
      cause["rank"] = group.blamed_rank.value;
      cause["time"] = to_seconds(group.blamed_time);
      entry["cause"] = cause;
    }
    list.push_back(entry);
  }
  return list;
}

ordered_json singles_of(const std::vector<explain::SingleWait>& waits) {
  ordered_json list = ordered_json::array();
  for (const explain::SingleWait& wait : waits) {
    ordered_json entry;
    entry["kind"] = std::string(explain::name_of(wait.kind));
    put_place(entry, wait.place);
    entry["rank"] = wait.rank.value;
    entry["event"] = wait.operation;
    entry["at"] = to_seconds(wait.at);
    entry["wait"] = to_seconds(wait.wait);
    entry["time_without"] = to_seconds(wait.time_without);
    list.push_back(entry);
  }
  return list;
}

ordered_json domino_of(const std::vector<explain::Domino>& path) {
  ordered_json list = ordered_json::array();
  for (const explain::Domino& step : path) {
    ordered_json entry;
    entry["rank"] = step.rank.value;
    put_place(entry, step.place);
    entry["at"] = to_seconds(step.at);
    if (step.waits) {
      entry["wait"] = to_seconds(step.wait);
      entry["time_without"] = to_seconds(step.time_without);
    }
    list.push_back(entry);
  }
  return list;
}

ordered_json regions_of(const std::vector<explain::Region>& regions) {
  ordered_json list = ordered_json::array();
  for (const explain::Region& region : regions) {
    ordered_json entry;
    if (region.phase)
      entry["phase"] = region.place.phase;
    else
      put_place(entry, region.place);
    entry["mean"] = to_seconds(region.mean);
    entry["most"] = to_seconds(region.most);
    entry["slowest"] = region.slowest.value;
    entry["deviation"] = region.deviation;
    entry["above_mean"] = to_seconds(region.above);
    entry["balanced"] = to_seconds(region.balanced);
    entry["twice_as_fast"] = to_seconds(region.twice_as_fast);
    ordered_json curve = ordered_json::array();
    for (std::size_t i = 0; i < region.curve.size(); ++i) {
      const double factor = explain::kSpeedUps[i];
      curve.push_back({{"factor", factor == 0 ? ordered_json() : ordered_json(factor)},
                       {"time", to_seconds(region.curve[i])}});
    }
    if (!region.curve.empty()) {
      entry["curve"] = curve;
      entry["curve_estimated"] = region.curve_estimated;
    }
    list.push_back(entry);
  }
  return list;
}

ordered_json balance_of(const explain::BalanceOfMore& balance) {
  ordered_json together = ordered_json::array();
  for (const auto& one : balance.together) {
    ordered_json places = ordered_json::array();
    for (const explain::Place& place : one.places) put_place(places.emplace_back(), place);
    together.push_back({{"regions", places}, {"time", to_seconds(one.time)}});
  }
  ordered_json nodes;
  if (balance.nodes)
    nodes = {{"count", balance.nodes->count},
             {"mean", to_seconds(balance.nodes->mean)},
             {"most", to_seconds(balance.nodes->most)},
             {"slowest", balance.nodes->slowest},
             {"deviation", balance.nodes->deviation},
             {"balanced_within", to_seconds(balance.nodes->within)},
             {"balanced_between", to_seconds(balance.nodes->between)}};
  ordered_json uneven = ordered_json::array();
  for (const explain::Round& round : balance.uneven_rounds)
    uneven.push_back({{"number", round.number},
                      {"from", to_seconds(round.from)},
                      {"mean", to_seconds(round.mean)},
                      {"most", to_seconds(round.most)},
                      {"slowest", round.slowest.value},
                      {"deviation", round.deviation}});
  return {{"together", together},
          {"nodes", nodes},
          {"rounds", {{"count", balance.rounds}, {"uneven", uneven}}}};
}

ordered_json sensitivity_of(const std::vector<explain::Sensitivity>& all) {
  ordered_json object = ordered_json::object();
  for (const explain::Sensitivity& one : all) {
    ordered_json entry;
    entry["unit"] = one.unit;
    if (!one.meaning.empty()) entry["meaning"] = one.meaning;
    entry["value"] = one.value;
    entry["slope"] = one.slope;
    entry["break_points"] = one.break_points;
    ordered_json pieces = ordered_json::array();
    for (const explain::Piece& piece : one.pieces)
      pieces.push_back({{"from", piece.from}, {"to", piece.to}, {"slope", piece.slope}});
    entry["pieces"] = pieces;
    ordered_json tolerance;
    for (std::size_t i = 0; i < 3; ++i) {
      ordered_json& value = tolerance[i == 0 ? "1%" : i == 1 ? "5%" : "10%"];
      value = nullptr;
      if (one.tolerance[i]) value = *one.tolerance[i];
    }
    entry["tolerance"] = tolerance;
    entry["exact"] = one.exact;
    object[one.parameter] = entry;
  }
  return object;
}

ordered_json findings_of(const std::vector<explain::Finding>& findings) {
  ordered_json list = ordered_json::array();
  for (const explain::Finding& finding : findings) {
    ordered_json entry;
    entry["kind"] = finding.kind;
    if (finding.kind == "wait") entry["wait"] = std::string(explain::name_of(finding.wait_kind));
    if (finding.kind == "algorithm") entry["algorithm"] = finding.change;
    if (finding.kind == "placement") entry["processors"] = finding.processors;
    if (finding.kind == "faster link") entry["link"] = finding.link;
    put_place(entry, finding.place);
    entry["ranks"] = ranks_of(finding.ranks);
    entry["spent"] = to_seconds(finding.spent);
    entry["gain"] = to_seconds(finding.gain);
    entry["predicted_time"] = to_seconds(finding.predicted);
    entry["estimated"] = finding.estimated;
    entry["verified"] = finding.verified;
    entry["effort"] = std::string(explain::name_of(finding.effort));
    entry["holds"] = nullptr;
    if (finding.holds)
      entry["holds"] = {{"share", *finding.holds}, {"gain", to_seconds(finding.gain_there)}};
    entry["enough"] = finding.holds ? ordered_json(finding.enough) : ordered_json();
    entry["check"] = finding.check;
    if (finding.kind == "imbalance") entry["whole_phase"] = finding.whole_phase;
    if (finding.kind == "files" || finding.kind == "no barriers")
      entry["elsewhere"] = finding.elsewhere;
    entry["cause"] = nullptr;
    if (finding.cause) {
      ordered_json cause;
      put_place(cause, *finding.cause);
      cause["rank"] = finding.cause_rank.value;
      entry["cause"] = cause;
    }
    list.push_back(entry);
  }
  return list;
}

}  // namespace

ordered_json json_of(const Explanation& explanation) {
  ordered_json object;
  object["time"] = to_seconds(explanation.time);
  object["ranks"] = explanation.ranks;
  object["calls"] = explanation.calls;
  const explain::Headline best = explain::headline_of(explanation);
  object["headline"] = {{"communication", to_seconds(best.communication)},
                        {"files", best.files ? ordered_json(to_seconds(*best.files)) : nullptr},
                        {"balance", to_seconds(best.balance)},
                        {"both", to_seconds(best.both)},
                        {"waits", to_seconds(best.waits)}};
  object["bounds"] = bounds_of(explanation.bounds);
  object["critical_path"] = path_of(explanation.path);
  object["efficiency"] = efficiency_of(explanation.efficiency);
  object["phases"] = phases_of(explanation.phases);
  object["findings"] = findings_of(explanation.findings);
  object["waits"] = waits_of(explanation.waits);
  object["delays"] = delays_of(explanation);
  object["longest_waits"] = singles_of(explanation.longest);
  object["best_waits"] = singles_of(explanation.best);
  object["domino_path"] = domino_of(explanation.domino);
  object["regions"] = regions_of(explanation.regions);
  object["balance"] = balance_of(explanation.balance);
  object["sensitivity"] = sensitivity_of(explanation.sensitivity);
  object["notes"] = explanation.notes;
  return object;
}

std::string render_json_explanation(const Explanation& explanation) {
  return json_text(json_of(explanation));
}

}  // namespace foretrace::views
