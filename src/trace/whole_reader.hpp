// WholeReader: the events of a trace file with the numbers that they have in a
// Trace, without all of them in memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/event.hpp"
#include "trace/trace_reader.hpp"

namespace foretrace::trace {

class WholeReader {
 public:
  // Throws Error as TraceReader does.
  explicit WholeReader(const std::string& path) : reader_(path) {}

  // The next event of `rank`; false at its end. To be called for each rank in turn.
  // Event::comm is left as it is in the file: a number of the rank's own.
  bool next(WorldRank rank, Event& event);
  // Starts the rank's stream again; names, sites and counts keep their numbers.
  void rewind(WorldRank rank);

  // In order of first use, as far as events were read.
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<Site>& sites() const { return sites_; }
  const std::vector<Counts>& counts() const { return counts_; }
  const TraceReader& file() const { return reader_; }

 private:
  struct Numbers {
    std::vector<NameId> names;  // of the rank's own: the whole trace's, plus one; 0: not met
    std::vector<SiteId> sites;  // the same, by the rank's number
  };

  TraceReader reader_;
  WorldRank rank_;  // whose `numbers_` these are
  Numbers numbers_;
  std::vector<std::string> names_;
  std::vector<Site> sites_;
  std::vector<Counts> counts_;
  std::map<std::string, NameId> name_ids_;
  std::map<std::pair<std::string, std::uint64_t>, SiteId> site_ids_;
  std::map<Counts, CountsId> counts_ids_;
};

}  // namespace foretrace::trace
