#include "trace/trace.hpp"

#include <map>
#include <utility>

#include "trace/new_trace.hpp"
#include "trace/whole_reader.hpp"

namespace foretrace::trace {

Trace read_trace(const std::string& path) {
  WholeReader reader(path);
  Trace trace;
  trace.info = reader.file().info();
  trace.sealed = reader.file().sealed();
  std::map<std::uint64_t, Communicator> comms;
  trace.ranks.resize(static_cast<std::size_t>(reader.file().ranks()));
  // Communicators get the numbers of the whole trace once all keys are known.
  std::vector<std::vector<std::uint64_t>> keys(trace.ranks.size());
  for (int r = 0; r < reader.file().ranks(); ++r) {
    const WorldRank rank(r);
    auto& events = trace.ranks[static_cast<std::size_t>(r)];
    Event event;
    while (reader.next(rank, event)) {
      std::uint64_t key = 0;
      if (uses_comm(event)) {
        const Communicator& comm = reader.file().comm(rank, event.comm);
        key = comm.key;
        comms.try_emplace(key, comm);
      }
      keys[static_cast<std::size_t>(r)].push_back(key);
      events.push_back(event);
    }
  }
  trace.names = reader.names();
  trace.sites = reader.sites();
  trace.counts = reader.counts();
  std::map<std::uint64_t, CommId> numbers;
  for (auto& [key, comm] : comms) {
    numbers.emplace(key, static_cast<CommId>(trace.comms.size()));
    trace.comms.push_back(std::move(comm));
  }
  for (std::size_t r = 0; r < trace.ranks.size(); ++r)
    for (std::size_t i = 0; i < trace.ranks[r].size(); ++i)
      if (uses_comm(trace.ranks[r][i])) trace.ranks[r][i].comm = numbers.at(keys[r][i]);
  trace.damage = reader.file().damage();
  return trace;
}

void write_trace(const Trace& trace, const std::string& path) {
  NewTrace to(path, trace.info);
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    TraceWriter& writer = to.start(WorldRank(static_cast<std::int32_t>(r)));
    std::map<NameId, NameId> names;
    std::map<CommId, CommId> comms;
    std::map<SiteId, SiteId> sites;
    for (Event event : trace.ranks[r]) {
      if (const auto known = names.find(event.name); known != names.end()) {
        event.name = known->second;
      } else {
        const NameId number = writer.define_name(trace.names.at(event.name));
        event.name = names[event.name] = number;
      }
      if (event.site != 0) {
        const auto [number, first] = sites.try_emplace(event.site);
        if (first) number->second = writer.define_site(trace.sites.at(event.site - std::size_t{1}));
        event.site = number->second;
      }
      if (uses_comm(event)) {
        if (const auto known = comms.find(event.comm); known != comms.end()) {
          event.comm = known->second;
        } else {
          const Communicator& comm = trace.comms.at(event.comm);
          event.comm = comms[event.comm] = writer.define_comm(comm.key, comm.members);
        }
      }
      writer.write(event, counts_of(trace, event));
    }
  }
  to.finish(trace.sealed);
}

}  // namespace foretrace::trace
