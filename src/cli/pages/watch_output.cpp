#include "cli/pages/watch_output.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>

#include "base/error.hpp"
#include "base/time_text.hpp"
#include "base/whole_file.hpp"
#include "cli/system/output_file.hpp"
#include "cli/traces/call_places.hpp"
#include "cli/words/option_values.hpp"
#include "views/architecture/drawing.hpp"

namespace foretrace::cli {
namespace {

std::int64_t moment(const std::string& text, const char* option, std::int64_t usual) {
  if (text.empty()) return usual;
  const auto seconds = parse_seconds(text);
  if (!seconds || *seconds > 1e6)
    throw UsageError(std::string(option) + ": expected a time such as 10us, found '" + text + "'");
  return std::llround(*seconds * 1e12);
}

std::int64_t from_of(const WatchOptions& options) {
  return moment(options.from, "--watch-from", 0);
}
std::int64_t to_of(const WatchOptions& options) {
  return moment(options.to, "--watch-to", entity::kNever);
}

void need_pages(const std::string& page) {
  if (page.empty()) throw Error("this build has no pages; configure it with -DFORETRACE_WEB=ON");
}

}  // namespace

CLI::Option* add_watch_options(CLI::App& app, WatchOptions& options) {
  CLI::Option* const watch = app.add_option(
      "--watch", options.file,
      "A page that shows the machine at work (PAGE.html), a picture of how busy it kept "
      "its links (FILE.svg), or both as data (FILE.json)");
  app.add_option("--watch-what", options.what,
                 "What is recorded for it: statistics; messages, too; states: every change, too")
      ->check(offers("statistics,messages,states"));
  app.add_option("--watch-most", options.most,
                 "So many records are kept of messages and changes, and of calls");
  app.add_option("--watch-from", options.from, "Record from this virtual time on");
  app.add_option("--watch-to", options.to, "Record until this virtual time");
  app.add_option("--watch-only", options.only,
                 "BOX or BOX.QUANTITY: record these alone, e.g. 'node[0..3].nic'; may be repeated");
  return watch;
}

std::unique_ptr<architecture::Recording> recording_of(
    const WatchOptions& options, const architecture::FlatArchitecture& architecture,
    const char* command) {
  if (options.file.empty()) {
    if (options.what != "messages" || !options.from.empty() || !options.to.empty() ||
        !options.only.empty())
      throw UsageError("--watch-what, -from, -to and -only say what --watch FILE records; add it");
    return nullptr;
  }
  ending_of(options.file, command, {".html", ".svg", ".json"});
  architecture::RecordingOptions made{architecture::parse_detail(options.what), options.most,
                                      from_of(options), to_of(options), options.only};
  if (made.from >= made.to)
    throw UsageError("--watch-from: expected a time before --watch-to, found '" + options.from +
                     "'");
  return std::make_unique<architecture::Recording>(architecture, std::move(made));
}

void write_watch(const WatchOptions& options, const architecture::FlatArchitecture& architecture,
                 const architecture::Recording& recording, const views::WatchedRanks& ranks,
                 std::int64_t end, const std::string& title) {
  if (const std::string path = recording.unknown_path(); !path.empty())
    throw UsageError("--watch-only " + path +
                     ": no box and no quantity has such a path; foretrace architecture check "
                     "--boxes lists boxes");
  end = std::max(end, recording.end());
  if (options.file.ends_with(".svg"))
    return write_output(
        options.file, views::render_svg_architecture(
                          architecture, views::busy_links(architecture, recording, Time::ps(end))));
  const std::string data = views::watched_json(architecture, recording, ranks, end, title);
  if (options.file.ends_with(".json")) return write_output(options.file, data + "\n");
  const std::string page = views::render_html_watch({data}, title);
  need_pages(page);
  write_output(options.file, page);
}

void write_beside(const std::string& first, const std::string& second, const std::string& output) {
  std::vector<std::string> runs;
  for (const std::string& file : {first, second}) {
    const auto found = views::runs_of_page(read_whole_file(file, "the page"));
    if (found.size() != 1)
      throw Error(file + ": expected a page of one run, found " +
                  (found.empty() ? "none" : std::to_string(found.size()) + " runs") +
                  "; make it with foretrace simulate --network arch:FILE --watch PAGE.html");
    runs.push_back(found.front());
  }
  const std::string page = views::render_html_watch(runs, first + " and " + second);
  need_pages(page);
  write_output(output, page);
}

RankRecorder::RankRecorder(const WatchOptions& options)
    : most_(options.what == "statistics" ? 0 : options.most),
      from_(from_of(options)),
      to_(to_of(options)),
      tell_(place_teller()) {
  number_of("");
}

void RankRecorder::finished(WorldRank rank, const sim::Operation& operation,
                            const sim::Interval& interval) {
  const std::int64_t enter = interval.enter.count_ps();
  const std::int64_t leave = interval.leave.count_ps();
  end_ = std::max(end_, leave);
  if (leave < from_ || enter > to_ || most_ == 0) return;
  if (ranks.calls.size() >= most_) {
    ++ranks.lost;
    return;
  }
  const auto [name, is_new] =
      names_.emplace(operation.name, static_cast<std::uint32_t>(ranks.names.size()));
  if (is_new) ranks.names.emplace_back(source_->name(operation.name));
  const std::uint32_t place =
      operation.site == 0 ? number_of(source_->place(rank)) : place_of(operation.site);
  ranks.calls.push_back({rank.value, enter, leave, name->second, place});
}

std::uint32_t RankRecorder::place_of(trace::SiteId site) {
  const auto [place, is_new] = places_.emplace(site, 0);
  if (!is_new) return place->second;
  std::string told = source_->describe_site(site);
  if (told.empty()) told = tell_(source_->site(site));
  return place->second = number_of(told);
}

std::uint32_t RankRecorder::number_of(const std::string& place) {
  const auto [known, is_new] =
      known_.emplace(place, static_cast<std::uint32_t>(ranks.places.size()));
  if (is_new) ranks.places.push_back(place);
  return known->second;
}

}  // namespace foretrace::cli
