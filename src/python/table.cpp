#include "python/table.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "formats/fields.hpp"
#include "trace/damage.hpp"
#include "trace/seal.hpp"
#include "trace/trace_reader.hpp"

namespace foretrace::python {
namespace {

using nlohmann::ordered_json;

std::span<const Column> known_columns(std::string_view table, TableKind& kind) {
  const auto columns = columns_of(table, kind);
  if (columns.empty())
    throw Error("expected the table events, completions or ends, found '" + std::string(table) +
                "'");
  return columns;
}

}  // namespace

OpenTrace::OpenTrace(const std::string& path) {
  if (const formats::Format* format = formats::foreign_format(path))
    foreign_ = std::make_unique<formats::ForeignTrace>(path, *format);
  reader_ = std::make_unique<trace::WholeReader>(foreign_ ? foreign_->path() : path);
  counts_.resize(static_cast<std::size_t>(reader_->file().ranks()));
  std::int64_t events = 0;
  for (int r = 0; r < reader_->file().ranks(); ++r) {
    survey(WorldRank(r));
    first_event_.push_back(events);
    events += counts_[static_cast<std::size_t>(r)].events;
  }
  describe(foreign_ ? foreign_->notes() : formats::Notes());
}

std::int32_t OpenTrace::comm_of(WorldRank rank, const trace::Event& event) {
  if (!trace::uses_comm(event)) return -1;
  const trace::Communicator& comm = reader_->file().comm(rank, event.comm);
  const auto [found, added] =
      comm_numbers_.try_emplace(comm.key, static_cast<std::int32_t>(comms_.size()));
  if (added) comms_.push_back(comm);
  return found->second;
}

void OpenTrace::survey(WorldRank rank) {
  Counts& counts = counts_[static_cast<std::size_t>(rank.value)];
  formats::Messages messages(rank);
  trace::Event event;
  while (reader_->next(rank, event)) {
    ++counts.events;
    counts.completions += static_cast<std::int64_t>(event.completions.size());
    counts.ends += static_cast<std::int64_t>(messages.of(event, reader_->file()).size());
    comm_of(rank, event);
  }
}

void OpenTrace::describe(const formats::Notes& notes) {
  const trace::TraceReader& file = reader_->file();
  ordered_json all = {{"info", ordered_json::parse(trace::info_text(file.info()))},
                      {"complete", file.sealed() && file.damage().empty()},
                      {"names", reader_->names()},
                      {"comms", ordered_json::array()},
                      {"sites", ordered_json::array()},
                      {"kinds", {""}},
                      {"collectives", ordered_json::array()},
                      {"damage", ordered_json::array()},
                      {"notes", file.info().notes}};
  for (const std::string& note : notes) all["notes"].push_back(note);
  for (const trace::Communicator& comm : comms_) {
    ordered_json members = ordered_json::array();
    for (const WorldRank member : comm.members) members.push_back(member.value);
    all["comms"].push_back(std::move(members));
  }
  for (const trace::Site& site : reader_->sites())
    all["sites"].push_back({site.object, site.offset});
  for (int kind = 1; kind <= static_cast<int>(trace::EventKind::probe); ++kind)
    all["kinds"].push_back(formats::kind_name(static_cast<trace::EventKind>(kind)));
  for (int cost = 0; cost <= static_cast<int>(machine::Cost::comm_dup); ++cost)
    all["collectives"].push_back(machine::name_of(static_cast<machine::Cost>(cost)));
  for (const trace::Damage& damage : file.damage())
    all["damage"].push_back(trace::describe_damage(damage));
  description_ = all.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

template <class Take>
void OpenTrace::each_row(WorldRank rank, TableKind kind, Take&& take) {
  reader_->rewind(rank);
  formats::Messages messages(rank);
  trace::Event event;
  Row row;
  row.rank = rank;
  row.number = first_event_[static_cast<std::size_t>(rank.value)];
  row.event = &event;
  for (; reader_->next(rank, event); ++row.number) {
    row.comm = comm_of(rank, event);
    if (kind == TableKind::events) take(row);
    if (kind == TableKind::completions)
      for (const trace::Completion& each : event.completions) row.completion = &each, take(row);
    if (kind == TableKind::ends)
      for (const formats::Message& each : messages.of(event, reader_->file()))
        row.message = &each, take(row);
  }
}

std::int64_t OpenTrace::rows(std::string_view table, int rank) {
  TableKind kind;
  known_columns(table, kind);
  std::int64_t sum = 0;
  for (int r = 0; r < reader_->file().ranks(); ++r)
    if (rank == -1 || rank == r) sum += counts_[static_cast<std::size_t>(r)].of(kind);
  return sum;
}

void OpenTrace::fill(std::string_view table, int rank, const std::vector<Wanted>& wanted) {
  TableKind kind;
  const auto known = known_columns(table, kind);
  struct Filled {
    const Column* column;
    std::byte* at;
  };
  std::vector<Filled> columns;
  for (const Wanted& each : wanted) {
    const auto found = std::ranges::find_if(
        known, [&](const Column& column) { return column.name == each.column; });
    if (found == known.end())
      throw Error("expected a column of " + std::string(table) + ", found '" +
                  std::string(each.column) + "'");
    columns.push_back({&*found, static_cast<std::byte*>(each.to)});
  }
  std::int64_t left = rows(table, rank);
  const auto changed = [&] { throw Error(reader_->file().path() + ": the file has changed"); };
  for (int r = 0; r < reader_->file().ranks(); ++r) {
    if (rank != -1 && rank != r) continue;
    each_row(WorldRank(r), kind, [&](const Row& row) {
      if (left-- == 0) changed();
      for (Filled& each : columns) {
        each.column->put(row, each.at);
        each.at += each.column->size;
      }
    });
  }
  if (left != 0) changed();
}

}  // namespace foretrace::python
