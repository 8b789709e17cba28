#include "trace/trace_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "trace/block_index.hpp"
#include "trace/encoding.hpp"

namespace foretrace::trace {
namespace {

// Thrown inside a record, caught in next(): the stream ends before it.
struct Broken {
  const char* what;
};

// Where a rank's stream stands, and what it has defined so far.
struct Stream {
  std::size_t piece = 0;
  std::uint64_t at = 0;  // within the piece
  bool ended = false;
  Time last_leave;
  Time cpu;
  std::vector<std::string> names;
  std::vector<Communicator> comms;
  std::vector<Site> sites;
};

// Reads bytes across the pieces of one rank.
class Decoder {
 public:
  Decoder(const BlockIndex& file, const std::vector<BlockIndex::Piece>& pieces, std::size_t piece,
          std::uint64_t at)
      : file_(file), pieces_(pieces), piece_(piece), at_(at) {
    skip_empty();
  }

  bool at_end() const { return piece_ == pieces_.size(); }
  std::size_t piece() const { return piece_; }
  std::uint64_t at() const { return at_; }

  std::uint8_t u8() {
    if (at_end()) throw Broken{"the record is cut off"};
    const std::uint8_t value = file_.data()[pieces_[piece_].offset + at_++];
    if (at_ == pieces_[piece_].used) {
      ++piece_;
      at_ = 0;
      skip_empty();
    }
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t byte = u8();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80)) return value;
    }
    throw Broken{"a number is too long"};
  }
  std::int64_t svarint() { return unzigzag(varint()); }
  std::int32_t s32() {
    const std::int64_t value = svarint();
    if (value < INT32_MIN || value > INT32_MAX) throw Broken{"a number is out of range"};
    return static_cast<std::int32_t>(value);
  }
  std::uint32_t index(std::size_t size, const char* what) {
    const std::uint64_t value = varint();
    if (value >= size) throw Broken{what};
    return static_cast<std::uint32_t>(value);
  }
  Time time() {
    const std::uint64_t value = varint();
    if (value > static_cast<std::uint64_t>(INT64_MAX) / 4) throw Broken{"a time is out of range"};
    return Time::ps(static_cast<std::int64_t>(value));
  }
  double f64() {
    std::uint8_t bytes[sizeof(double)];
    for (std::uint8_t& byte : bytes) byte = u8();
    double value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }

 private:
  void skip_empty() {
    while (piece_ < pieces_.size() && at_ == pieces_[piece_].used) {
      ++piece_;
      at_ = 0;
    }
  }

  const BlockIndex& file_;
  const std::vector<BlockIndex::Piece>& pieces_;
  std::size_t piece_;
  std::uint64_t at_;
};

WorldRank decode_rank(Decoder& in, int ranks) {
  const std::int32_t rank = in.s32();
  if (rank < -1 || rank >= ranks) throw Broken{"a rank that does not exist"};
  return WorldRank(rank);
}

void decode_send(Decoder& in, Event& event, const Stream& stream, int ranks) {
  event.comm = in.index(stream.comms.size(), "an undefined communicator");
  const std::uint8_t mode = in.u8();
  if (mode > static_cast<std::uint8_t>(machine::SendMode::ready)) throw Broken{"a wrong send mode"};
  event.mode = static_cast<machine::SendMode>(mode);
  event.send.peer = decode_rank(in, ranks);
  event.send.tag = in.s32();
  event.send.bytes = Bytes(in.varint());
}

void decode_recv(Decoder& in, Event& event, const Stream& stream, int ranks,
                 std::uint8_t rare = 0) {
  event.comm = in.index(stream.comms.size(), "an undefined communicator");
  const std::uint8_t wild = in.u8();
  event.recv.any_source = wild & 1;
  event.recv.any_tag = wild & 2;
  event.recv.peer = decode_rank(in, ranks);
  event.recv.tag = in.s32();
  event.recv.bytes = Bytes(in.varint());
  if (rare & kHasTaken) event.taken = in.varint();
}

void decode_completions(Decoder& in, Event& event, int ranks) {
  const std::uint64_t count = in.varint();
  for (std::uint64_t i = 0; i < count; ++i) {
    Completion completion;
    completion.request = in.varint();
    const std::uint8_t flags = in.u8();
    completion.cancelled = flags & 2;
    if (flags & 1) {
      completion.source = decode_rank(in, ranks);
      completion.tag = in.s32();
      completion.bytes = Bytes(in.varint());
    }
    event.completions.push_back(completion);
  }
}

