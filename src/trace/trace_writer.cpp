#include "trace/trace_writer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "base/error.hpp"
#include "base/file_size_signal.hpp"
#include "trace/checksum.hpp"
#include "trace/encoding.hpp"
#include "trace/fields.hpp"
#include "trace/seal.hpp"
#include "trace/shape.hpp"

namespace foretrace::trace {
namespace {

constexpr std::size_t kFirstBlock = 4096;
constexpr std::size_t kLargestBlock = 256 * 1024;

// A shape that comes with the same duration again and again takes it in; one
// of a name whose durations are seldom the same leaves it to the events.
constexpr int kVolatile = 64;
constexpr int kSteady = -1000;

}  // namespace

RunFile create_trace_file(const std::string& path, const TraceInfo& info) {
  return {path, file_start(info, 0, kPlainVersion), "trace"};
}

AppendedTrace::AppendedTrace(const std::string& path)
    : path_(path), fd_(::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC)) {
  if (fd_ < 0) throw Error(path + ": cannot open the trace for writing: " + std::strerror(errno));
}

AppendedTrace::~AppendedTrace() {
  ::close(fd_);
}

// Whoever stores a checksum looks afterwards whether it is still that of the version there.
void AppendedTrace::raise_version(std::uint32_t version) const noexcept {
  if (version_ >= version) return;
  version_ = version;
  void* const page = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (page == MAP_FAILED) return;
  auto& shared = *static_cast<FileHeader*>(page);
  const std::atomic_ref<std::uint32_t> there(shared.version);
  const std::atomic_ref<std::uint32_t> check(shared.check);
  FileHeader header = shared;
  header.version = there.load();
  while (header.version < version && !there.compare_exchange_weak(header.version, version)) {
  }
  do {
    header.version = there.load();
    check.store(checksum(&header, offsetof(FileHeader, check)));
  } while (there.load() != header.version);
  ::munmap(page, kPage);
}

TraceWriter::TraceWriter(std::shared_ptr<const AppendedTrace> file, WorldRank rank, Clock clock)
    : file_(std::move(file)), process_(::getpid()), rank_(rank), clock_(clock) {
  if (!new_block(0))
    throw Error(file_->path() + ": cannot write the trace: " + std::strerror(error_));
}

TraceWriter::TraceWriter(const std::string& path, WorldRank rank, Clock clock)
    : TraceWriter(std::make_shared<const AppendedTrace>(path), rank, clock) {}

TraceWriter::~TraceWriter() {
  close();
}

TraceWriter::TraceWriter(TraceWriter&& other) noexcept {
  *this = std::move(other);
}

TraceWriter& TraceWriter::operator=(TraceWriter&& other) noexcept {
  if (this == &other) return *this;
  close();
  file_ = std::move(other.file_);
  block_ = std::exchange(other.block_, nullptr);
  process_ = other.process_;
  number_ = other.number_;
  rank_ = other.rank_;
  clock_ = other.clock_;
  block_size_ = other.block_size_;
  used_ = other.used_;
  whole_ = other.whole_;
  next_block_size_ = other.next_block_size_;
  last_leave_ = other.last_leave_;
  last_request_ = other.last_request_;
  open_ = other.open_;
  shapes_ = std::move(other.shapes_);
  recent_ = std::move(other.recent_);
  counts_ = std::move(other.counts_);
  surprises_ = std::move(other.surprises_);
  names_ = other.names_;
  comms_ = other.comms_;
  sites_ = other.sites_;
  lost_ = other.lost_;
  error_ = other.error_;
  return *this;
}

