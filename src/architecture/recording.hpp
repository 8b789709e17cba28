// Recording: what is written down of a run on an architecture, for the page that shows it.
//
// Who runs it (MessageNetwork, run_entities) tells it of messages and of quantities that change:
// the length of a queue, a parameter of an entity. Sums are always kept, in memory that does not
// grow with the run; single messages and changes as far as was asked for, and up to a number of
// them.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "architecture/elaborate.hpp"
#include "foretrace_entity.hpp"

namespace foretrace::architecture {

// What happened to a message. Times in picoseconds.
struct MessageRecord {
  enum class Kind : std::uint8_t { enter, pass, arrive };
  Kind kind = Kind::enter;
  std::uint32_t message = 0;  // in the order of entering
  std::int32_t from = 0;      // entities; enter and arrive: the ends
  std::int32_t to = 0;
  std::uint64_t bytes = 0;
  std::int64_t begin = 0;  // pass: its first byte leaves `from`; arrive: it was sent
  std::int64_t end = 0;    // pass: its last byte is at `to`
};

// A quantity has changed.
struct StateRecord {
  std::int64_t time = 0;
  std::uint32_t quantity = 0;
  double value = 0;
};

// A number that an entity has, and that changes: "waiting" of a switch.
struct Quantity {
  std::int32_t entity = 0;
  std::string name;
  bool wanted = false;  // its changes are written down
  // Up to the last change; mean() adds the rest.
  double value = 0, most = 0, sum = 0;
  std::int64_t since = 0;
  bool told = false;  // a StateRecord says its value
  double mean(std::int64_t from, std::int64_t to) const;
};

struct LinkSums {
  std::int32_t from = 0, to = 0;
  std::uint64_t packets = 0, bytes = 0;
  std::int64_t busy = 0;   // something was on it
  std::int64_t until = 0;  // of what is counted in `busy`
};

enum class Detail : std::uint8_t { statistics, messages, states };

struct RecordingOptions {
  Detail detail = Detail::messages;
  std::size_t most = 200'000;  // records that are kept
  std::int64_t from = 0, to = entity::kNever;
  // Paths of boxes, or of one quantity of them ("node[0..3].nic", "server.waiting"); empty: all.
  std::vector<std::string> only;
};

class Recording : public entity::Recorder {
 public:
  // Throws UsageError for a path that no box has. The architecture must outlive it.
  Recording(const FlatArchitecture& architecture, RecordingOptions options);

  void add(const MessageRecord& one);
  // The number of a quantity, which it has from now on.
  std::uint32_t quantity(std::uint32_t entity, const std::string& name) override;
  void changed(std::uint32_t quantity, entity::Ps time, double value) override;
  void passed(std::uint32_t from, std::uint32_t to, std::uint64_t id, std::uint64_t bytes,
              entity::Ps begin, entity::Ps end) override;
  // A path of the options that names a quantity, where no entity has it; empty: all have been
  // found.
  std::string unknown_path() const;

  const RecordingOptions& options() const { return options_; }
  const std::vector<MessageRecord>& messages() const { return messages_; }
  const std::vector<StateRecord>& states() const { return states_; }
  const std::vector<Quantity>& quantities() const { return quantities_; }
  // By their ends.
  std::vector<LinkSums> links() const;
  // How long messages took that were there within the time asked for.
  const entity::Histogram& latencies() const { return latencies_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t lost() const { return lost_; }
  // The last moment that it knows of.
  std::int64_t end() const { return end_; }

 private:
  bool is_due(std::int64_t begin, std::int64_t end) const {
    return end >= options_.from && begin <= options_.to;
  }
  bool has_room() const { return messages_.size() + states_.size() < options_.most; }

  const FlatArchitecture& architecture_;
  RecordingOptions options_;
  std::vector<bool> wanted_;  // by entity
  std::vector<bool> found_;   // by options_.only
  std::vector<MessageRecord> messages_;
  std::vector<StateRecord> states_;
  std::vector<Quantity> quantities_;
  std::unordered_map<std::uint64_t, LinkSums> links_;
  entity::Histogram latencies_;
  std::uint64_t bytes_ = 0;
  std::uint64_t lost_ = 0;
  std::int64_t end_ = 0;
};

// A word of --watch-what. Throws UsageError.
Detail parse_detail(const std::string& word);

}  // namespace foretrace::architecture
