#include "trace/trace.hpp"

#include <map>
#include <utility>

#include "base/error.hpp"
#include "trace/trace_writer.hpp"

namespace foretrace::trace {

Trace read_trace(const std::string& path) {
  TraceReader reader(path);
  Trace trace;
  trace.info = reader.info();
  trace.sealed = reader.sealed();
  std::map<std::string, NameId> names;
  std::map<std::pair<std::string, std::uint64_t>, SiteId> sites;
  std::map<std::uint64_t, Communicator> comms;
  trace.ranks.resize(static_cast<std::size_t>(reader.ranks()));
  // Numbers of the ranks' own tables are replaced by those of the whole trace;
  // communicators get theirs once all keys are known.
  std::vector<std::vector<std::uint64_t>> keys(trace.ranks.size());
  for (int r = 0; r < reader.ranks(); ++r) {
    const WorldRank rank(r);
    auto& events = trace.ranks[static_cast<std::size_t>(r)];
    Event event;
    while (reader.next(rank, event)) {
      const std::string& name = reader.name(rank, event.name);
      const auto [entry, added] = names.emplace(name, static_cast<NameId>(trace.names.size()));
      if (added) trace.names.push_back(name);
      event.name = entry->second;
      if (event.site != 0) {
        const Site& site = reader.site(rank, event.site);
        const auto [number, first] = sites.try_emplace({site.object, site.offset});
        if (first) {
          trace.sites.push_back(site);
          number->second = static_cast<SiteId>(trace.sites.size());
        }
        event.site = number->second;
      }
      std::uint64_t key = 0;
      if (uses_comm(event)) {
        const Communicator& comm = reader.comm(rank, event.comm);
        key = comm.key;
        comms.emplace(key, comm);
      }
      keys[static_cast<std::size_t>(r)].push_back(key);
      events.push_back(event);
    }
  }
  std::map<std::uint64_t, CommId> numbers;
  for (auto& [key, comm] : comms) {
    numbers.emplace(key, static_cast<CommId>(trace.comms.size()));
    trace.comms.push_back(std::move(comm));
  }
  for (std::size_t r = 0; r < trace.ranks.size(); ++r)
    for (std::size_t i = 0; i < trace.ranks[r].size(); ++i)
      if (uses_comm(trace.ranks[r][i])) trace.ranks[r][i].comm = numbers.at(keys[r][i]);
  trace.damage = reader.damage();
  return trace;
}

void write_trace(const Trace& trace, const std::string& path) {
  const std::string unsealed = path + ".part";
  create_trace_file(unsealed, trace.info);
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    TraceWriter writer(unsealed, WorldRank(static_cast<std::int32_t>(r)), trace.info.clock);
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
      writer.write(event);
    }
    if (writer.lost() > 0) throw Error(path + ": cannot write the trace: disk full?");
  }
  seal_trace_file(unsealed, path);
}

}  // namespace foretrace::trace
