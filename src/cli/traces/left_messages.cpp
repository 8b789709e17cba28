#include "cli/traces/left_messages.hpp"

#include <algorithm>
#include <cstdio>
#include <tuple>
#include <unordered_map>

#include "cli/machines/function_list.hpp"

namespace foretrace::cli {

void tell_left_messages(const std::vector<sim::LeftMessage>& most, std::uint64_t count) {
  const auto number = static_cast<unsigned long long>(count);
  if (count > 0)
    std::fprintf(stderr, "foretrace: %llu %s at MPI_Finalize\n", number,
                 count == 1 ? "message was not received" : "messages were not received");
  for (const sim::LeftMessage& left : most)
    std::fprintf(stderr, "foretrace:   from rank %d to rank %d, tag %d, %llu bytes\n",
                 left.source.value, left.destination.value, left.tag,
                 static_cast<unsigned long long>(left.bytes.count));
}

namespace {

// Whether it tells of each of its messages what became of it.
bool tells(const trace::TraceReader& reader, WorldRank rank, const trace::Event& event) {
  const bool follows =
      event.kind != trace::EventKind::call || !carries_no_time(reader.name(rank, event.name));
  return follows && std::ranges::none_of(event.completions, &trace::Completion::cancelled);
}

}  // namespace

void tell_left_messages(trace::TraceReader& reader) {
  if (!reader.sealed() || reader.info().origin == "convert") return;
  std::unordered_map<std::uint64_t, sim::LeftMessage> sent;
  std::vector<std::uint64_t> received;
  std::vector<bool> is_open(static_cast<std::size_t>(reader.ranks()));
  for (int r = 0; r < reader.ranks(); ++r) {
    const WorldRank rank(r);
    formats::Messages messages(rank);
    reader.rewind(rank);
    trace::Event event;
    while (reader.next(rank, event)) {
      if (!tells(reader, rank, event)) return;
      for (const formats::Message& message : messages.of(event, reader)) {
        if (message.sent)
          sent[message.number] = {rank, message.peer, 0, message.tag, message.bytes};
        else
          received.push_back(message.number);
      }
    }
    if (event.kind != trace::EventKind::finalize) return;
    is_open[static_cast<std::size_t>(r)] = messages.has_open_receives();
  }
  for (const std::uint64_t number : received) sent.erase(number);
  std::vector<sim::LeftMessage> left;
  for (const auto& [number, message] : sent)
    if (!is_open[static_cast<std::size_t>(message.destination.value)]) left.push_back(message);
  std::ranges::sort(left, {}, [](const sim::LeftMessage& one) {
    return std::tuple(one.destination.value, one.source.value, one.tag, one.bytes.count);
  });
  const std::size_t count = left.size();
  left.resize(std::min(count, sim::kMostLeftMessages));
  tell_left_messages(left, count);
}

}  // namespace foretrace::cli