// A block is appended as zeros and then mapped: writing it first makes a full
// disk an error here instead of a bus error later, and O_APPEND gives each
// process its own place in the file, if it is one write.
std::uint8_t* TraceWriter::append_block(std::size_t size, std::uint64_t& offset) noexcept {
  static constexpr char kZeros[kLargestBlock] = {};
  constexpr std::size_t kMostParts = 256;
  if (size > kMostParts * kLargestBlock) {
    error_ = EFBIG;
    return nullptr;
  }
  iovec parts[kMostParts];
  int count = 0;
  for (std::size_t done = 0; done < size; done += parts[count++].iov_len)
    parts[count] = {const_cast<char*>(kZeros), std::min(size - done, kLargestBlock)};
  const NoFileSizeSignal quiet;
  const ssize_t written = ::writev(file_->fd(), parts, count);
  const off_t end = ::lseek(file_->fd(), 0, SEEK_CUR);
  if (written != static_cast<ssize_t>(size) || end < static_cast<off_t>(size)) {
    error_ = written < 0 ? errno : reason_of_short_write(file_->fd());
    return nullptr;
  }
  offset = static_cast<std::uint64_t>(end) - size;
  void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_->fd(),
                        static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) error_ = errno;
  return mapped == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(mapped);
}

// What the record under way has in the old block moves into the new one.
bool TraceWriter::new_block(std::size_t room) noexcept {
  const std::size_t begun = used_ - whole_;
  std::size_t size = next_block_size_;
  while (size - sizeof(BlockHeader) < begun + room) size *= 4;
  std::uint64_t offset = 0;
  std::uint8_t* const block = append_block(size, offset);
  if (!block) return false;
  BlockHeader header{};
  std::memcpy(header.magic, kBlockMagic, sizeof header.magic);
  header.rank = static_cast<std::uint32_t>(rank_.value);
  header.number = number_++;
  header.size = static_cast<std::uint32_t>(size - sizeof header);
  header.frame = frame_of(header, offset);
  header.open = open_;
  std::memcpy(block, &header, sizeof header);
  if (block_) {
    std::memcpy(block + sizeof header, block_ + sizeof header + whole_, begun);
    // The call that the rank is in is told by its last block.
    const OpenCall none;
    std::memcpy(block_ + offsetof(BlockHeader, open), &none, sizeof none);
    finish_block(BlockState::full);
  }
  block_ = block;
  block_size_ = size;
  used_ = begun;
  whole_ = 0;
  next_block_size_ = std::min(next_block_size_ * 4, kLargestBlock);
  return true;
}

// The checksum first, then the state that says that there is one: whoever reads
// the file after this process died finds a block that has both or is open.
void TraceWriter::finish_block(BlockState state) noexcept {
  BlockHeader header;
  std::memcpy(&header, block_, sizeof header);
  header.state = state;
  header.check = check_of(header, block_ + sizeof header);
  std::memcpy(block_ + offsetof(BlockHeader, check), &header.check, sizeof header.check);
  std::atomic_signal_fence(std::memory_order_release);
  std::memcpy(block_ + offsetof(BlockHeader, state), &state, sizeof state);
  ::munmap(block_, block_size_);
  block_ = nullptr;
}

bool TraceWriter::put(const std::uint8_t* bytes, std::size_t count) noexcept {
  if (!file_ || error_ != 0) return false;
  const std::size_t room = block_ ? block_size_ - sizeof(BlockHeader) - used_ : 0;
  if (room < count && !new_block(count)) return false;
  std::memcpy(block_ + sizeof(BlockHeader) + used_, bytes, count);
  used_ += count;
  return true;
}

// The bytes first, then the length that covers them: whoever reads the file
// after this process died finds whole records.
void TraceWriter::end_record(bool good) noexcept {
  if (!good) {
    used_ = whole_;
    ++lost_;
    if (block_) finish_block(BlockState::lost);
    return;
  }
  whole_ = used_;
  std::atomic_signal_fence(std::memory_order_release);
  const auto filled = static_cast<std::uint32_t>(used_);
  std::memcpy(block_ + offsetof(BlockHeader, used), &filled, sizeof filled);
}

