#include "mpi/core/unexpected.hpp"

#include <algorithm>
#include <tuple>

#include "sim/operation.hpp"

namespace foretrace::mpi {

using live::Envelope;
using live::kNoClock;

namespace {

// Communicator, source (-1: any) and tag (sim::kAnyTag: any) are those of the pattern.
bool fits(const Envelope& message, const Envelope& pattern) {
  return message.comm == pattern.comm && (pattern.source < 0 || message.source == pattern.source) &&
         (pattern.tag == sim::kAnyTag || message.tag == pattern.tag);
}

}  // namespace

void Unexpected::add(const Envelope& message) {
  Messages& messages = by_sender_[message.source];
  messages.insert(std::ranges::upper_bound(messages, message.number, {}, &Envelope::number),
                  message);
  ++size_;
}

template <class Is>
std::optional<Envelope> Unexpected::take_if(std::int32_t source, Is is) {
  const auto of = by_sender_.find(source);
  if (of == by_sender_.end()) return std::nullopt;
  const auto found = std::ranges::find_if(of->second, is);
  if (found == of->second.end()) return std::nullopt;
  const Envelope message = *found;
  of->second.erase(found);
  --size_;
  return message;
}

std::optional<Envelope> Unexpected::take_first(const Envelope& channel) {
  return take_if(channel.source, [&](const Envelope& message) { return fits(message, channel); });
}

std::optional<Envelope> Unexpected::take(std::int32_t source, std::uint64_t number) {
  return take_if(source, [&](const Envelope& message) { return message.number == number; });
}

std::optional<const Envelope*> Unexpected::first(const Envelope& pattern, const Named& but) const {
  const Envelope* first = nullptr;
  const auto order = [](const Envelope& message) {
    return std::tuple(message.sent, message.source);
  };
  for (const auto& [source, messages] : by_sender_) {
    const auto found = std::ranges::find_if(messages, [&](const Envelope& message) {
      return fits(message, pattern) && !but.contains({message.source, message.number});
    });
    if (found == messages.end()) continue;
    if (!found->sure || found->sent == kNoClock) return std::nullopt;
    if (!first || order(*found) < order(*first)) first = &*found;
  }
  return first;
}

}  // namespace foretrace::mpi
