// Perfetto's protobuf: a track for each rank, names interned, messages as flows. The numbers of
// fields are those of protos/perfetto/trace.
#include <bit>
#include <cstdint>
#include <unordered_map>

#include "base/new_file.hpp"
#include "formats/formats.hpp"
#include "formats/messages.hpp"

namespace foretrace::formats {
namespace {

using trace::Event;
using trace::EventKind;

// A message of protobuf's wire format.
class Proto {
 public:
  void clear() { bytes_.clear(); }
  const std::string& bytes() const { return bytes_; }

  void number(std::uint32_t field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
  }
  void fixed64(std::uint32_t field, std::uint64_t value) {
    varint(field << 3 | 1);
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xff);
  }
  void real(std::uint32_t field, double value) {
    fixed64(field, std::bit_cast<std::uint64_t>(value));
  }
  void text(std::uint32_t field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    bytes_ += value;
  }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

namespace packet {  // TracePacket
constexpr std::uint32_t kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12,
                        kSequenceFlags = 13, kTrackDescriptor = 60;
}
namespace track {  // TrackDescriptor
constexpr std::uint32_t kUuid = 1, kName = 2, kProcess = 3, kParent = 5, kCounter = 8,
                        kChildOrdering = 11, kSiblingRank = 12;
constexpr std::uint64_t kExplicit = 3;
}  // namespace track
namespace slice {  // TrackEvent
constexpr std::uint32_t kAnnotation = 4, kType = 9, kNameIid = 10, kTrack = 11, kFlow = 47,
                        kTerminatingFlow = 48, kDoubleValue = 44;
constexpr std::uint64_t kBegin = 1, kEnd = 2, kCounterType = 4;
}  // namespace slice
namespace annotation {  // DebugAnnotation
constexpr std::uint32_t kNameIid = 1, kUnsigned = 3, kSigned = 4, kString = 6;
}
namespace interned {  // InternedData
constexpr std::uint32_t kEventNames = 2, kAnnotationNames = 3;
}

constexpr std::uint64_t kCleared = 1, kNeedsState = 2;
constexpr std::uint64_t kProcessTrack = 1;
constexpr std::uint64_t kFirstRankTrack = 2;

class PerfettoFile {
 public:
  PerfettoFile(trace::TraceReader& reader, const std::string& path, const trace::TellPlace& tell)
      : reader_(reader), tell_(tell), file_(path) {}

  void write();

 private:
  // Names that a sequence of packets has introduced.
  using Interned = std::unordered_map<std::string, std::uint64_t>;

  std::uint64_t intern(Interned& names, std::uint32_t field, const std::string& name);
  void put_packet(const Proto& body, std::uint32_t field, Time at, bool timed);
  void put_rank_track(WorldRank rank);
  std::uint64_t counter_track(const std::string& name, WorldRank rank);
  void begin_slice(const Event& event, WorldRank rank, const std::vector<Message>& messages);
  void end_slice(Time at, WorldRank rank);
  void put_mark(const Event& event, WorldRank rank);
  void annotate(Proto& body, const char* name, std::uint32_t field, std::uint64_t value);
  void annotate(Proto& body, const char* name, const std::string& value);
  void write_rank(WorldRank rank);

