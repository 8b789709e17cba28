#include "python/columns.hpp"

#include <cstring>
#include <type_traits>

namespace foretrace::python {
namespace {

template <class Value>
constexpr const char* type_name() {
  if constexpr (std::is_same_v<Value, double>)
    return "float64";
  else if constexpr (std::is_same_v<Value, bool>)
    return "bool";
  else if constexpr (std::is_signed_v<Value>)
    return sizeof(Value) == 8 ? "int64" : sizeof(Value) == 4 ? "int32" : "int8";
  else
    return sizeof(Value) == 8 ? "uint64" : sizeof(Value) == 4 ? "uint32" : "uint8";
}

// A column of what `get`, a lambda that captures nothing, takes from a row.
template <class Get>
constexpr Column column(const char* name, Get) {
  using Value = std::invoke_result_t<Get, const Row&>;
  return {name, type_name<Value>(),
          [](const Row& row, std::byte* to) {
            const Value value = Get{}(row);
            std::memcpy(to, &value, sizeof value);
          },
          sizeof(Value)};
}

bool is_collective(const Row& row) {
  return row.event->kind == trace::EventKind::collective ||
         row.event->kind == trace::EventKind::icollective;
}

constexpr Column kEvents[] = {
    column("rank", [](const Row& row) { return row.rank.value; }),
    column("kind", [](const Row& row) { return static_cast<std::uint8_t>(row.event->kind); }),
    column("name", [](const Row& row) { return row.event->name; }),
    column("site", [](const Row& row) { return static_cast<std::int32_t>(row.event->site) - 1; }),
    column("compute", [](const Row& row) { return row.event->compute.count_ps(); }),
    column("steps", [](const Row& row) { return row.event->steps; }),
    column("enter", [](const Row& row) { return row.event->enter.count_ps(); }),
    column("leave", [](const Row& row) { return row.event->leave.count_ps(); }),
    column("wait", [](const Row& row) { return row.event->wait.count_ps(); }),
    column("comm", [](const Row& row) { return row.comm; }),
    column("to", [](const Row& row) { return row.event->send.peer.value; }),
    column("to_tag", [](const Row& row) { return row.event->send.tag; }),
    column("to_bytes", [](const Row& row) { return row.event->send.bytes.count; }),
    column("untouched", [](const Row& row) { return row.event->send.untouched; }),
    column("piece", [](const Row& row) { return std::uint32_t{row.event->send.piece}; }),
    column("from", [](const Row& row) { return row.event->recv.peer.value; }),
    column("from_tag", [](const Row& row) { return row.event->recv.tag; }),
    column("from_bytes", [](const Row& row) { return row.event->recv.bytes.count; }),
    column("from_piece", [](const Row& row) { return std::uint32_t{row.event->recv.piece}; }),
    column("any_source", [](const Row& row) { return row.event->recv.any_source; }),
    column("any_tag", [](const Row& row) { return row.event->recv.any_tag; }),
    column("mode", [](const Row& row) { return static_cast<std::uint8_t>(row.event->mode); }),
    column("collective",
           [](const Row& row) {
             return is_collective(row) ? static_cast<std::int8_t>(row.event->collective)
                                       : std::int8_t{-1};
           }),
    column("bytes", [](const Row& row) { return row.event->bytes.count; }),
    column("root", [](const Row& row) { return row.event->root.value; }),
    column("request", [](const Row& row) { return row.event->request; }),
    column("taken", [](const Row& row) { return row.event->taken; }),
    column("count", [](const Row& row) { return row.event->count; }),
    column("code", [](const Row& row) { return row.event->code; }),
    column("value", [](const Row& row) { return row.event->value; }),
};

constexpr Column kCompletions[] = {
    column("event", [](const Row& row) { return row.number; }),
    column("rank", [](const Row& row) { return row.rank.value; }),
    column("request", [](const Row& row) { return row.completion->request; }),
    column("from", [](const Row& row) { return row.completion->source.value; }),
    column("tag", [](const Row& row) { return row.completion->tag; }),
    column("bytes", [](const Row& row) { return row.completion->bytes.count; }),
    column("cancelled", [](const Row& row) { return row.completion->cancelled; }),
};

constexpr Column kEnds[] = {
    column("event", [](const Row& row) { return row.number; }),
    column("rank", [](const Row& row) { return row.rank.value; }),
    column("sent", [](const Row& row) { return row.message->sent; }),
    column("peer", [](const Row& row) { return row.message->peer.value; }),
    column("tag", [](const Row& row) { return row.message->tag; }),
    column("bytes", [](const Row& row) { return row.message->bytes.count; }),
    column("at", [](const Row& row) { return row.message->at.count_ps(); }),
    column("posted", [](const Row& row) { return row.message->posted.count_ps(); }),
    column("message", [](const Row& row) { return row.message->number; }),
};

}  // namespace

std::span<const Column> columns_of(std::string_view table, TableKind& kind) {
  if (table == "events") return kind = TableKind::events, std::span<const Column>(kEvents);
  if (table == "completions")
    return kind = TableKind::completions, std::span<const Column>(kCompletions);
  if (table == "ends") return kind = TableKind::ends, std::span<const Column>(kEnds);
  return {};
}

}  // namespace foretrace::python
