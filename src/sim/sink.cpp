#include "sim/sink.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"

namespace foretrace::sim {

void to_event(const Operation& operation, const Interval& interval, trace::Event& event) {
  static_cast<trace::Call&>(event) = operation;
  event.compute = interval.compute;
  event.enter = interval.enter;
  event.leave = interval.leave;
  event.wait = interval.wait;
  event.completions.assign(operation.completions.begin(), operation.completions.end());
  event.counts = 0;
  event.code = operation.kind == trace::EventKind::aborted ? operation.code : 0;
  event.value =
      operation.kind == trace::EventKind::mark ? std::bit_cast<double>(operation.payload) : 0;
}

MemorySink::MemorySink(const Source& source, trace::TraceInfo info) : source_(&source) {
  trace_.info = std::move(info);
  trace_.info.ranks = source.ranks();
  trace_.ranks.resize(static_cast<std::size_t>(source.ranks()));
}

void MemorySink::finished(WorldRank rank, const Operation& operation, const Interval& interval) {
  trace::Event& event = trace_.ranks[static_cast<std::size_t>(rank.value)].emplace_back();
  to_event(operation, interval, event);
  if (trace::uses_comm(event) && !comms_.contains(event.comm))
    comms_.emplace(event.comm, source_->comm(event.comm));
  if (const trace::Counts* counts = counts_of(operation))
    event.counts = counts_.try_emplace(*counts, static_cast<trace::CountsId>(counts_.size() + 1))
                       .first->second;
}

namespace {

// Of the ranks of `source` those that were there: the last may be places for ranks that nobody
// started. `has_events(rank)`.
template <class HasEvents>
int ranks_that_came(const Source& source, HasEvents has_events) {
  int ranks = source.ranks();
  while (ranks > 0 && !source.starts(WorldRank(ranks - 1)) &&
         !has_events(static_cast<std::size_t>(ranks - 1)))
    --ranks;
  return ranks;
}

}  // namespace

// The source's numbers depend on the order in which the engine asked for
// operations; those of the trace must not.
trace::Trace MemorySink::take() {
  trace::keep_ranks(trace_.info, ranks_that_came(*source_, [&](std::size_t rank) {
                      return !trace_.ranks[rank].empty();
                    }));
  trace_.ranks.resize(static_cast<std::size_t>(trace_.info.ranks));
  constexpr std::uint32_t kNew = UINT32_MAX;
  std::vector<trace::NameId> names;
  std::map<trace::SiteId, trace::SiteId> sites;
  std::vector<std::pair<std::uint64_t, trace::CommId>> keys;
  for (auto& events : trace_.ranks) {
    for (trace::Event& event : events) {
      if (event.name >= names.size()) names.resize(event.name + std::size_t{1}, kNew);
      if (names[event.name] == kNew) {
        names[event.name] = static_cast<trace::NameId>(trace_.names.size());
        trace_.names.emplace_back(source_->name(event.name));
      }
      event.name = names[event.name];
      if (event.site != 0) {
        const auto [site, added] = sites.try_emplace(event.site);
        if (added) {
          trace_.sites.push_back(source_->site(event.site));
          site->second = static_cast<trace::SiteId>(trace_.sites.size());
        }
        event.site = site->second;
      }
      if (trace::uses_comm(event)) keys.emplace_back(comms_.at(event.comm).key, event.comm);
    }
  }
  renumber_counts();
  std::ranges::sort(keys);
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
  std::unordered_map<trace::CommId, trace::CommId> comms;
  for (const auto& [key, id] : keys) {
    comms.emplace(id, static_cast<trace::CommId>(trace_.comms.size()));
    trace_.comms.push_back(std::move(comms_.at(id)));
  }
  for (auto& events : trace_.ranks)
    for (trace::Event& event : events)
      if (trace::uses_comm(event)) event.comm = comms.at(event.comm);
  return std::move(trace_);
}

void MemorySink::renumber_counts() {
  std::vector<const trace::Counts*> lists(counts_.size());
  for (const auto& [counts, id] : counts_) lists[id - std::size_t{1}] = &counts;
  std::vector<trace::CountsId> numbers(lists.size(), 0);
  for (auto& events : trace_.ranks)
    for (trace::Event& event : events) {
      if (event.counts == 0) continue;
      const std::size_t id = event.counts - std::size_t{1};
      if (numbers[id] == 0) {
        trace_.counts.push_back(*lists[id]);
        numbers[id] = static_cast<trace::CountsId>(trace_.counts.size());
      }
      event.counts = numbers[id];
    }
}

struct FileSink::Stream {
  trace::TraceWriter writer;
  std::unordered_map<trace::NameId, trace::NameId> names;
  std::unordered_map<trace::CommId, trace::CommId> comms;
  std::unordered_map<trace::SiteId, trace::SiteId> sites;
};

FileSink::FileSink(const Source& source, const trace::TraceInfo& info, std::string path)
    : source_(&source), path_(std::move(path)), unfinished_(path_ + ".part") {
  trace::TraceInfo own = info;
  own.ranks = source.ranks();
  own.clock = trace::Clock::virtual_;
  file_ = trace::create_trace_file(path_ + ".part", own);
  try {
    const auto appended = std::make_shared<const trace::AppendedTrace>(path_ + ".part");
    for (int r = 0; r < source.ranks(); ++r) {
      auto stream = std::make_unique<Stream>();
      stream->writer = trace::TraceWriter(appended, WorldRank(r), own.clock);
      streams_.push_back(std::move(stream));
    }
  } catch (...) {
    // Nobody calls the destructor of what was never made.
    streams_.clear();
    std::remove((path_ + ".part").c_str());
    throw;
  }
}

FileSink::~FileSink() {
  if (sealed_) return;
  streams_.clear();
  std::remove((path_ + ".part").c_str());
}

void FileSink::finished(WorldRank rank, const Operation& operation, const Interval& interval) {
  Stream& stream = *streams_[static_cast<std::size_t>(rank.value)];
  to_event(operation, interval, event_);
  event_.name = name_number(stream, event_.name);
  if (event_.site != 0) event_.site = site_number(stream, event_.site);
  if (trace::uses_comm(event_)) event_.comm = comm_number(stream, event_.comm);
  stream.writer.write(event_, counts_of(operation));
}

// Of calls alone.
void FileSink::began(WorldRank rank, const Operation& operation) {
  switch (operation.kind) {
    case trace::EventKind::init:
    case trace::EventKind::finalize:
    case trace::EventKind::phase_begin:
    case trace::EventKind::phase_end:
    case trace::EventKind::mark:
    case trace::EventKind::aborted:
      return;
    default:
      break;
  }
  Stream& stream = *streams_[static_cast<std::size_t>(rank.value)];
  const trace::NameId name = name_number(stream, operation.name);
  stream.writer.enter(name, operation.site == 0 ? 0 : site_number(stream, operation.site));
}

trace::NameId FileSink::name_number(Stream& stream, trace::NameId id) {
  const auto [entry, added] = stream.names.try_emplace(id);
  if (added) entry->second = stream.writer.define_name(source_->name(id));
  return entry->second;
}

trace::CommId FileSink::comm_number(Stream& stream, trace::CommId id) {
  const auto [entry, added] = stream.comms.try_emplace(id);
  if (added) {
    const trace::Communicator& comm = source_->comm(id);
    entry->second = stream.writer.define_comm(comm.key, comm.members);
  }
  return entry->second;
}

trace::SiteId FileSink::site_number(Stream& stream, trace::SiteId id) {
  const auto [entry, added] = stream.sites.try_emplace(id);
  if (added) entry->second = stream.writer.define_site(source_->site(id));
  return entry->second;
}

void FileSink::finish(bool complete) {
  const int ranks =
      ranks_that_came(*source_, [&](std::size_t rank) { return !streams_[rank]->names.empty(); });
  std::uint64_t lost = 0;
  for (auto& stream : streams_) {
    stream->writer.close();
    lost += stream->writer.lost();
  }
  if (lost > 0)
    throw Error(path_ + ": " + std::to_string(lost) +
                " events could not be written; make room on the disk");
  if (!complete) return leave_unfinished();
  trace::seal_trace_file(path_ + ".part", path_, {}, ranks);
  sealed_ = true;
}

void FileSink::leave_unfinished() {
  streams_.clear();
  if (std::rename((path_ + ".part").c_str(), path_.c_str()) == 0) sealed_ = true;
}

}  // namespace foretrace::sim
