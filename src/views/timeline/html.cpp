#include <fmt/format.h>
#include <zlib.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "views/draw/markup.hpp"
#include "views/timeline/data.hpp"
#include "views/timeline/page.hpp"
#include "views/timeline/timeline.hpp"

namespace foretrace::views {
namespace {

// The places in web/src/page.html that take the data.
constexpr std::string_view kExplanationMark = "@FORETRACE_EXPLANATION@";
constexpr std::string_view kRunsMark = "@FORETRACE_RUNS@";
constexpr int kEffort = 6;

// As browsers unpack it ("deflate"): half of the bytes, or less.
std::string packed(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string text(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(text.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()),
                kEffort) != Z_OK)
    throw Error("time line page: the events could not be packed; there is too little memory");
  text.resize(size);
  return text;
}

std::size_t find_mark(std::string_view page, std::string_view mark) {
  const std::size_t at = page.find(mark);
  if (at == std::string_view::npos)
    throw Error("time line page: expected " + std::string(mark) +
                " in it, found none; build web/ again");
  return at;
}

// What may stand in the fragment of an address.
std::string quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return out;
}

}  // namespace

std::string found_in(const std::string& page, std::string_view words) {
  return page.empty() ? "" : page + "#find=" + quoted(words);
}

TimelineRun encode_run(std::string name, const trace::Trace& trace, const trace::TellPlace& tell,
                       const RunNetwork* network, const std::vector<CallRounds>& rounds) {
  TimelineData data = encode_timeline(trace, tell, network, rounds);
  return {std::move(name), std::move(data)};
}

std::string render_html_runs(const std::vector<TimelineRun>& runs, std::string_view explanation) {
  const std::string_view page = timeline_page();
  if (page.empty())
    throw Error(
        "timeline: expected the time line page, this build has none; configure with "
        "-DFORETRACE_WEB=ON, or leave out -o for the text form");
  const std::size_t explained = find_mark(page, kExplanationMark);
  const std::size_t filled = find_mark(page, kRunsMark);

  std::size_t size = page.size() + explanation.size();
  for (const TimelineRun& run : runs)
    size += run.name.size() + run.data.head.size() + run.data.stream.size() / 3 * 4 + 256;
  std::string html;
  html.reserve(size);
  html += page.substr(0, explained);
  html += explanation;
  const std::size_t after = explained + kExplanationMark.size();
  html += page.substr(after, filled - after);
  for (const TimelineRun& run : runs) {
    html += "<script class=\"trace-head\" data-name=\"" + escape_html(run.name) +
            "\" type=\"application/json\">" + run.data.head + "</script>\n";
    html += "<script class=\"trace-stream\" type=\"application/octet-stream\"";
    html += run.data.columns ? " data-packed>" : ">";
    html += base64(run.data.columns ? packed(run.data.stream) : run.data.stream);
    html += "</script>\n";
  }
  html += page.substr(filled + kRunsMark.size());
  return html;
}

std::string render_html_timeline(const trace::Trace& trace, const trace::TellPlace& tell,
                                 std::string_view explanation) {
  return render_html_runs({encode_run("", trace, tell)}, explanation);
}

}  // namespace foretrace::views