  trace::TraceReader& reader_;
  const trace::TellPlace& tell_;
  NewFile file_;
  std::uint64_t sequence_ = 0;
  bool cleared_ = false;  // the sequence has begun
  Interned names_;
  Interned annotations_;
  std::unordered_map<std::string, std::uint64_t> counters_;
  std::uint64_t next_track_ = 0;
  Proto new_names_;
};

std::uint64_t PerfettoFile::intern(Interned& names, std::uint32_t field, const std::string& name) {
  const auto [found, added] = names.try_emplace(name, names.size() + 1);
  if (added) {
    Proto entry;
    entry.number(1, found->second);
    entry.text(2, name);
    new_names_.text(field, entry.bytes());
  }
  return found->second;
}

void PerfettoFile::put_packet(const Proto& body, std::uint32_t field, Time at, bool timed) {
  Proto packet;
  if (timed) packet.number(packet::kTimestamp, static_cast<std::uint64_t>(at.count_ps() / 1000));
  packet.number(packet::kSequence, sequence_);
  if (timed) {
    packet.number(packet::kSequenceFlags, kNeedsState | (cleared_ ? 0 : kCleared));
    cleared_ = true;
  }
  if (!new_names_.bytes().empty()) packet.text(packet::kInterned, new_names_.bytes());
  new_names_.clear();
  packet.text(field, body.bytes());
  Proto trace;
  trace.text(1, packet.bytes());
  file_.write(trace.bytes());
}

void PerfettoFile::put_rank_track(WorldRank rank) {
  Proto body;
  body.number(track::kUuid, kFirstRankTrack + static_cast<std::uint64_t>(rank.value));
  body.number(track::kParent, kProcessTrack);
  body.text(track::kName, "rank " + std::to_string(rank.value));
  body.number(track::kSiblingRank, static_cast<std::uint64_t>(rank.value));
  put_packet(body, packet::kTrackDescriptor, Time(), false);
}

std::uint64_t PerfettoFile::counter_track(const std::string& name, WorldRank rank) {
  const auto [found, added] = counters_.try_emplace(name, next_track_);
  if (!added) return found->second;
  ++next_track_;
  Proto body;
  body.number(track::kUuid, found->second);
  body.number(track::kParent, kFirstRankTrack + static_cast<std::uint64_t>(rank.value));
  body.text(track::kName, name);
  body.text(track::kCounter, "");
  put_packet(body, packet::kTrackDescriptor, Time(), false);
  return found->second;
}

void PerfettoFile::annotate(Proto& body, const char* name, std::uint32_t field,
                            std::uint64_t value) {
  Proto entry;
  entry.number(annotation::kNameIid, intern(annotations_, interned::kAnnotationNames, name));
  entry.number(field, value);
  body.text(slice::kAnnotation, entry.bytes());
}

void PerfettoFile::annotate(Proto& body, const char* name, const std::string& value) {
  Proto entry;
  entry.number(annotation::kNameIid, intern(annotations_, interned::kAnnotationNames, name));
  entry.text(annotation::kString, value);
  body.text(slice::kAnnotation, entry.bytes());
}

void PerfettoFile::begin_slice(const Event& event, WorldRank rank,
                               const std::vector<Message>& messages) {
  Proto body;
  body.number(slice::kType, slice::kBegin);
  body.number(slice::kTrack, kFirstRankTrack + static_cast<std::uint64_t>(rank.value));
  body.number(slice::kNameIid,
              intern(names_, interned::kEventNames, reader_.name(rank, event.name)));
  for (const Message& message : messages) {
    body.fixed64(message.sent ? slice::kFlow : slice::kTerminatingFlow, message.number);
    annotate(body, message.sent ? "to" : "from", annotation::kUnsigned,
             static_cast<std::uint64_t>(message.peer.value));
    annotate(body, "tag", annotation::kSigned, static_cast<std::uint64_t>(message.tag));
    annotate(body, "bytes", annotation::kUnsigned, message.bytes.count);
  }
  if (event.kind == EventKind::collective || event.kind == EventKind::icollective)
    annotate(body, "bytes", annotation::kUnsigned, event.bytes.count);
  if (event.root.valid())
    annotate(body, "root", annotation::kUnsigned, static_cast<std::uint64_t>(event.root.value));
  if (event.count > 1) annotate(body, "calls", annotation::kUnsigned, event.count);
  if (event.wait != Time())
    annotate(body, "wait (ps)", annotation::kUnsigned,
             static_cast<std::uint64_t>(event.wait.count_ps()));
  if (event.site != 0 && tell_) {
    const std::string place = tell_(reader_.site(rank, event.site));
    if (!place.empty()) annotate(body, "at", place);
  }
  put_packet(body, packet::kTrackEvent, event.enter, true);
}

void PerfettoFile::end_slice(Time at, WorldRank rank) {
  Proto body;
  body.number(slice::kType, slice::kEnd);
  body.number(slice::kTrack, kFirstRankTrack + static_cast<std::uint64_t>(rank.value));
  put_packet(body, packet::kTrackEvent, at, true);
}

void PerfettoFile::put_mark(const Event& event, WorldRank rank) {
  Proto body;
  body.number(slice::kType, slice::kCounterType);
  body.number(slice::kTrack, counter_track(reader_.name(rank, event.name), rank));
  body.real(slice::kDoubleValue, event.value);
  put_packet(body, packet::kTrackEvent, event.leave, true);
}

void PerfettoFile::write_rank(WorldRank rank) {
  sequence_ = static_cast<std::uint64_t>(rank.value) + 1;
  cleared_ = false;
  names_.clear();
  annotations_.clear();
  counters_.clear();
  put_rank_track(rank);
  Messages messages(rank);
  reader_.rewind(rank);
  Event event;
  while (reader_.next(rank, event)) {
    if (event.kind == EventKind::mark) {
      put_mark(event, rank);
      continue;
    }
    if (event.kind == EventKind::phase_end) {
      end_slice(event.leave, rank);
      continue;
    }
    begin_slice(event, rank, messages.of(event, reader_));
    if (event.kind != EventKind::phase_begin) end_slice(event.leave, rank);
  }
}

void PerfettoFile::write() {
  next_track_ = kFirstRankTrack + static_cast<std::uint64_t>(reader_.ranks());
  sequence_ = 1;
  Proto process;
  process.number(1, 1);  // ProcessDescriptor: pid, and its name
  process.text(6, reader_.info().program);
  Proto body;
  body.number(track::kUuid, kProcessTrack);
  body.text(track::kProcess, process.bytes());
  body.number(track::kChildOrdering, track::kExplicit);
  put_packet(body, packet::kTrackDescriptor, Time(), false);
  for (int r = 0; r < reader_.ranks(); ++r) write_rank(WorldRank(r));
  file_.commit();
}

}  // namespace

Notes write_perfetto(trace::TraceReader& reader, const std::string& path,
                     const trace::TellPlace& tell) {
  PerfettoFile(reader, path, tell).write();
  return {"times are whole nanoseconds; communicators and requests have no place in this format"};
}

}  // namespace foretrace::formats
