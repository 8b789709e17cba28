#include "views/architecture/watch.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "views/architecture/atwork_page.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/units.hpp"

namespace foretrace::views {
namespace {

using architecture::FlatArchitecture;
using architecture::FlatEntity;
using architecture::ParameterType;
using architecture::Recording;
using Json = nlohmann::ordered_json;

constexpr std::string_view kDataBegin = "<script id=\"data\" type=\"application/json\">";
constexpr std::string_view kDataEnd = "</script>";

std::string value_of(const architecture::ParameterSpec& spec, const entity::Parameters& given) {
  if (spec.type == ParameterType::word) return given.text(spec.name);
  if (spec.type == ParameterType::array) return "an array";
  const double number = given.number(spec.name);
  if (spec.type == ParameterType::time) return format_picoseconds(number * 1e12);
  if (spec.type == ParameterType::size) return fmt::format("{:.6g} B", number);
  if (spec.type == ParameterType::rate) return fmt::format("{:.6g} B/s", number);
  return fmt::format("{:.6g}", number);
}

Json parameters_of(const FlatEntity& entity) {
  Json all = Json::array();
  for (const architecture::ParameterSpec& spec :
       entity.behaviour ? entity.behaviour->parameters : entity.kind->parameters)
    all.push_back({spec.name, value_of(spec, *entity.parameters)});
  return all;
}

void add_machine(const FlatArchitecture& architecture, Json& data) {
  Json entities = Json::array();
  Json parameters = Json::array();
  std::map<std::string, std::size_t> known;
  for (const FlatEntity& one : architecture.entities) {
    Json own = parameters_of(one);
    const auto [entry, is_new] = known.emplace(own.dump(), parameters.size());
    if (is_new) parameters.push_back(std::move(own));
    entities.push_back({one.path, one.behaviour_name(), one.x, one.y, one.level, one.box,
                        entry->second, one.stands_for});
  }
  Json boxes = Json::array();
  for (const architecture::Box& box : architecture.boxes)
    boxes.push_back({box.path, box.composite, box.parent});
  Json links = Json::array();
  for (const architecture::FlatLink& link : architecture.links)
    links.push_back({link.from.entity, link.to.entity});
  data["entities"] = std::move(entities);
  data["parameters"] = std::move(parameters);
  data["boxes"] = std::move(boxes);
  data["links"] = std::move(links);
}

void add_sums(const Recording& recording, std::int64_t from, std::int64_t to, Json& data) {
  Json links = Json::array();
  for (const architecture::LinkSums& one : recording.links())
    links.push_back({one.from, one.to, one.packets, one.bytes, one.busy});
  data["sums"] = std::move(links);
  Json quantities = Json::array();
  for (const architecture::Quantity& one : recording.quantities())
    quantities.push_back({one.entity, one.name, one.mean(from, to), one.most});
  data["quantities"] = std::move(quantities);
  const entity::Histogram& latencies = recording.latencies();
  Json bins = Json::array();
  for (int b = 0; b < 65; ++b) bins.push_back(latencies.bins()[b]);
  data["latencies"] = {{"count", latencies.count()},
                       {"mean", latencies.mean()},
                       {"most", latencies.most()},
                       {"bytes", recording.bytes()},
                       {"bins", std::move(bins)}};
}

void add_records(const Recording& recording, Json& data) {
  Json messages = Json::array();
  for (const architecture::MessageRecord& one : recording.messages())
    messages.push_back(
        {static_cast<int>(one.kind), one.message, one.from, one.to, one.bytes, one.begin, one.end});
  data["records"] = std::move(messages);
  Json states = Json::array();
  for (const architecture::StateRecord& one : recording.states())
    states.push_back({one.time, one.quantity, one.value});
  data["states"] = std::move(states);
}

void add_ranks(const WatchedRanks& ranks, Json& data) {
  data["ranks"] = ranks.entities;
  data["names"] = ranks.names;
  data["places"] = ranks.places;
  Json calls = Json::array();
  for (const RankCall& one : ranks.calls)
    calls.push_back({one.rank, one.enter, one.leave, one.name, one.place});
  data["calls"] = std::move(calls);
}

}  // namespace

std::string watched_json(const FlatArchitecture& architecture, const Recording& recording,
                         const WatchedRanks& ranks, std::int64_t end, const std::string& title) {
  constexpr const char* kDetails[] = {"statistics", "messages", "states"};
  const std::int64_t from = recording.options().from;
  const std::int64_t to = std::min(end, recording.options().to);
  Json data;
  data["title"] = title;
  data["from"] = std::min(from, to);
  data["to"] = to;
  data["detail"] = kDetails[static_cast<std::size_t>(recording.options().detail)];
  data["lost"] = recording.lost();
  data["lostCalls"] = ranks.lost;
  add_machine(architecture, data);
  add_sums(recording, from, to, data);
  add_records(recording, data);
  add_ranks(ranks, data);
  return data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string render_html_watch(const std::vector<std::string>& runs, const std::string& title) {
  std::string page(atwork_page());
  const auto put = [&page](std::string_view place, const std::string& text) {
    for (std::size_t at = 0; (at = page.find(place, at)) != std::string::npos; at += text.size())
      page.replace(at, place.size(), text);
  };
  std::string all;
  for (const std::string& run : runs) all += (all.empty() ? "" : ",") + run;
  put("@TITLE@", escape_html(title));
  put("@DATA@", escape_script("[" + all + "]"));
  return page;
}

std::vector<std::string> runs_of_page(std::string_view page) {
  std::vector<std::string> runs;
  const std::size_t begin = page.find(kDataBegin);
  if (begin == std::string_view::npos) return runs;
  const std::size_t end = page.find(kDataEnd, begin);
  if (end == std::string_view::npos) return runs;
  const std::string_view text =
      page.substr(begin + kDataBegin.size(), end - begin - kDataBegin.size());
  const auto data = Json::parse(text, nullptr, false);
  if (!data.is_array()) return runs;
  for (const Json& one : data)
    if (one.is_object() && one.contains("entities") && one.contains("sums"))
      runs.push_back(one.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return runs;
}

}  // namespace foretrace::views
