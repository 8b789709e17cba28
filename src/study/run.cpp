#include "study/run.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <unordered_map>

#include "base/error.hpp"
#include "base/utc_time.hpp"
#include "base/whole_file.hpp"
#include "results/store.hpp"
#include "study/child.hpp"
#include "study/figures.hpp"
#include "study/lock.hpp"
#include "study/quiet.hpp"
#include "study/reason.hpp"

namespace foretrace::study {
namespace {

namespace fs = std::filesystem;
using results::Launch;
using results::Origin;
using results::Store;

constexpr std::size_t kFailuresTold = 5;
constexpr std::size_t kNotesTold = 10;
constexpr double kPatience = 60;  // seconds for others that merge

std::string part_file(const std::string& output, int part) {
  return output + ".part-" + std::to_string(part);
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

std::string shell_words(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    out += out.empty() ? "" : " ";
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789_-+=./,:@%{}") == std::string::npos;
    if (plain) {
      out += word;
      continue;
    }
    out += '\'';
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += '\'';
  }
  return out;
}

void remove_database(const std::string& path) {
  std::error_code ignored;
  for (const char* end : {"", "-wal", "-shm"}) fs::remove(path + end, ignored);
}

// Parts that a run which is over left behind, with what lies beside them. Throws Error if one
// cannot be merged.
void merge_left_over(Store& store, const std::string& output) {
  const fs::path whole(output);
  const fs::path folder = whole.has_parent_path() ? whole.parent_path() : fs::path(".");
  const std::string begins = whole.filename().string() + ".part-";
  std::set<fs::path> parts;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(begins)) continue;
    const std::size_t end = name.find_first_not_of("0123456789", begins.size());
    const std::string rest = end == std::string::npos ? "" : name.substr(end);
    if (rest.empty() || rest == ".lock" || rest == ".work")
      parts.insert(folder / name.substr(0, end));
  }
  for (const fs::path& part : parts) {
    FileLock lock = FileLock::try_for(part.string() + ".lock");
    if (!lock.holds()) continue;  // at work
    if (fs::exists(part)) store.merge(part.string());
    remove_database(part.string());
    fs::remove_all(part.string() + ".work", ignored);
    lock.remove();
  }
}

class Runner {
 public:
  Runner(const Study& study, const std::vector<Job>& jobs, const RunSettings& settings)
      : study_(study),
        jobs_(jobs),
        settings_(settings),
        own_file_(settings.parts > 1 ? part_file(settings.output, settings.part) : settings.output),
        folder_(own_file_ + ".work"),
        recordings_(settings.output + ".recordings") {}

  RunResult run() {
    lock_ = lock_of(own_file_);
    try {
      find_known();
    } catch (...) {
      // It is no file of ours: nothing stays beside it.
      lock_.remove();
      throw;
    }
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    fs::create_directories(folder_);
    result_.failures.clear();
    record_missing();
    measure();
    run_virtual();
    finish();
    return std::move(result_);
  }

 private:
  // A part may find its file, or the whole one, in the hands of another that merges it.
  FileLock lock_of(const std::string& file) const {
    FileLock lock = FileLock::try_for(file + ".lock", settings_.parts > 1 ? kPatience : 0);
    if (!lock.holds()) throw Error(file + ": another study is at work on it; wait for its end");
    return lock;
  }

  // The whole file has one process at a time: they may be on several hosts, and what SQLite shares
  // between processes is memory. Parts take it at their beginning and at their end.
  FileLock lock_of_whole() const {
    return settings_.parts > 1 ? lock_of(settings_.output) : FileLock();
  }

  std::map<std::int64_t, int> known_of_whole() const {
    Store whole(settings_.output);
    merge_left_over(whole, settings_.output);
    return whole.done();
  }

  void find_known() {
    FileLock alone = lock_of_whole();
    known_ = known_of_whole();
    alone.remove();
    store_ = std::make_unique<Store>(own_file_);
    store_->begin_study(study_.name, study_.file, study_.text, hex_of(checksum_of(study_.text)));
    if (settings_.parts > 1)
      for (const auto& [point, count] : store_->done()) {
        int& known = known_[point];
        known = std::max(known, count);
      }
    for (const Job& job : jobs_) {
      const int wanted = job.kind == Kind::measured ? study_.least_launches : 1;
      const auto found = known_.find(job.point);
      if (found != known_.end() && found->second >= wanted) {
        ++result_.known;
        continue;
      }
      if (job.kind == Kind::measured)
        total_ += static_cast<std::size_t>(wanted - (found == known_.end() ? 0 : found->second));
      else
        ++total_;
    }
  }