bool TraceWriter::put_string(std::string_view text) noexcept {
  text = text.substr(0, kLongestName);
  std::uint8_t buffer[kLongestTimes];
  Encoder out(buffer);
  out.varint(text.size());
  return put(buffer, out.size()) &&
         put(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

NameId TraceWriter::define_name(std::string_view name) noexcept {
  const std::uint8_t head = kDefineName;
  end_record(put(&head, 1) && put_string(name));
  try {
    surprises_.push_back(0);
  } catch (const std::bad_alloc&) {
    // Its durations are then not looked at.
  }
  return names_++;
}

SiteId TraceWriter::define_site(const Site& site) noexcept {
  std::uint8_t buffer[kLongestTimes];
  Encoder out(buffer);
  out.u8(kDefineSite);
  out.varint(site.offset);
  end_record(put(buffer, out.size()) && put_string(site.object));
  return ++sites_;
}

CommId TraceWriter::define_comm(std::uint64_t key, std::span<const WorldRank> members) noexcept {
  std::uint8_t buffer[kLongestTimes];
  Encoder head(buffer);
  head.u8(kDefineComm);
  head.varint(key);
  head.varint(members.size());
  bool good = put(buffer, head.size());
  for (std::size_t i = 0; i < members.size();) {
    const std::int32_t first = members[i].value;
    const std::int32_t stride = i + 1 < members.size() ? members[i + 1].value - first : 0;
    std::size_t n = 1;
    while (i + n < members.size() &&
           members[i + n].value == first + static_cast<std::int32_t>(n) * stride)
      ++n;
    Encoder run(buffer);
    run.svarint(first);
    run.svarint(stride);
    run.varint(n);
    good = good && put(buffer, run.size());
    i += n;
  }
  end_record(good);
  return comms_++;
}

// As runs of the same count.
CountsId TraceWriter::define_counts(const Counts& counts) noexcept {
  std::uint32_t number = 0;
  bool added = false;
  if (!file_) return 0;
  file_->raise_version(kVersionWithCounts);
  if (!counts_.find_or_add(counts, number, added)) {
    end_record(false);  // without its list the event tells other messages
    return 0;
  }
  if (!added) return number + 1;
  std::uint8_t buffer[kLongestTimes];
  Encoder head(buffer);
  head.u8(kDefineCounts);
  head.varint(number);
  head.varint(counts.size());
  bool good = put(buffer, head.size());
  for (std::size_t i = 0; i < counts.size();) {
    std::size_t n = 1;
    while (i + n < counts.size() && counts[i + n] == counts[i]) ++n;
    Encoder run(buffer);
    run.varint(n);
    run.varint(counts[i].count);
    good = good && put(buffer, run.size());
    i += n;
  }
  end_record(good);
  return number + 1;
}

// What a duration is worth in the shape was learnt from the name's events so far.
bool TraceWriter::durations_repeat(NameId name) const noexcept {
  return clock_ == Clock::virtual_ && name < surprises_.size() && surprises_[name] < kVolatile;
}

void TraceWriter::learn(NameId name, bool new_shape) noexcept {
  if (name >= surprises_.size()) return;
  std::int16_t& surprises = surprises_[name];
  if (new_shape)
    ++surprises;
  else if (surprises > kSteady)
    --surprises;
}

void TraceWriter::write_join(const Join& join) noexcept {
  if (file_) file_->raise_version(kVersion);
  std::uint8_t buffer[kLongestTimes];
  Encoder out(buffer);
  out.u8(kJoin);
  out.varint(4 * join.back + (join.knows_steps ? 2 : 0) + (join.entered ? 1 : 0));
  for (const Time time : {join.after, join.held})
    out.time(std::clamp(time, Time(), kEndOfTime).count_ps());
  if (join.knows_steps) {
    for (const double steps : {join.after_steps, join.held_steps}) out.f64(steps >= 0 ? steps : 0);
  }
  end_record(put(buffer, out.size()));
}

void TraceWriter::write(const Event& event, const Counts* counts) noexcept {
  leave();
  for (const Join* join : {&event.join, &event.second})
    if (join->back != 0) write_join(*join);
  const EventTimes times = times_of(event, clock_, last_leave_);
  const ShapeSource source{event, times, durations_repeat(event.name),
                           counts ? define_counts(*counts) : 0, last_request_};
  const ShapeTable::Place* const known = recent_.find(source, shapes_);
  if (known && write_quickly(source, known->number)) {
    if (source.stay_fixed) learn(event.name, false);
    end_record(true);
  } else {
    end_record(write_new(source));
  }
  if (posts(event)) last_request_ = event.request;
  last_leave_ = std::min(last_leave_ + duration(times), kEndOfTime);
}

bool TraceWriter::write_quickly(const ShapeSource& source, std::uint32_t shape) noexcept {
  if (!block_ || error_ != 0 || block_size_ - sizeof(BlockHeader) - used_ < kLongestTimes)
    return false;
  Encoder out(block_ + sizeof(BlockHeader) + used_);
  out.varint(kFirstShape + shape);
  encode_times(out, source, clock_);
  used_ += out.size();
  return true;
}

// Completions count from what is posted by then.
bool TraceWriter::write_new(const ShapeSource& source) noexcept {
  const Event& event = source.event;
  if (shape_bits::tells_reduction(event) && file_) file_->raise_version(kVersionWithReductions);
  if (event.send.untouched && file_) file_->raise_version(kVersionWithUntouched);
  if (trace::has_pieces(event) && file_) file_->raise_version(kVersionWithPieces);
  std::uint8_t shape_bytes[kLongestShape];
  Encoder shape(shape_bytes);
  encode_shape(shape, source);
  if (event.kind == EventKind::complete) {
    if (event.completions.size() > kMostCompletions) return write_single(source, shape.written());
    for (const Completion& completion : event.completions)
      encode_completion(shape, completion, source.last_request);
  }
  return write_shaped(source, shape.written());
}

bool TraceWriter::write_shaped(const ShapeSource& source,
                               std::span<const std::uint8_t> shape) noexcept {
  ShapeTable::Place place;
  if (!shapes_.find_or_add(shape, place)) {
    const std::uint8_t head = kSingleEvent;
    return put(&head, 1) && put(shape.data(), shape.size()) && put_times(source);
  }
  if (source.stay_fixed) learn(source.event.name, place.added);
  std::uint8_t buffer[kLongestShape + kLongestTimes];
  Encoder out(buffer);
  if (place.added) {
    out.varint(kDefineShape);
    out.varint(place.number);
    out.bytes(shape.data(), shape.size());
  }
  out.varint(kFirstShape + place.number);
  encode_times(out, source, clock_);
  if (!put(buffer, out.size())) return false;
  // Writers with few events, of which there may be very many, do without.
  if (block_size_ > kFirstBlock) recent_.remember(source, place);
  return true;
}

// An event with more completions than a shape names.
bool TraceWriter::write_single(const ShapeSource& source,
                               std::span<const std::uint8_t> shape) noexcept {
  const std::uint8_t head = kSingleEvent;
  bool good = put(&head, 1) && put(shape.data(), shape.size());
  for (const Completion& completion : source.event.completions) {
    std::uint8_t buffer[kLongestTimes];
    Encoder each(buffer);
    encode_completion(each, completion, source.last_request);
    good = good && put(buffer, each.size());
  }
  return good && put_times(source);
}

bool TraceWriter::put_times(const ShapeSource& source) noexcept {
  std::uint8_t buffer[kLongestTimes];
  Encoder out(buffer);
  encode_times(out, source, clock_);
  return put(buffer, out.size());
}

// A child of the process that writes has the block, too, but not the word.
void TraceWriter::close() noexcept {
  if (block_ && process_ == ::getpid())
    finish_block(BlockState::last);
  else if (block_)
    ::munmap(block_, block_size_);
  block_ = nullptr;
  file_.reset();
}

}  // namespace foretrace::trace
