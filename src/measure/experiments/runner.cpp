#include "measure/experiments/runner.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "measure/experiments/places.hpp"
#include "measure/experiments/standstill.hpp"
#include "stats/summary.hpp"

namespace foretrace::measure {
namespace {

// What rank 0 tells the others before each block.
struct Orders {
  std::int64_t first_start = 0;  // the common clock's reading, ns
  std::int64_t distance = 0;     // between starts, ns
  std::int64_t delay = 0;        // of a receiver that comes late on purpose, ns
  std::int64_t repetitions = 0;  // 0: no more blocks
  bool one_by_one = false;       // switches are counted for each repetition by itself
  std::uint64_t places = 0;      // a number drawn for move_places
};

// From the orders' broadcast to the first start: longer than the broadcast and
// the messages that move the places.
constexpr std::int64_t kLead = 45'000;
// What a start needs beside the operation itself.
constexpr std::int64_t kMargin = 3'000;
// A block gets no shorter than this unless a single call takes too long.
constexpr std::int64_t kShortBlock = 5;
// From here on, in ns, even a short block is long beside a time slice: what befalls
// one of its repetitions does not spoil the others.
constexpr std::int64_t kLongCall = 100'000;
constexpr std::int64_t kShortBlockOfLongCalls = 3;
// From here on, in ns, one rehearsal tells how long a call takes, and each one is a block.
constexpr std::int64_t kVeryLongCall = 10'000'000;
// Seconds that a point may take at least before it is given up.
constexpr double kPatience = 0.05;
// Below this many timer steps a single reading says little, and the mean of
// the block is taken in place of its middle half (as Demaine 1996, mixed median-mean).
constexpr double kFewSteps = 20;

// One block, gathered from all ranks. Valid on rank 0.
struct Outcome {
  std::vector<std::vector<double>> seconds;  // by function; the repetitions that count
  std::vector<double> whole;                 // the same ones: ns, preparing included
  std::int64_t late = 0;
  bool switched = false;  // somebody was switched out
  bool kept = false;      // nobody was in those that count
};

// What one rank notes of a block, laid out so that one maximum over the ranks
// combines it: the latest begins and ends, the longest repetitions, anybody's
// lateness.
class Notes {
 public:
  Notes(std::size_t repetitions, std::size_t functions)
      : repetitions_(repetitions),
        functions_(functions),
        values_((2 * functions + 3) * repetitions, INT64_MIN) {}

  std::int64_t& begin(std::size_t i, std::size_t f) { return values_[i * functions_ + f]; }
  std::int64_t& end(std::size_t i, std::size_t f) {
    return values_[(repetitions_ + i) * functions_ + f];
  }
  // What this rank needs for a repetition: preparing, and all calls.
  std::int64_t& whole(std::size_t i) { return values_[2 * repetitions_ * functions_ + i]; }
  std::int64_t& late(std::size_t i) { return whole(repetitions_ + i); }
  // Somebody was switched out, since the last repetition or else in the block so far.
  std::int64_t& switched(std::size_t i) { return late(repetitions_ + i); }

  void combine(MPI_Comm comm, int rank) {
    const int count = static_cast<int>(values_.size());
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : values_.data(), values_.data(), count, MPI_INT64_T,
               MPI_MAX, 0, comm);
  }

 private:
  std::size_t repetitions_;
  std::size_t functions_;
  std::vector<std::int64_t> values_;
};

class BlockRunner {
 public:
  BlockRunner(const Experiment& experiment, const Group& group, const RunnerSettings& settings)
      : experiment_(experiment), group_(group), settings_(settings) {}

