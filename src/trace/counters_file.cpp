#include "trace/counters_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "base/file_size_signal.hpp"
#include "base/new_file.hpp"
#include "base/whole_file.hpp"
#include "trace/checksum.hpp"

namespace foretrace::trace {
namespace {

constexpr std::size_t kCountersPage = 4096;
constexpr char kCountersMagic[8] = {'F', 'T', 'P', 'R', 'O', 'F', '0', '2'};
constexpr char kMagicOfVersion1[8] = {'F', 'T', 'P', 'R', 'O', 'F', '0', '1'};
constexpr std::size_t kHeadOfVersion1 = 24;
constexpr std::uint32_t kChunkMagic = 0x43505446;  // "FTPC"
constexpr std::uint32_t kMostCountedRanks = 1u << 24;

// At the file's start, followed by the texts, each ended by a zero; the first
// chunk begins at a multiple of a page.
struct FileHead {
  char magic[8];
  std::uint32_t ranks;
  std::uint32_t complete;
  std::uint32_t texts;  // program, mpi, then the functions
  std::uint32_t text_bytes;
  // Not in files of version 1, which have no checksums either.
  std::uint64_t length;  // of a file without gaps, bytes; 0: of a run that goes on, or died
  std::uint32_t check;   // of what stands before, and of the texts
  std::uint32_t unused;
};
static_assert(sizeof(FileHead) == 40);

// Before the records of a chunk, which has a multiple of a page.
struct ChunkHead {
  std::uint32_t magic;
  ChunkKind kind;
  std::uint32_t rank;
  std::uint32_t count;
  std::uint32_t record_bytes;
  std::uint32_t live;
  std::uint64_t bytes;  // with this head and to the end of the page
  std::uint32_t frame;  // checksum of all before but `live`, and of the place in the file
  std::uint32_t error;  // errno of the rank's first write that failed; in its first chunk
  std::uint32_t check;  // of frame, error and the records; in a file without gaps alone
  std::uint32_t reserved[5];
};
static_assert(sizeof(ChunkHead) == 64);

std::uint32_t check_of(const FileHead& head, std::string_view texts) {
  return checksum(texts.data(), texts.size(), checksum(&head, offsetof(FileHead, check)));
}

std::uint32_t frame_of(ChunkHead head, std::uint64_t offset) {
  head.live = 0;
  return checksum(&head, offsetof(ChunkHead, frame), offset);
}

std::uint32_t check_of(const ChunkHead& head, const void* records) {
  const std::uint32_t fields[] = {head.frame, head.live, head.error};
  return checksum(records, std::size_t{head.count} * head.record_bytes,
                  checksum(fields, sizeof fields));
}

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kCountersPage - 1) / kCountersPage * kCountersPage;
}

// `chunks`: bytes of what follows in a file without gaps; 0: it will have some.
std::string file_start(const CountersInfo& info, std::uint64_t chunks) {
  std::string texts;
  const auto add = [&texts](const std::string& text) {
    texts += text.substr(0, text.find('\0')) + '\0';
  };
  add(info.program);
  add(info.mpi);
  for (const std::string& function : info.functions) add(function);
  FileHead head{};
  std::memcpy(head.magic, kCountersMagic, sizeof head.magic);
  head.ranks = static_cast<std::uint32_t>(info.ranks);
  head.complete = info.complete ? 1 : 0;
  head.texts = static_cast<std::uint32_t>(2 + info.functions.size());
  head.text_bytes = static_cast<std::uint32_t>(texts.size());
  if (chunks > 0) head.length = whole_pages(sizeof head + texts.size()) + chunks;
  head.check = check_of(head, texts);
  std::string out(reinterpret_cast<const char*>(&head), sizeof head);
  out += texts;
  out.resize(whole_pages(out.size()), '\0');
  return out;
}

[[noreturn]] void fail(const std::string& name, std::size_t offset, const std::string& what) {
  throw Error(name + ": byte " + std::to_string(offset) + ": " + what +
              "; nothing is shown of a damaged profile, since its sums would be wrong");
}

template <class T>
T load(std::string_view bytes, std::size_t at) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(static_cast<void*>(&value), bytes.data() + at, sizeof value);
  return value;
}

// What the head says of the file itself.
struct Layout {
  bool has_checks = false;
  std::uint64_t length = 0;
  std::size_t chunks_begin = 0;
};

