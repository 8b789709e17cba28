#include "trace/trace_writer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "trace/encoding.hpp"
#include "trace/seal.hpp"

namespace foretrace::trace {
namespace {

constexpr std::size_t kLargestBlock = 256 * 1024;

void encode_send(Encoder& out, const Event& event) {
  out.varint(event.comm);
  out.u8(static_cast<std::uint8_t>(event.mode));
  out.svarint(event.send.peer.value);
  out.svarint(event.send.tag);
  out.varint(event.send.bytes.count);
}

void encode_recv(Encoder& out, const Event& event) {
  out.varint(event.comm);
  out.u8(static_cast<std::uint8_t>((event.recv.any_source ? 1 : 0) | (event.recv.any_tag ? 2 : 0)));
  out.svarint(event.recv.peer.value);
  out.svarint(event.recv.tag);
  out.varint(event.recv.bytes.count);
  if (event.taken != 0) out.varint(event.taken);
}

// Which of the rarer fields the event has.
std::uint8_t rare_fields(const Event& event) {
  const bool takes = event.kind == EventKind::recv || event.kind == EventKind::irecv;
  return static_cast<std::uint8_t>((event.site != 0 ? kHasSite : 0) |
                                   (takes && event.taken != 0 ? kHasTaken : 0) |
                                   (moves_data(event) ? kHasMove : 0));
}

void encode_times(Encoder& out, const Event& event, Clock clock, Time last_leave) {
  out.varint(static_cast<std::uint64_t>(std::max<std::int64_t>(event.compute.count_ps(), 0)));
  if (event.steps != 0) out.f64(event.steps);
  if (clock != Clock::cpu) {
    const Time gap = std::max(event.enter - last_leave, Time());
    const Time stay = std::max(event.leave - event.enter, Time());
    out.varint(static_cast<std::uint64_t>(gap.count_ps()));
    out.varint(static_cast<std::uint64_t>(stay.count_ps()));
  }
  if (event.wait > Time()) out.varint(static_cast<std::uint64_t>(event.wait.count_ps()));
}

void encode_body(Encoder& out, const Event& event) {
  switch (event.kind) {
    case EventKind::send:
      encode_send(out, event);
      break;
    case EventKind::recv:
      encode_recv(out, event);
      break;
    case EventKind::sendrecv:
      encode_send(out, event);
      encode_recv(out, event);
      break;
    case EventKind::isend:
      out.varint(event.request);
      encode_send(out, event);
      break;
    case EventKind::irecv:
    case EventKind::probe:
      out.varint(event.request);
      encode_recv(out, event);
      break;
    case EventKind::complete:
      out.varint(event.completions.size());
      break;
    case EventKind::icollective:
      out.varint(event.request);
      [[fallthrough]];
    case EventKind::collective:
      out.varint(event.comm);
      out.u8(static_cast<std::uint8_t>(event.collective));
      out.varint(event.bytes.count);
      out.svarint(event.root.value);
      break;
    case EventKind::call:
      out.varint(event.count);
      if (!moves_data(event)) break;
      out.varint(event.comm);
      out.svarint(event.send.peer.value);
      out.varint(event.bytes.count);
      break;
    case EventKind::mark:
      out.f64(event.value);
      break;
    case EventKind::aborted:
      out.svarint(event.code);
      break;
    default:
      break;
  }
}

void encode_completion(Encoder& out, const Completion& completion) {
  const bool receive = completion.source.valid();
  out.varint(completion.request);
  out.u8(static_cast<std::uint8_t>((receive ? 1 : 0) | (completion.cancelled ? 2 : 0)));
  if (!receive) return;
  out.svarint(completion.source.value);
  out.svarint(completion.tag);
  out.varint(completion.bytes.count);
}

}  // namespace

void create_trace_file(const std::string& path, const TraceInfo& info) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) throw Error(path + ": cannot create the trace: " + std::strerror(errno));
  const std::string start = file_start(info);
  const ssize_t written = ::write(fd, start.data(), start.size());
  const int reason = errno;
  ::close(fd);
  if (written != static_cast<ssize_t>(start.size()))
    throw Error(path + ": cannot write the trace: " + std::strerror(reason));
}

TraceWriter::TraceWriter(const std::string& path, WorldRank rank, Clock clock)
    : rank_(rank), clock_(clock) {
  fd_ = ::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  if (fd_ < 0) throw Error(path + ": cannot open the trace for writing: " + std::strerror(errno));
}

TraceWriter::~TraceWriter() {
  close();
}

TraceWriter::TraceWriter(TraceWriter&& other) noexcept {
  *this = std::move(other);
}

