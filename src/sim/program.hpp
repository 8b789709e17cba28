// Program: all ranks' operations in memory, packed; read by any number of
// simulations at once.
//
// An operation takes one cache line, whatever it is; what few need (annotated
// steps, repeated calls, threads that waited, lists of requests and counts) lies beside; what only
// running programs do (payload, cancel, patience) has no place. Built once, from
// another source or by hand, then only read.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/source.hpp"

namespace foretrace::sim {

class Program {
 public:
  // Communicator 0 is MPI_COMM_WORLD.
  explicit Program(int ranks);
  // Everything that `source` has. It must not react to results.
  explicit Program(Source& source);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // The number of `name`, new or known.
  trace::NameId add_name(std::string_view name);
  trace::CommId add_comm(std::vector<WorldRank> members);
  // Appends to a rank's operations. `joining`: of one that joins.
  void add(WorldRank rank, const Operation& operation, const Joining& joining = {});

  int ranks() const { return static_cast<int>(streams_.size()); }
  std::uint64_t operations() const;
  std::size_t memory() const;

  // The rank's operation number `at`; false at the end.
  bool read(WorldRank rank, std::size_t at, Operation& operation) const {
    const std::vector<Packed>& stream = streams_[static_cast<std::size_t>(rank.value)].packed;
    if (at >= stream.size()) return false;
    unpack(rank, stream[at], operation);
    // With many ranks each stream is touched too rarely for the processor to
    // see that it is one.
    __builtin_prefetch(&stream[at] + 1);
    return true;
  }

  // Of one that joins.
  const Joining& joining(WorldRank rank, std::size_t at) const {
    const Stream& stream = streams_[static_cast<std::size_t>(rank.value)];
    return stream.joinings[stream.extras[stream.packed[at].extra].joining];
  }

  std::string_view name(trace::NameId id) const {
    return id < names_.size() ? std::string_view(names_[id]) : std::string_view("?");
  }
  const trace::Communicator& comm(trace::CommId id) const { return comms_.at(id); }
  const std::string& end_reason(WorldRank rank) const {
    return streams_[static_cast<std::size_t>(rank.value)].end_reason;
  }
  // Whether there are operations whose outcome depends on who comes first.
  bool races() const { return messages_race_ || has_locks_; }
  bool messages_race() const { return messages_race_; }
  bool posts_collectives() const { return posts_collectives_; }

 private:
  struct End {
    std::int32_t peer = -1;
    std::int32_t tag = 0;
    std::uint64_t bytes = 0;
  };
  struct alignas(64) Packed {
    trace::EventKind kind = trace::EventKind::call;
    machine::Cost collective = machine::Cost::kCount;
    std::uint16_t flags = 0;
    trace::NameId name = 0;
    trace::CommId comm = 0;
    std::uint32_t extra = 0;  // with kHasExtra: index into Stream::extras
    std::int64_t compute = 0;
    std::uint64_t request = 0;
    // The one that the kind has, sendrecv's send. collective, icollective: root, number of its
    // counts plus one, bytes; aborted: -, code, -.
    End first;
    // sendrecv's receive; collective: -, Reduction; call: peer; OneSided, Reduction,
    // Locking; bytes that it moves; complete: number of requests,
    // -, first of them; recv, irecv: -, -, taken
    End second;
  };
  static_assert(sizeof(Packed) == 64);
  struct Extra {
    double steps = 0;
    std::uint32_t count = 1;
    std::uint16_t send_piece = 0;
    std::uint16_t recv_piece = 0;
    std::uint32_t joining = 0;  // with kJoins: index into Stream::joinings
  };
  struct Stream {
    std::vector<Packed> packed;
    std::vector<Extra> extras;
    std::vector<Joining> joinings;
    std::vector<trace::Completion> completions;
    std::string end_reason;
  };

  void unpack(WorldRank rank, const Packed& packed, Operation& operation) const;
  std::int32_t number_of(const trace::Counts& counts);

  std::vector<Stream> streams_;
  std::vector<std::string> names_;
  std::deque<trace::Communicator> comms_;
  // Lists of counts stay where they are; in the order in which they came.
  std::map<trace::Counts, std::int32_t> counts_;
  std::vector<const trace::Counts*> counts_in_order_;
  bool messages_race_ = false;
  bool has_locks_ = false;
  bool posts_collectives_ = false;
};

}  // namespace foretrace::sim
