// CLOG-2, the binary log of MPE and Jumpshot (clog2TOslog2): a preamble of text, blocks of records
// by time, at the end the table of communicators; big-endian. Calls and phases are states, marks
// solo events, messages go between ranks of MPI_COMM_WORLD.
#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>

#include "base/new_file.hpp"
#include "formats/formats.hpp"
#include "formats/merged_events.hpp"
#include "formats/messages.hpp"

namespace foretrace::formats {
namespace {

using trace::Event;
using trace::EventKind;

constexpr std::size_t kPreambleSize = 1024;
constexpr std::size_t kBlockSize = 65536;
constexpr std::size_t kHeaderSize = 24;
constexpr std::size_t kUuidSize = 32;
constexpr std::size_t kColourSize = 24, kNameSize = 32, kFormatSize = 40, kCargoSize = 32;
constexpr int kFirstState = 300, kFirstSolo = 5000;
constexpr int kSendMessage = -101, kReceiveMessage = -102;
constexpr int kWorldCreate = 0, kIntraKind = 1;

enum Record { kEndLog, kEndBlock, kStateDef, kEventDef, kBare = 5, kCargo, kMessage, kComm = 9 };

class ClogFile {
 public:
  ClogFile(trace::TraceReader& reader, const std::string& path) : reader_(reader), file_(path) {}

  bool cut() const { return cut_; }

  void write() {
    find_names();
    // First only for where the table of communicators will be.
    blocks(false);
    preamble(kPreambleSize + kBlockSize * blocks_);
    blocks(true);
    std::string table;
    put(table, 1);
    table += world_id();
    put(table, 0);
    put(table, kIntraKind);
    file_.write(table);
    file_.commit();
  }

 private:
  template <std::integral Number>
  static void put(std::string& to, Number number) {
    const auto bits = static_cast<std::uint32_t>(static_cast<std::int32_t>(number));
    for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(bits >> shift & 0xff);
  }
  static void put(std::string& to, double number) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    put(to, bits >> 32);
    put(to, bits & 0xffffffff);
  }
  // With zeros to a width, the last of which ends it.
  void put(std::string& to, const std::string& text, std::size_t width) {
    cut_ = cut_ || text.size() >= width;
    to.append(text, 0, width - 1);
    to.resize(to.size() + width - std::min(text.size(), width - 1));
  }
  static std::string world_id() {
    std::string id(kUuidSize, '\0');
    id.replace(12, 9, "foretrace");
    return id;
  }

  void find_names() {
    Event event;
    for (int r = 0; r < reader_.ranks(); ++r) {
      reader_.rewind(WorldRank(r));
      while (reader_.next(WorldRank(r), event)) {
        auto& names = event.kind == EventKind::mark ? solos_ : states_;
        names.try_emplace(reader_.name(WorldRank(r), event.name), static_cast<int>(names.size()));
      }
    }
  }

  void preamble(std::uint64_t table_at) {
    constexpr std::uint64_t kGiga = 1'000'000'000;
    std::string text;
    const auto add = [&text](const std::string& part) {
      text.append(part.c_str(), part.size() + 1);
    };
    add("CLOG-02.44");
    add("is_big_endian="), add("TRUE ");
    add("is_finalzed="), add("TRUE ");  // as MPE spells it
    const std::pair<const char*, std::uint64_t> numbers[] = {
        {"block_size=", kBlockSize},
        {"num_buffered_blocks=", 128},
        {"max_comm_world_size=", static_cast<std::uint64_t>(reader_.ranks())},
        {"max_thread_count=", 1},
        {"known_eventID_start=", 0},
        {"user_eventID_start=", 2 * kFirstState}};
    for (const auto& [name, value] : numbers) add(name), add(std::to_string(value));
    add("known_solo_eventID_start="), add("-10");
    add("user_solo_eventID_start="), add(std::to_string(kFirstSolo));
    add("known_stateID_count="), add(std::to_string(kFirstState));
    add("user_stateID_count="), add(std::to_string(states_.size()));
    add("known_solo_eventID_count="), add("10");
    add("user_solo_eventID_count="), add(std::to_string(solos_.size()));
    add("commtable_fptr="), add(std::to_string(table_at / kGiga)), add(std::to_string(kGiga));
    add(std::to_string(table_at % kGiga));
    text.resize(kPreambleSize);
    file_.write(text);
  }

  // All blocks; without `writes` they are only counted.
  void blocks(bool writes) {
    writes_ = writes;
    blocks_ = 0;
    messages_.clear();
    for (int r = 0; r < reader_.ranks(); ++r) messages_.emplace_back(WorldRank(r));
    moved_.assign(messages_.size(), {});
    definitions();
    MergedEvents events(reader_);
    Moment moment;
    Time last;
    while (events.next(moment)) {
      last = moment.at;
      take(moment);
    }
    record(last, 0, kEndLog, "", false);
    end_block();
  }

