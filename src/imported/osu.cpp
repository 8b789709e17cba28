#include "imported/osu.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <map>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "imported/lines.hpp"
#include "machine/pair.hpp"

namespace foretrace::imported {
namespace {

constexpr double kMegabyte = 1e6;  // OSU's MB
// Two digits behind the point of a microsecond.
constexpr double kOsuResolution = 1e-8;

enum class Meaning { half_round_trip, bandwidth, collective, none };

struct OsuBenchmark {
  std::string_view title;  // between "OSU MPI" and "Test"
  Meaning meaning;
  const char* function;
};

constexpr std::array kOsuBenchmarks{
    OsuBenchmark{"Latency", Meaning::half_round_trip, "pingpong"},
    OsuBenchmark{"Bandwidth", Meaning::bandwidth, "gap"},
    OsuBenchmark{"Allgather Latency", Meaning::collective, "allgather"},
    OsuBenchmark{"Allgatherv Latency", Meaning::collective, "allgatherv"},
    OsuBenchmark{"Allreduce Latency", Meaning::collective, "allreduce"},
    OsuBenchmark{"All-to-All Personalized Exchange Latency", Meaning::collective, "alltoall"},
    OsuBenchmark{"All-to-Allv Personalized Exchange Latency", Meaning::collective, "alltoallv"},
    OsuBenchmark{"Barrier Latency", Meaning::collective, "barrier"},
    OsuBenchmark{"Broadcast Latency", Meaning::collective, "bcast"},
    OsuBenchmark{"Gather Latency", Meaning::collective, "gather"},
    OsuBenchmark{"Gatherv Latency", Meaning::collective, "gatherv"},
    OsuBenchmark{"Reduce Latency", Meaning::collective, "reduce"},
    OsuBenchmark{"Reduce_scatter Latency", Meaning::collective, "reduce_scatter"},
    OsuBenchmark{"Scatter Latency", Meaning::collective, "scatter"},
    OsuBenchmark{"Scatterv Latency", Meaning::collective, "scatterv"}};

// Which of a line's numbers is what.
struct Columns {
  std::size_t count = 0;
  bool has_size = false;
  std::size_t value = 0;
  bool largest = false;  // of the ranks, not their mean
};

class OsuReader {
 public:
  void read(const InputFile& file);
  Measurements take();

 private:
  void read_comment(std::string_view text);
  void read_title(std::string_view text);
  void read_columns(std::string_view text);
  void read_fact(std::string_view line);
  void read_row(std::string_view line);
  void add(std::uint64_t bytes, double value);
  void add_collective(std::uint64_t bytes, double value);
  int ranks_of_table() const;

