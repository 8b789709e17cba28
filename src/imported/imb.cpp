#include "imported/imb.hpp"

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

constexpr double kImbResolution = 1e-8;

struct ImbBenchmark {
  std::string_view title;
  const char* function;
};

constexpr std::array kImbBenchmarks{
    ImbBenchmark{"PingPong", "pingpong"},      ImbBenchmark{"Sendrecv", "sendrecv"},
    ImbBenchmark{"Exchange", "exchange_ring"}, ImbBenchmark{"Allgather", "allgather"},
    ImbBenchmark{"Allgatherv", "allgatherv"},  ImbBenchmark{"Allreduce", "allreduce"},
    ImbBenchmark{"Alltoall", "alltoall"},      ImbBenchmark{"Alltoallv", "alltoallv"},
    ImbBenchmark{"Barrier", "barrier"},        ImbBenchmark{"Bcast", "bcast"},
    ImbBenchmark{"Gather", "gather"},          ImbBenchmark{"Gatherv", "gatherv"},
    ImbBenchmark{"Reduce", "reduce"},          ImbBenchmark{"Reduce_scatter", "reduce_scatter"},
    ImbBenchmark{"Scatter", "scatter"},        ImbBenchmark{"Scatterv", "scatterv"}};

class ImbReader {
 public:
  void read(const InputFile& file);
  Measurements take() {
    out_.resolution = kImbResolution;
    return std::move(out_);
  }

 private:
  void read_comment(std::string_view text);
  void read_columns(const std::vector<std::string_view>& names);
  void read_row(const std::vector<std::string_view>& words);
  std::size_t column(std::string_view name) const {
    return static_cast<std::size_t>(std::ranges::find(columns_, name) - columns_.begin());
  }
  void add(std::uint64_t bytes, double seconds);

  Lines* lines_ = nullptr;
  Measurements out_;
  std::string title_;     // empty: no benchmark has begun
  std::string function_;  // empty: none of a model is like it
  int ranks_ = 0;
  int launch_ = 0;
  std::vector<std::string> columns_;
  std::map<std::pair<std::string, int>, int> launches_;
};

void ImbReader::read(const InputFile& file) {
  Lines lines(file.text, file.name);
  lines_ = &lines;
  title_.clear();
  columns_.clear();
  bool any = false;
  while (const auto line = lines.next()) {
    const std::string_view text = trimmed(*line);
    if (text.empty()) continue;
    if (text.starts_with("#bytes") || text.starts_with("#repetitions")) {
      read_columns(words_of(text));
    } else if (text.starts_with('#')) {
      read_comment(trimmed(text.substr(1)));
    } else {
      read_row(words_of(text));
      any = true;
    }
  }
  if (!any) throw Error(file.name + ": holds no table of the Intel MPI Benchmarks");
}

void ImbReader::read_comment(std::string_view text) {
  if (text.starts_with("Benchmarking ")) {
    title_ = trimmed(text.substr(13));
    columns_.clear();
    ranks_ = 0;
    const auto* known = std::ranges::find(kImbBenchmarks, title_, &ImbBenchmark::title);
    function_ = known == kImbBenchmarks.end() ? "" : known->function;
    if (function_.empty())
      out_.notes.push_back(lines_->name() + ": left out: no function of a machine model is what '" +
                           shown(title_) + "' measures");
  } else if (text.starts_with("#processes = ")) {
    const std::uint64_t ranks = lines_->whole(trimmed(text.substr(13)), "the number of processes");
    if (ranks < 1 || ranks > INT_MAX) lines_->fail("that many processes there cannot be");
    ranks_ = static_cast<int>(ranks);
  }
}

void ImbReader::read_columns(const std::vector<std::string_view>& names) {
  if (title_.empty()) lines_->fail("column names before '# Benchmarking ...'");
  columns_.assign(names.begin(), names.end());
  if (function_.empty()) return;
  if (ranks_ == 0) lines_->fail("'# #processes = ...' is missing before this table");
  if (column("t[usec]") == columns_.size() && column("t_max[usec]") == columns_.size())
    lines_->fail("expected a column 't[usec]' or 't_max[usec]'");
  if (function_ == "sendrecv" && ranks_ != machine::kPair) {
    out_.notes.push_back(lines_->name() + ": left out: Sendrecv on a chain of " +
                         std::to_string(ranks_) + " ranks; a model's is between two");
    return;
  }
  launch_ = ++launches_[{function_, ranks_}];
}

void ImbReader::read_row(const std::vector<std::string_view>& words) {
  if (columns_.empty())
    lines_->fail("expected '# Benchmarking ...' and column names, found '" + shown(words[0]) + "'");
  if (words.size() != columns_.size())
    lines_->fail("expected " + std::to_string(columns_.size()) + " columns, found " +
                 std::to_string(words.size()));
  if (function_.empty() || (function_ == "sendrecv" && ranks_ != machine::kPair)) return;
  const std::uint64_t bytes =
      column("#bytes") == 0 ? lines_->whole(words[0], "a size in bytes") : 0;
  const std::size_t largest = column("t_max[usec]");
  const double time =
      lines_->amount(words[largest < columns_.size() ? largest : column("t[usec]")], "a time");
  // IMB prints 0.00 for what moves nothing.
  if (time == 0) return;
  add(bytes, time * kMicrosecond);
}

void ImbReader::add(std::uint64_t bytes, double seconds) {
  if (function_ == "pingpong") {
    out_.add("pingpong", machine::kPair, bytes, launch_, 2 * seconds);
    out_.add("recv", machine::kPair, bytes, launch_, seconds);
    out_.methods["pingpong"] = "twice IMB's PingPong";
    out_.methods["recv"] =
        "IMB's PingPong, half of a round trip: from the send's start until the message is there";
    return;
  }
  out_.add(function_, ranks_, bytes, launch_, seconds);
  out_.methods[function_] =
      "IMB's " + title_ + ", largest over ranks: mean of calls without a barrier between them";
}

}  // namespace

Measurements read_imb(const std::vector<InputFile>& files) {
  ImbReader reader;
  for (const InputFile& file : files) reader.read(file);
  return reader.take();
}

}  // namespace foretrace::imported
