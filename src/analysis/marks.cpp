#include "analysis/marks.hpp"

#include <algorithm>

namespace foretrace::analysis {

std::vector<MarkProfile> profile_marks(const trace::Trace& trace) {
  std::vector<MarkProfile> by_name(trace.names.size());
  for (const auto& events : trace.ranks) {
    for (const trace::Event& event : events) {
      if (event.kind != trace::EventKind::mark) continue;
      MarkProfile& mark = by_name.at(event.name);
      if (mark.count == 0) {
        mark.first = mark.last = event.enter;
        mark.least = mark.most = event.value;
      }
      ++mark.count;
      mark.first = std::min(mark.first, event.enter);
      mark.last = std::max(mark.last, event.enter);
      mark.least = std::min(mark.least, event.value);
      mark.most = std::max(mark.most, event.value);
      mark.mean += (event.value - mark.mean) / static_cast<double>(mark.count);
    }
  }
  std::vector<MarkProfile> marks;
  for (std::size_t name = 0; name < by_name.size(); ++name) {
    if (by_name[name].count == 0) continue;
    by_name[name].name = trace.names[name];
    marks.push_back(std::move(by_name[name]));
  }
  return marks;
}

}  // namespace foretrace::analysis