  bool is_known(const Job& job) const { return known_.contains(job.point); }

  std::string recording_file(const Recording& recording) const {
    return recordings_ + "/" + hex_of(recording.point) + ".ftr";
  }

  static std::vector<std::string> with_trace(std::vector<std::string> words,
                                             const std::string& trace) {
    for (std::string& word : words)
      if (word == "{trace}") word = trace;
    return words;
  }

  Origin origin_of(const Job& job) const {
    return {host_name(), settings_.version, job.machine_checksum, job.program_checksum,
            environment_that_matters()};
  }

  Launch begin(const Job& job, const std::vector<std::string>& command, int number) const {
    Launch launch;
    launch.point = job.point;
    launch.launch = number;
    launch.program = job.program;
    launch.way = job.way;
    launch.kind = name_of(job.kind);
    launch.machine = job.machine;
    launch.ranks = job.ranks;
    launch.parameters = job.parameters;
    launch.command = (job.kind == Kind::command ? "" : "foretrace ") + shell_words(command);
    launch.started = utc_now();
    return launch;
  }

  // Runs a command of ours; "" if it ended well, else why not.
  std::string attempt(std::vector<std::string> words, ChildResult& child) {
    words.insert(words.begin(), settings_.tool);
    return attempt_as_is(words, child, Asked::leader);
  }
  std::string attempt_as_is(const std::vector<std::string>& words, ChildResult& child,
                            Asked asked = Asked::group) {
    child = run_child(words, folder_, study_.timeout_seconds, asked);
    if (child.timed_out) return "took longer than the study's timeout";
    if (child.status != 0) {
      const std::string line = reason_in(child.err);
      return "status " + std::to_string(child.status) + (line.empty() ? "" : ": " + line);
    }
    tell_notes(child.err);
    return "";
  }

  // What our commands say beside their results, each note once for the whole study.
  void tell_notes(const std::string& errors) {
    if (!settings_.tell) return;
    const std::scoped_lock lock(mutex_);
    for (const std::string& note : notes_in(errors))
      if (notes_.size() < kNotesTold && notes_.insert(note).second) settings_.tell(note);
  }

  void keep(Launch launch, const Job& job, double seconds) {
    const std::scoped_lock lock(mutex_);
    launch.elapsed = seconds;
    if (launch.done) {
      ++result_.launches;
    } else {
      ++result_.failed;
      if (result_.failures.size() < kFailuresTold)
        result_.failures.push_back(launch.command + ": " + launch.message);
    }
    store_->add(launch, origin_of(job));
    ++done_;
    spent_ += seconds;
    tell_progress(job.measures ? 1 : threads_);
  }

  void tell_progress(std::size_t at_once) const {
    if (!settings_.progress) return;
    const std::size_t total = std::max(total_, done_);
    const double each = spent_ / static_cast<double>(std::max<std::size_t>(done_, 1));
    settings_.progress(
        {done_, total, each * static_cast<double>(total - done_) / static_cast<double>(at_once)});
  }

  // One launch of a job; its time, if it has one.
  std::optional<double> launch(const Job& job, int number) {
    const bool replays = job.recording.has_value();
    static std::atomic<unsigned> counter = 0;
    const std::string trace = replays ? recording_file(*job.recording)
                                      : folder_ + "/run-" + std::to_string(counter++) + ".ftr";
    const std::vector<std::string> words = with_trace(job.command, trace);
    Launch launch = begin(job, words, number);
    ChildResult child;
    launch.message =
        job.kind == Kind::command ? attempt_as_is(words, child) : attempt(words, child);
    double seconds = child.seconds;
    const bool writes_trace = std::ranges::count(job.command, "{trace}") != 0 && !replays;
    std::string json = child.out;
    if (launch.message.empty() && writes_trace) {
      ChildResult report;
      launch.message = attempt({"report", trace, "--json"}, report);
      json = std::move(report.out);
      seconds += report.seconds;
    }
    if (launch.message.empty()) {
      try {
        const bool prints = writes_trace || job.kind == Kind::command;
        if (job.kind != Kind::command) launch.quantities = figures_of_json(json);
        if (prints) add_printed(child.out, launch.quantities);
        if (launch.ranks == 0 && !prints) launch.ranks = ranks_of_json(json);
        if (job.kind == Kind::command) check_time(launch.quantities);
      } catch (const Error& error) {
        launch.message = error.what();
      }
    }
    std::error_code ignored;
    if (writes_trace) fs::remove(trace, ignored);
    launch.done = launch.message.empty();
    if (launch.done && job.kind != Kind::command) launch.message = notes_of_json(json);
    std::optional<double> time;
    for (const auto& [name, value] : launch.quantities)
      if (name == "time" && launch.done) time = value;
    keep(std::move(launch), job, seconds);
    return time;
  }