  // `synchronised` false: a barrier before each repetition. Without a common
  // start only lengths can be compared between ranks.
  Outcome run(const Orders& orders, bool synchronised) const {
    at_work();
    const auto n = static_cast<std::size_t>(orders.repetitions);
    const bool yield = settings_.oversubscribed || settings_.yields;
    const ClockLine clock = settings_.clock->line();
    Notes notes(n, experiment_.functions.size());
    std::vector<Span> spans(experiment_.functions.size());
    if (synchronised && !settings_.oversubscribed) move_places(group_, orders.places);
    long switches = context_switches();
    for (std::size_t i = 0; i < n; ++i) {
      std::ranges::fill(spans, Span{});
      std::int64_t entry = 0;
      bool late = false;
      const std::int64_t preparing = now_ns();
      experiment_.prepare();
      const std::int64_t prepared = now_ns();
      if (synchronised) {
        const auto start =
            clock.to_ours(orders.first_start + static_cast<std::int64_t>(i) * orders.distance);
        late = now_ns() >= start;
        entry = spin_until(start, yield);
      } else {
        MPI_Barrier(group_.comm);
        entry = now_ns();
      }
      experiment_.repeat(entry, orders.delay, spans.data());
      notes.whole(i) = now_ns() - entry + prepared - preparing;
      notes.late(i) = late;
      notes.switched(i) = false;
      if (orders.one_by_one || i + 1 == n) {
        const long before = std::exchange(switches, context_switches());
        notes.switched(i) = switches != before && !settings_.yields;
      }
      for (std::size_t f = 0; f < spans.size(); ++f) {
        if (!spans[f].measured()) continue;
        if (synchronised) {
          notes.begin(i, f) = clock.to_common(spans[f].begin);
          notes.end(i, f) = clock.to_common(spans[f].end);
        } else {
          notes.begin(i, f) = 0;
          notes.end(i, f) = spans[f].end - spans[f].begin;
        }
      }
    }
    notes.combine(group_.comm, group_.rank);
    return group_.rank == 0 ? evaluate(notes, n, orders.one_by_one) : Outcome{};
  }

 private:
  Outcome evaluate(Notes& notes, std::size_t n, bool one_by_one) const {
    Outcome outcome;
    outcome.seconds.resize(experiment_.functions.size());
    bool some_undisturbed = false;
    for (std::size_t i = 0; i < n; ++i) {
      outcome.late += notes.late(i);
      outcome.switched |= notes.switched(i) != 0;
      some_undisturbed |= !notes.late(i) && !notes.switched(i);
    }
    const bool choose = one_by_one && some_undisturbed;
    outcome.kept = choose || !outcome.switched;
    for (std::size_t i = 0; i < n; ++i) {
      if (notes.late(i) || (choose && notes.switched(i))) continue;
      outcome.whole.push_back(static_cast<double>(notes.whole(i)));
      for (std::size_t f = 0; f < outcome.seconds.size(); ++f) {
        // The latest end, counted from the latest begin: the collectives' T(p,d).
        const auto length = static_cast<double>(notes.end(i, f) - notes.begin(i, f));
        const double seconds = length * 1e-9 - settings_.timer.overhead;
        outcome.seconds[f].push_back(std::max(seconds / experiment_.calls, 0.0));
      }
    }
    return outcome;
  }

  const Experiment& experiment_;
  const Group& group_;
  const RunnerSettings& settings_;
};

// Not the median: small receives alternate between two values where two messages
// share a line of the cache, and the median is either, by chance.
double middle(const std::vector<double>& seconds, double resolution) {
  const double middle = stats::interquartile_mean(seconds);
  return middle < kFewSteps * resolution ? stats::mean(seconds) : middle;
}

// Rank 0's view of how the blocks go, and what to order next.
class Director {
 public:
  Director(const Experiment& experiment, const RunnerSettings& settings)
      : experiment_(experiment), settings_(settings), began_(now_ns()) {}

  // What a repetition takes, from the rehearsal.
  void rehearsed(const Outcome& outcome) { typical_ = middle_ns(outcome.whole); }
  std::int64_t typical() const { return typical_; }
  bool is_rehearsed() const { return typical_ >= kVeryLongCall; }
  void set_delay(std::int64_t delay) { delay_ = delay; }

  Orders next() {
    const std::int64_t distance = (typical_ + typical_ / 2 + kMargin) * stretch_ + delay_;
    const auto fitting =
        static_cast<std::int64_t>(settings_.block_seconds * 1e9 / static_cast<double>(distance));
    Orders orders;
    orders.distance = distance;
    orders.delay = delay_;
    orders.one_by_one = calls_are_long();
    if (!enough())
      orders.repetitions =
          std::clamp<std::int64_t>(std::min(fitting, longest_), least(), settings_.repetitions);
    orders.places = random_();
    orders.first_start = settings_.clock->line().to_common(now_ns() + lead() + typical_);
    return orders;
  }

