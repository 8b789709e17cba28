// The text format: docs/convert.md describes its lines.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/new_file.hpp"
#include "base/whole_file.hpp"
#include "formats/fields.hpp"
#include "formats/formats.hpp"
#include "trace/damage.hpp"
#include "trace/new_trace.hpp"
#include "trace/seal.hpp"

namespace foretrace::formats {

using trace::Clock;
using trace::CommId;
using trace::Communicator;
using trace::Event;
using trace::EventKind;
using trace::NameId;
using trace::NewTrace;
using trace::Site;
using trace::SiteId;
using trace::TellPlace;
using trace::TraceInfo;
using trace::TraceReader;
using trace::TraceWriter;
namespace {

constexpr std::string_view kFirstLine = "foretrace-trace 1";

// Names may hold anything: in quotes, with what would break the line escaped.
std::string quoted(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\x";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

int hex_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Takes a quoted text off the front of `line`.
std::string take_quoted(std::string_view& line) {
  const std::string found(line.substr(0, 40));
  const auto wrong = [&found] { throw Error("expected a text in quotes, found '" + found + "'"); };
  if (!line.starts_with('"')) wrong();
  std::string text;
  std::size_t at = 1;
  for (; at < line.size() && line[at] != '"'; ++at) {
    if (line[at] != '\\') {
      text += line[at];
      continue;
    }
    if (++at >= line.size()) wrong();
    if (line[at] != 'x') {
      text += line[at];
      continue;
    }
    if (at + 2 >= line.size()) wrong();
    const int high = hex_digit(line[at + 1]);
    const int low = hex_digit(line[at + 2]);
    if (high < 0 || low < 0) wrong();
    text += static_cast<char>(high * 16 + low);
    at += 2;
  }
  if (at >= line.size()) wrong();
  line.remove_prefix(at + 1);
  return text;
}

std::string_view take_word(std::string_view& line) {
  while (line.starts_with(' ')) line.remove_prefix(1);
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  while (line.starts_with(' ')) line.remove_prefix(1);
  return word;
}

std::uint64_t to_number(std::string_view text, const char* what, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value > most)
    throw Error(std::string("expected ") + what + ", found '" + std::string(text) + "'");
  return value;
}

TraceInfo info_of(const std::string& json) {
  TraceInfo info;
  try {
    info = trace::parse_info(json);
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {
    // Said below.
  }
  if (info.ranks < 1 || info.ranks > trace::kMostRanks)
    throw Error("expected a JSON object with the number of ranks and the clock");
  return info;
}

class TextOutput {
 public:
  explicit TextOutput(const std::string& path) : file_(path) {}
  void line(const std::string& text) {
    file_.write(text);
    file_.write("\n");
  }
  void finish() { file_.commit(); }

 private:
  NewFile file_;
};

void write_comm(TextOutput& out, const Communicator& comm) {
  std::string line = "comm " + std::to_string(comm.key);
  for (const WorldRank member : comm.members) line += " " + std::to_string(member.value);
  out.line(line);
}

// The names of a rank by what a line calls them: the name where it is a plain word
// that no later name repeats, else its number.
class Names {
 public:
  void add(const std::string& name) {
    latest_[name] = static_cast<NameId>(names_.size());
    names_.push_back(name);
  }
  std::string text(NameId id) const {
    const std::string& name = names_[id];
    return is_plain(name) && latest_.at(name) == id ? name : std::to_string(id);
  }
  NameId number(std::string_view text) const {
    if (const auto found = latest_.find(std::string(text));
        found != latest_.end() && is_plain(text))
      return found->second;
    if (names_.empty()) throw Error("expected a name to be defined before");
    return static_cast<NameId>(to_number(text, "a name that was defined", names_.size() - 1));
  }

 private:
  static bool is_plain(std::string_view name) {
    return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
           std::ranges::all_of(name, [](char c) { return c > ' ' && c != '"' && c != '='; });
  }

  std::map<std::string, NameId> latest_;
  std::vector<std::string> names_;
};

void write_event(TextOutput& out, const Names& names, const Event& event,
                 const trace::Counts* counts, Clock clock) {
  std::string line(kind_name(event.kind));
  line += " " + names.text(event.name);
  append_fields(line, event, clock);
  if (counts) line += " counts=" + counts_text(*counts);
  out.line(line);
}

void write_rank(TextOutput& out, TraceReader& reader, WorldRank rank, const TellPlace& tell) {
  using Record = TraceReader::Record;
  out.line("rank " + std::to_string(rank.value));
  reader.rewind(rank);
  Names names;
  Event event;
  for (Record record = reader.next_record(rank, event); record != Record::end;
       record = reader.next_record(rank, event)) {
    if (record == Record::name) {
      names.add(reader.name(rank, static_cast<NameId>(reader.names(rank) - 1)));
      out.line("name " + quoted(reader.name(rank, static_cast<NameId>(reader.names(rank) - 1))));
    } else if (record == Record::comm) {
      write_comm(out, reader.comm(rank, static_cast<CommId>(reader.comms(rank) - 1)));
    } else if (record == Record::site) {
      const Site& site = reader.site(rank, static_cast<SiteId>(reader.sites(rank)));
      const std::string place = tell ? tell(site) : std::string();
      out.line("site " + std::to_string(site.offset) + " " + quoted(site.object) +
               (place.empty() ? "" : " # " + place));
    } else {
      write_event(out, names, event, reader.counts(rank, event), reader.info().clock);
    }
  }
  if (const auto open = open_call_of(reader, rank))
    out.line("in " + names.text(open->name) +
             (open->site == 0 ? "" : " site=" + std::to_string(open->site)));
}

// Reads the lines of one file, in order.
class TextInput {
 public:
  TextInput(const std::string& from, const std::string& to) : path_(from), to_(to), in_(from) {
    if (!in_) throw Error(from + ": cannot open the file");
  }

  void read() {
    try {
      read_head();
      while (next_line()) read_line();
      if (ranks_ != scope_.ranks)
        throw Error("expected the lines of " + std::to_string(scope_.ranks) +
                    " ranks, as 'info' says, found those of " + std::to_string(ranks_) +
                    "; a rank without events has a line 'rank N', too");
      // The last rank does not come to its end: the file was cut off there.
      trace_->finish(!incomplete_ && (ended_ || !begun_));
    } catch (const Error& error) {
      throw Error(path_ + ":" + std::to_string(number_) + ": " + error.what());
    }
  }

 private:
  bool next_line() {
    if (!std::getline(in_, line_)) return false;
    ++number_;
    if (in_.eof()) throw Error(kCutOffLine);
    if (line_.ends_with('\r')) line_.pop_back();
    return true;
  }

  void read_head();
  void read_line();
  void start_rank(std::string_view line);
  void read_comm(std::string_view line);
  void read_open_call(std::string_view line);
  void read_event(EventKind kind, std::string_view line);

  std::string path_;
  std::string to_;
  std::ifstream in_;
  std::string line_;
  std::uint64_t number_ = 0;
  std::optional<NewTrace> trace_;
  TraceWriter* writer_ = nullptr;  // of the rank under way
  std::int32_t rank_ = -1;
  std::int32_t ranks_ = 0;  // that there were lines of
  bool incomplete_ = false;
  bool begun_ = false;  // the rank under way has an event that begins it,
  bool ended_ = false;  // one that ends it
  FieldScope scope_;
  Names names_;
  std::vector<Communicator> comms_;
  Time last_leave_;
};

void TextInput::read_head() {
  next_line();
  if (line_ != kFirstLine)
    throw Error("expected '" + std::string(kFirstLine) + "', found '" + line_.substr(0, 40) + "'");
  next_line();
  std::string_view line = line_;
  if (take_word(line) != "info") throw Error("expected 'info {...}', found '" + line_ + "'");
  const TraceInfo info = info_of(std::string(line));
  scope_.ranks = info.ranks;
  scope_.clock = info.clock;
  trace_.emplace(to_, info);
}

void TextInput::read_line() {
  std::string_view line = line_;
  const std::string_view word = take_word(line);
  if (word.empty() || word.starts_with('#')) return;
  EventKind kind;
  if (word == "incomplete") {
    incomplete_ = true;
  } else if (word == "rank") {
    start_rank(line);
  } else if (!writer_) {
    throw Error("expected 'rank 0' first, found '" + std::string(word) + "'");
  } else if (word == "name") {
    const std::string name = take_quoted(line);
    if (name.size() > trace::kLongestName) throw Error("expected a name of at most 4096 bytes");
    writer_->define_name(name);
    names_.add(name);
  } else if (word == "comm") {
    read_comm(line);
  } else if (word == "site") {
    Site site;
    site.offset = to_number(take_word(line), "an offset", UINT64_MAX);
    site.object = take_quoted(line);
    writer_->define_site(site);
    ++scope_.sites;
  } else if (word == "in") {
    read_open_call(line);
  } else if (parse_kind(word, kind)) {
    read_event(kind, line);
  } else {
    throw Error("expected a definition or a kind of event, found '" + std::string(word) + "'");
  }
}

void TextInput::start_rank(std::string_view line) {
  const auto most = static_cast<std::uint64_t>(scope_.ranks - 1);
  const auto rank = static_cast<std::int32_t>(to_number(line, "a rank of the trace", most));
  if (rank <= rank_)
    throw Error("expected the ranks in order, found " + std::to_string(rank) + " after " +
                std::to_string(rank_));
  rank_ = rank;
  ++ranks_;
  begun_ = ended_ = false;
  writer_ = &trace_->start(WorldRank(rank));
  names_ = Names();
  comms_.clear();
  scope_.comms = {};
  scope_.sites = 0;
  scope_.events = 0;
  last_leave_ = Time();
}

void TextInput::read_open_call(std::string_view line) {
  const NameId name = names_.number(take_word(line));
  SiteId site = 0;
  if (!line.empty()) {
    constexpr std::string_view kKey = "site=";
    if (!line.starts_with(kKey))
      throw Error("expected site=NUMBER, found '" + std::string(line) + "'");
    site = static_cast<SiteId>(
        to_number(line.substr(kKey.size()), "a site that was defined", scope_.sites));
  }
  trace_->enter(name, site);
}

void TextInput::read_comm(std::string_view line) {
  Communicator comm;
  comm.key = to_number(take_word(line), "a communicator's key", UINT64_MAX);
  const auto most = static_cast<std::uint64_t>(scope_.ranks - 1);
  while (!line.empty()) {
    const auto member = to_number(take_word(line), "a rank of the trace", most);
    comm.members.push_back(WorldRank(static_cast<std::int32_t>(member)));
  }
  if (comm.members.size() > static_cast<std::size_t>(scope_.ranks))
    throw Error("expected at most " + std::to_string(scope_.ranks) + " members, found " +
                std::to_string(comm.members.size()));
  writer_->define_comm(comm.key, comm.members);
  comms_.push_back(std::move(comm));
  scope_.comms = comms_;
}

void TextInput::read_event(EventKind kind, std::string_view line) {
  Event event;
  trace::Counts counts;
  event.kind = kind;
  event.name = names_.number(take_word(line));
  while (!line.empty()) {
    const std::string_view field = take_word(line);
    const std::size_t equals = field.find('=');
    if (equals == field.npos) throw Error("expected key=value, found '" + std::string(field) + "'");
    const std::string_view key = field.substr(0, equals);
    if (key == "counts")
      counts = parse_counts(field.substr(equals + 1), scope_);
    else
      parse_field(key, field.substr(equals + 1), scope_, event);
  }
  check_event(event, counts, scope_, last_leave_);
  last_leave_ = event.leave;
  if (kind == EventKind::init) begun_ = true;
  if (kind == EventKind::finalize || kind == EventKind::aborted) ended_ = true;
  writer_->write(event, counts.empty() ? nullptr : &counts);
  ++scope_.events;
}

}  // namespace

Notes write_text(TraceReader& reader, const std::string& path, const TellPlace& tell) {
  TextOutput out(path);
  out.line(std::string(kFirstLine));
  out.line("info " + trace::info_text(reader.info()));
  trace::look_through(reader);
  if (!reader.sealed() || !reader.damage().empty()) out.line("incomplete");
  for (int r = 0; r < reader.ranks(); ++r) write_rank(out, reader, WorldRank(r), tell);
  out.finish();
  return {};
}

Notes read_text(const std::string& from, const std::string& to) {
  TextInput(from, to).read();
  return {};
}

}  // namespace foretrace::formats
