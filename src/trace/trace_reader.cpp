#include "trace/trace_reader.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "trace/block_index.hpp"
#include "trace/decoder.hpp"
#include "trace/shape.hpp"
#include "trace/version1.hpp"

namespace foretrace::trace {
namespace {

// Where a rank's stream stands, and what it has defined so far.
struct Stream {
  std::size_t piece = 0;
  std::uint64_t at = 0;  // within the piece
  bool ended = false;
  Position position;
  Definitions defined;
  std::vector<Shape> shapes;
  std::uint64_t events = 0;  // read
  Join join;                 // of the next one
  Join second;
};

void decode_site(Decoder& in, Definitions& defined) {
  Site site;
  site.offset = in.varint();
  site.object = in.string();
  defined.sites.push_back(std::move(site));
}

void decode_comm(Decoder& in, Definitions& defined) {
  Communicator comm;
  comm.key = in.varint();
  const std::uint64_t size = in.varint();
  // No rank is in a communicator twice.
  if (size > static_cast<std::uint64_t>(defined.ranks)) throw Broken{"a communicator is too large"};
  while (comm.members.size() < size) {
    const std::int64_t first = in.s32();
    const std::int64_t stride = in.s32();
    const std::uint64_t count = in.varint();
    if (count == 0 || count > size - comm.members.size())
      throw Broken{"a communicator's members make no sense"};
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::int64_t member = first + static_cast<std::int64_t>(i) * stride;
      if (member < 0 || member >= defined.ranks) throw Broken{"a rank that does not exist"};
      comm.members.push_back(WorldRank(static_cast<std::int32_t>(member)));
    }
  }
  defined.comms.push_back(std::move(comm));
}

// As define_shape().
void define_counts(Decoder& in, Definitions& defined) {
  const std::uint32_t number =
      in.index(std::min(defined.counts.size() + 1, kMostCounts), "a wrong number of counts");
  const std::uint64_t size = in.varint();
  if (size > 2 * static_cast<std::uint64_t>(defined.ranks)) throw Broken{"too many counts"};
  Counts counts;
  while (counts.size() < size) {
    const std::uint64_t repeated = in.varint();
    if (repeated == 0 || repeated > size - counts.size()) throw Broken{"counts make no sense"};
    counts.insert(counts.end(), repeated, Bytes(in.varint()));
  }
  if (number == defined.counts.size())
    defined.counts.push_back(std::move(counts));
  else
    defined.counts[number] = std::move(counts);
}

void decode_join(Decoder& in, Stream& stream) {
  const std::uint64_t which = in.varint();
  Join join;
  join.back = which / 4;
  join.entered = which % 2 != 0;
  join.knows_steps = which / 2 % 2 != 0;
  if (join.back == 0 || join.back > stream.events)
    throw Broken{"a wait for an event that there is not"};
  join.after = Time::ps(in.time());
  join.held = Time::ps(in.time());
  if (std::max(join.after, join.held) > kEndOfTime) throw Broken{"a time is out of range"};
  if (join.knows_steps) {
    join.after_steps = in.f64();
    join.held_steps = in.f64();
  }
  if (!(join.after_steps >= 0 && join.held_steps >= 0)) throw Broken{"steps that make no sense"};
  if (stream.second.back != 0) throw Broken{"three waits before an event"};
  (stream.join.back == 0 ? stream.join : stream.second) = join;
}

// A new shape takes the next number, or the place of an old one.
void define_shape(Decoder& in, Stream& stream) {
  const std::uint32_t number =
      in.index(std::min(stream.shapes.size() + 1, kMostShapes), "a wrong number of a shape");
  Shape shape;
  decode_shape(in, shape, stream.defined);
  if (shape.event.completions.size() > kMostCompletions)
    throw Broken{"a shape that stays has too many completions"};
  if (number == stream.shapes.size())
    stream.shapes.push_back(std::move(shape));
  else
    stream.shapes[number] = std::move(shape);
}

void read_shaped(Decoder& in, std::uint64_t head, Event& event, Stream& stream) {
  if (head == kSingleEvent) {
    Shape shape;
    decode_shape(in, shape, stream.defined);
    return decode_event(in, shape, event, stream.defined.clock, stream.position);
  }
  if (head < kFirstShape || head - kFirstShape >= stream.shapes.size())
    throw Broken{"an undefined shape"};
  decode_event(in, stream.shapes[head - kFirstShape], event, stream.defined.clock, stream.position);
}

void read_event(Decoder& in, std::uint64_t head, Event& event, Stream& stream) {
  read_shaped(in, head, event, stream);
  event.join = std::exchange(stream.join, {});
  event.second = std::exchange(stream.second, {});
  ++stream.events;
  if (event.counts == 0) return;
  const std::size_t length = stream.defined.counts[event.counts - std::size_t{1}].size();
  if (!fits(length, event.collective, stream.defined.comms[event.comm].members.size()))
    throw Broken{"counts that are not those of the collective"};
}

// Each reads records until there is one that means something to others.
using Record = TraceReader::Record;

Record read_record(Decoder& in, Event& event, Stream& stream) {
  std::uint64_t head = in.varint();
  for (;; head = in.varint()) {
    if (head == kDefineShape)
      define_shape(in, stream);
    else if (head == kDefineCounts)
      define_counts(in, stream.defined);
    else if (head == kJoin)
      decode_join(in, stream);
    else
      break;
  }
  switch (head) {
    case kDefineName:
      stream.defined.names.push_back(in.string());
      return Record::name;
    case kDefineComm:
      decode_comm(in, stream.defined);
      return Record::comm;
    case kDefineSite:
      decode_site(in, stream.defined);
      return Record::site;
    default:
      read_event(in, head, event, stream);
      return Record::event;
  }
}

Record read_record_of_version1(Decoder& in, Event& event, Stream& stream) {
  const std::uint8_t head = in.u8();
  if (head == version1::kDefineName) {
    stream.defined.names.push_back(in.string());
    return Record::name;
  }
  if (head == version1::kDefineComm) {
    decode_comm(in, stream.defined);
    return Record::comm;
  }
  std::vector<Completion> storage = std::move(event.completions);
  storage.clear();
  event = Event();
  event.completions = std::move(storage);
  version1::decode_event(in, head, event, stream.defined, stream.position);
  return Record::event;
}

}  // namespace

