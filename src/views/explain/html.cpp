#include "views/draw/markup.hpp"
#include "views/explain/json.hpp"
#include "views/explain/report.hpp"
#include "views/timeline/timeline.hpp"

namespace foretrace::views {
namespace {

using nlohmann::ordered_json;

// Columns; times in picoseconds, as the time line has them. web/src/path.ts reads it.
ordered_json json_of(const std::vector<explain::Stretch>& path) {
  ordered_json ranks = ordered_json::array();
  ordered_json from = ordered_json::array();
  ordered_json to = ordered_json::array();
  for (const explain::Stretch& stretch : path) {
    ranks.push_back(stretch.rank.value);
    from.push_back(stretch.from.count_ps());
    to.push_back(stretch.to.count_ps());
  }
  return {{"ranks", ranks}, {"from", from}, {"to", to}};
}

}  // namespace

std::string render_html_explanation(const explain::Explanation& explanation,
                                    const std::string& where,
                                    const std::vector<explain::Stretch>& path,
                                    const trace::Trace& trace, const trace::TellPlace& tell) {
  ordered_json page = json_of(explanation);
  page["where"] = where;
  page["path"] = json_of(path);
  return render_html_timeline(
      trace, tell,
      escape_script(page.dump(-1, ' ', false, ordered_json::error_handler_t::replace)));
}

}  // namespace foretrace::views
