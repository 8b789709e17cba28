#include "formats/messages.hpp"

#include <initializer_list>
#include <string>

#include "formats/merged_events.hpp"

namespace foretrace::formats {

using trace::Event;
using trace::EventKind;

namespace {

// Finaliser of splitmix64: every bit of the input matters for every bit of the result.
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

}  // namespace

std::uint64_t Messages::number(Counts& counts, std::uint64_t comm, WorldRank from, WorldRank to,
                               std::int32_t tag) {
  std::uint64_t key = 0;
  for (const std::uint64_t part :
       {comm, static_cast<std::uint64_t>(from.value), static_cast<std::uint64_t>(to.value),
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(tag))})
    key = mixed(key * 31 + part + 0x9E3779B97F4A7C15u);
  const std::uint64_t result = mixed(key + ++counts[key]);
  return result == 0 ? 1 : result;
}

void Messages::send(const Event& event, std::uint64_t comm) {
  if (!event.send.peer.valid()) return;
  found_.push_back({true, event.enter, event.enter, event.send.peer, event.send.tag,
                    event.send.bytes, number(sent_, comm, rank_, event.send.peer, event.send.tag)});
}

void Messages::receive(std::uint64_t comm, const trace::Endpoint& what, Time posted, Time at) {
  if (!what.peer.valid()) return;
  found_.push_back({false, at, posted, what.peer, what.tag, what.bytes,
                    number(received_, comm, what.peer, rank_, what.tag)});
}

void Messages::complete(const Event& event) {
  for (const trace::Completion& done : event.completions) {
    const auto found = open_.find(done.request);
    if (found == open_.end()) continue;
    Open& open = found->second;
    if (done.source.valid() && !done.cancelled) {
      if (open.number == 0)
        open.number = number(received_, open.comm, done.source, rank_, done.tag);
      found_.push_back(
          {false, event.leave, open.posted, done.source, done.tag, done.bytes, open.number});
    }
    open_.erase(found);
  }
}

const std::vector<Message>& Messages::of(const Event& event, const trace::TraceReader& reader) {
  found_.clear();
  const std::uint64_t comm = trace::uses_comm(event) ? reader.comm(rank_, event.comm).key : 0;
  switch (event.kind) {
    case EventKind::send:
    case EventKind::isend:
      send(event, comm);
      break;
    case EventKind::recv:
      receive(comm, event.recv, event.enter, event.leave);
      break;
    case EventKind::sendrecv:
      send(event, comm);
      receive(comm, event.recv, event.enter, event.leave);
      break;
    case EventKind::irecv: {
      const bool known = event.recv.peer.valid() && !event.recv.any_source && !event.recv.any_tag;
      open_[event.request] = {
          comm, known ? number(received_, comm, event.recv.peer, rank_, event.recv.tag) : 0,
          event.enter};
      break;
    }
    case EventKind::complete:
      complete(event);
      break;
    default:
      break;
  }
  return found_;
}

std::unordered_set<std::uint64_t> lone_messages(trace::TraceReader& reader) {
  std::vector<Messages> messages;
  for (int r = 0; r < reader.ranks(); ++r) messages.emplace_back(WorldRank(r));
  std::unordered_set<std::uint64_t> lone;
  MergedEvents events(reader);
  Moment moment;
  while (events.next(moment)) {
    if (!moment.begins) continue;
    auto& of_rank = messages[static_cast<std::size_t>(moment.rank.value)];
    for (const Message& message : of_rank.of(*moment.event, reader))
      if (!lone.insert(message.number).second) lone.erase(message.number);
  }
  return lone;
}

void note_lone_messages(Notes& notes, std::size_t count) {
  if (count == 0) return;
  notes.push_back((count == 1 ? "1 message has" : std::to_string(count) + " messages have") +
                  std::string(" one end only in the trace, as what nobody receives, and so no "
                              "place in this format"));
}

}  // namespace foretrace::formats