  // What the program prints, in place of what is known otherwise.
  void add_printed(const std::string& out, Figures& figures) const {
    for (auto& [name, value] : figures_of_patterns(out, study_.quantities)) {
      std::erase_if(figures, [&](const auto& figure) { return figure.first == name; });
      figures.emplace_back(name, value);
    }
  }

  static void check_time(const Figures& figures) {
    if (std::ranges::find(figures, "time", &Figures::value_type::first) == figures.end())
      throw Error("the program printed no line that fits the quantity time");
  }

  // What replays need and is not there. Recording takes times of this machine: alone.
  void record_missing() {
    std::vector<const Job*> missing;
    std::set<std::int64_t> taken;
    const auto is_there = [&](const Recording& recording) {  // and was kept, too
      return known_.contains(recording.point) && fs::exists(recording_file(recording));
    };
    for (const Job& job : jobs_)
      if (job.recording && !is_known(job) && !is_there(*job.recording) &&
          taken.insert(job.recording->point).second)
        missing.push_back(&job);
    total_ += missing.size();
    shuffle(missing);
    for (const Job* job : missing) record(*job);
  }

  void record(const Job& job) {
    const HostPlace alone(true);
    Job recording = job;
    recording.point = job.recording->point;
    recording.way = "record";
    recording.machine.clear();
    recording.machine_checksum.clear();
    recording.measures = true;
    const std::string unfinished = folder_ + "/recording.ftr";
    const std::vector<std::string> words = with_trace(job.recording->command, unfinished);
    Launch launch = begin(recording, words, 0);
    launch.kind = "record";
    ChildResult child;
    launch.message = attempt(words, child);
    if (launch.message.empty()) {
      ChildResult report;
      launch.message = attempt({"report", unfinished, "--json"}, report);
      if (launch.message.empty()) launch.quantities = figures_of_json(report.out);
      add_printed(child.out, launch.quantities);
    }
    launch.done = launch.message.empty();
    if (launch.done) {
      place(unfinished, recording_file(*job.recording));
    } else {
      unrecorded_.insert(job.recording->point);
    }
    // A recording that was deleted is made again; what was kept of it stays.
    const auto known = known_.find(recording.point);
    launch.launch = known == known_.end() ? 0 : known->second;
    keep(std::move(launch), recording, child.seconds);
  }

  // Other parts share the folder: nobody removes it, and who has something for it makes it.
  void place(const std::string& unfinished, const std::string& file) const {
    std::error_code error;
    fs::create_directories(recordings_, error);
    fs::rename(unfinished, file, error);
    if (error) throw Error(file + ": cannot be written: " + error.message());
  }

  void shuffle(std::vector<const Job*>& jobs) { std::ranges::shuffle(jobs, random_); }

  // Rounds of one launch for each point that is not steady yet, so that a machine that drifts acts
  // on all alike.
  void measure() {
    std::vector<const Job*> open;
    for (const Job& job : jobs_)
      if (job.measures && (job.kind == Kind::measured || !is_known(job))) open.push_back(&job);
    std::unordered_map<std::int64_t, std::vector<double>> times;
    std::unordered_map<std::int64_t, int> launches;
    for (const Job* job : open)
      if (const auto found = known_.find(job->point); found != known_.end())
        launches[job->point] = found->second;
    std::erase_if(open, [&](const Job* job) {
      return job->kind == Kind::measured && launches[job->point] >= study_.least_launches;
    });
    while (!open.empty()) {
      shuffle(open);
      std::vector<const Job*> again;
      for (const Job* job : open) {
        const HostPlace alone(true);
        wait_until_quiet();
        const auto time = launch(*job, launches[job->point]++);
        if (job->kind != Kind::measured || !time) continue;
        std::vector<double>& known = times[job->point];
        known.push_back(*time);
        if (wants_more(launches[job->point], known)) again.push_back(job);
      }
      open = std::move(again);
    }
  }