  Lines* lines_ = nullptr;
  Measurements out_;
  int ranks_ = 0;  // of the file
  bool is_default_ = false;
  bool in_table_ = false;
  OsuBenchmark benchmark_{};
  std::string title_;
  Columns columns_;
  int launch_ = 0;  // 0: the table has no row yet
  std::uint64_t last_bytes_ = 0;
  std::map<std::pair<std::string, int>, int> launches_;  // tables of a function and ranks
  // By function: whether its tables have the largest time over ranks, and the file of the first.
  std::map<std::string, std::pair<bool, std::string>> largest_;
};

void OsuReader::read(const InputFile& file) {
  Lines lines(file.text, file.name);
  lines_ = &lines;
  ranks_ = file.ranks;
  is_default_ = file.is_default;
  in_table_ = false;
  bool any = false;
  while (const auto line = lines.next()) {
    const std::string_view text = trimmed(*line);
    if (text.empty()) continue;
    if (text.starts_with('#')) {
      read_comment(trimmed(text.substr(1)));
    } else if (text.starts_with("==")) {
      read_fact(text);
    } else {
      read_row(text);
      any = true;
    }
  }
  if (!any) throw Error(file.name + ": holds no table of the OSU micro-benchmarks");
}

void OsuReader::read_comment(std::string_view text) {
  if (text.starts_with("OSU ")) return read_title(text);
  if (text.starts_with("Size") || text.starts_with("Avg Latency")) return read_columns(text);
  // Anything else is somebody's remark.
}

void OsuReader::read_title(std::string_view text) {
  const std::size_t begin = text.find(' ', text.find("MPI"));
  const std::size_t end = text.rfind(" Test");
  if (text.find("MPI") == text.npos || end == text.npos || begin >= end)
    lines_->fail("expected a title such as '# OSU MPI Latency Test v5.9', found '" + shown(text) +
                 "'");
  // "OSU MPI-CUDA Latency Test": buffers of a device.
  title_ = text.substr(0, begin) == "OSU MPI" ? text.substr(begin + 1, end - begin - 1)
                                              : text.substr(4, end - 4);
  const auto* known = std::ranges::find(kOsuBenchmarks, title_, &OsuBenchmark::title);
  benchmark_ = known == kOsuBenchmarks.end() ? OsuBenchmark{"", Meaning::none, ""} : *known;
  if (benchmark_.meaning == Meaning::none)
    out_.notes.push_back(lines_->name() + ": left out: no function of a machine model is what '" +
                         shown(title_) + "' measures");
  in_table_ = true;
  columns_ = {};
  launch_ = 0;
}

// "Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations": two
// blanks or more between them.
void OsuReader::read_columns(std::string_view text) {
  if (!in_table_) lines_->fail("column names before the title, '# OSU MPI ... Test v...'");
  std::vector<std::string_view> names;
  while (!(text = trimmed(text)).empty()) {
    const std::size_t end = std::min(text.find("  "), text.find('\t'));
    names.push_back(text.substr(0, end));
    text.remove_prefix(names.back().size());
  }
  const auto place_of = [&](std::initializer_list<std::string_view> wanted) {
    return static_cast<std::size_t>(std::ranges::find_first_of(names, wanted) - names.begin());
  };
  columns_ = {};
  columns_.count = names.size();
  columns_.has_size = names.front() == "Size";
  const bool is_rate = benchmark_.meaning == Meaning::bandwidth;
  const std::size_t largest = place_of({"Max Latency(us)", "Max Latency (us)"});
  columns_.largest = benchmark_.meaning == Meaning::collective && largest < names.size();
  columns_.value =
      columns_.largest ? largest
      : is_rate        ? place_of({"Bandwidth (MB/s)", "Bandwidth(MB/s)"})
                : place_of({"Latency (us)", "Latency(us)", "Avg Latency(us)", "Avg Latency (us)"});
  if (benchmark_.meaning != Meaning::none && columns_.value == names.size())
    lines_->fail("no column of '" + shown(title_) + "' is called " +
                 (is_rate ? "'Bandwidth (MB/s)'" : "'Latency (us)' or 'Avg Latency(us)'"));
}

// "== Processes = 256": scripts put it before the table.
void OsuReader::read_fact(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() != 4 || words[2] != "=")
    lines_->fail("expected '== Processes = NUMBER', found '" + shown(line) + "'");
  if (words[1] != "Processes") return;
  const std::uint64_t ranks = lines_->whole(words[3], "the number of processes");
  if (ranks < 1 || ranks > INT_MAX) lines_->fail("that many processes there cannot be");
  if (!is_default_ && ranks_ != 0 && ranks_ != static_cast<int>(ranks))
    lines_->fail("the file says " + std::to_string(ranks) + " processes, the command " +
                 std::to_string(ranks_));
  ranks_ = static_cast<int>(ranks);
  is_default_ = false;
}

void OsuReader::read_row(std::string_view line) {
  if (!in_table_) lines_->fail("expected '# OSU MPI ... Test v...', found '" + shown(line) + "'");
  if (columns_.count == 0) lines_->fail("numbers before the columns' names ('# Size ...')");
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() != columns_.count)
    lines_->fail("expected " + std::to_string(columns_.count) + " columns, found " +
                 std::to_string(words.size()));
  if (benchmark_.meaning == Meaning::none) return;
  const std::uint64_t bytes = columns_.has_size ? lines_->whole(words[0], "a size in bytes") : 0;
  if (launch_ > 0 && bytes <= last_bytes_)
    lines_->fail("sizes must grow: " + std::to_string(bytes) + " follows " +
                 std::to_string(last_bytes_));
  const double value = lines_->amount(words[columns_.value], "a time or a rate");
  if (value == 0) lines_->fail("a time or a rate of 0");
  if (launch_ == 0) launch_ = ++launches_[{benchmark_.function, ranks_of_table()}];
  last_bytes_ = bytes;
  add(bytes, value);
}

int OsuReader::ranks_of_table() const {
  if (benchmark_.meaning != Meaning::collective) return machine::kPair;
  if (ranks_ == 0)
    throw Error(lines_->name() + ": does not say of how many ranks its " + benchmark_.function +
                " is; give RANKS:FILE, or --ranks for all files");
  return ranks_;
}

void OsuReader::add(std::uint64_t bytes, double value) {
  const int ranks = ranks_of_table();
  switch (benchmark_.meaning) {
    case Meaning::half_round_trip:
      out_.add("pingpong", ranks, bytes, launch_, 2 * value * kMicrosecond);
      out_.add("recv", ranks, bytes, launch_, value * kMicrosecond);
      out_.methods["pingpong"] = "twice osu_latency: mean over repetitions, warm buffers";
      out_.methods["recv"] =
          "osu_latency, half of a round trip: from the send's start until the message is there";
      break;
    case Meaning::bandwidth:
      // A rate of an empty message says nothing.
      if (bytes == 0) break;
      if (value < 1e-9) lines_->fail("a rate that is next to nothing");
      out_.add("gap", ranks, bytes, launch_, static_cast<double>(bytes) / (value * kMegabyte));
      out_.methods["gap"] = "size divided by osu_bw's rate, a window of messages on the way";
      break;
    default:
      add_collective(bytes, value);
  }
}

// One equation cannot be of both what the mean and what the last rank needs.
void OsuReader::add_collective(std::uint64_t bytes, double value) {
  const std::string function = benchmark_.function;
  const auto [kind, first] =
      largest_.try_emplace(function, std::pair(columns_.largest, lines_->name()));
  if (!first && kind->second.first != columns_.largest)
    lines_->fail(function + " here is " + (columns_.largest ? "the largest" : "the mean") +
                 " over ranks, in " + kind->second.second + " the " +
                 (columns_.largest ? "mean" : "largest ('Max Latency')") + "; import them apart");
  out_.add(function, ranks_of_table(), bytes, launch_, value * kMicrosecond);
  out_.methods[function] = std::string("OSU, ") + (columns_.largest ? "largest" : "mean") +
                           " over ranks: warm buffers, a barrier before each call" +
                           (columns_.largest ? "" : "; the last rank leaves later");
}

Measurements OsuReader::take() {
  out_.resolution = kOsuResolution;
  return std::move(out_);
}

}  // namespace

Measurements read_osu(const std::vector<InputFile>& files) {
  OsuReader reader;
  for (const InputFile& file : files) reader.read(file);
  return reader.take();
}

}  // namespace foretrace::imported