  void take(const Outcome& outcome, const Orders& orders) {
    ++attempts_;
    const std::int64_t repetitions = orders.repetitions;
    // Too many came late although nobody was switched out: the distance is too
    // short for this operation.
    if (!outcome.switched && 4 * outcome.late > repetitions)
      stretch_ = std::min<std::int64_t>(2 * stretch_, 64);
    // Half of a block of short calls has to be left, or it is not one.
    const auto left = static_cast<std::int64_t>(outcome.whole.size());
    const bool usable = orders.one_by_one ? left > 0 : 2 * left >= repetitions;
    const bool kept = usable && outcome.kept;
    longest_ = kept ? std::min<std::int64_t>(2 * longest_, settings_.repetitions)
                    : std::max<std::int64_t>(longest_ / 2, 1);
    if (!usable) return;
    kept_ += kept;
    // The rehearsal's repetitions may have been long because somebody was switched out.
    if (orders.one_by_one) typical_ = std::min(typical_, middle_ns(outcome.whole));
    for (std::size_t f = 0; f < outcome.seconds.size(); ++f)
      blocks_.push_back(
          {experiment_.functions[f], middle(outcome.seconds[f], settings_.timer.resolution), kept});
  }

  std::vector<Block> blocks() && { return std::move(blocks_); }

 private:
  bool enough() const {
    if (kept_ >= settings_.blocks || attempts_ >= 6 * settings_.blocks) return true;
    const double spent = static_cast<double>(now_ns() - began_) * 1e-9;
    // More patience while not a single block is worth keeping.
    const double patience =
        kept_ > 0 ? settings_.point_seconds : std::max(10 * settings_.point_seconds, kPatience);
    return attempts_ > 0 && spent > patience;
  }

  // The orders' broadcast takes longer between hosts; what `prepare` takes is
  // part of the typical repetition.
  std::int64_t lead() const {
    const std::int64_t lead = settings_.clock->several_hosts() ? 10 * kLead : kLead;
    return lead * stretch_;
  }
  bool calls_are_long() const { return typical_ >= kLongCall; }
  std::int64_t least() const {
    if (typical_ >= kVeryLongCall) return 1;
    return calls_are_long() ? kShortBlockOfLongCalls : kShortBlock;
  }

  static std::int64_t middle_ns(const std::vector<double>& ns) {
    return static_cast<std::int64_t>(stats::median(ns));
  }

  const Experiment& experiment_;
  const RunnerSettings& settings_;
  std::int64_t began_;
  std::int64_t longest_ = settings_.repetitions;  // of the next block
  std::int64_t typical_ = 0;
  std::int64_t delay_ = 0;
  std::int64_t stretch_ = 1;
  int attempts_ = 0;
  int kept_ = 0;
  std::mt19937_64 random_{static_cast<std::uint64_t>(began_)};
  std::vector<Block> blocks_;
};

}  // namespace

std::vector<Block> run_experiment(const Experiment& experiment, const Group& group,
                                  const RunnerSettings& settings) {
  const BlockRunner runner(experiment, group, settings);
  Director director(experiment, settings);
  // Warm-up: touches the buffers, makes connections, and tells how long a
  // repetition takes.
  Orders orders;
  orders.repetitions = 1;
  Outcome outcome = runner.run(orders, false);
  if (group.rank == 0) {
    director.rehearsed(outcome);
    orders.repetitions = director.is_rehearsed() ? 0 : settings.rehearsals;
  }
  MPI_Bcast(&orders, sizeof orders, MPI_BYTE, 0, group.comm);
  if (orders.repetitions > 0) {
    runner.run(orders, false);
    outcome = runner.run(orders, false);
    if (group.rank == 0) director.rehearsed(outcome);
  }
  if (group.rank == 0) {
    // Four times a transfer and a little is "surely arrived".
    if (experiment.delayed) director.set_delay(4 * director.typical() + 2 * kMargin);
  }
  const bool synchronised = !settings.start_by_barrier;
  for (;;) {
    if (group.rank == 0) orders = director.next();
    MPI_Bcast(&orders, sizeof orders, MPI_BYTE, 0, group.comm);
    if (orders.repetitions == 0) break;
    outcome = runner.run(orders, synchronised);
    if (group.rank == 0) director.take(outcome, orders);
  }
  std::vector<Block> blocks = std::move(director).blocks();
  // A machine that is never in time (more ranks than cores) still gets an
  // answer, and a mark that says what it is worth.
  int missing = group.rank == 0 && blocks.empty();
  MPI_Bcast(&missing, 1, MPI_INT, 0, group.comm);
  if (missing) {
    orders = Orders{.delay = orders.delay, .repetitions = settings.rehearsals};
    outcome = runner.run(orders, false);
    for (std::size_t f = 0; f < outcome.seconds.size(); ++f)
      blocks.push_back(
          {experiment.functions[f], middle(outcome.seconds[f], settings.timer.resolution), false});
  }
  return blocks;
}

}  // namespace foretrace::measure
