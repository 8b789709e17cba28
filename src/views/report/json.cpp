#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/segments.hpp"
#include "views/draw/json_text.hpp"
#include "views/draw/notes.hpp"
#include "views/draw/units.hpp"
#include "views/report/link_json.hpp"
#include "views/report/report.hpp"

namespace foretrace::views {
namespace {

using analysis::Profile;
using json = nlohmann::ordered_json;

json known(Time time, bool is_known) {
  return is_known ? json(to_seconds(time)) : json(nullptr);
}

// Of what was recorded by the CPU clock nobody knows how long calls took.
bool knows_calls(const Profile& profile) {
  return profile.info.clock != trace::Clock::cpu;
}

json value_or_null(const std::optional<double>& value) {
  return value ? json(*value) : json(nullptr);
}

json text_or_null(const std::string& text) {
  return text.empty() ? json(nullptr) : json(text);
}

json rank_list(const Profile& profile) {
  json list = json::array();
  for (const auto& r : profile.per_rank)
    list.push_back({{"rank", r.rank.value},
                    {"time", to_seconds(r.time)},
                    {"compute", to_seconds(r.compute)},
                    {"mpi", known(r.mpi, knows_calls(profile))},
                    {"wait", known(r.wait, profile.wait_known)},
                    {"others_wait", known(r.caused, profile.wait_known && profile.partners_known)},
                    {"utilisation", r.utilisation}});
  return list;
}

json function_list(const Profile& profile) {
  json list = json::array();
  for (const auto& f : profile.functions)
    list.push_back({{"name", f.name},
                    {"calls", f.calls},
                    {"time", known(f.time, knows_calls(profile))},
                    {"wait", known(f.wait, profile.wait_known && f.wait_known)},
                    {"sent", f.sent.count},
                    {"received", f.received.count},
                    {"collective", f.collective.count}});
  return list;
}

json site_list(const Profile& profile) {
  json list = json::array();
  for (const auto& s : profile.sites)
    list.push_back({{"function", s.function},
                    {"place", s.place},
                    {"calls", s.calls},
                    {"time", known(s.time, knows_calls(profile))},
                    {"wait", known(s.wait, profile.wait_known && s.wait_known)}});
  return list;
}

json wait_list(const Profile& profile) {
  if (!profile.partners_known) return nullptr;
  json list = json::array();
  for (std::size_t i = 0; i < std::min(profile.waits.size(), kMostWaitPairs); ++i) {
    const analysis::WaitPair& w = profile.waits[i];
    list.push_back({{"rank", w.rank.value},
                    {"for", rank_or_null(w.partner)},
                    {"function", w.function},
                    {"place", text_or_null(w.place)},
                    {"times", w.count},
                    {"wait", to_seconds(w.wait)},
                    {"late", to_seconds(w.late)}});
  }
  return list;
}

json collective_list(const Profile& profile) {
  if (!profile.partners_known) return nullptr;
  json list = json::array();
  for (const auto& c : profile.collectives)
    list.push_back({{"function", c.function},
                    {"place", text_or_null(c.place)},
                    {"times", c.count},
                    {"last", rank_or_null(c.last)},
                    {"last_times", c.last_count},
                    {"spread", to_seconds(c.spread)},
                    {"wait", to_seconds(c.wait)}});
  return list;
}

json computation_list(const Profile& profile) {
  const auto call = [](const analysis::CallPlace& place) {
    return json({{"function", place.function}, {"place", text_or_null(place.place)}});
  };
  json list = json::array();
  for (const auto& c : profile.computation)
    list.push_back({{"after", call(c.after)},
                    {"before", call(c.before)},
                    {"ranks", c.ranks},
                    {"times", c.times},
                    {"time", to_seconds(c.total)},
                    {"mean", to_seconds(c.mean)},
                    {"max", to_seconds(c.max)},
                    {"slowest", c.slowest.value},
                    {"ratio", c.ratio()},
                    {"cost", to_seconds(c.cost)}});
  return list;
}

json phase_list(const Profile& profile) {
  json list = json::array();
  for (const auto& p : profile.phases) {
    json per_rank = json::array();
    for (Time time : p.per_rank) per_rank.push_back(to_seconds(time));
    list.push_back({{"name", p.name},
                    {"time", to_seconds(p.time)},
                    {"mean", to_seconds(p.mean)},
                    {"slowest", p.slowest.value},
                    {"count", p.count},
                    {"per_rank", std::move(per_rank)}});
  }
  return list;
}

json mark_list(const Profile& profile) {
  json list = json::array();
  for (const auto& m : profile.marks)
    list.push_back({{"name", m.name},
                    {"count", m.count},
                    {"first", to_seconds(m.first)},
                    {"last", to_seconds(m.last)},
                    {"least", m.least},
                    {"mean", m.mean},
                    {"most", m.most}});
  return list;
}

json damage_list(const Profile& profile) {
  json list = json::array();
  for (const auto& d : profile.damage)
    list.push_back({{"rank", rank_or_null(d.rank)}, {"offset", d.offset}, {"what", d.what}});
  return list;
}

}  // namespace

std::string render_json_report(const Profile& profile, const std::optional<ReplayStats>& stats,
                               const analysis::LinksProfile* links) {
  json report = {{"program", profile.info.program},
                 {"origin", profile.info.origin},
                 {"clock", clock_name(profile.info.clock)},
                 {"machine", profile.info.machine},
                 {"options", profile.info.options},
                 {"complete", profile.complete},
                 {"damage", damage_list(profile)},
                 {"notes", profile.info.notes},
                 {"ranks", profile.ranks},
                 {"time", to_seconds(profile.time)},
                 {"serial_time", to_seconds(profile.serial_time)},
                 {"speedup", value_or_null(profile.speedup)},
                 {"efficiency", value_or_null(profile.efficiency)},
                 {"load_balance", value_or_null(profile.load_balance)},
                 {"communication_efficiency", value_or_null(profile.communication_efficiency)},
                 {"wait", known(profile.wait, profile.wait_known)},
                 {"wait_unknown", known(profile.wait_unknown, profile.wait_known)},
                 {"messages", profile.messages},
                 {"message_bytes", profile.message_bytes.count}};
  if (profile.baseline) report["baseline"] = to_seconds(*profile.baseline);
  if (profile.clock_violations) report["clock_violations"] = *profile.clock_violations;
  if (profile.info.clocks.hosts > 0)
    report["clocks"] = {{"hosts", profile.info.clocks.hosts},
                        {"error", to_seconds(profile.info.clocks.error)}};
  if (stats)
    report["stats"] = {{"operations", stats->operations},
                       {"messages", stats->messages},
                       {"seconds", stats->seconds},
                       {"peak_bytes", stats->peak_bytes}};
  json states = json::object();
  json waits = json::object();
  for (const auto& state : profile.states) {
    const bool computing = state.name == analysis::kComputeState;
    states[state.name] = known(state.time, computing || knows_calls(profile));
    waits[state.name] = known(state.wait, profile.wait_known && state.wait_known);
  }
  report["states"] = std::move(states);
  report["waits"] = std::move(waits);
  report["per_rank"] = rank_list(profile);
  report["functions"] = function_list(profile);
  report["sites"] = site_list(profile);
  report["waits_for"] = wait_list(profile);
  report["collectives"] = collective_list(profile);
  report["computation"] = computation_list(profile);
  report["phases"] = phase_list(profile);
  report["marks"] = mark_list(profile);
  if (links) report["links"] = json_links(*links);
  return json_text(report);
}

}  // namespace foretrace::views