CountersInfo parse_head(std::string_view bytes, const std::string& name, Layout& layout) {
  const auto begins_with = [bytes](const auto& magic) {
    return bytes.starts_with(std::string_view(magic, sizeof magic));
  };
  layout.has_checks = begins_with(kCountersMagic);
  const std::size_t head_bytes = layout.has_checks ? sizeof(FileHead) : kHeadOfVersion1;
  if ((!layout.has_checks && !begins_with(kMagicOfVersion1)) || bytes.size() < head_bytes)
    throw Error(name + ": is no profile of Foretrace");
  FileHead head{};
  std::memcpy(&head, bytes.data(), head_bytes);
  if (head.ranks == 0 || head.ranks > kMostCountedRanks)
    fail(name, 8, std::to_string(head.ranks) + " ranks make no sense");
  if (head.text_bytes > bytes.size() - head_bytes)
    fail(name, bytes.size(), "the file is cut off here");
  if (layout.has_checks && head.check != check_of(head, bytes.substr(head_bytes, head.text_bytes)))
    fail(name, 0, "the head is not as it was written: its checksum differs");
  CountersInfo info;
  info.ranks = static_cast<int>(head.ranks);
  info.complete = head.complete != 0;
  std::string_view texts = bytes.substr(head_bytes, head.text_bytes);
  std::vector<std::string> parts;
  while (!texts.empty()) {
    const std::size_t length = std::min(texts.find('\0'), texts.size());
    parts.emplace_back(texts.substr(0, length));
    texts.remove_prefix(std::min(length + 1, texts.size()));
  }
  if (parts.size() < 2 || parts.size() != head.texts)
    fail(
        name, head_bytes,
        "expected " + std::to_string(head.texts) + " texts, found " + std::to_string(parts.size()));
  info.program = parts[0];
  info.mpi = parts[1];
  info.functions.assign(parts.begin() + 2, parts.end());
  layout.chunks_begin = whole_pages(head_bytes + head.text_bytes);
  layout.length = head.length;
  if (layout.length != 0 && bytes.size() != layout.length)
    fail(name, bytes.size(),
         bytes.size() < layout.length ? "the file is cut off here" : "the file is too long");
  return info;
}

// Takes the records of a chunk that are in use.
template <class Record>
void take(std::string_view records, const ChunkHead& head, std::vector<Record>& out,
          const std::string& name, std::size_t offset) {
  if (head.record_bytes != sizeof(Record))
    fail(name, offset, "records of a size that is not known");
  out.clear();
  for (std::size_t i = 0; i < head.count; ++i) {
    const auto record = load<Record>(records, i * sizeof(Record));
    // Others refer to these by their place.
    constexpr bool kNumbered =
        std::is_same_v<Record, SiteRecord> || std::is_same_v<Record, CommRecord>;
    if (record.used || kNumbered) out.push_back(record);
  }
}

void parse_chunk(std::string_view records, const ChunkHead& head, RankCounters& rank,
                 const std::string& name, std::size_t offset) {
  switch (head.kind) {
    case ChunkKind::rank: {
      std::vector<RankRecord> one;
      take(records, head, one, name, offset);
      if (!one.empty()) rank.rank = one.front();
      rank.error = static_cast<int>(head.error);
      return;
    }
    case ChunkKind::objects:
      return take(records, head, rank.objects, name, offset);
    case ChunkKind::sites:
      return take(records, head, rank.sites, name, offset);
    case ChunkKind::sizes:
      return take(records, head, rank.sizes, name, offset);
    case ChunkKind::comms:
      return take(records, head, rank.comms, name, offset);
    case ChunkKind::peers:
      return take(records, head, rank.peers, name, offset);
    case ChunkKind::waits:
      return take(records, head, rank.waits, name, offset);
  }
  fail(name, offset, "a chunk of a kind that is not known");
}

void check_rank(const CountersInfo& info, const RankCounters& rank, const std::string& name,
                std::size_t number) {
  const auto refuse = [&](const char* what) {
    throw Error(name + ": rank " + std::to_string(number) + ": " + what);
  };
  if (rank.rank.state > RankState::aborted) refuse("a state that is not known");
  for (const SiteRecord& site : rank.sites)
    if (site.function >= info.functions.size() || site.depth > kMostFrames)
      refuse("a call site of a function that is not known");
  for (const SizeRecord& size : rank.sizes)
    if (size.function >= info.functions.size() || size.comm > rank.comms.size() || size.bin > 64 ||
        size.direction > Direction::collective)
      refuse("a message size that makes no sense");
  for (const PeerRecord& peer : rank.peers)
    if (peer.rank >= static_cast<std::uint32_t>(info.ranks))
      refuse("messages to a rank beyond the last");
  for (const WaitRecord& wait : rank.waits)
    if (wait.rank >= static_cast<std::uint32_t>(info.ranks) && wait.rank != kSeveralRanks)
      refuse("messages from a rank beyond the last");
  if (rank.rank.open_site > rank.sites.size()) refuse("an open call that is not known");
}