void decode_collective(Decoder& in, Event& event, const Stream& stream) {
  event.comm = in.index(stream.comms.size(), "an undefined communicator");
  const std::uint8_t which = in.u8();
  if (which < static_cast<std::uint8_t>(machine::Cost::barrier) ||
      which >= static_cast<std::uint8_t>(machine::Cost::kCount))
    throw Broken{"an unknown collective"};
  event.collective = static_cast<machine::Cost>(which);
  event.bytes = Bytes(in.varint());
  event.root = LocalRank(in.s32());
  const auto size = static_cast<std::int32_t>(stream.comms[event.comm].members.size());
  if (event.root.value < -1 || event.root.value >= size) throw Broken{"a root that does not exist"};
}

void decode_call(Decoder& in, Event& event, const Stream& stream, int ranks, std::uint8_t rare) {
  event.count = static_cast<std::uint32_t>(std::min<std::uint64_t>(in.varint(), UINT32_MAX));
  if (!(rare & kHasMove)) return;
  event.comm = in.index(stream.comms.size(), "an undefined communicator");
  event.send.peer = decode_rank(in, ranks);
  event.bytes = Bytes(in.varint());
}

void decode_body(Decoder& in, Event& event, const Stream& stream, int ranks, std::uint8_t rare) {
  switch (event.kind) {
    case EventKind::send:
      return decode_send(in, event, stream, ranks);
    case EventKind::recv:
      return decode_recv(in, event, stream, ranks, rare);
    case EventKind::sendrecv:
      decode_send(in, event, stream, ranks);
      return decode_recv(in, event, stream, ranks);
    case EventKind::isend:
      event.request = in.varint();
      return decode_send(in, event, stream, ranks);
    case EventKind::irecv:
    case EventKind::probe:
      event.request = in.varint();
      return decode_recv(in, event, stream, ranks, rare);
    case EventKind::complete:
      return decode_completions(in, event, ranks);
    case EventKind::icollective:
      event.request = in.varint();
      [[fallthrough]];
    case EventKind::collective:
      return decode_collective(in, event, stream);
    case EventKind::call:
      return decode_call(in, event, stream, ranks, rare);
    case EventKind::mark:
      event.value = in.f64();
      return;
    case EventKind::aborted:
      event.code = in.s32();
      return;
    default:
      return;
  }
}

void decode_event(Decoder& in, std::uint8_t head, Event& event, Stream& stream,
                  const TraceInfo& info, std::uint32_t version) {
  std::vector<Completion> storage = std::move(event.completions);
  storage.clear();
  event = Event();
  event.completions = std::move(storage);
  const std::uint8_t kind = head & kKindMask;
  if (kind < static_cast<std::uint8_t>(EventKind::init) ||
      kind > static_cast<std::uint8_t>(EventKind::probe))
    throw Broken{"an unknown kind of record"};
  event.kind = static_cast<EventKind>(kind);
  const std::uint8_t rare = version >= 2 ? in.u8() : std::uint8_t{0};
  event.name = in.index(stream.names.size(), "an undefined name");
  if (rare & kHasSite) event.site = in.index(stream.sites.size() + 1, "an undefined call site");
  event.compute = in.time();
  if (head & kHasSteps) event.steps = in.f64();
  const Time cpu = stream.cpu + event.compute;
  if (cpu.count_ps() > INT64_MAX / 2) throw Broken{"a time is out of range"};
  Time last_leave = stream.last_leave;
  if (info.clock == Clock::cpu) {
    event.enter = event.leave = cpu;
  } else {
    event.enter = last_leave + in.time();
    event.leave = event.enter + in.time();
    if (event.leave.count_ps() > INT64_MAX / 2) throw Broken{"a time is out of range"};
  }
  if (head & kHasWait) event.wait = in.time();
  decode_body(in, event, stream, info.ranks, rare);
  stream.cpu = cpu;
  stream.last_leave = event.leave;
}

std::string decode_string(Decoder& in) {
  const std::uint64_t length = in.varint();
  if (length > kLongestName) throw Broken{"a name is too long"};
  std::string text;
  for (std::uint64_t i = 0; i < length; ++i) text.push_back(static_cast<char>(in.u8()));
  return text;
}

