#include "measure/experiments/thresholds.hpp"

#include <sched.h>

#include <algorithm>
#include <array>

#include "measure/core/bisection.hpp"
#include "measure/experiments/clock.hpp"
#include "measure/experiments/standstill.hpp"
#include "stats/summary.hpp"

namespace foretrace::measure {
namespace {

constexpr int kData = 1;
constexpr int kNotice = 2;
// How long each try waits for a send to complete, in ns. A send that completed
// proves that it could; one that did not proves something only if neither rank
// was switched out meanwhile: another try. Of ranks that yield, each had its turn in
// kLongSendPatience.
constexpr std::int64_t kSendPatience = 400'000;
constexpr std::int64_t kLongSendPatience = 20'000'000;
// An order arrives within this many ns, on its host or on another.
constexpr std::int64_t kOrderLead = 60'000;
constexpr std::int64_t kOrderLeadToAnotherHost = 2'000'000;
// A machine on which that never happens is given up after so many ns.
constexpr std::int64_t kLongestSearch = 20'000'000'000;

// The two ranks of a probe. Rank 0 asks, rank 1 follows until it is told to end.
class Probe {
 public:
  Probe(const Group& pair, std::int64_t max_bytes, const CommonClock& clock, bool yields)
      : pair_(pair),
        clock_(clock),
        yields_(yields),
        patience_(yields ? kLongSendPatience : kSendPatience),
        lead_(clock.several_hosts() || yields ? kOrderLeadToAnotherHost : kOrderLead),
        buffer_(static_cast<std::size_t>(max_bytes) + 1) {}

  // Rank 0's questions. Nothing: out of time.
  std::optional<bool> completes(std::int64_t bytes, bool receiver_in_mpi) {
    while (!out_of_time()) {
      const Answer answer = try_once({bytes, receiver_in_mpi, 0, 0});
      if (answer.completed) return true;
      if (answer.undisturbed) return false;
    }
    return std::nullopt;
  }
  bool out_of_time() const { return now_ns() >= end_of_search_; }
  void end() {
    Order none;
    MPI_Bcast(&none, sizeof none, MPI_BYTE, 0, pair_.comm);
  }

  // Rank 1's side.
  void follow() {
    for (;;) {
      Order order;
      MPI_Bcast(&order, sizeof order, MPI_BYTE, 0, pair_.comm);
      if (order.bytes < 0) return;
      const long switches = context_switches();
      const bool early = clock_.line().to_common(now_ns()) < order.start;
      order.receiver_in_mpi ? look_on() : stay_away(order);
      MPI_Recv(nullptr, 0, MPI_CHAR, 0, kNotice, pair_.comm, MPI_STATUS_IGNORE);
      const int undisturbed = early && (yields_ || context_switches() == switches);
      MPI_Recv(buffer_.data(), static_cast<int>(order.bytes), MPI_CHAR, 0, kData, pair_.comm,
               MPI_STATUS_IGNORE);
      MPI_Send(&undisturbed, 1, MPI_INT, 0, kNotice, pair_.comm);
    }
  }

 private:
  struct Order {
    std::int64_t bytes = -1;  // -1: no more
    bool receiver_in_mpi = false;
    // When the message is sent, and until when its receiver may have to stay
    // outside MPI; by the common clock.
    std::int64_t start = 0;
    std::int64_t end = 0;
  };
  struct Answer {
    bool completed = false;
    bool undisturbed = false;
  };

  Answer try_once(Order order) {
    const ClockLine& line = clock_.line();
    const std::int64_t start = now_ns() + lead_;
    const std::int64_t end = start + patience_;
    order.start = line.to_common(start);
    // A margin, so that nothing counts that completed when the receiver came back.
    order.end = line.to_common(end) + clock_error() + patience_ / 10;
    MPI_Bcast(&order, sizeof order, MPI_BYTE, 0, pair_.comm);
    // From before the start: who is switched out there finds the time over.
    const long switches = context_switches();
    const bool early = now_ns() < start;
    spin_until(start, yields_);
    MPI_Request request;
    MPI_Isend(buffer_.data(), static_cast<int>(order.bytes), MPI_CHAR, 1, kData, pair_.comm,
              &request);
    Answer answer;
    for (int done = 0; !done && now_ns() < end;) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      answer.completed = done && now_ns() < end;
    }
    const bool undisturbed = early && (yields_ || context_switches() == switches);
    MPI_Send(nullptr, 0, MPI_CHAR, 1, kNotice, pair_.comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int theirs = 0;
    MPI_Recv(&theirs, 1, MPI_INT, 1, kNotice, pair_.comm, MPI_STATUS_IGNORE);
    answer.undisturbed = undisturbed && theirs != 0;
    return answer;
  }

