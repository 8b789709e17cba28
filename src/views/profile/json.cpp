#include <nlohmann/json.hpp>

#include "views/draw/json_text.hpp"
#include "views/draw/units.hpp"
#include "views/profile/call_profile.hpp"

namespace foretrace::views {
namespace {

using analysis::CallProfile;
using json = nlohmann::ordered_json;

json spread(const analysis::Spread& of) {
  return {{"min", to_seconds(of.min)},
          {"mean", to_seconds(of.mean)},
          {"max", to_seconds(of.max)},
          {"slowest", of.slowest.value},
          {"fastest", of.fastest.valid() ? json(of.fastest.value) : json(nullptr)},
          {"imbalance", of.imbalance()}};
}

// What functions and call sites have in common.
void add_total(json& to, const analysis::CallTotal& total) {
  to["calls"] = total.calls;
  to["time"] = to_seconds(total.time);
  to["longest"] = to_seconds(total.longest);
  to["per_rank"] = spread(total.ranks);
  to["messages"] = total.moved.messages;
  to["sent"] = total.moved.sent.count;
  to["received"] = total.moved.received.count;
  to["collective"] = total.moved.collective.count;
}

json rank_list(const CallProfile& profile) {
  json list = json::array();
  for (const auto& r : profile.per_rank) {
    json rank = {{"rank", r.rank.value},       {"host", r.host},
                 {"time", to_seconds(r.time)}, {"application", to_seconds(r.application)},
                 {"mpi", to_seconds(r.mpi)},   {"profiler", to_seconds(r.own)}};
    if (!r.end.empty()) rank["end"] = r.end;
    list.push_back(std::move(rank));
  }
  return list;
}

json frame_list(const std::vector<analysis::CallFrame>& frames) {
  json list = json::array();
  for (const auto& f : frames)
    list.push_back({{"function", f.function},
                    {"file", f.file},
                    {"line", f.line},
                    {"object", f.object},
                    {"offset", f.offset}});
  return list;
}

json size_list(const CallProfile& profile) {
  json list = json::array();
  for (const auto& s : profile.sizes)
    list.push_back({{"communicator", s.comm},
                    {"function", s.function},
                    {"direction", name_of(s.direction)},
                    {"from", s.from.count},
                    {"to", s.to.count},
                    {"calls", s.calls},
                    {"bytes", s.bytes.count},
                    {"time", to_seconds(s.time)}});
  return list;
}

}  // namespace

std::string render_call_profile_json(const CallProfile& profile) {
  json out = {{"program", profile.program},
              {"origin", "profile"},
              {"mpi_library", profile.mpi},
              {"complete", profile.complete},
              {"ranks", profile.ranks},
              {"depth", profile.depth},
              {"several_threads", profile.several_threads},
              {"more_ranks_than_cores", profile.shares_cores},
              {"lost", profile.lost},
              {"calls", profile.calls},
              {"time", to_seconds(profile.time.max)},
              {"application", spread(profile.application)},
              {"mpi", spread(profile.mpi_time)},
              {"profiler", spread(profile.own)},
              {"per_rank", rank_list(profile)}};
  json classes = json::object();
  json waiting = json::array();
  for (std::size_t i = 0; i < profile.classes.size(); ++i) {
    const auto of = static_cast<analysis::CallClass>(i);
    classes[analysis::name_of(of)] = to_seconds(profile.classes[i]);
    if (analysis::may_wait(of)) waiting.push_back(analysis::name_of(of));
  }
  out["classes"] = std::move(classes);
  out["may_wait"] = std::move(waiting);
  json functions = json::array();
  for (const auto& f : profile.functions) {
    json function = {{"name", f.name}, {"class", analysis::name_of(f.kind)}};
    add_total(function, f);
    functions.push_back(std::move(function));
  }
  out["functions"] = std::move(functions);
  json sites = json::array();
  for (const auto& s : profile.sites) {
    json site = {{"function", s.function}, {"frames", frame_list(s.frames)}};
    add_total(site, s);
    sites.push_back(std::move(site));
  }
  out["sites"] = std::move(sites);
  json waited_for = json::array();
  for (const auto& w : profile.waited_for)
    waited_for.push_back({{"site", w.site},
                          {"rank", profile.sites[w.site].ranks.fastest.value},
                          {"waited", to_seconds(w.waited)}});
  out["waited_for"] = std::move(waited_for);
  json senders = json::array();
  for (const auto& s : profile.senders)
    senders.push_back({{"site", s.site},
                       {"rank", s.rank.value},
                       {"for", s.sender.valid() ? json(s.sender.value) : json(nullptr)},
                       {"calls", s.calls},
                       {"time", to_seconds(s.time)},
                       {"longest", to_seconds(s.longest)}});
  out["waits_for"] = std::move(senders);
  json comms = json::array();
  for (const auto& c : profile.comms)
    comms.push_back({{"name", c.name},
                     {"ranks", c.size},
                     {"inter", c.inter},
                     {"calls", c.calls},
                     {"time", to_seconds(c.time)},
                     {"messages", c.moved.messages},
                     {"sent", c.moved.sent.count},
                     {"received", c.moved.received.count},
                     {"collective", c.moved.collective.count}});
  out["communicators"] = std::move(comms);
  out["sizes"] = size_list(profile);
  json matrix = json::array();
  for (const auto& e : profile.matrix)
    matrix.push_back({{"from", e.from.value},
                      {"to", e.to.value},
                      {"messages", e.messages},
                      {"bytes", e.bytes.count}});
  out["matrix"] = std::move(matrix);
  return json_text(out);
}

}  // namespace foretrace::views
