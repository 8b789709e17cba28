// --watch: what is recorded of a run on an architecture, and the page, picture or data made of it.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "architecture/recording.hpp"
#include "sim/sink.hpp"
#include "trace/tell_place.hpp"
#include "views/architecture/watch.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace foretrace::cli {

struct WatchOptions {
  std::string file;  // PAGE.html, PICTURE.svg, DATA.json; empty: nothing is recorded
  std::string what = "messages";
  std::size_t most = 200'000;
  std::string from, to;
  std::vector<std::string> only;
};

// Returns --watch.
CLI::Option* add_watch_options(CLI::App& app, WatchOptions& options);
// Nothing where nobody asked. Throws UsageError; `command` begins what it says of the file's name.
std::unique_ptr<architecture::Recording> recording_of(
    const WatchOptions& options, const architecture::FlatArchitecture& architecture,
    const char* command);
// Throws UsageError for a path that no box and no quantity has.
void write_watch(const WatchOptions& options, const architecture::FlatArchitecture& architecture,
                 const architecture::Recording& recording, const views::WatchedRanks& ranks,
                 std::int64_t end, const std::string& title);

// Two pages, or what they show, on one.
void write_beside(const std::string& first, const std::string& second, const std::string& output);

// The calls of the ranks, as they end, with the places where they stand in the program.
class RankRecorder final : public sim::Sink {
 public:
  explicit RankRecorder(const WatchOptions& options);
  // Whose calls come; before the first of them.
  void follow(const sim::Source& source) { source_ = &source; }
  void finished(WorldRank rank, const sim::Operation& operation,
                const sim::Interval& interval) override;
  std::int64_t end() const { return end_; }

  views::WatchedRanks ranks;

 private:
  std::uint32_t place_of(trace::SiteId site);
  std::uint32_t number_of(const std::string& place);

  std::size_t most_;
  std::int64_t from_, to_;
  const sim::Source* source_ = nullptr;
  std::unordered_map<trace::NameId, std::uint32_t> names_;
  std::unordered_map<trace::SiteId, std::uint32_t> places_;
  std::unordered_map<std::string, std::uint32_t> known_;
  trace::TellPlace tell_;
  std::int64_t end_ = 0;
};

}  // namespace foretrace::cli
