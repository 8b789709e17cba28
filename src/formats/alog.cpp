// ALOG, the text of Upshot and its kin: a line is an event of a process at a time, "type process
// task data cycle time text". Lines with types below 0 describe the rest. Howell's thesis 2.4.
#include <charconv>
#include <fstream>
#include <map>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/new_file.hpp"
#include "formats/decimals.hpp"
#include "formats/formats.hpp"
#include "formats/merged_events.hpp"
#include "formats/rank_events.hpp"
#include "formats/rank_streams.hpp"

namespace foretrace::formats {
namespace {

using trace::Event;
using trace::EventKind;

constexpr int kMostProcesses = 1 << 20;

// --- out

class AlogFile {
 public:
  AlogFile(trace::TraceReader& reader, const std::string& path) : reader_(reader), file_(path) {}

  void write() {
    find_types();
    header();
    MergedEvents events(reader_);
    Moment moment;
    while (events.next(moment)) {
      const Event& event = *moment.event;
      const bool mark = event.kind == EventKind::mark;
      const bool phase = event.kind == EventKind::phase_begin || event.kind == EventKind::phase_end;
      if ((mark || phase) && moment.begins) continue;
      const std::string& name = reader_.name(moment.rank, event.name);
      const bool starts = mark || (phase ? event.kind == EventKind::phase_begin : moment.begins);
      line(types_.at(name) + (starts ? 0 : 1), moment.rank.value, moment.at,
           (mark     ? ""
            : starts ? "start "
                     : "end ") +
               name);
    }
    file_.commit();
  }

 private:
  // "type process 0 0 0 time text", times in microseconds.
  void line(int type, int process, Time at, const std::string& text) {
    text_.clear();
    append_number(text_, type);
    text_ += ' ';
    append_number(text_, process);
    text_ += " 0 0 0 ";
    append_number(text_, at.count_ps() / 1'000'000);
    text_ += ' ';
    for (const char c : text) text_ += c == '\n' ? ' ' : c;
    text_ += '\n';
    file_.write(text_);
  }

  void find_types() {
    Event event;
    for (int r = 0; r < reader_.ranks(); ++r) {
      reader_.rewind(WorldRank(r));
      while (reader_.next(WorldRank(r), event)) {
        ++events_;
        last_ = std::max(last_, event.leave);
        const std::string& name = reader_.name(WorldRank(r), event.name);
        if (types_.try_emplace(name, static_cast<int>(2 * types_.size() + 1)).second)
          names_.push_back(name);
      }
    }
  }

  void header() {
    line(-1, 0, Time(), "Foretrace");
    const auto count = [this](int type, std::uint64_t value) {
      file_.write(std::to_string(type) + " 0 0 " + std::to_string(value) + " 0 0\n");
    };
    count(-2, 2 * events_);
    count(-3, static_cast<std::uint64_t>(reader_.ranks()));
    count(-4, 1);
    count(-5, 2 * types_.size());
    line(-6, 0, Time(), "");
    line(-7, 0, last_, "");
    count(-8, 1);
    for (const std::string& name : names_) {
      const int type = types_.at(name);
      file_.write("-13 0 " + std::to_string(type) + " " + std::to_string(type + 1) + " 0 0 " +
                  colour(type) + " " + name + "\n");
    }
  }

  static std::string colour(int type) {
    constexpr const char* kColours[] = {"red",    "green",  "blue",  "yellow", "cyan",
                                        "purple", "orange", "brown", "grey",   "pink"};
    return kColours[static_cast<std::size_t>(type / 2) % std::size(kColours)];
  }

  trace::TraceReader& reader_;
  NewFile file_;
  std::string text_;
  std::map<std::string, int> types_;  // a name's starting type; the next one ends
  std::vector<std::string> names_;
  std::uint64_t events_ = 0;
  Time last_;
};

// --- in

struct AlogLine {
  std::int64_t type = 0;
  std::int64_t process = 0;
  std::int64_t task = 0;
  std::int64_t data = 0;
  std::int64_t cycle = 0;
  std::int64_t time = 0;
  std::string_view text;
};

std::int64_t take_number(std::string_view& line, const char* what) {
  while (line.starts_with(' ') || line.starts_with('\t')) line.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc() || (end != line.data() + line.size() && *end != ' ' && *end != '\t'))
    throw Error(std::string("expected ") + what + ", found '" + std::string(line.substr(0, 20)) +
                "'");
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  return value;
}

AlogLine parse(std::string_view line) {
  AlogLine out;
  out.type = take_number(line, "a type of event");
  out.process = take_number(line, "a process");
  out.task = take_number(line, "a task");
  out.data = take_number(line, "data");
  out.cycle = take_number(line, "a cycle");
  out.time = take_number(line, "a time");
  while (line.starts_with(' ')) line.remove_prefix(1);
  while (line.ends_with(' ') || line.ends_with('\r')) line.remove_suffix(1);
  out.text = line;
  return out;
}

bool same_word(std::string_view text, std::string_view lower) {
  if (text.size() < lower.size()) return false;
  for (std::size_t i = 0; i < lower.size(); ++i)
    if ((text[i] | 0x20) != lower[i]) return false;
  return true;
}

// What an event does: begin or end a state, or just happen.
struct Meaning {
  enum class What { happens, starts, ends } what = What::happens;
  std::string name;
};

class AlogInput {
 public:
  AlogInput(const std::string& from, const std::string& to) : path_(from), to_(to) {}

