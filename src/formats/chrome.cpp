// Chrome's JSON (chrome://tracing, Perfetto, speedscope): a thread for each rank.
#include <charconv>
#include <cmath>

#include "base/new_file.hpp"
#include "formats/decimals.hpp"
#include "formats/formats.hpp"
#include "formats/messages.hpp"

namespace foretrace::formats {
namespace {

using trace::Event;
using trace::EventKind;

void append_text(std::string& to, std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  to += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      to += '\\';
      to += c;
    } else if (byte < 0x20) {
      to += "\\u00";
      to += kDigits[byte >> 4];
      to += kDigits[byte & 15];
    } else {
      to += c;
    }
  }
  to += '"';
}

class ChromeFile {
 public:
  ChromeFile(trace::TraceReader& reader, const std::string& path, const trace::TellPlace& tell)
      : reader_(reader), tell_(tell), file_(path) {}

  void write() {
    file_.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    line_ = R"({"ph":"M","pid":0,"name":"process_name","args":{"name":)";
    append_text(line_, reader_.info().program);
    file_.write(line_ + "}}");
    for (int r = 0; r < reader_.ranks(); ++r) write_rank(WorldRank(r));
    file_.write("\n]}\n");
    file_.commit();
  }

 private:
  void start(const char* what, const char* category, WorldRank rank, Time at) {
    line_ = ",\n{\"ph\":\"";
    line_ += what;
    line_ += "\",\"pid\":0,\"tid\":";
    append_number(line_, rank.value);
    line_ += ",\"cat\":\"";
    line_ += category;
    line_ += "\",\"ts\":";
    append_decimals(line_, at, 6);
  }
  void field(const char* key, std::string_view text) {
    line_ += ",\"";
    line_ += key;
    line_ += "\":";
    append_text(line_, text);
  }
  void end() {
    line_ += '}';
    file_.write(line_);
  }

  void write_rank(WorldRank rank);
  void write_event(WorldRank rank, const Event& event);
  void append_arguments(WorldRank rank, const Event& event, const std::vector<Message>& messages);

  trace::TraceReader& reader_;
  const trace::TellPlace& tell_;
  NewFile file_;
  std::string line_;
};

void ChromeFile::append_arguments(WorldRank rank, const Event& event,
                                  const std::vector<Message>& messages) {
  line_ += ",\"args\":{";
  const std::size_t before = line_.size();
  const auto add = [&](const char* key, auto number) {
    line_ += line_.size() == before ? "\"" : ",\"";
    line_ += key;
    line_ += "\":";
    append_number(line_, number);
  };
  std::size_t n = 0;
  for (const Message& message : messages) {
    const std::string suffix = n++ == 0 ? "" : " " + std::to_string(n);
    add(((message.sent ? "to" : "from") + suffix).c_str(), message.peer.value);
    add(("tag" + suffix).c_str(), message.tag);
    add(("bytes" + suffix).c_str(), message.bytes.count);
    if (n == 8) break;  // a page shows no more
  }
  if (event.kind == EventKind::collective || event.kind == EventKind::icollective)
    add("bytes", event.bytes.count);
  if (event.root.valid()) add("root", event.root.value);
  if (event.count > 1) add("calls", event.count);
  if (event.site != 0 && tell_) {
    const std::string place = tell_(reader_.site(rank, event.site));
    if (!place.empty()) {
      line_ += line_.size() == before ? "\"at\":" : ",\"at\":";
      append_text(line_, place);
    }
  }
  line_ += '}';
}

void ChromeFile::write_event(WorldRank rank, const Event& event) {
  const std::string& name = reader_.name(rank, event.name);
  switch (event.kind) {
    case EventKind::phase_begin:
      start("B", "phase", rank, event.leave);
      field("name", name);
      return end();
    case EventKind::phase_end:
      start("E", "phase", rank, event.leave);
      field("name", name);
      return end();
    case EventKind::mark:
      start("C", "mark", rank, event.leave);
      field("name", name + " of rank " + std::to_string(rank.value));
      line_ += ",\"args\":{\"value\":";
      if (std::isfinite(event.value))
        append_number(line_, event.value);
      else
        line_ += "null";
      line_ += '}';
      return end();
    default:
      break;
  }
}

void ChromeFile::write_rank(WorldRank rank) {
  for (const char* what : {"thread_name", "thread_sort_index"}) {
    line_ = ",\n{\"ph\":\"M\",\"pid\":0,\"tid\":";
    append_number(line_, rank.value);
    field("name", what);
    line_ += std::string_view(what) == "thread_name" ? ",\"args\":{\"name\":\"rank "
                                                     : ",\"args\":{\"sort_index\":";
    append_number(line_, rank.value);
    line_ += std::string_view(what) == "thread_name" ? "\"}" : "}";
    end();
  }
  Messages messages(rank);
  Event event;
  reader_.rewind(rank);
  while (reader_.next(rank, event)) {
    if (event.kind == EventKind::phase_begin || event.kind == EventKind::phase_end ||
        event.kind == EventKind::mark) {
      write_event(rank, event);
      continue;
    }
    const std::vector<Message>& moved = messages.of(event, reader_);
    start("X", "mpi", rank, event.enter);
    field("name", reader_.name(rank, event.name));
    line_ += ",\"dur\":";
    append_decimals(line_, event.leave - event.enter, 6);
    append_arguments(rank, event, moved);
    end();
    for (const Message& message : moved) {
      // The arrow's end binds to the slice that encloses it.
      start(message.sent ? "s" : "f", "message", rank, message.at);
      field("name", "message");
      line_ += message.sent ? ",\"id\":\"" : ",\"bp\":\"e\",\"id\":\"";
      append_number(line_, message.number);
      line_ += '"';
      end();
    }
  }
}

}  // namespace

Notes write_chrome(trace::TraceReader& reader, const std::string& path,
                   const trace::TellPlace& tell) {
  ChromeFile(reader, path, tell).write();
  return {"communicators, requests and the time spent waiting have no place in this format"};
}

}  // namespace foretrace::formats