  void definitions() {
    for (const auto& [name, number] : states_) {
      std::string body;
      for (const int each : {kFirstState + number, start_of(number), start_of(number) + 1, 0})
        put(body, each);
      put(body, colour(number), kColourSize);
      put(body, name, kNameSize);
      put(body, "", kFormatSize);
      record(Time(), 0, kStateDef, body);
    }
    for (const auto& [name, number] : solos_) {
      std::string body;
      put(body, kFirstSolo + number);
      put(body, 0);
      put(body, "white", kColourSize);
      put(body, name, kNameSize);
      put(body, "value %E", kFormatSize);
      record(Time(), 0, kEventDef, body);
    }
    for (int r = 0; r < reader_.ranks(); ++r) {
      std::string body;
      for (const int each : {kWorldCreate, 0, r, r}) put(body, each);
      record(Time(), r, kComm, body + world_id());
    }
  }

  static int start_of(int state) { return 2 * (kFirstState + state); }
  static std::string colour(int number) {
    constexpr const char* kColours[] = {"red",    "green",  "blue",  "yellow", "cyan",
                                        "purple", "orange", "brown", "gray",   "pink"};
    return kColours[static_cast<std::size_t>(number) % std::size(kColours)];
  }

  // A block always has room for its end.
  void record(Time at, int rank, Record type, const std::string& body, bool closes = true) {
    const std::size_t size = kHeaderSize + body.size();
    if (closes && block_.size() + size + kHeaderSize > kBlockSize) {
      header(at, rank, kEndBlock);
      end_block();
    }
    header(at, rank, type);
    block_ += body;
  }
  void header(Time at, int rank, Record type) {
    put(block_, static_cast<double>(at.count_ps()) * 1e-12);
    for (const int each : {0, rank, 0, static_cast<int>(type)}) put(block_, each);
  }
  void end_block() {
    block_.resize(kBlockSize);
    if (writes_) file_.write(block_);
    block_.clear();
    ++blocks_;
  }

  void take(const Moment& moment) {
    const Event& event = *moment.event;
    const int rank = moment.rank.value;
    const std::string& name = reader_.name(moment.rank, event.name);
    std::string body;
    if (event.kind == EventKind::mark) {
      if (moment.begins) return;
      put(body, kFirstSolo + solos_.at(name));
      put(body, 0);
      put(body, event.value);
      body.resize(8 + kCargoSize);
      return record(moment.at, rank, kCargo, body);
    }
    const bool phase = event.kind == EventKind::phase_begin || event.kind == EventKind::phase_end;
    if (phase && moment.begins) return;
    const bool starts = phase ? event.kind == EventKind::phase_begin : moment.begins;
    put(body, start_of(states_.at(name)) + (starts ? 0 : 1));
    put(body, 0);
    // A message's ends lie within its calls.
    if (starts) record(moment.at, rank, kBare, body);
    if (!phase) take_messages(moment);
    if (!starts) record(moment.at, rank, kBare, body);
  }

  void take_messages(const Moment& moment) {
    const auto rank = static_cast<std::size_t>(moment.rank.value);
    auto& moved = moved_[rank];
    // What an event moved is found once, when it begins.
    if (moment.begins) moved = messages_[rank].of(*moment.event, reader_);
    for (const Message& message : moved) {
      if (message.sent != moment.begins) continue;
      constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();
      std::string body;
      put(body, message.sent ? kSendMessage : kReceiveMessage);
      put(body, 0);
      put(body, message.peer.value);
      put(body, message.tag);
      put(body, std::min(message.bytes.count, kMost));
      put(body, 0);
      record(moment.at, moment.rank.value, kMessage, body);
    }
  }

  trace::TraceReader& reader_;
  NewFile file_;
  bool writes_ = false;
  bool cut_ = false;  // a name was
  std::uint64_t blocks_ = 0;
  std::string block_;
  std::map<std::string, int> states_, solos_;  // numbers of names
  std::vector<Messages> messages_;
  std::vector<std::vector<Message>> moved_;
};

}  // namespace

Notes write_clog2(trace::TraceReader& reader, const std::string& path, const trace::TellPlace&) {
  ClogFile file(reader, path);
  file.write();
  Notes notes{
      "times are doubles in seconds; collectives, communicators other than MPI_COMM_WORLD, "
      "requests and call sites have no place in this format"};
  if (file.cut()) notes.push_back("names are cut to 31 characters");
  return notes;
}

}  // namespace foretrace::formats
