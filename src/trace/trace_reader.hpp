// TraceReader: opens a trace file and hands out each rank's events in order.
//
// The file is mapped and decoded as the cursors advance, so that memory does
// not grow with the trace. Damage never throws: the rank's stream ends there
// and damage() tells where.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/event.hpp"

namespace foretrace::trace {

// A stream that was cut off or makes no sense.
struct Damage {
  WorldRank rank;            // invalid: of none in particular
  std::uint64_t offset = 0;  // in the file
  std::string what;
};

class TraceReader {
 public:
  // Throws Error when the file cannot be read or is no trace.
  explicit TraceReader(const std::string& path);
  ~TraceReader();
  TraceReader(TraceReader&&) noexcept;
  TraceReader& operator=(TraceReader&&) noexcept;

  const std::string& path() const;
  // Clocks::drift is always empty: next() has straightened the times by it.
  const TraceInfo& info() const;
  int ranks() const { return info().ranks; }
  // False: the run did not reach its end (or still runs). A sealed file that was cut off
  // later is sealed, and damaged.
  bool sealed() const;

  // The next event of `rank`; false at the end of its stream. `event`'s
  // storage is reused. Event::name, Event::comm and Event::site are indices for
  // name(), comm() and site() of the same rank; Event::counts is for counts().
  bool next(WorldRank rank, Event& event);
  // The same for whoever wants the definitions in their places as well: a name,
  // communicator or site is the last one of its kind.
  enum class Record { end, name, comm, site, event };
  Record next_record(WorldRank rank, Event& event);
  // Starts the rank's stream again.
  void rewind(WorldRank rank);
  // Of a run under way: looks at the file anew. The streams go on where they ended. Throws Error
  // where the file cannot be read any more, or is another one; then all is as it was.
  void refresh();

  // How many names, communicators and sites the rank has defined so far.
  std::size_t names(WorldRank rank) const;
  std::size_t comms(WorldRank rank) const;
  std::size_t sites(WorldRank rank) const;
  const std::string& name(WorldRank rank, NameId id) const;
  const Communicator& comm(WorldRank rank, CommId id) const;
  const Site& site(WorldRank rank, SiteId id) const;  // id > 0
  // Of the rank's last event; nullptr: it has none. Valid until the rank's next event is read.
  const Counts* counts(WorldRank rank, const Event& event) const;

  // The call that the rank had begun and not ended when it was last heard of;
  // nullptr: none. Known once its stream was read.
  const std::string* open_call(WorldRank rank) const;
  // Where it stands; nullptr: not known.
  const Site* open_site(WorldRank rank) const;

  // Without reading the stream: how many bytes of it there are, and whether the rank is in a call.
  std::uint64_t bytes(WorldRank rank) const;
  // How many of all ranks' bytes were read in streams as they stand, 0 to 1.
  double share_read() const;
  bool is_in_call(WorldRank rank) const;

  // Found so far, in the streams that were read.
  const std::vector<Damage>& damage() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace foretrace::trace
