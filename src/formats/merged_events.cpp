#include "formats/merged_events.hpp"

#include <algorithm>

namespace foretrace::formats {

MergedEvents::MergedEvents(trace::TraceReader& reader)
    : reader_(reader), cursors_(static_cast<std::size_t>(reader.ranks())) {
  for (int r = 0; r < reader.ranks(); ++r) {
    const WorldRank rank(r);
    reader_.rewind(rank);
    if (reader_.next(rank, cursors_[static_cast<std::size_t>(r)].event)) push(r);
  }
}

void MergedEvents::push(int rank) {
  Cursor& cursor = cursors_[static_cast<std::size_t>(rank)];
  const Time at = cursor.begins ? cursor.event.enter : cursor.event.leave;
  cursor.last = std::max(cursor.last, at);
  queue_.emplace(cursor.last, rank);
}

bool MergedEvents::next(Moment& moment) {
  if (current_ >= 0) {
    Cursor& cursor = cursors_[static_cast<std::size_t>(current_)];
    cursor.begins = !cursor.begins;
    if (!cursor.begins || reader_.next(WorldRank(current_), cursor.event)) push(current_);
  }
  current_ = -1;
  if (queue_.empty()) return false;
  const auto [at, rank] = queue_.top();
  queue_.pop();
  current_ = rank;
  const Cursor& cursor = cursors_[static_cast<std::size_t>(rank)];
  moment = {WorldRank(rank), at, cursor.begins, &cursor.event};
  return true;
}

Time last_time(trace::TraceReader& reader) {
  Time last;
  trace::Event event;
  for (int r = 0; r < reader.ranks(); ++r) {
    reader.rewind(WorldRank(r));
    while (reader.next(WorldRank(r), event)) last = std::max(last, event.leave);
    reader.rewind(WorldRank(r));
  }
  return last;
}

}  // namespace foretrace::formats