template <class Record>
void append_chunk(std::string& out, ChunkKind kind, std::size_t rank, const Record* records,
                  std::size_t count, std::uint64_t begin, int error = 0) {
  if (count == 0) return;
  ChunkHead head{};
  head.magic = kChunkMagic;
  head.kind = kind;
  head.rank = static_cast<std::uint32_t>(rank);
  head.count = static_cast<std::uint32_t>(count);
  head.record_bytes = sizeof(Record);
  head.live = 1;
  head.bytes = sizeof head + count * sizeof(Record);
  head.frame = frame_of(head, begin + out.size());
  head.error = static_cast<std::uint32_t>(error);
  head.check = check_of(head, records);
  out.append(reinterpret_cast<const char*>(&head), sizeof head);
  out.append(reinterpret_cast<const char*>(records), count * sizeof(Record));
}

// Without the empty slots, which what refers to sites must not notice.
RankCounters dense(RankCounters rank) {
  std::vector<SiteRecord> sites;
  std::uint32_t open = 0;
  for (std::size_t i = 0; i < rank.sites.size(); ++i) {
    if (!rank.sites[i].used) continue;
    sites.push_back(rank.sites[i]);
    if (rank.rank.open_site == i + 1) open = static_cast<std::uint32_t>(sites.size());
  }
  rank.sites = std::move(sites);
  rank.rank.open_site = open;
  while (!rank.comms.empty() && !rank.comms.back().used) rank.comms.pop_back();
  return rank;
}

}  // namespace

RunFile create_counters_file(const std::string& path, const CountersInfo& info) {
  return {path, file_start(info, 0), "profile"};
}

CountersWriter::CountersWriter(const std::string& path, int rank)
    : fd_(::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC)),
      rank_(static_cast<std::uint32_t>(rank)) {
  if (fd_ < 0) throw Error(path + ": cannot open the profile for writing: " + std::strerror(errno));
}

CountersWriter::~CountersWriter() {
  close();
}

CountersWriter::CountersWriter(CountersWriter&& other) noexcept {
  *this = std::move(other);
}

CountersWriter& CountersWriter::operator=(CountersWriter&& other) noexcept {
  if (this == &other) return *this;
  close();
  fd_ = std::exchange(other.fd_, -1);
  first_ = std::exchange(other.first_, nullptr);
  rank_ = other.rank_;
  error_ = other.error_;
  return *this;
}

// Appended as zeros and then mapped: a full disk is an error here instead of a
// bus error later, and O_APPEND gives each process its own place in the file.
void* CountersWriter::append(ChunkKind kind, std::uint32_t count, std::uint32_t bytes) noexcept {
  if (fd_ < 0 || error_ != 0) return nullptr;
  void* const records = map_new(kind, count, bytes);
  if (!records && first_) {
    const auto error = static_cast<std::uint32_t>(error_);
    std::memcpy(first_ + offsetof(ChunkHead, error), &error, sizeof error);
  }
  if (records && !first_) first_ = static_cast<char*>(records) - sizeof(ChunkHead);
  return records;
}

void* CountersWriter::map_new(ChunkKind kind, std::uint32_t count, std::uint32_t bytes) noexcept {
  const std::size_t size = whole_pages(sizeof(ChunkHead) + static_cast<std::size_t>(count) * bytes);
  static constexpr std::size_t kPiece = 64 * kCountersPage;
  static constexpr char kZeros[kPiece] = {};
  // In pieces the places of two processes could mix; one write keeps together.
  std::string zeros;
  const char* data = kZeros;
  try {
    if (size > kPiece) {
      zeros.assign(size, '\0');
      data = zeros.data();
    }
  } catch (const std::bad_alloc&) {
    error_ = ENOMEM;
    return nullptr;
  }
  const NoFileSizeSignal quiet;
  const ssize_t written = ::write(fd_, data, size);
  const off_t end = ::lseek(fd_, 0, SEEK_CUR);
  if (written != static_cast<ssize_t>(size) || end < static_cast<off_t>(size)) {
    error_ = written < 0 ? errno : reason_of_short_write(fd_);
    return nullptr;
  }
  void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_,
                        end - static_cast<off_t>(size));
  if (mapped == MAP_FAILED) {
    error_ = errno;
    return nullptr;
  }
  ChunkHead head{};
  head.magic = kChunkMagic;
  head.kind = kind;
  head.rank = rank_;
  head.count = count;
  head.record_bytes = bytes;
  head.bytes = size;
  head.frame = frame_of(head, static_cast<std::uint64_t>(end) - size);
  std::memcpy(mapped, &head, sizeof head);
  return static_cast<char*>(mapped) + sizeof head;
}

