#include "architecture/recording.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace foretrace::architecture {

double Quantity::mean(std::int64_t from, std::int64_t to) const {
  const auto span = static_cast<double>(to - from);
  const auto rest = static_cast<double>(std::max<std::int64_t>(0, to - std::max(from, since)));
  return span > 0 ? (sum + value * rest) / span : 0;
}

Recording::Recording(const FlatArchitecture& architecture, RecordingOptions options)
    : architecture_(architecture), options_(std::move(options)) {
  wanted_.assign(architecture.entities.size(), options_.only.empty());
  found_.assign(options_.only.size(), false);
  for (std::size_t i = 0; i < options_.only.size(); ++i) {
    const std::string& pattern = options_.only[i];
    for (std::size_t e = 0; e < wanted_.size(); ++e) {
      const FlatEntity& one = architecture.entities[e];
      bool fits = matches_path(pattern, one.path);
      for (int box = one.box; box > 0 && !fits;
           box = architecture.boxes[static_cast<std::size_t>(box)].parent)
        fits = matches_path(pattern, architecture.boxes[static_cast<std::size_t>(box)].path);
      if (!fits) continue;
      wanted_[e] = true;
      found_[i] = true;
    }
  }
}

void Recording::add(const MessageRecord& one) {
  if (!is_due(one.kind == MessageRecord::Kind::arrive ? one.end : one.begin, one.end)) return;
  end_ = std::max(end_, one.end);
  if (one.kind == MessageRecord::Kind::arrive) {
    latencies_.add(one.end - one.begin);
    bytes_ += one.bytes;
  }
  if (one.kind == MessageRecord::Kind::pass) {
    LinkSums& link =
        links_[static_cast<std::uint64_t>(one.from) << 32 | static_cast<std::uint32_t>(one.to)];
    link.from = one.from;
    link.to = one.to;
    ++link.packets;
    link.bytes += one.bytes;
    const std::int64_t begin = std::max({one.begin, link.until, options_.from});
    const std::int64_t end = std::min(one.end, options_.to);
    link.busy += std::max<std::int64_t>(0, end - begin);
    link.until = std::max(link.until, end);
  }
  if (options_.detail == Detail::statistics ||
      !(wanted_[static_cast<std::size_t>(one.from)] || wanted_[static_cast<std::size_t>(one.to)]))
    return;
  if (has_room())
    messages_.push_back(one);
  else
    ++lost_;
}

std::uint32_t Recording::quantity(std::uint32_t entity, const std::string& name) {
  Quantity made;
  made.entity = static_cast<std::int32_t>(entity);
  made.name = name;
  made.wanted = wanted_[entity];
  for (std::size_t i = 0; i < options_.only.size(); ++i)
    if (matches_path(options_.only[i], architecture_.entities[entity].path + "." + name))
      made.wanted = found_[i] = true;
  quantities_.push_back(std::move(made));
  return static_cast<std::uint32_t>(quantities_.size() - 1);
}

void Recording::changed(std::uint32_t number, entity::Ps time, double value) {
  Quantity& of = quantities_[number];
  const std::int64_t before = std::clamp<std::int64_t>(of.since, options_.from, options_.to);
  const std::int64_t now = std::clamp<std::int64_t>(time, options_.from, options_.to);
  of.sum += of.value * static_cast<double>(now - before);
  const double old = of.value;
  of.value = value;
  of.since = time;
  if (!is_due(time, time)) return;
  end_ = std::max(end_, time);
  of.most = std::max(of.most, value);
  if (options_.detail != Detail::states || !of.wanted) return;
  // What it was when the time asked for began.
  if (!of.told && time > options_.from && old != 0 && has_room())
    states_.push_back({options_.from, number, old});
  of.told = true;
  if (has_room())
    states_.push_back({time, number, value});
  else
    ++lost_;
}

void Recording::passed(std::uint32_t from, std::uint32_t to, std::uint64_t id, std::uint64_t bytes,
                       entity::Ps begin, entity::Ps end) {
  add({MessageRecord::Kind::pass, static_cast<std::uint32_t>(id), static_cast<std::int32_t>(from),
       static_cast<std::int32_t>(to), bytes, begin, end});
}

std::string Recording::unknown_path() const {
  const auto missing = std::ranges::find(found_, false);
  return missing == found_.end()
             ? std::string()
             : options_.only[static_cast<std::size_t>(missing - found_.begin())];
}

std::vector<LinkSums> Recording::links() const {
  std::vector<LinkSums> all;
  for (const auto& [ends, link] : links_) all.push_back(link);
  std::ranges::sort(all, {}, [](const LinkSums& one) { return std::pair(one.from, one.to); });
  return all;
}

Detail parse_detail(const std::string& word) {
  if (word == "statistics") return Detail::statistics;
  if (word == "messages") return Detail::messages;
  if (word == "states") return Detail::states;
  throw UsageError("--watch-what: expected statistics, messages or states, found '" + word + "'");
}

}  // namespace foretrace::architecture