  std::int64_t clock_error() const { return static_cast<std::int64_t>(1e9 * clock_.error()); }
  // Inside MPI, so that the library can move data, but with no receive posted.
  void look_on() {
    for (int told = 0; !told;) MPI_Iprobe(0, kNotice, pair_.comm, &told, MPI_STATUS_IGNORE);
  }
  void stay_away(const Order& order) { spin_until(clock_.line().to_ours(order.end), false); }

  const Group& pair_;
  const CommonClock& clock_;
  const bool yields_;
  const std::int64_t patience_;  // ns
  const std::int64_t lead_;      // ns
  std::int64_t end_of_search_ = now_ns() + kLongestSearch;
  std::vector<char> buffer_;
};

// Keeps the two ranks of a probe from sharing a core, where nobody bound them:
// rank 0 on the first core it may use, rank 1 on the last. What a send means
// does not depend on it.
class OwnCore {
 public:
  explicit OwnCore(int rank) {
    CPU_ZERO(&before_);
    if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    int chosen = -1;
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &before_) && (chosen < 0 || rank != 0)) chosen = core;
    cpu_set_t one;
    CPU_ZERO(&one);
    if (chosen >= 0) CPU_SET(chosen, &one);
    bound_ = chosen >= 0 && sched_setaffinity(0, sizeof one, &one) == 0;
  }
  ~OwnCore() {
    if (bound_) sched_setaffinity(0, sizeof before_, &before_);
  }
  OwnCore(const OwnCore&) = delete;
  OwnCore& operator=(const OwnCore&) = delete;

 private:
  cpu_set_t before_;
  bool bound_ = false;
};

// Whose jumps are searched, and where.
struct Searched {
  const char* function;
  const char* family;
  std::uint64_t step;  // between the sizes that it can be called with
};
constexpr std::array<Searched, 5> kSearched{{{"send", "point to point", 1},
                                             {"recv", "point to point", 1},
                                             {"pingpong", "point to point", 1},
                                             {"bcast", "collective", 8},
                                             {"allreduce", "collective", 8}}};
constexpr double kLeastJump = 0.05;

// The middle of the undisturbed blocks of a function, or of all.
double middle_of(const std::vector<Block>& blocks, const std::string& function) {
  std::vector<double> kept, all;
  for (const Block& block : blocks) {
    if (block.function != function) continue;
    all.push_back(block.seconds);
    if (block.kept) kept.push_back(block.seconds);
  }
  if (all.empty()) return 0;
  return stats::interquartile_mean(kept.empty() ? all : kept);
}

// Times single sizes of one function on demand: rank 0 asks, the others follow.
class Timed {
 public:
  Timed(const Plan& plan, const Searched& searched, const Group& world,
        const RunnerSettings& settings, Buffers& buffers)
      : plan_(plan), searched_(searched), world_(world), settings_(settings), buffers_(buffers) {
    for (std::size_t f = 0; f < plan.families.size(); ++f)
      if (plan.families[f].name == searched.family) family_ = f;
    // The last one of the outer path: the most ranks.
    for (std::size_t g = 0; g < plan.groups.size(); ++g)
      if (plan.groups[g].scope == plan.families[family_].scope && plan.groups[g].prefix.empty())
        group_ = g;
  }

  int ranks() const { return plan_.groups[group_].ranks; }

  double seconds(std::uint64_t bytes) {
    auto order = static_cast<std::int64_t>(bytes);
    MPI_Bcast(&order, 1, MPI_INT64_T, 0, world_.comm);
    return measure(bytes);
  }
  void end() {
    std::int64_t none = -1;
    MPI_Bcast(&none, 1, MPI_INT64_T, 0, world_.comm);
  }
  void follow() {
    for (;;) {
      std::int64_t order = -1;
      MPI_Bcast(&order, 1, MPI_INT64_T, 0, world_.comm);
      if (order < 0) return;
      at_work();
      measure(static_cast<std::uint64_t>(order));
    }
  }

