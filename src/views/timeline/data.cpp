#include "views/timeline/data.hpp"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "analysis/profile.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/notes.hpp"
#include "views/timeline/columns.hpp"

namespace foretrace::views {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t kLeastColumns = std::size_t{1} << 20;  // smaller ones are there at once

// [first, stride, count] each: what communicators of rows and columns are made of.
json member_spans(const std::vector<WorldRank>& members) {
  json spans = json::array();
  for (std::size_t i = 0; i < members.size();) {
    const int first = members[i].value;
    const int stride = i + 1 < members.size() ? members[i + 1].value - first : 1;
    std::size_t count = 1;
    while (i + count < members.size() &&
           members[i + count].value - members[i + count - 1].value == stride)
      ++count;
    spans.push_back({first, stride, count});
    i += count;
  }
  return spans;
}

json comm_list(const trace::Trace& trace) {
  json list = json::array();
  for (const trace::Communicator& comm : trace.comms) {
    const std::string name = comm.key == 0 ? "MPI_COMM_WORLD" : "";
    json entry = {{"name", name}, {"size", comm.members.size()}};
    if (comm.key != 0) entry["members"] = member_spans(comm.members);
    list.push_back(std::move(entry));
  }
  return list;
}

// By call site.
json place_list(const trace::Trace& trace, const trace::TellPlace& tell) {
  json list = json::array();
  if (tell)
    for (const trace::Site& site : trace.sites) list.push_back(tell(site));
  return list;
}

json or_null(const std::optional<double>& value) {
  return value ? json(*value) : json(nullptr);
}

}  // namespace

std::string timeline_head(const trace::Trace& about, const trace::TellPlace& tell,
                          const TimelineSummary& summary, const TimelineEncoder& encoder,
                          const std::vector<TimelineEncoder::Rank>& ranks,
                          const std::vector<std::pair<std::string, std::string>>& more) {
  json rank_list = json::array();
  for (const TimelineEncoder::Rank& rank : ranks)
    rank_list.push_back({rank.events, rank.bytes, rank.end.count_ps()});
  json head = {{"version", 1},
               {"program", about.info.program},
               {"trace", describe_trace(about.info)},
               {"clock", clock_name(about.info.clock)},
               {"notes", trace_note_list(about.info, about.sealed, about.damage)},
               {"summary",
                {{"time", summary.time.count_ps()},
                 {"serial", summary.serial.count_ps()},
                 {"speedup", or_null(summary.speedup)},
                 {"efficiency", or_null(summary.efficiency)}}},
               {"names", about.names},
               {"comms", comm_list(about)},
               {"places", place_list(about, tell)},
               {"unit", encoder.unit()},
               {"shapes", encoder.shapes()},
               {"ranks", std::move(rank_list)}};
  for (const auto& [name, value] : more) head[name] = json::parse(value);
  return escape_script(head.dump(-1, ' ', false, json::error_handler_t::replace));
}

TimelineData encode_timeline(const trace::Trace& trace, const trace::TellPlace& tell,
                             const RunNetwork* network, const std::vector<CallRounds>& rounds) {
  TimelineEncoder encoder(static_cast<int>(trace.ranks.size()), tell != nullptr,
                          common_unit(trace.ranks));
  std::vector<TimelineEncoder::Rank> ranks;
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank)
    ranks.push_back(encoder.add_rank(trace.ranks[rank], static_cast<int>(rank)));
  const analysis::Profile profile = analysis::profile_trace(trace);
  std::vector<std::pair<std::string, std::string>> more;
  if (network) more.emplace_back("network", network_json(*network, trace, rounds));
  if (!rounds.empty()) more.emplace_back("rounds", rounds_json(rounds));
  std::string head = timeline_head(
      trace, tell, {profile.time, profile.serial_time, profile.speedup, profile.efficiency},
      encoder, ranks, more);
  std::string stream = encoder.take_stream();
  if (stream.size() < kLeastColumns) return {std::move(head), std::move(stream)};
  return {std::move(head), stream_columns(stream, encoder.shapes()), true};
}

std::string base64(const std::string& bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < n ? static_cast<std::uint8_t>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += k <= n ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace foretrace::views
