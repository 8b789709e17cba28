// TraceSource: a recorded (or predicted) trace as a source of operations.
//
// Takes from the trace what was asked for and what was received, never when.
// A posted wildcard receive learns from its later completion which message it
// got, and looks in vain what they came to, so each rank's stream is read twice:
// first to note what became of such requests and looks, then to hand out
// operations, decoded as they are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/source.hpp"
#include "trace/tell_place.hpp"
#include "trace/trace.hpp"
#include "trace/trace_reader.hpp"

namespace foretrace::sim {

// What wildcard receives take: the message that they got in the recorded run, or
// the first to arrive in virtual time.
enum class Wildcards : std::uint8_t { recorded, arrival };

class TraceSource : public Source {
 public:
  // Both must outlive the source; the reader's streams are used up. Memory: 24
  // bytes per posted wildcard receive and a bit per call that looks, besides what
  // the reader needs.
  explicit TraceSource(trace::TraceReader& reader, Wildcards wildcards = Wildcards::recorded);
  explicit TraceSource(const trace::Trace& trace, Wildcards wildcards = Wildcards::recorded);

  int ranks() const override { return static_cast<int>(streams_.size()); }
  bool next(WorldRank rank, Operation& operation) override;
  Joining joining(WorldRank rank) const override {
    return streams_[static_cast<std::size_t>(rank.value)].joining;
  }
  bool races() const override { return messages_race_ || has_locks_; }
  bool messages_race() const override { return messages_race_; }
  bool posts_collectives() const override { return posts_collectives_; }
  std::string_view name(trace::NameId id) const override { return names_.at(id); }
  const trace::Communicator& comm(trace::CommId id) const override { return comms_.at(id); }
  const trace::Site& site(trace::SiteId id) const override {
    return sites_.at(id - std::size_t{1});
  }
  std::string describe_site(trace::SiteId id) const override;
  std::string place(WorldRank rank) const override;
  std::string end_reason(WorldRank rank) const override;

  // How describe_site() does it; without it there is nothing to tell.
  void tell_places_by(trace::TellPlace tell) { tell_place_ = std::move(tell); }

 private:
  // What became of a posted wildcard receive.
  struct Resolution {
    std::uint64_t request = 0;
    WorldRank source;
    std::int32_t tag = 0;
    bool matched = false;
  };
  struct Stream {
    std::size_t at = 0;                 // in-memory trace: the next event
    trace::Event event;                 // reader: the current event
    trace::SiteId site = 0;             // of the current operation
    std::vector<Resolution> wildcards;  // in posting order
    std::size_t next_wildcard = 0;
    std::vector<std::uint64_t> cancelled;  // requests, ascending
    std::vector<std::uint64_t> held;       // locks
    std::vector<bool> idle;                // Operation::idle of each call that looks
    std::size_t next_look = 0;
    std::uint64_t events = 0;           // handed out
    std::vector<std::uint64_t> joined;  // moments that joins count from
    std::size_t next_joined = 0;
    Joining joining;                   // of the current operation
    std::vector<signed char> looking;  // by the rank's numbers of names: 1, 0 or not known yet, -1
    std::vector<trace::NameId> names;  // the rank's numbers to those of the source
    std::vector<trace::CommId> comms;
    std::vector<trace::SiteId> sites;
  };

  Stream& stream(WorldRank rank) { return streams_[static_cast<std::size_t>(rank.value)]; }
  const trace::Event* read(WorldRank rank);
  void rewind(WorldRank rank);
  void survey(WorldRank rank);
  bool looks(WorldRank rank, const trace::Event& event);
  trace::NameId global_name(WorldRank rank, trace::NameId id);
  trace::CommId global_comm(WorldRank rank, trace::CommId id);
  trace::SiteId global_site(WorldRank rank, trace::SiteId id);
  static void find_lock(Stream& stream, Operation& operation);
  static void find_join(Stream& stream, const trace::Event& event, Operation& operation);
  void resolve_wildcard(Stream& stream, Operation& operation);
  void reopen_wildcard(Operation& operation) const;

  trace::TraceReader* reader_ = nullptr;
  const trace::Trace* trace_ = nullptr;
  Wildcards wildcards_;
  bool messages_race_ = false;
  bool has_locks_ = false;
  bool posts_collectives_ = false;
  trace::TellPlace tell_place_;
  std::vector<Stream> streams_;
  std::deque<std::string> names_;
  std::deque<trace::Communicator> comms_;
  std::deque<trace::Site> sites_;
  std::unordered_map<std::string, trace::NameId> name_numbers_;
  std::unordered_map<std::uint64_t, trace::CommId> comm_numbers_;
  std::map<std::pair<std::string, std::uint64_t>, trace::SiteId> site_numbers_;
};

}  // namespace foretrace::sim
