#include "analysis/marks.hpp"

#include <algorithm>

namespace foretrace::analysis {

void MarkCounter::take(const trace::Event& event) {
  if (event.kind != trace::EventKind::mark) return;
  if (by_name_.size() <= event.name) by_name_.resize(event.name + std::size_t{1});
  MarkProfile& mark = by_name_[event.name];
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

std::vector<MarkProfile> MarkCounter::finish(const std::vector<std::string>& names) const {
  std::vector<MarkProfile> marks;
  for (std::size_t name = 0; name < by_name_.size(); ++name) {
    if (by_name_[name].count == 0) continue;
    marks.push_back(by_name_[name]);
    marks.back().name = names.at(name);
  }
  return marks;
}

std::vector<MarkProfile> profile_marks(const trace::Trace& trace) {
  MarkCounter counter;
  for (const auto& events : trace.ranks)
    for (const trace::Event& event : events) counter.take(event);
  return counter.finish(trace.names);
}

}  // namespace foretrace::analysis
