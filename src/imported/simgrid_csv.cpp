#include "imported/simgrid_csv.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "imported/lines.hpp"
#include "machine/pair.hpp"
#include "measure/fit/function.hpp"
#include "stats/summary.hpp"

namespace foretrace::imported {
namespace {

constexpr std::string_view kHeader = "experiment,cluster,msg_size,duration";
constexpr double kWtimeCalls = 1e7;

struct Row {
  std::string_view call;
  std::uint64_t bytes = 0;
  std::string_view start;
  double seconds = 0;
};

// One call of MPI_X in a visit of the program to a size.
struct Call {
  std::uint64_t bytes = 0;
  std::size_t visit = 0;  // which one of this size, from 0
  double seconds = 0;
};

Row read_row(const Lines& lines, std::string_view line) {
  const auto fields = fields_of(line, ',');
  if (fields.size() != 4)
    lines.fail("expected FUNCTION,SIZE,START,DURATION, found '" + shown(line) + "'");
  lines.amount(fields[2], "a start in seconds");  // looked at for its faults
  return {fields[0], lines.whole(fields[1], "a size in bytes"), fields[2],
          lines.amount(fields[3], "a duration in seconds")};
}

// Numbers the visits: rows of one size that follow each other are one.
class Visits {
 public:
  std::size_t of(std::uint64_t bytes) {
    if (!any_ || bytes != current_) ++count_[bytes];
    any_ = true;
    current_ = bytes;
    return count_[bytes] - 1;
  }

  // The program goes through the list of sizes a number of times; a size may stand in it
  // more than once. So a pass is that share of its visits.
  std::size_t pass_of(std::uint64_t bytes, std::size_t visit) const {
    std::size_t passes = std::numeric_limits<std::size_t>::max();
    for (const auto& [size, visits] : count_) passes = std::min(passes, visits);
    return visit * passes / count_.at(bytes);
  }

 private:
  std::map<std::uint64_t, std::size_t> count_;
  bool any_ = false;
  std::uint64_t current_ = 0;
};

class SimgridReader {
 public:
  explicit SimgridReader(std::string cluster) : cluster_(std::move(cluster)) {}
  void read(const InputFile& file);
  Measurements take();

 private:
  void read_calls(Lines& lines, Row row, const std::string& function, const char* method);
  void read_round_trips(Lines& lines, Row row);
  void read_total(Lines& lines, const Row& row);
  void read_means(Lines& lines);
  void add(const std::string& function, const std::vector<Call>& calls, const Visits& visits);
  void claim(const Lines& lines, const std::string& function, const std::string& method);