struct TraceReader::Impl {
  explicit Impl(const std::string& path)
      : file(std::make_unique<BlockIndex>(path)),
        streams(static_cast<std::size_t>(file->info().ranks)) {
    damage = file->damage();
    info = file->info();
    drift = std::exchange(info.clocks.drift, {});
    for (Stream& each : streams) start(each);
  }

  void start(Stream& at) const {
    at = Stream();
    at.defined.ranks = file->info().ranks;
    at.defined.clock = file->info().clock;
  }

  // The times of the rank's host on rank 0's clock.
  void straighten(WorldRank rank, Event& event) const {
    if (drift.empty()) return;
    const ClockDrift& of = drift[static_cast<std::size_t>(rank.value)];
    event.enter = std::max(of.straightened(event.enter), Time());
    event.leave = std::max(of.straightened(event.leave), event.enter);
  }

  // Not again what was found before, nor that a record is cut off where the
  // rank's next block is known to be missing.
  void add(WorldRank rank, std::uint64_t record, const Broken& broken) {
    const std::uint64_t offset = broken.offset ? broken.offset : record;
    const auto known = std::ranges::find_if(damage, [&](const Damage& other) {
      return other.rank == rank && (!broken.offset || other.offset == offset);
    });
    if (known == damage.end()) damage.push_back({rank, offset, broken.what});
  }

  // Whether that is this file, grown.
  bool continues(const BlockIndex& grown) const {
    for (int r = 0; r < info.ranks; ++r) {
      const auto& old = file->pieces(WorldRank(r));
      const auto& now = grown.pieces(WorldRank(r));
      if (now.size() < old.size()) return false;
      for (std::size_t i = 0; i < old.size(); ++i)
        if (now[i].offset != old[i].offset || now[i].used < old[i].used) return false;
    }
    return true;
  }

  // Streams that were at their ends are where more was written.
  void go_on(const BlockIndex& grown) {
    for (int r = 0; r < info.ranks; ++r) {
      Stream& at = stream(WorldRank(r));
      at.ended = false;
      const auto& old = file->pieces(WorldRank(r));
      if (at.piece < old.size() || old.empty()) continue;
      const std::size_t last = old.size() - 1;
      if (grown.pieces(WorldRank(r))[last].used == old[last].used) continue;
      at.piece = last;
      at.at = old[last].used;
    }
  }

  Stream& stream(WorldRank rank) { return streams[static_cast<std::size_t>(rank.value)]; }

  std::unique_ptr<BlockIndex> file;
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
  return impl_->file->path();
}
const TraceInfo& TraceReader::info() const {
  return impl_->info;
}
bool TraceReader::sealed() const {
  return impl_->file->sealed();
}

