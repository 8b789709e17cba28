#include <nlohmann/json.hpp>

#include "views/json_text.hpp"
#include "views/link_json.hpp"
#include "views/notes.hpp"
#include "views/report.hpp"
#include "views/units.hpp"

namespace foretrace::views {
namespace {

using analysis::Profile;
using json = nlohmann::ordered_json;

json rank_list(const Profile& profile) {
  json list = json::array();
  for (const auto& r : profile.per_rank)
    list.push_back({{"rank", r.rank.value},
                    {"time", to_seconds(r.time)},
                    {"compute", to_seconds(r.compute)},
                    {"mpi", to_seconds(r.mpi)},
                    {"wait", to_seconds(r.wait)},
                    {"utilisation", r.utilisation}});
  return list;
}

json function_list(const Profile& profile) {
  json list = json::array();
  for (const auto& f : profile.functions)
    list.push_back({{"name", f.name},
                    {"calls", f.calls},
                    {"time", to_seconds(f.time)},
                    {"wait", to_seconds(f.wait)},
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
                    {"time", to_seconds(s.time)},
                    {"wait", to_seconds(s.wait)}});
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
    list.push_back({{"rank", d.rank.valid() ? json(d.rank.value) : json(nullptr)},
                    {"offset", d.offset},
                    {"what", d.what}});
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
                 {"ranks", profile.ranks},
                 {"time", to_seconds(profile.time)},
                 {"serial_time", to_seconds(profile.serial_time)},
                 {"speedup", profile.speedup},
                 {"efficiency", profile.efficiency},
                 {"load_balance", profile.load_balance},
                 {"communication_efficiency", profile.communication_efficiency},
                 {"wait", to_seconds(profile.wait)},
                 {"messages", profile.messages},
                 {"message_bytes", profile.message_bytes.count}};
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
    states[state.name] = to_seconds(state.time);
    waits[state.name] = to_seconds(state.wait);
  }
  report["states"] = std::move(states);
  report["waits"] = std::move(waits);
  report["per_rank"] = rank_list(profile);
  report["functions"] = function_list(profile);
  report["sites"] = site_list(profile);
  report["phases"] = phase_list(profile);
  report["marks"] = mark_list(profile);
  if (links) report["links"] = json_links(*links);
  return json_text(report);
}

}  // namespace foretrace::views