  Notes read() {
    survey();
    trace::TraceInfo info;
    info.ranks = static_cast<int>(processes_);
    info.clock = trace::Clock::wall;
    info.program = path_;
    info.origin = "convert";
    info.options = "from=alog";
    streams_ = std::make_unique<RankStreams>(to_, info, missing_);
    each_line([this](const AlogLine& line) {
      if (line.type >= 0) take(line);
    });
    streams_->finish(Time::ps((last_ - first_) * 1'000'000));
    if (points_ > 0)
      missing_.add("an end of an event that has none; it is kept as a mark", points_);
    missing_.add("messages, and whom collectives are with: calls are without partners");
    return missing_.notes();
  }

 private:
  template <class Work>
  void each_line(Work&& work) {
    std::ifstream in(path_, std::ios::binary);
    if (!in) throw Error(path_ + ": cannot open the file");
    std::string text;
    for (std::uint64_t number = 1; std::getline(in, text); ++number) {
      if (text.find_first_not_of(" \t\r") == text.npos) continue;
      try {
        work(parse(text));
      } catch (const Error& error) {
        throw Error(path_ + ":" + std::to_string(number) + ": " + error.what());
      }
    }
  }

  // What types mean, how many processes there are, when the first and last event are.
  void survey() {
    std::optional<std::int64_t> first;
    each_line([&](const AlogLine& line) {
      if (line.type == -13) return describe(line);
      if (line.type < 0) return;
      if (line.process < 0 || line.process >= kMostProcesses)
        throw Error("expected a process from 0, found " + std::to_string(line.process));
      if (line.time < 0 || line.time > std::int64_t{1'000'000} * 1'000'000)
        throw Error("expected a time in microseconds, found " + std::to_string(line.time));
      processes_ = std::max(processes_, line.process + 1);
      first = std::min(first.value_or(line.time), line.time);
      last_ = std::max(last_, line.time);
      if (meanings_.contains(line.type)) return;
      Meaning& meaning = meanings_[line.type];
      if (same_word(line.text, "start "))
        meaning = {Meaning::What::starts, std::string(line.text.substr(6))};
      else if (same_word(line.text, "end "))
        meaning = {Meaning::What::ends, std::string(line.text.substr(4))};
      else
        meaning.name = line.text.empty() ? "event " + std::to_string(line.type) : line.text;
    });
    if (processes_ == 0) throw Error(path_ + ": expected events, found none");
    first_ = first.value_or(0);
    // What nothing ends just happens.
    for (auto& [type, meaning] : meanings_)
      if (meaning.what == Meaning::What::starts && !has_end(meaning.name))
        meaning.what = Meaning::What::happens;
  }

  bool has_end(const std::string& name) const {
    for (const auto& [type, meaning] : meanings_)
      if (meaning.what == Meaning::What::ends && meaning.name == name) return true;
    return false;
  }

  // "-13 0 START END 0 0 COLOUR NAME"
  void describe(const AlogLine& line) {
    const std::size_t space = line.text.find(' ');
    const std::string name(space == line.text.npos ? line.text : line.text.substr(space + 1));
    meanings_[line.task] = {Meaning::What::starts, name};
    meanings_[line.data] = {Meaning::What::ends, name};
  }

  void take(const AlogLine& line) {
    const Meaning& meaning = meanings_.at(line.type);
    RankEvents& rank = streams_->rank(static_cast<int>(line.process));
    const Time at = Time::ps((line.time - first_) * 1'000'000);
    switch (meaning.what) {
      case Meaning::What::starts:
        return rank.enter(at, meaning.name, true);
      case Meaning::What::ends:
        return rank.leave(at, meaning.name, true);
      case Meaning::What::happens:
        ++points_;
        rank.mark(at, meaning.name, 1);
    }
  }

  std::string path_;
  std::string to_;
  Missing missing_;
  std::unique_ptr<RankStreams> streams_;
  std::map<std::int64_t, Meaning> meanings_;
  std::int64_t processes_ = 0;
  std::int64_t first_ = 0;
  std::int64_t last_ = 0;
  std::uint64_t points_ = 0;
};

}  // namespace

Notes write_alog(trace::TraceReader& reader, const std::string& path, const trace::TellPlace&) {
  AlogFile(reader, path).write();
  return {
      "times are whole microseconds; messages, sizes, communicators, call sites and marks' values "
      "have no place in this format"};
}

Notes read_alog(const std::string& from, const std::string& to) {
  return AlogInput(from, to).read();
}

}  // namespace foretrace::formats