void decode_site(Decoder& in, Stream& stream) {
  Site site;
  site.offset = in.varint();
  site.object = decode_string(in);
  stream.sites.push_back(std::move(site));
}

void decode_comm(Decoder& in, Stream& stream, int ranks) {
  Communicator comm;
  comm.key = in.varint();
  const std::uint64_t size = in.varint();
  // No rank is in a communicator twice.
  if (size > static_cast<std::uint64_t>(ranks)) throw Broken{"a communicator is too large"};
  while (comm.members.size() < size) {
    const std::int64_t first = in.s32();
    const std::int64_t stride = in.s32();
    const std::uint64_t count = in.varint();
    if (count == 0 || count > size - comm.members.size())
      throw Broken{"a communicator's members make no sense"};
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::int64_t member = first + static_cast<std::int64_t>(i) * stride;
      if (member < 0 || member >= ranks) throw Broken{"a rank that does not exist"};
      comm.members.push_back(WorldRank(static_cast<std::int32_t>(member)));
    }
  }
  stream.comms.push_back(std::move(comm));
}

}  // namespace

struct TraceReader::Impl {
  explicit Impl(const std::string& path)
      : file(path), streams(static_cast<std::size_t>(file.info().ranks)) {
    damage = file.damage();
    info = file.info();
    drift = std::exchange(info.clocks.drift, {});
  }

  // The times of the rank's host on rank 0's clock.
  void straighten(WorldRank rank, Event& event) const {
    if (drift.empty()) return;
    const ClockDrift& of = drift[static_cast<std::size_t>(rank.value)];
    event.enter = std::max(of.straightened(event.enter), Time());
    event.leave = std::max(of.straightened(event.leave), event.enter);
  }

  Stream& stream(WorldRank rank) { return streams[static_cast<std::size_t>(rank.value)]; }

  BlockIndex file;
  std::vector<Stream> streams;
  std::vector<Damage> damage;
  TraceInfo info;
  std::vector<ClockDrift> drift;  // by rank, or none
};

TraceReader::TraceReader(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
TraceReader::~TraceReader() = default;
TraceReader::TraceReader(TraceReader&&) noexcept = default;
TraceReader& TraceReader::operator=(TraceReader&&) noexcept = default;

const std::string& TraceReader::path() const {
  return impl_->file.path();
}
const TraceInfo& TraceReader::info() const {
  return impl_->info;
}
bool TraceReader::sealed() const {
  return impl_->file.sealed();
}

bool TraceReader::next(WorldRank rank, Event& event) {
  Stream& stream = impl_->stream(rank);
  const auto& pieces = impl_->file.pieces(rank);
  while (!stream.ended) {
    Decoder in(impl_->file, pieces, stream.piece, stream.at);
    if (in.at_end()) break;
    const std::uint64_t offset = pieces[in.piece()].offset + in.at();
    try {
      const std::uint8_t head = in.u8();
      const bool event_follows = (head & kKindMask) < kDefineName;
      if (event_follows)
        decode_event(in, head, event, stream, info(), impl_->file.version());
      else if (head == kDefineName)
        stream.names.push_back(decode_string(in));
      else if (head == kDefineComm)
        decode_comm(in, stream, info().ranks);
      else if (head == kDefineSite)
        decode_site(in, stream);
      else
        throw Broken{"an unknown kind of record"};
      stream.piece = in.piece();
      stream.at = in.at();
      if (event_follows) {
        impl_->straighten(rank, event);
        return true;
      }
    } catch (const Broken& broken) {
      const auto known = std::ranges::find_if(impl_->damage, [&](const Damage& damage) {
        return damage.rank == rank && damage.offset == offset;
      });
      if (known == impl_->damage.end()) impl_->damage.push_back({rank, offset, broken.what});
      break;
    }
  }
  stream.ended = true;
  return false;
}

void TraceReader::rewind(WorldRank rank) {
  impl_->stream(rank) = Stream();
}

const std::string& TraceReader::name(WorldRank rank, NameId id) const {
  return impl_->stream(rank).names.at(id);
}

const Communicator& TraceReader::comm(WorldRank rank, CommId id) const {
  return impl_->stream(rank).comms.at(id);
}

const Site& TraceReader::site(WorldRank rank, SiteId id) const {
  return impl_->stream(rank).sites.at(id - std::size_t{1});
}

const std::vector<Damage>& TraceReader::damage() const {
  return impl_->damage;
}

}  // namespace foretrace::trace