 private:
  double measure(std::uint64_t bytes) {
    const Group& group = plan_.groups[group_].group;
    if (group.comm == MPI_COMM_NULL) return 0;
    buffers_.move(bytes, static_cast<std::uint64_t>(now_ns()));
    for (const Experiment& experiment : experiments_of(plan_, {family_, group_, bytes}, buffers_))
      if (std::ranges::count(experiment.functions, searched_.function) > 0)
        return middle_of(run_experiment(experiment, group, settings_), searched_.function);
    return 0;
  }

  const Plan& plan_;
  const Searched& searched_;
  const Group& world_;
  const RunnerSettings& settings_;
  Buffers& buffers_;
  std::size_t family_ = 0;
  std::size_t group_ = 0;
};

std::vector<CurvePoint> curve_of(const std::vector<Sample>& samples, const Searched& searched,
                                 int ranks, std::int64_t max_bytes) {
  std::map<std::uint64_t, std::vector<Block>> by_size;
  for (const Sample& sample : samples)
    if (sample.function == searched.function && sample.ranks == ranks && sample.bytes > 0 &&
        sample.bytes % searched.step == 0 && static_cast<std::int64_t>(sample.bytes) <= max_bytes)
      by_size[sample.bytes].push_back({sample.function, sample.seconds, sample.kept});
  std::vector<CurvePoint> curve;
  for (const auto& [bytes, blocks] : by_size)
    curve.push_back({bytes, middle_of(blocks, searched.function)});
  return curve;
}

// Rank 0's part for one function; `until` is a clock reading.
FoundJumps search_function(Timed& timed, const Searched& searched,
                           const std::vector<CurvePoint>& curve, const JumpSearch& search,
                           std::int64_t until) {
  const auto seconds = [&](std::uint64_t bytes) -> std::optional<double> {
    if (now_ns() > until) return std::nullopt;
    return timed.seconds(bytes);
  };
  std::set<std::uint64_t> jumps;
  for (const std::uint64_t last : search.suspected) {
    const std::uint64_t below = last / searched.step * searched.step;
    if (below > 0 && below + searched.step <= static_cast<std::uint64_t>(search.max_bytes) &&
        confirm_jump(seconds, below, searched.step, kLeastJump))
      jumps.insert(below);
  }
  return search_jumps(seconds, curve, jumps, searched.step, kLeastJump);
}

}  // namespace

Thresholds find_thresholds(const Group& pair, std::int64_t max_bytes, const CommonClock& clock,
                           bool yields) {
  const OwnCore core(pair.rank);
  Probe probe(pair, max_bytes, clock, yields);
  if (pair.rank != 0) {
    probe.follow();
    return {};
  }
  Thresholds found;
  const auto last_eager =
      last_that_holds([&](std::int64_t bytes) { return probe.completes(bytes, true); }, max_bytes);
  if (last_eager) found.sync = *last_eager + 1;
  found.local = last_that_holds([&](std::int64_t bytes) { return probe.completes(bytes, false); },
                                last_eager ? *last_eager + 1 : max_bytes);
  found.out_of_time = probe.out_of_time();
  probe.end();
  return found;
}

Jumps find_jumps(const Plan& plan, const Group& world, const RunnerSettings& settings,
                 Buffers& buffers, const std::vector<Sample>& samples, const JumpSearch& search) {
  Jumps jumps;
  const std::int64_t begin = now_ns();
  for (std::size_t i = 0; i < kSearched.size(); ++i) {
    const Searched& searched = kSearched[i];
    Timed timed(plan, searched, world, settings, buffers);
    if (world.rank != 0) {
      timed.follow();
      continue;
    }
    // A share of the time for each, what one leaves over for those after it.
    const double share = search.seconds * static_cast<double>(i + 1) / kSearched.size();
    const auto until = begin + static_cast<std::int64_t>(1e9 * share);
    const auto curve = curve_of(samples, searched, timed.ranks(), search.max_bytes);
    auto found = search_function(timed, searched, curve, search, until);
    timed.end();
    if (!found.jumps.empty() || !found.between.empty()) jumps[searched.function] = std::move(found);
  }
  return jumps;
}

}  // namespace foretrace::measure
