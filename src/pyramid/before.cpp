#include "pyramid/before.hpp"

#include <algorithm>

#include "trace/event.hpp"

namespace foretrace::pyramid {

using trace::EventKind;

std::uint32_t Channels::number(bool sends, std::int64_t peer, std::int64_t comm, std::int64_t tag) {
  if (peer < 0) return 0;
  return numbers_
      .try_emplace({sends ? 1 : 0, peer, comm, tag},
                   static_cast<std::uint32_t>(numbers_.size() + 1))
      .first->second;
}

ShapeKind Channels::add(const views::TimelineShape& shape) {
  ShapeKind kind;
  kind.kind = static_cast<std::uint8_t>(shape[0]);
  kind.name = static_cast<std::uint32_t>(shape[1]);
  kind.sends = number(true, shape[3], shape[2], shape[4]);
  kind.receives = number(false, shape[6], shape[2], shape[7]);
  return kind;
}

void Before::take(const ShapeKind& shape, std::int64_t enter, std::uint64_t done) {
  const auto kind = static_cast<EventKind>(shape.kind);
  if (shape.sends != 0) ++messages[shape.sends];
  if (shape.receives != 0 && (kind != EventKind::irecv || done != 0)) ++messages[shape.receives];
  if (kind == EventKind::phase_begin) open_phases.emplace_back(shape.name, enter);
  if (kind != EventKind::phase_end) return;
  const auto last = std::find_if(open_phases.rbegin(), open_phases.rend(),
                                 [&](const auto& open) { return open.first == shape.name; });
  if (last != open_phases.rend()) open_phases.erase(std::next(last).base());
}

void Before::spend(std::size_t class_, std::int64_t time) {
  if (times.size() <= class_) times.resize(class_ + 1);
  times[class_] += static_cast<std::uint64_t>(time);
}

void Before::write(std::string& out) const {
  views::put_varint(out, messages.size());
  for (const auto& [channel, count] : messages) {
    views::put_varint(out, channel);
    views::put_varint(out, count);
  }
  views::put_varint(out, open_phases.size());
  for (const auto& [name, since] : open_phases) {
    views::put_varint(out, name);
    views::put_varint(out, static_cast<std::uint64_t>(since));
  }
  views::put_varint(out, times.size());
  for (const std::uint64_t time : times) views::put_varint(out, time);
}

Before Before::read(Bytes& in) {
  Before before;
  for (std::uint64_t left = in.varint(); left > 0; --left) {
    const auto channel = static_cast<std::uint32_t>(in.varint());
    before.messages[channel] = in.varint();
  }
  for (std::uint64_t left = in.varint(); left > 0; --left) {
    const auto name = static_cast<std::uint32_t>(in.varint());
    before.open_phases.emplace_back(name, static_cast<std::int64_t>(in.varint()));
  }
  const std::uint64_t classes = in.varint();
  if (classes > 256) in.refuse();
  while (before.times.size() < classes) before.times.push_back(in.varint());
  return before;
}

}  // namespace foretrace::pyramid
