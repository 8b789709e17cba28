#include <fmt/format.h>

#include "views/draw/units.hpp"
#include "views/explain/report.hpp"

namespace foretrace::views {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

}  // namespace

std::string render_slacks(const explain::Run& run, const std::vector<explain::Place>& places,
                          const std::vector<std::vector<Time>>& slacks) {
  std::string text = "rank,call,function,place,phase,begin,slack\n";
  for (std::size_t r = 0; r < slacks.size(); ++r)
    for (std::size_t i = 0; i < slacks[r].size(); ++i) {
      const explain::Call call = run.calls[r][i];
      const explain::Place& place = places[call.place];
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{}\n", r, i,
                     quoted(place.function), quoted(place.site), quoted(place.phase),
                     to_seconds(run.graph[call.enter].at), to_seconds(slacks[r][i]));
    }
  return text;
}

}  // namespace foretrace::views
