// Paje's text (ViTE, pj_dump, PajeNG): a container for each rank, its calls as states, messages
// as links.
#include <unordered_set>

#include "base/new_file.hpp"
#include "formats/decimals.hpp"
#include "formats/formats.hpp"
#include "formats/merged_events.hpp"
#include "formats/messages.hpp"

namespace foretrace::formats {
namespace {

using trace::Event;
using trace::EventKind;

constexpr const char* kHeader = R"(%EventDef PajeDefineContainerType 0
%  Alias string
%  Type string
%  Name string
%EndEventDef
%EventDef PajeDefineStateType 1
%  Alias string
%  Type string
%  Name string
%EndEventDef
%EventDef PajeDefineVariableType 2
%  Alias string
%  Type string
%  Name string
%  Color color
%EndEventDef
%EventDef PajeDefineLinkType 3
%  Alias string
%  Type string
%  StartContainerType string
%  EndContainerType string
%  Name string
%EndEventDef
%EventDef PajeCreateContainer 4
%  Time date
%  Alias string
%  Type string
%  Container string
%  Name string
%EndEventDef
%EventDef PajeDestroyContainer 5
%  Time date
%  Type string
%  Name string
%EndEventDef
%EventDef PajePushState 6
%  Time date
%  Type string
%  Container string
%  Value string
%EndEventDef
%EventDef PajePopState 7
%  Time date
%  Type string
%  Container string
%EndEventDef
%EventDef PajeStartLink 8
%  Time date
%  Type string
%  Container string
%  StartContainer string
%  Value string
%  Key string
%EndEventDef
%EventDef PajeEndLink 9
%  Time date
%  Type string
%  Container string
%  EndContainer string
%  Value string
%  Key string
%EndEventDef
%EventDef PajeSetVariable 10
%  Time date
%  Type string
%  Container string
%  Value double
%EndEventDef
0 P 0 Program
0 R P Rank
1 S R Call
1 F R Phase
3 M P R R Message
)";

std::string quoted(const std::string& text) {
  std::string out = "\"";
  // The format knows no escapes.
  for (const char c : text) out += c == '"' || static_cast<unsigned char>(c) < 0x20 ? '\'' : c;
  return out + '"';
}

class PajeFile {
 public:
  PajeFile(trace::TraceReader& reader, const std::string& path) : reader_(reader), file_(path) {
    for (int r = 0; r < reader.ranks(); ++r) messages_.emplace_back(WorldRank(r));
  }

  // How many messages have one end only, and no link: readers refuse those.
  std::size_t write() {
    lone_ = lone_messages(reader_);
    file_.write(kHeader);
    file_.write("4 0 p P 0 " + quoted(reader_.info().program) + "\n");
    for (int r = 0; r < reader_.ranks(); ++r)
      file_.write("4 0 r" + std::to_string(r) + " R p \"rank " + std::to_string(r) + "\"\n");
    MergedEvents events(reader_);
    Moment moment;
    Time last;
    while (events.next(moment)) {
      last = moment.at;
      write_moment(moment);
    }
    for (int r = 0; r < reader_.ranks(); ++r) {
      start("5", last);
      file_.write(line_ + " R r" + std::to_string(r) + "\n");
    }
    start("5", last);
    file_.write(line_ + " P p\n");
    file_.commit();
    return lone_.size();
  }

 private:
  void start(const char* what, Time at) {
    line_ = what;
    line_ += ' ';
    append_decimals(line_, at, 12);
  }
  void container(const char* type, WorldRank rank) {
    line_ += ' ';
    line_ += type;
    line_ += " r";
    append_number(line_, rank.value);
  }

  void write_moment(const Moment& moment);
  void write_links(const Moment& moment);
  void write_mark(const Moment& moment);

  trace::TraceReader& reader_;
  NewFile file_;
  std::string line_;
  std::vector<Messages> messages_;
  std::vector<std::vector<Message>> moved_;
  std::unordered_set<std::string> variables_;
  std::unordered_set<std::uint64_t> lone_;
};

void PajeFile::write_links(const Moment& moment) {
  if (moved_.empty()) moved_.resize(messages_.size());
  auto& moved = moved_[static_cast<std::size_t>(moment.rank.value)];
  // What an event moved is found once, when it begins.
  if (moment.begins)
    moved = messages_[static_cast<std::size_t>(moment.rank.value)].of(*moment.event, reader_);
  for (const Message& message : moved) {
    if (message.sent != moment.begins || lone_.contains(message.number)) continue;
    start(message.sent ? "8" : "9", moment.at);
    line_ += " M p r";
    append_number(line_, moment.rank.value);
    line_ += " \"";
    append_number(line_, message.bytes.count);
    line_ += " bytes, tag ";
    append_number(line_, message.tag);
    line_ += "\" ";
    append_number(line_, message.number);
    file_.write(line_ + "\n");
  }
}

void PajeFile::write_mark(const Moment& moment) {
  const std::string& name = reader_.name(moment.rank, moment.event->name);
  std::string alias = "v";
  for (const char c : name) alias += std::to_string(static_cast<unsigned char>(c)) + "_";
  if (variables_.insert(name).second)
    file_.write("2 " + alias + " R " + quoted(name) + " \"0 0 1\"\n");
  start("10", moment.at);
  container(alias.c_str(), moment.rank);
  line_ += ' ';
  append_number(line_, moment.event->value);
  file_.write(line_ + "\n");
}

void PajeFile::write_moment(const Moment& moment) {
  const Event& event = *moment.event;
  const bool phase = event.kind == EventKind::phase_begin || event.kind == EventKind::phase_end;
  if (event.kind == EventKind::mark) {
    if (!moment.begins) write_mark(moment);
    return;
  }
  if (phase && moment.begins) return;
  const bool pushes = phase ? event.kind == EventKind::phase_begin : moment.begins;
  // The receiver's state is left after the link has ended in it.
  if (!phase && !moment.begins) write_links(moment);
  start(pushes ? "6" : "7", moment.at);
  container(phase ? "F" : "S", moment.rank);
  if (pushes) line_ += " " + quoted(reader_.name(moment.rank, event.name));
  file_.write(line_ + "\n");
  if (!phase && moment.begins) write_links(moment);
}

}  // namespace

Notes write_paje(trace::TraceReader& reader, const std::string& path, const trace::TellPlace&) {
  Notes notes{
      "communicators, requests, roots, call sites and the time spent waiting have no place in this "
      "format"};
  note_lone_messages(notes, PajeFile(reader, path).write());
  return notes;
}

}  // namespace foretrace::formats
