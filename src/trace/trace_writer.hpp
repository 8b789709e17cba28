// TraceWriter: appends one rank's events to a trace file.
//
// Many processes write the same file at once; see docs/trace-format.md. The
// encoded bytes go straight into a memory-mapped block, so that they survive
// the death of the process. No allocation and no system call on the common
// path. Knows nothing of MPI; used by capture and sim.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/counts_table.hpp"
#include "trace/event.hpp"
#include "trace/recent_shapes.hpp"
#include "trace/run_file.hpp"
#include "trace/shape.hpp"
#include "trace/shape_table.hpp"

namespace foretrace::trace {

// Creates (replaces) the file with its header and info block. Throws Error, also where
// another run holds what it got here.
RunFile create_trace_file(const std::string& path, const TraceInfo& info);

// Leaves only the first `ranks` ranks, whose nodes are then numbered among themselves.
void keep_ranks(TraceInfo& info, int ranks);

// Rewrites a trace into its final form: blocks in rank order, no slack, its
// length in the header; then moves it to `to`. `clocks` replaces what the info block says of them.
// `ranks`: how many there have been, if not all for which there was room. `notes`: what the info
// block gets to say besides.
// Throws Error, also if anything of it is damaged or was lost; `from` is left as it
// was then.
void seal_trace_file(const std::string& from, const std::string& to, const Clocks& clocks = {},
                     std::optional<int> ranks = std::nullopt,
                     const std::vector<std::string>& notes = {});

// An existing trace file, open for appending. Writers of one thread can share it, so that
// any number of ranks takes one descriptor.
class AppendedTrace {
 public:
  // Throws Error.
  explicit AppendedTrace(const std::string& path);
  ~AppendedTrace();
  AppendedTrace(const AppendedTrace&) = delete;
  AppendedTrace& operator=(const AppendedTrace&) = delete;

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }
  // Gives the file this version, unless it has a later one. Any number of processes may, at any
  // time.
  void raise_version(std::uint32_t version) const noexcept;

 private:
  std::string path_;
  int fd_;
  mutable std::uint32_t version_ = 0;  // that the file has got through this
};

class TraceWriter {
 public:
  TraceWriter() = default;
  // Appends `rank`'s stream, and takes the room for its beginning. Throws Error.
  TraceWriter(std::shared_ptr<const AppendedTrace> file, WorldRank rank, Clock clock);
  TraceWriter(const std::string& path, WorldRank rank, Clock clock);
  ~TraceWriter();
  TraceWriter(TraceWriter&& other) noexcept;
  TraceWriter& operator=(TraceWriter&& other) noexcept;

  // All of these are noexcept in effect: when the disk is full the writer
  // stops, the file says so, and lost() counts what was not written. Names are cut at 4096 bytes.
  NameId define_name(std::string_view name) noexcept;
  CommId define_comm(std::uint64_t key, std::span<const WorldRank> members) noexcept;
  SiteId define_site(const Site& site) noexcept;
  // `counts` are the event's, if it has any; Event::counts is not looked at.
  void write(const Event& event, const Counts* counts = nullptr) noexcept;
  // The rank begins a call of that name at that place; the next event says that
  // it ended. If the process dies in between, readers know (TraceReader::open_call).
  void enter(NameId name, SiteId site = 0) noexcept { set_open({name + 1, site}); }
  // The call has ended without an event of its own.
  void leave() noexcept { set_open({}); }

  // Number of records that could not be written, and why (errno).
  std::uint64_t lost() const { return lost_; }
  int error() const { return error_; }

  void close() noexcept;

 private:
  // Adds to the record under way; false if it could not be written.
  bool put(const std::uint8_t* bytes, std::size_t count) noexcept;
  bool put_string(std::string_view text) noexcept;
  // An event of a known shape, where the block has room for the longest; false: it has not.
  bool write_quickly(const ShapeSource& source, std::uint32_t shape) noexcept;
  bool write_new(const ShapeSource& source) noexcept;
  bool put_times(const ShapeSource& source) noexcept;
  bool write_shaped(const ShapeSource& source, std::span<const std::uint8_t> shape) noexcept;
  bool write_single(const ShapeSource& source, std::span<const std::uint8_t> shape) noexcept;
  void write_join(const Join& join) noexcept;
  // Writes the list down if it is new; 0: there is no memory for it.
  CountsId define_counts(const Counts& counts) noexcept;
  bool durations_repeat(NameId name) const noexcept;
  void learn(NameId name, bool new_shape) noexcept;
  // Ends the record under way: readers see all of it, or it is lost.
  void end_record(bool good) noexcept;
  // Goes on in a new block that has room for so many bytes more.
  bool new_block(std::size_t room) noexcept;
  std::uint8_t* append_block(std::size_t size, std::uint64_t& offset) noexcept;
  // The mapped block gets its checksum and is given up.
  void finish_block(BlockState state) noexcept;
  void set_open(const OpenCall& open) noexcept {
    if (open_ == open) return;
    open_ = open;
    if (block_) std::memcpy(block_ + offsetof(BlockHeader, open), &open, sizeof open);
  }

  std::shared_ptr<const AppendedTrace> file_;
  int process_ = 0;           // that writes
  std::uint32_t number_ = 0;  // of the next block
  WorldRank rank_;
  Clock clock_ = Clock::cpu;
  std::uint8_t* block_ = nullptr;  // mapped block, header included
  std::size_t block_size_ = 0;     // of the mapping
  std::size_t used_ = 0;           // payload bytes in the block
  std::size_t whole_ = 0;          // of them, those of whole records
  std::size_t next_block_size_ = 4096;
  Time last_leave_;
  std::uint64_t last_request_ = 0;
  OpenCall open_;
  ShapeTable shapes_;
  RecentShapes recent_;
  CountsTable counts_;
  std::vector<std::int16_t> surprises_;  // by name: how often a duration was new, less those known
  NameId names_ = 0;
  CommId comms_ = 0;
  SiteId sites_ = 0;
  std::uint64_t lost_ = 0;
  int error_ = 0;
};

}  // namespace foretrace::trace