bool TraceReader::next(WorldRank rank, Event& event) {
  Record record;
  do record = next_record(rank, event);
  while (record != Record::event && record != Record::end);
  return record == Record::event;
}

TraceReader::Record TraceReader::next_record(WorldRank rank, Event& event) {
  Stream& stream = impl_->stream(rank);
  const auto& pieces = impl_->file->pieces(rank);
  if (stream.ended) return Record::end;
  std::uint64_t offset = 0;
  const Position before = stream.position;
  try {
    Decoder in(*impl_->file, pieces, stream.piece, stream.at);
    if (!in.at_end()) {
      offset = pieces[in.piece()].offset + in.at();
      const Record record = impl_->file->version() == 1 ? read_record_of_version1(in, event, stream)
                                                        : read_record(in, event, stream);
      stream.piece = in.piece();
      stream.at = in.at();
      if (record == Record::event) impl_->straighten(rank, event);
      return record;
    }
  } catch (const Broken& broken) {
    impl_->add(rank, offset, broken);
    stream.position = before;  // the record may be there when the file has grown
    stream.join = stream.second = {};
  }
  stream.ended = true;
  return Record::end;
}

void TraceReader::refresh() {
  auto file = std::make_unique<BlockIndex>(impl_->file->path());
  // What only later versions have raises the version when it is first there.
  const bool same_version =
      file->version() == impl_->file->version() ||
      (impl_->file->version() >= kPlainVersion && file->version() > impl_->file->version());
  if (file->info().ranks != impl_->info.ranks || !same_version || !impl_->continues(*file))
    throw Error(path() + ": this is another trace than it was before");
  impl_->go_on(*file);
  impl_->damage = file->damage();
  impl_->file = std::move(file);
}

void TraceReader::rewind(WorldRank rank) {
  impl_->start(impl_->stream(rank));
}

std::size_t TraceReader::names(WorldRank rank) const {
  return impl_->stream(rank).defined.names.size();
}
std::size_t TraceReader::comms(WorldRank rank) const {
  return impl_->stream(rank).defined.comms.size();
}
std::size_t TraceReader::sites(WorldRank rank) const {
  return impl_->stream(rank).defined.sites.size();
}
const std::string& TraceReader::name(WorldRank rank, NameId id) const {
  return impl_->stream(rank).defined.names.at(id);
}

const Communicator& TraceReader::comm(WorldRank rank, CommId id) const {
  return impl_->stream(rank).defined.comms.at(id);
}

const Site& TraceReader::site(WorldRank rank, SiteId id) const {
  return impl_->stream(rank).defined.sites.at(id - std::size_t{1});
}

const Counts* TraceReader::counts(WorldRank rank, const Event& event) const {
  if (event.counts == 0) return nullptr;
  return &impl_->stream(rank).defined.counts.at(event.counts - std::size_t{1});
}

const std::string* TraceReader::open_call(WorldRank rank) const {
  const std::uint32_t open = impl_->file->open(rank).name;
  const auto& names = impl_->stream(rank).defined.names;
  return open == 0 || open > names.size() ? nullptr : &names[open - 1];
}

const Site* TraceReader::open_site(WorldRank rank) const {
  const std::uint32_t site = impl_->file->open(rank).site;
  const auto& sites = impl_->stream(rank).defined.sites;
  return site == 0 || site > sites.size() || !open_call(rank) ? nullptr : &sites[site - 1];
}

std::uint64_t TraceReader::bytes(WorldRank rank) const {
  std::uint64_t sum = 0;
  for (const auto& piece : impl_->file->pieces(rank)) sum += piece.used;
  return sum;
}

double TraceReader::share_read() const {
  double read = 0;
  double all = 0;
  for (int r = 0; r < ranks(); ++r) {
    const auto& pieces = impl_->file->pieces(WorldRank(r));
    const Stream& stream = impl_->stream(WorldRank(r));
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const auto used = static_cast<double>(pieces[i].used);
      all += used;
      if (stream.ended || i < stream.piece) read += used;
      if (!stream.ended && i == stream.piece)
        read += std::min(static_cast<double>(stream.at), used);
    }
  }
  return all > 0 ? read / all : 1;
}

bool TraceReader::is_in_call(WorldRank rank) const {
  return impl_->file->open(rank).name != 0;
}

const std::vector<Damage>& TraceReader::damage() const {
  return impl_->damage;
}

}  // namespace foretrace::trace
