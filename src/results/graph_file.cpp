#include "results/graph_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "base/whole_file.hpp"
#include "results/schema.hpp"
#include "results/store.hpp"

namespace foretrace::results {
namespace {

constexpr double kMostProcesses = 1e9;

std::optional<double> number_in(const std::string& word) {
  double value = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (fault != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

class GraphReader {
 public:
  explicit GraphReader(const std::string& name) : name_(name) {}

  std::vector<GraphPoint> read(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      ++line_;
      if (lines.eof()) fail(line_, kCutOffLine);
      std::istringstream words(line);
      std::vector<std::string> each;
      for (std::string word; words >> word;) each.push_back(word);
      if (each.empty()) continue;
      if (each.front().front() == '#')
        header(each);
      else
        time(each);
    }
    finish();
    if (points_.empty())
      throw Error(name_ + ": there are no points; one begins with '# <nprocs> <ndata>'");
    return std::move(points_);
  }

 private:
  [[noreturn]] void fail(std::size_t line, const std::string& what) const {
    throw Error(name_ + ":" + std::to_string(line) + ": " + what);
  }

  void header(std::vector<std::string> words) {
    finish();
    if (words.front() == "#")
      words.erase(words.begin());
    else
      words.front().erase(0, 1);
    if (words.size() != 2)
      fail(line_, "expected '# <nprocs> <ndata>', found " + std::to_string(words.size()) +
                      " words after the '#'");
    const auto processes = number_in(words[0]);
    if (!processes || *processes < 1 || *processes > kMostProcesses ||
        *processes != std::floor(*processes))
      fail(line_, "'" + words[0] + "' is no number of processes; expected a whole number from 1");
    const auto size = number_in(words[1]);
    if (!size) fail(line_, "'" + words[1] + "' is no size; expected a number");
    points_.push_back({static_cast<std::int64_t>(*processes), *size, {}, 0});
    begun_ = line_;
    known_.clear();
  }

  void time(const std::vector<std::string>& words) {
    if (points_.empty())
      fail(line_, "a time before the first point; expected '# <nprocs> <ndata>'");
    if (words.size() != 2)
      fail(line_, "expected '<phase> <time>', found " + std::to_string(words.size()) +
                      (words.size() == 1 ? " word" : " words"));
    const auto seconds = number_in(words[1]);
    if (!seconds || *seconds < 0)
      fail(line_, "'" + words[1] + "' is no time; expected seconds, such as 0.25 or 1e-3");
    if (!known_.insert(column_of(std::string(kPhase), words[0])).second)
      fail(line_, "the point of line " + std::to_string(begun_) + " has '" + words[0] +
                      "' already (characters that are no letters and digits count as one)");
    points_.back().phases.emplace_back(words[0], *seconds);
    last_ = line_;
  }

  // The last time of a point is its total.
  void finish() {
    if (points_.empty()) return;
    GraphPoint& point = points_.back();
    if (point.phases.empty()) fail(begun_, "this point has no times; expected '<total> <time>'");
    const auto& [name, seconds] = point.phases.back();
    if (total_.empty()) {
      total_ = name;
      total_line_ = last_;
    } else if (name != total_) {
      fail(last_, "the last time of a point is its total, which is '" + total_ + "' in line " +
                      std::to_string(total_line_) + "; found '" + name + "'");
    }
    point.total = seconds;
    point.phases.pop_back();
  }

  const std::string& name_;
  std::vector<GraphPoint> points_;
  std::set<std::string> known_;
  std::string total_;
  std::size_t line_ = 0, begun_ = 0, last_ = 0, total_line_ = 0;
};

}  // namespace

std::vector<GraphPoint> parse_graph(const std::string& text, const std::string& name) {
  return GraphReader(name).read(text);
}

std::string format_graph(const std::vector<GraphPoint>& points) {
  std::string out;
  for (const GraphPoint& point : points) {
    out += "# " + std::to_string(point.processes) + " " + text_of(point.size) + "\n";
    for (const auto& [name, seconds] : point.phases) out += name + " " + text_of(seconds) + "\n";
    out += "total " + text_of(point.total) + "\n";
  }
  return out;
}

std::vector<GraphPoint> graph_of(const Table& points, const std::string& size) {
  const std::size_t size_at = points.find(size);
  const std::size_t ranks_at = points.find("ranks");
  const std::size_t time_at = points.find("time");
  std::map<std::pair<std::int64_t, double>, GraphPoint> found;
  for (const auto& row : points.rows) {
    const auto ranks = number_of(row[ranks_at]);
    const auto at = number_of(row[size_at]);
    const auto time = number_of(row[time_at]);
    if (!ranks || *ranks < 1 || !at || !time) continue;
    GraphPoint point{static_cast<std::int64_t>(*ranks), *at, {}, *time};
    for (std::size_t i = 0; i < points.columns.size(); ++i) {
      const std::string& name = points.columns[i].name;
      const auto phase = name.starts_with(kPhase) ? number_of(row[i]) : std::nullopt;
      if (phase && name != "phase_total")
        point.phases.emplace_back(name.substr(kPhase.size()), *phase);
    }
    if (!found.try_emplace({point.processes, point.size}, point).second)
      throw UsageError("results: several points have ranks = " + std::to_string(point.processes) +
                       " and " + size + " = " + text_of(point.size) +
                       ", which this format cannot tell apart; choose with --where");
  }
  if (found.empty())
    throw UsageError("results: no point has a time, a number of ranks and a number in " + size);
  std::vector<GraphPoint> out;
  for (auto& [unused, point] : found) out.push_back(std::move(point));
  return out;
}

Database database_of_graph(const std::string& path) {
  const std::string text = read_whole_file(path, "the graph");
  Store store(Database(path, Database::Mode::memory));
  store.begin_study(std::filesystem::path(path).stem().string(), path, text, "graph");
  std::map<std::pair<std::int64_t, double>, int> launches;
  std::map<std::pair<std::int64_t, double>, std::int64_t> numbers;
  for (const GraphPoint& point : parse_graph(text, path)) {
    const std::pair at(point.processes, point.size);
    Launch launch;
    launch.point = numbers.try_emplace(at, static_cast<std::int64_t>(numbers.size())).first->second;
    launch.launch = launches[at]++;
    launch.kind = "graph";
    launch.ranks = static_cast<int>(point.processes);
    if (point.size == std::floor(point.size) && std::fabs(point.size) < 1e15)
      launch.parameters = {{"ndata", static_cast<std::int64_t>(point.size)}};
    else
      launch.parameters = {{"ndata", point.size}};
    for (const auto& [name, seconds] : point.phases)
      launch.quantities.emplace_back(column_of(std::string(kPhase), name), seconds);
    launch.quantities.emplace_back("time", point.total);
    store.add(launch, {});
  }
  return store.take();
}

}  // namespace foretrace::results
