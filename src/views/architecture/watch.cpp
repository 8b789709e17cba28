#include "views/architecture/watch.hpp"

#include <nlohmann/json.hpp>

#include "views/draw/json_text.hpp"
#include "views/draw/markup.hpp"

namespace foretrace::views {
namespace {

constexpr const char kScript[] =
#include "watch.js.inc"
    ;

constexpr const char* kHead = R"HTML(<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { --paper: #fff; --ink: #222; --rule: #bbb; --idle: #cfd4da; --send: #1668a8; --recv: #6aa84f; --wait: #d9822b; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #181a1d; --ink: #ddd; --rule: #555; --idle: #444a52; --send: #58a6e0; --recv: #7fbf6a; --wait: #e6a15c; }
}
html, body { margin: 0; height: 100%; background: var(--paper); color: var(--ink); font: 14px sans-serif; }
body { display: flex; flex-direction: column; }
header, .tape, #about, .key { padding: 4px 10px; }
h1 { font-size: 16px; margin: 4px 0; }
.tape { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; }
#scrub { flex: 1 1 200px; min-width: 120px; }
canvas { display: block; width: 100%; }
#drawing { flex: 1 1 auto; min-height: 200px; }
#line { flex: 0 0 auto; border-top: 1px solid var(--rule); cursor: crosshair; }
.key span { display: inline-block; width: 12px; height: 12px; margin: 0 4px 0 10px; vertical-align: -1px; }
</style>
)HTML";

constexpr const char* kControls = R"HTML(<div class="tape">
<button id="previous" title="to the event before, left arrow">Back</button>
<button id="play" title="space">Play</button>
<button id="next" title="to the next event, right arrow">Step</button>
<label>speed <input id="speed" type="range" min="-3" max="1" step="0.1" value="0"></label>
<input id="scrub" type="range" min="0" max="100000" value="0" aria-label="time">
<output id="time"></output>
</div>
<canvas id="drawing"></canvas>
<div class="key">squares are processors, circles what lies between
<span style="background:var(--send)"></span>sends
<span style="background:var(--wait)"></span>something waits in it
<span style="background:var(--recv)"></span>receives
<span style="background:var(--idle)"></span>idle; below: when each entity sends, drag to measure</div>
<div id="about"></div>
<canvas id="line"></canvas>
)HTML";

}  // namespace

std::string render_html_watch(const architecture::FlatArchitecture& architecture,
                              const architecture::Recording& recording, Time end,
                              const std::string& title) {
  nlohmann::ordered_json data;
  data["end"] = end.count_ps();
  data["lost"] = recording.lost;
  auto& entities = data["entities"] = nlohmann::ordered_json::array();
  for (const architecture::FlatEntity& entity : architecture.entities)
    entities.push_back({entity.path, entity.behaviour_name(), entity.x, entity.y, entity.level});
  auto& links = data["links"] = nlohmann::ordered_json::array();
  for (const architecture::FlatLink& link : architecture.links)
    links.push_back({link.from.entity, link.to.entity});
  auto& records = data["records"] = nlohmann::ordered_json::array();
  for (const architecture::MessageRecord& one : recording.records)
    records.push_back(
        {static_cast<int>(one.kind), one.message, one.from, one.to, one.bytes, one.begin, one.end});
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<title>" + escape_html(title) +
                     "</title>\n" + kHead + "</head>\n<body>\n<header><h1>" + escape_html(title) +
                     "</h1>";
  if (recording.lost > 0)
    page += "<p>" + std::to_string(recording.lost) +
            " more events were not kept (--watch-most): the page shows the first " +
            std::to_string(recording.records.size()) + ".</p>";
  page += "</header>\n";
  page += kControls;
  page += "<script id=\"data\" type=\"application/json\">" +
          escape_script(data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) +
          "</script>\n<script>\n" + kScript + "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace foretrace::views