void CountersWriter::publish(void* records, void* before) noexcept {
  const auto set_live = [](void* of, std::uint32_t value) {
    char* head = static_cast<char*>(of) - sizeof(ChunkHead);
    std::memcpy(head + offsetof(ChunkHead, live), &value, sizeof value);
  };
  std::atomic_signal_fence(std::memory_order_release);
  set_live(records, 1);
  // Between the two both hold the same; readers take the later one.
  std::atomic_signal_fence(std::memory_order_release);
  if (before) set_live(before, 0);
}

void CountersWriter::close() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

namespace {

// The head of the chunk at `at`; what is wrong with it or its records is an Error.
ChunkHead check_chunk(std::string_view bytes, std::size_t at, const Layout& layout, int ranks,
                      const std::string& name) {
  const auto head = load<ChunkHead>(bytes, at);
  const bool framed = !layout.has_checks || head.frame == frame_of(head, at);
  if (head.magic != kChunkMagic || !framed) fail(name, at, "no chunk begins here");
  if (head.rank >= static_cast<std::uint32_t>(ranks)) fail(name, at, "a rank beyond the last");
  const std::string who = "rank " + std::to_string(head.rank) + ": ";
  const std::uint64_t needed =
      sizeof head + static_cast<std::uint64_t>(head.count) * head.record_bytes;
  if (head.bytes < needed) fail(name, at, who + "a chunk that is too short for its records");
  if (head.bytes > bytes.size() - at) fail(name, bytes.size(), "the file is cut off here");
  if (layout.length != 0 && head.check != check_of(head, bytes.data() + at + sizeof head))
    fail(name, at, who + "the chunk is not as it was written: its checksum differs");
  return head;
}

}  // namespace

CallCounters parse_counters(std::string_view bytes, const std::string& name) {
  CallCounters counters;
  Layout layout;
  counters.info = parse_head(bytes, name, layout);
  // A damaged head must not ask for more than the file can hold.
  if (static_cast<std::size_t>(counters.info.ranks) > 64 + bytes.size())
    fail(name, 8, "more ranks than the file can hold");
  counters.ranks.resize(static_cast<std::size_t>(counters.info.ranks));
  for (std::size_t at = layout.chunks_begin; at + sizeof(ChunkHead) <= bytes.size();) {
    if (layout.length == 0 && load<std::uint32_t>(bytes, at) == 0) {  // appended, never filled
      at = whole_pages(at + 1);
      continue;
    }
    const ChunkHead head = check_chunk(bytes, at, layout, counters.info.ranks, name);
    if (head.live != 0)
      parse_chunk(bytes.substr(at + sizeof head, std::size_t{head.count} * head.record_bytes), head,
                  counters.ranks[head.rank], name, at);
    at += head.bytes;
  }
  for (std::size_t r = 0; r < counters.ranks.size(); ++r)
    check_rank(counters.info, counters.ranks[r], name, r);
  return counters;
}

bool begins_as_counters(const std::string& path) {
  std::array<char, sizeof kCountersMagic> start{};
  std::ifstream file(path, std::ios::binary);
  return file.read(start.data(), start.size()) &&
         (std::ranges::equal(start, kCountersMagic) || std::ranges::equal(start, kMagicOfVersion1));
}

CallCounters read_counters(const std::string& path) {
  return parse_counters(read_whole_file(path, "the profile"), path);
}

void write_counters(const CallCounters& counters, const std::string& path) {
  const std::uint64_t begin = file_start(counters.info, 0).size();
  std::string out;
  for (std::size_t r = 0; r < counters.ranks.size(); ++r) {
    if (counters.ranks[r].rank.state == RankState::none) continue;
    const RankCounters rank = dense(counters.ranks[r]);
    append_chunk(out, ChunkKind::rank, r, &rank.rank, 1, begin, rank.error);
    append_chunk(out, ChunkKind::objects, r, rank.objects.data(), rank.objects.size(), begin);
    append_chunk(out, ChunkKind::sites, r, rank.sites.data(), rank.sites.size(), begin);
    append_chunk(out, ChunkKind::sizes, r, rank.sizes.data(), rank.sizes.size(), begin);
    append_chunk(out, ChunkKind::comms, r, rank.comms.data(), rank.comms.size(), begin);
    append_chunk(out, ChunkKind::peers, r, rank.peers.data(), rank.peers.size(), begin);
    append_chunk(out, ChunkKind::waits, r, rank.waits.data(), rank.waits.size(), begin);
  }
  NewFile file(path);
  file.write(file_start(counters.info, out.size()));
  file.write(out);
  file.commit();
}

}  // namespace foretrace::trace