TraceWriter& TraceWriter::operator=(TraceWriter&& other) noexcept {
  if (this == &other) return *this;
  close();
  fd_ = std::exchange(other.fd_, -1);
  block_ = std::exchange(other.block_, nullptr);
  rank_ = other.rank_;
  clock_ = other.clock_;
  block_size_ = other.block_size_;
  used_ = other.used_;
  next_block_size_ = other.next_block_size_;
  last_leave_ = other.last_leave_;
  names_ = other.names_;
  comms_ = other.comms_;
  sites_ = other.sites_;
  lost_ = other.lost_;
  error_ = other.error_;
  return *this;
}

// A block is appended as zeros and then mapped: writing it first makes a full
// disk an error here instead of a bus error later, and O_APPEND gives each
// process its own place in the file.
bool TraceWriter::new_block() noexcept {
  if (fd_ < 0 || error_ != 0) return false;
  if (block_) ::munmap(block_, block_size_);
  block_ = nullptr;
  static constexpr char kZeros[kLargestBlock] = {};
  const std::size_t size = next_block_size_;
  const ssize_t written = ::write(fd_, kZeros, size);
  const off_t end = ::lseek(fd_, 0, SEEK_CUR);
  if (written != static_cast<ssize_t>(size) || end < static_cast<off_t>(size)) {
    error_ = written < 0 ? errno : ENOSPC;
    return false;
  }
  void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_,
                        end - static_cast<off_t>(size));
  if (mapped == MAP_FAILED) {
    error_ = errno;
    return false;
  }
  block_ = static_cast<std::uint8_t*>(mapped);
  block_size_ = size;
  used_ = 0;
  next_block_size_ = std::min(size * 4, kLargestBlock);
  BlockHeader header;
  std::memcpy(header.magic, kBlockMagic, sizeof header.magic);
  header.rank = static_cast<std::uint32_t>(rank_.value);
  header.size = static_cast<std::uint32_t>(size - sizeof header);
  header.used = 0;
  std::memcpy(block_, &header, sizeof header);
  return true;
}

bool TraceWriter::put(const std::uint8_t* bytes, std::size_t count) noexcept {
  while (count > 0) {
    const std::size_t room = block_ ? block_size_ - sizeof(BlockHeader) - used_ : 0;
    if (room == 0) {
      if (!new_block()) return false;
      continue;
    }
    const std::size_t part = std::min(room, count);
    std::memcpy(block_ + sizeof(BlockHeader) + used_, bytes, part);
    used_ += part;
    bytes += part;
    count -= part;
    // The bytes first, then the length that covers them: whoever reads the
    // file after this process died finds whole records.
    std::atomic_signal_fence(std::memory_order_release);
    const auto filled = static_cast<std::uint32_t>(used_);
    std::memcpy(block_ + offsetof(BlockHeader, used), &filled, sizeof filled);
  }
  return true;
}

bool TraceWriter::put_string(std::string_view text) noexcept {
  text = text.substr(0, kLongestName);
  std::uint8_t buffer[kMaxRecord];
  Encoder out(buffer);
  out.varint(text.size());
  return put(buffer, out.size()) &&
         put(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

NameId TraceWriter::define_name(std::string_view name) noexcept {
  if (!put(&kDefineName, 1) || !put_string(name)) ++lost_;
  return names_++;
}

SiteId TraceWriter::define_site(const Site& site) noexcept {
  std::uint8_t buffer[kMaxRecord];
  Encoder out(buffer);
  out.u8(kDefineSite);
  out.varint(site.offset);
  if (!put(buffer, out.size()) || !put_string(site.object)) ++lost_;
  return ++sites_;
}

CommId TraceWriter::define_comm(std::uint64_t key, std::span<const WorldRank> members) noexcept {
  std::uint8_t buffer[kMaxRecord];
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
  if (!good) ++lost_;
  return comms_++;
}

void TraceWriter::write(const Event& event) noexcept {
  std::uint8_t buffer[kMaxRecord];
  Encoder out(buffer);
  out.u8(static_cast<std::uint8_t>(static_cast<std::uint8_t>(event.kind) |
                                   (event.steps != 0 ? kHasSteps : 0) |
                                   (event.wait > Time() ? kHasWait : 0)));
  out.u8(rare_fields(event));
  out.varint(event.name);
  if (event.site != 0) out.varint(event.site);
  encode_times(out, event, clock_, last_leave_);
  encode_body(out, event);
  last_leave_ = std::max(event.leave, last_leave_);
  bool good = put(buffer, out.size());
  for (const Completion& completion : event.completions) {
    if (event.kind != EventKind::complete) break;
    Encoder each(buffer);
    encode_completion(each, completion);
    good = good && put(buffer, each.size());
  }
  if (!good) ++lost_;
}

void TraceWriter::close() noexcept {
  if (block_) ::munmap(block_, block_size_);
  block_ = nullptr;
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace foretrace::trace