  bool wants_more(int launches, const std::vector<double>& times) {
    if (launches < study_.least_launches) return true;
    if (study_.least_launches == study_.most_launches) return false;
    if (relative_half_width(times) <= study_.precision) return false;
    if (launches >= study_.most_launches) {
      ++result_.unsteady;
      return false;
    }
    ++total_;
    return true;
  }

  void wait_until_quiet() {
    const double busy = wait_for_quiet(study_.busy_limit, study_.quiet_seconds);
    if (busy <= study_.busy_limit || told_busy_ || !settings_.tell) return;
    told_busy_ = true;
    settings_.tell("others use " + std::to_string(static_cast<int>(busy * 100 + 0.5)) +
                   " % of the processors beside the measurements; they are kept all the same");
  }

  void run_virtual() {
    std::vector<const Job*> open;
    for (const Job& job : jobs_)
      if (!job.measures && !is_known(job) &&
          !(job.recording && unrecorded_.contains(job.recording->point)))
        open.push_back(&job);
    const unsigned processors = std::max(1u, std::thread::hardware_concurrency());
    threads_ = std::min<std::size_t>(settings_.jobs > 0 ? settings_.jobs : processors,
                                     std::max<std::size_t>(open.size(), 1));
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (std::size_t i; !failed_ && (i = next.fetch_add(1)) < open.size();) {
        try {
          const HostPlace shared(false);
          launch(*open[i], 0);
        } catch (...) {
          const std::scoped_lock lock(mutex_);
          if (!failed_.exchange(true)) failure_ = std::current_exception();
        }
      }
    };
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 1; i < threads_; ++i) threads.emplace_back(work);
      work();
    }
    if (failure_) std::rethrow_exception(failure_);
  }

  // The parts become one file, each by whoever wrote it.
  void finish() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    if (settings_.parts > 1) {
      store_.reset();
      FileLock alone = FileLock::wait_for(settings_.output + ".lock", true);
      Store(settings_.output).merge(own_file_);
      remove_database(own_file_);
      alone.remove();
    }
    lock_.remove();
  }

  const Study& study_;
  const std::vector<Job>& jobs_;
  const RunSettings& settings_;
  std::string own_file_, folder_, recordings_;
  FileLock lock_;
  std::unique_ptr<Store> store_;
  std::map<std::int64_t, int> known_;  // launches that are done, by point
  std::set<std::int64_t> unrecorded_;  // recordings that failed: nothing to replay
  std::mt19937_64 random_{study_.seed};
  std::mutex mutex_;
  RunResult result_;
  std::size_t total_ = 0, done_ = 0, threads_ = 1;
  double spent_ = 0;
  bool told_busy_ = false;
  std::set<std::string> notes_;  // that were told
  std::atomic<bool> failed_ = false;
  std::exception_ptr failure_;
};

}  // namespace

std::vector<Job> jobs_of_part(const std::vector<Job>& jobs, int part, int parts) {
  std::vector<Job> out;
  std::unordered_map<std::int64_t, std::size_t> groups;  // by recording: its number
  std::size_t next = 0;
  for (const Job& job : jobs) {
    std::size_t group = 0;
    if (job.recording) {
      const auto [place, fresh] = groups.try_emplace(job.recording->point, next);
      if (fresh) ++next;
      group = place->second;
    } else {
      group = next++;
    }
    if (static_cast<int>(group % static_cast<std::size_t>(parts)) == part) out.push_back(job);
  }
  return out;
}

RunResult run(const Study& study, const std::vector<Job>& jobs, const RunSettings& settings) {
  return Runner(study, jobs, settings).run();
}

void end_launches() {
  end_children();
}

std::size_t count_done(const std::vector<Job>& jobs, const std::string& output) {
  if (!fs::exists(output)) return 0;
  const std::map<std::int64_t, int> done = Store(output).done();
  return static_cast<std::size_t>(
      std::ranges::count_if(jobs, [&](const Job& job) { return done.contains(job.point); }));
}

}  // namespace foretrace::study
