#include "views/report/link_report.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "views/draw/json_text.hpp"
#include "views/draw/text_table.hpp"
#include "views/draw/units.hpp"
#include "views/report/link_json.hpp"

namespace foretrace::views {
namespace {

using analysis::LinkProfile;
using analysis::LinksProfile;
using json = nlohmann::ordered_json;

std::string link_name(const LinkProfile& link) {
  return link.from.empty() ? link.to : link.from + " -> " + link.to;
}

std::vector<std::string> row_of(const LinkProfile& link) {
  std::vector<std::string> row{link_name(link), std::to_string(link.messages),
                               format_bytes(link.bytes), format_time(link.busy),
                               format_percent(link.share)};
  if (link.busiest)
    row.insert(row.end(), {format_time(link.busiest->from), format_time(link.busiest->to),
                           format_percent(link.busiest->share)});
  return row;
}

std::string contention_line(const LinkProfile& link) {
  const machine::Contention& what = *link.contention;
  return fmt::format(
      "  {}: {} frames, {} of them deferred; {} attempts collided, most for one frame {}; given up "
      "{} times\n",
      link.to, what.frames, what.deferred, what.collisions, what.most_attempts, what.given_up);
}

}  // namespace

std::string render_text_links(const LinksProfile& profile, std::size_t most) {
  std::string out =
      fmt::format("\nLinks: {} of {} carried messages", profile.links.size(), profile.carriers);
  if (profile.links.size() > most) out += fmt::format("; the {} busiest", most);
  out += "\n";
  if (profile.links.empty() || most == 0) return out;
  TextTable table({Align::left, R, R, R, R, R, R, R});
  const auto end =
      profile.links.begin() + static_cast<std::ptrdiff_t>(std::min(most, profile.links.size()));
  std::vector<std::string> head{"link", "messages", "bytes", "busy", "of the run"};
  if (std::any_of(profile.links.begin(), end, [](const auto& link) { return link.busiest; }))
    head.insert(head.end(), {"busiest from", "to", "busy then"});
  table.add(head);
  for (auto link = profile.links.begin(); link != end; ++link) table.add(row_of(*link));
  out += table.render(2);
  for (auto link = profile.links.begin(); link != end; ++link)
    if (link->contention) out += contention_line(*link);
  return out;
}

json json_links(const LinksProfile& profile) {
  json list = json::array();
  for (const LinkProfile& link : profile.links) {
    json busiest;
    if (link.busiest)
      busiest = {{"from", to_seconds(link.busiest->from)},
                 {"to", to_seconds(link.busiest->to)},
                 {"share", link.busiest->share}};
    list.push_back({{"from", link.from.empty() ? json(nullptr) : json(link.from)},
                    {"to", link.to},
                    {"messages", link.messages},
                    {"bytes", link.bytes.count},
                    {"busy", to_seconds(link.busy)},
                    {"share", link.share},
                    {"busiest", std::move(busiest)}});
    if (link.contention)
      list.back()["contention"] = {{"frames", link.contention->frames},
                                   {"deferred", link.contention->deferred},
                                   {"collisions", link.contention->collisions},
                                   {"given_up", link.contention->given_up},
                                   {"most_attempts", link.contention->most_attempts}};
  }
  return list;
}

std::string render_json_links(const LinksProfile& profile) {
  return json_text(json_links(profile));
}

}  // namespace foretrace::views