  std::string cluster_;
  Measurements out_;
  std::set<std::string> clusters_;
};

void SimgridReader::claim(const Lines& lines, const std::string& function,
                          const std::string& method) {
  if (!out_.methods.emplace(function, method).second)
    throw Error(lines.name() + ": '" + function + "' was in another file already");
}

void SimgridReader::add(const std::string& function, const std::vector<Call>& calls,
                        const Visits& visits) {
  for (const Call& call : calls)
    out_.add(function, machine::kPair, call.bytes,
             static_cast<int>(visits.pass_of(call.bytes, call.visit)) + 1, call.seconds);
}

void SimgridReader::read(const InputFile& file) {
  Lines lines(file.text, file.name);
  const auto first = lines.next();
  if (!first) throw Error(file.name + ": is empty");
  if (*first == kHeader) return read_means(lines);
  const Row row = read_row(lines, *first);
  if (row.call == "MPI_Send") return read_round_trips(lines, row);
  if (row.call == "MPI_Recv")
    return read_calls(lines, row, "recvmin", "MPI_Recv alone, the message being there");
  if (row.call == "MPI_Isend")
    return read_calls(lines, row, "isend1", "MPI_Isend alone, its request never waited for");
  if (row.call == "MPI_Wtime") return read_total(lines, row);
  if (row.call == "MPI_Iprobe" || row.call == "MPI_Test") {
    out_.notes.push_back(file.name + ": left out: it has every poll of " + std::string(row.call) +
                         ", those in vain too");
    return;
  }
  lines.fail("expected MPI_Send, MPI_Recv, MPI_Isend, MPI_Iprobe, MPI_Test or MPI_Wtime, found '" +
             shown(row.call) + "'");
}

void SimgridReader::read_calls(Lines& lines, Row row, const std::string& function,
                               const char* method) {
  claim(lines, function, method);
  const std::string call(row.call);
  std::vector<Call> calls;
  Visits visits;
  while (true) {
    calls.push_back({row.bytes, visits.of(row.bytes), row.seconds});
    const auto line = lines.next();
    if (!line) break;
    row = read_row(lines, *line);
    if (row.call != call) lines.fail("expected " + call + ", found '" + shown(row.call) + "'");
  }
  add(function, calls, visits);
}

void SimgridReader::read_round_trips(Lines& lines, Row send) {
  claim(lines, "pingpong", "a whole round trip: MPI_Send and MPI_Recv of one rank together");
  claim(lines, "recv", "half of a round trip: from the send's start until the message is there");
  claim(lines, "send", "MPI_Send in a ping-pong, its receive posted before");
  std::vector<Call> sends;
  std::vector<Call> trips;
  Visits visits;
  while (true) {
    if (send.call != "MPI_Send") lines.fail("expected MPI_Send, found '" + shown(send.call) + "'");
    const auto second = lines.next();
    if (!second) lines.fail("the MPI_Send has no MPI_Recv after it; was the file cut off?");
    const Row recv = read_row(lines, *second);
    if (recv.call != "MPI_Recv" || recv.bytes != send.bytes || recv.start != send.start)
      lines.fail("expected the MPI_Recv of the round trip that the line before begins");
    const std::size_t visit = visits.of(send.bytes);
    sends.push_back({send.bytes, visit, send.seconds});
    trips.push_back({send.bytes, visit, send.seconds + recv.seconds});
    const auto line = lines.next();
    if (!line) break;
    send = read_row(lines, *line);
  }
  add("send", sends, visits);
  add("pingpong", trips, visits);
  for (Call& trip : trips) trip.seconds /= 2;
  add("recv", trips, visits);
}

// One row: what all calls took together.
void SimgridReader::read_total(Lines& lines, const Row& row) {
  claim(lines, "wtime", "the mean of ten million calls");
  if (const auto line = lines.next()) lines.fail("expected one row of MPI_Wtime alone");
  out_.add("wtime", 1, 0, 1, row.seconds / kWtimeCalls);
}

void SimgridReader::read_means(Lines& lines) {
  struct Kind {
    std::string_view experiment;
    const char* function;
    const char* method;
  };
  constexpr Kind kKinds[] = {
      {"isend", "isend1", "mean of MPI_Isend alone"},
      {"recv", "recvmin", "mean of MPI_Recv, posted when the message should be there"},
      {"send", "send", "mean of MPI_Send in a ping-pong, its receive posted before"},
      {"pingpong", "pingpong", "mean of whole round trips"}};
  bool any = false;
  while (const auto line = lines.next()) {
    const auto fields = fields_of(*line, ',');
    if (fields.size() != 4)
      lines.fail("expected EXPERIMENT,CLUSTER,SIZE,DURATION, found '" + shown(*line) + "'");
    const auto* kind = std::ranges::find(kKinds, fields[0], &Kind::experiment);
    if (kind == std::end(kKinds))
      lines.fail("expected isend, recv, send or pingpong, found '" + shown(fields[0]) + "'");
    const std::uint64_t bytes = lines.whole(fields[2], "a size in bytes");
    const double seconds = lines.amount(fields[3], "a duration in seconds");
    clusters_.emplace(shown(fields[1]));
    if (!cluster_.empty() && fields[1] != cluster_) continue;
    any = true;
    out_.add(kind->function, machine::kPair, bytes, 1, seconds);
    out_.methods.emplace(kind->function, kind->method);
    if (fields[0] != "pingpong") continue;
    out_.add("recv", machine::kPair, bytes, 1, seconds / 2);
    out_.methods.emplace("recv",
                         "half of the mean round trip: from the send's start until the message is "
                         "there");
  }
  std::string names;
  for (const std::string& name : clusters_) names += (names.empty() ? "" : ", ") + name;
  if (cluster_.empty() && clusters_.size() > 1)
    throw Error(lines.name() + ": holds several clusters; choose one with --cluster (" + names +
                ")");
  if (!any)
    throw Error(lines.name() + ": holds nothing of cluster '" + cluster_ + "'; it has " + names);
}

Measurements SimgridReader::take() {
  out_.resolution = 1e-8;
  out_.sync_threshold = find_sync_threshold(out_);
  return std::move(out_);
}

}  // namespace

Measurements read_simgrid_csv(const std::vector<InputFile>& files, const std::string& cluster) {
  SimgridReader reader(cluster);
  for (const InputFile& file : files) reader.read(file);
  return reader.take();
}

std::optional<std::uint64_t> find_sync_threshold(const Measurements& measurements) {
  constexpr double kFall = 0.75;
  constexpr std::uint64_t kLeast = 1024;  // no library waits below
  measure::FunctionProblem problem;
  problem.by_ranks = false;
  std::map<std::pair<std::uint64_t, int>, std::vector<double>> blocks;
  for (const measure::Sample& each : measurements.samples)
    if (each.function == "isend1") blocks[{each.bytes, each.launch}].push_back(each.seconds * 1e6);
  for (const auto& [key, times] : blocks)
    problem.observations.push_back({machine::kPair, key.first,
                                    static_cast<std::size_t>(key.second) - 1,
                                    stats::interquartile_mean(times)});
  if (problem.observations.empty()) return std::nullopt;
  const std::vector<machine::Regime> regimes = measure::fit_regimes(problem);
  double least = kFall;
  std::optional<std::uint64_t> found;
  for (std::size_t i = 1; i < regimes.size(); ++i) {
    const auto at = static_cast<double>(regimes[i].from.count);
    const auto time = [&](std::size_t regime) {
      return regimes[regime].equation.evaluate(machine::kPair, at, machine::Bound::avg);
    };
    const double before = time(i - 1);
    if (at < kLeast || !(before > 0) || time(i) / before > least) continue;
    least = time(i) / before;
    found = regimes[i].from.count;
  }
  return found;
}

}  // namespace foretrace::imported
