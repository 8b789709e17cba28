#include <string>
#include <string_view>

#include "base/error.hpp"
#include "views/timeline.hpp"
#include "views/timeline_data.hpp"
#include "views/timeline_page.hpp"

namespace foretrace::views {
namespace {

// The places in web/src/page.html that take the data.
constexpr std::string_view kExplanationMark = "@FORETRACE_EXPLANATION@";
constexpr std::string_view kHeadMark = "@FORETRACE_HEAD@";
constexpr std::string_view kStreamMark = "@FORETRACE_STREAM@";

std::size_t find_mark(std::string_view page, std::string_view mark) {
  const std::size_t at = page.find(mark);
  if (at == std::string_view::npos)
    throw Error("time line page: expected " + std::string(mark) +
                " in it, found none; build web/ again");
  return at;
}

}  // namespace

std::string render_html_timeline(const trace::Trace& trace, const trace::TellPlace& tell,
                                 std::string_view explanation) {
  const std::string_view page = timeline_page();
  if (page.empty())
    throw Error(
        "timeline: expected the time line page, this build has none; configure with "
        "-DFORETRACE_WEB=ON, or leave out -o for the text form");
  const std::size_t explained = find_mark(page, kExplanationMark);
  const std::size_t head = find_mark(page, kHeadMark);
  const std::size_t stream = find_mark(page, kStreamMark);

  const TimelineData data = encode_timeline(trace, tell);
  std::string html;
  html.reserve(page.size() + explanation.size() + data.head.size() + data.stream.size() / 3 * 4 +
               16);
  html += page.substr(0, explained);
  html += explanation;
  const std::size_t after = explained + kExplanationMark.size();
  html += page.substr(after, head - after);
  html += data.head;
  html += page.substr(head + kHeadMark.size(), stream - head - kHeadMark.size());
  html += base64(data.stream);
  html += page.substr(stream + kStreamMark.size());
  return html;
}

}  // namespace foretrace::views
