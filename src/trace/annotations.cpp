#include "trace/annotations.hpp"

#include <algorithm>
#include <cmath>

namespace foretrace::trace {
namespace {

std::string counted(std::uint64_t count, const char* one, const char* several,
                    const std::string& first) {
  return std::to_string(count) + (count == 1 ? one : several) + " (first: '" + first + "')";
}

}  // namespace

Annotations::Name Annotations::name(const char* text) {
  const auto next = static_cast<std::uint32_t>(names_.size());
  const auto [entry, added] = numbers_.try_emplace(text, next);
  if (added) {
    names_.push_back(&entry->first);
    if (entry->first.empty()) unnamed_ = next;
  }
  return {entry->second, added};
}

void Annotations::begin(std::uint32_t name, bool logged) {
  open_.push_back({name, logged});
}

bool Annotations::end(std::uint32_t name, bool logging) {
  const auto last = [this](std::uint32_t number) {
    return std::find_if(open_.rbegin(), open_.rend(),
                        [number](const Open& open) { return open.name == number; });
  };
  auto found = last(name);
  if (found == open_.rend() && unnamed_ != kNone) found = last(unnamed_);
  if (found == open_.rend()) {
    if (never_opened_++ == 0) first_never_opened_ = name;
    return logging;
  }
  const bool logged = found->logged;
  open_.erase(std::next(found).base());
  return logged;
}

bool Annotations::takes(double steps) {
  if (std::isfinite(steps) && steps >= 0) return true;
  refused_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

std::string Annotations::complaint() const {
  std::string text;
  if (never_opened_ > 0)
    text = counted(never_opened_, " phase closed that was not open",
                   " phases closed that were not open", *names_[first_never_opened_]);
  std::uint64_t left = 0;
  std::uint32_t first = 0;
  for (const Open& open : open_)
    if (open.name != unnamed_ && left++ == 0) first = open.name;
  if (left > 0)
    text += (text.empty() ? "" : ", ") +
            counted(left, " phase left open", " phases left open", *names_[first]);
  if (const std::uint64_t refused = refused_; refused > 0)
    text += (text.empty() ? "" : ", ") + std::to_string(refused) +
            (refused == 1 ? " announcement of steps (FORETRACE_COMPUTE) that is"
                          : " announcements of steps (FORETRACE_COMPUTE) that are") +
            " below zero or not finite, taken as 0";
  return text;
}

}  // namespace foretrace::trace
