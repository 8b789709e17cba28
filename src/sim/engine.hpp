// simulate: operations in, virtual times out.
//
// Where the result cannot depend on who comes first (no links or ports that
// messages share, no open wildcards) each rank runs on as far as it can, without any
// event queue: every call's times follow from those of the calls it waits for.
// Otherwise the ranks are taken up in the order of virtual time. The engine
// knows MPI's semantics (matching, requests, who waits for whom); all times
// come from the Network and machine::Timing. It reads and prints nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "machine/choice_order.hpp"
#include "machine/timing.hpp"
#include "sim/collectives/algorithm.hpp"
#include "sim/deadlock.hpp"
#include "sim/dependences.hpp"
#include "sim/message_matrix.hpp"
#include "sim/network.hpp"
#include "sim/network/link_usage.hpp"
#include "sim/sink.hpp"
#include "sim/source.hpp"

namespace foretrace::sim {

// What the computation between calls takes.
enum class ComputeMode : std::uint8_t {
  none,       // nothing
  recorded,   // Operation::compute times a scale
  annotated,  // Operation::steps times the model's step
};

// Which of the ranks that can go on is taken up next. Has no effect on any
// time; there are several so that tests can hold the engine to that. by_time is
// taken in any case where the order matters.
enum class ReadyOrder : std::uint8_t { last_in_first_out, lowest_rank_first, by_time };

// When messages move that are too large to be left somewhere (machine::LogGPS::attended_from).
enum class Progress : std::uint8_t {
  always,  // by themselves
  calls,   // while their receiver is in a call that moves messages
};

struct Stats {
  std::uint64_t operations = 0;
  // Sent, also by expanded collectives; those to MPI_PROC_NULL not counted.
  std::uint64_t messages = 0;
  double seconds = 0;          // wall time of the replay alone
  std::size_t peak_bytes = 0;  // held by the engine itself, without source and sink
};

struct SimulateOptions {
  ComputeMode compute = ComputeMode::recorded;
  double scale = 1;  // >= 0; one rounding per operation
  // By rank, how much longer it computes than that, in every mode; empty, or not there: as long.
  std::vector<double> slower;
  ReadyOrder order = ReadyOrder::last_in_first_out;
  // A rank with this many messages that nobody has received yet (or that is so
  // many collectives ahead) lets the others go first, so that memory holds what
  // is under way, not the trace.
  std::size_t run_ahead = 1024;
  Progress progress = Progress::always;
  NetworkOptions network;
  // How collectives become messages; nullptr: they take what the model's
  // equations say.
  const AlgorithmTable* algorithms = nullptr;
  // With algorithms: those that the model measured with as many ranks take its equations all
  // the same, unless the call says by which algorithm.
  bool measured_collectives = false;
  // Seconds to combine a byte, in expanded reductions; nothing: as the model says it of their
  // operations and types.
  std::optional<double> reduce_per_byte;
  Dependences* dependences = nullptr;  // to be filled; nullptr: nobody asks
  MessageMatrix* messages = nullptr;   // the same
  // Called every some thousand steps; of the Stats `messages` says how far the run is. Empty:
  // nobody asks.
  std::function<void(const Stats&)> tell = {};
};

struct RankResult {
  Time time;     // clock on entry to MPI_Finalize; of its last event if it has none
  Time compute;  // sums over the events up to then
  Time wait;
  std::uint64_t events = 0;
  bool finalized = false;
};

// A message that nobody has received.
struct LeftMessage {
  WorldRank source;
  WorldRank destination;
  trace::CommId comm = 0;
  std::int32_t tag = 0;
  Bytes bytes;
};

// A message that has more bytes than the receive that took it has room for.
struct LongMessage {
  LeftMessage message;
  Bytes room;
};

inline constexpr std::size_t kMostLeftMessages = 20;

struct SimulateResult {
  Time time;  // the latest of the ranks'
  std::vector<RankResult> ranks;
  bool announced = false;  // there were annotated compute steps
  // One line for each rank whose operations end too early, and who waits for it.
  std::vector<std::string> notes;
  Stats stats;
  std::optional<LinkUsage> links;  // networks with shared links: what they carried
  std::vector<std::pair<machine::LinkId, machine::Contention>> contention;
  // What is left of a run whose ranks have all finalized.
  std::vector<LeftMessage> left_messages;  // the first kMostLeftMessages, by destination
  std::uint64_t left_message_count = 0;
  // Of posted receives, where the source says what they have room for.
  std::optional<LongMessage> long_message;  // one of them
  std::uint64_t long_message_count = 0;
  // The rank that read MPI_Wtime most often, and how often.
  std::optional<std::pair<WorldRank, std::uint64_t>> clock_readings;
  // The rank whose messages lay there for longest while it took others, of those whose operations
  // say themselves what they complete.
  std::optional<std::pair<WorldRank, machine::PassedOver>> passed_over;
  std::vector<std::uint64_t> left_requests;  // by rank: posted and not completed
  machine::Timing::Unknowns unknowns;        // what the machine's model does not know of it
};

// Runs `source` to its end on the machine behind `timing`. Throws Deadlock when
// ranks wait for each other in a circle or for a message that never comes;
// Error for operations that make no sense (collectives that do not match,
// unknown requests, ranks out of range). What finished before has gone to
// `sink` in both cases.
SimulateResult simulate(Source& source, const machine::Timing& timing,
                        const SimulateOptions& options, Sink& sink);

}  // namespace foretrace::sim
