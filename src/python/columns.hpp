// Columns: the fields of events, of completed requests and of messages' ends, as columns of
// numbers. One row of a table for each column; docs/python.md describes them.
//
// Between a trace and whoever wants arrays of it. Reads nothing and allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "formats/messages.hpp"
#include "trace/event.hpp"

namespace foretrace::python {

// What a row of a table is made of.
struct Row {
  WorldRank rank;
  std::int64_t number = 0;  // of the event in the trace, ranks one after another
  std::int32_t comm = -1;   // of the event, by the whole trace's numbers
  const trace::Event* event = nullptr;
  const trace::Completion* completion = nullptr;  // table completions
  const formats::Message* message = nullptr;      // table ends
};

struct Column {
  const char* name;
  const char* type;  // as NumPy calls it
  // Writes the row's value, of `type`, to `to`.
  void (*put)(const Row& row, std::byte* to);
  std::size_t size;  // bytes of a value
};

// What rows a trace gives: each event; each request that a call completed; each end of a message.
enum class TableKind { events, completions, ends };

// Empty: there is no table of that name.
std::span<const Column> columns_of(std::string_view table, TableKind& kind);

}  // namespace foretrace::python
