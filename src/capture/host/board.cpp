#include "capture/host/board.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

namespace foretrace::capture {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kPlaces = 128;
constexpr std::uint64_t kFree = 0;
constexpr std::uint32_t kMostLetters = 32;  // on their way from one to another
constexpr int kMostRanks = 32;              // that send letters

// Each on a cache line of its own: its member writes it, all others read it.
struct alignas(kLine) Cell {
  std::atomic<std::uint64_t> number{0};
  Board::Told told;
};

// By receiver: who may have sent it letters since it looked last.
struct alignas(kLine) Senders {
  std::atomic<std::uint64_t> bits{0};
};

std::size_t letter_writers(int ranks) {
  return ranks > kMostRanks ? 0 : static_cast<std::size_t>(ranks);
}

}  // namespace

// The memory: kPlaces places, then what each rank shows, then the Senders of each rank, then the
// letters of each pair. All begin as zeros. What a communicator has: a member writes its two cells
// by turns. Who is at collective n + 1 knows that all have come to n, and so have read what it told
// of n - 1.
struct Board::Place {
  std::atomic<std::uint64_t> key{kFree};
  Cell cells[2][Board::kMostMembers];
};

// How far a rank is, and how often it has waited.
struct Board::Shown {
  alignas(kLine) std::atomic<std::int64_t> clock{0};
  std::atomic<std::uint64_t> waits{0};
  std::atomic<std::uint64_t> told{0};
  std::atomic<bool> others_look{false};
};

struct Board::Letters {
  alignas(kLine) std::atomic<std::uint32_t> written{0};
  alignas(kLine) std::atomic<std::uint32_t> read{0};
  alignas(kLine) Letter letters[kMostLetters];
};

Board::~Board() {
  if (memory_) ::munmap(memory_, bytes());
}

void Board::remove(const std::string& name) {
  ::shm_unlink(name.c_str());
}

std::size_t Board::bytes() const {
  const std::size_t writers = letter_writers(ranks_);
  return kPlaces * sizeof(Place) + static_cast<std::size_t>(ranks_) * sizeof(Shown) +
         writers * sizeof(Senders) + writers * writers * sizeof(Letters);
}

bool Board::make(const std::string& name, int ranks) {
  ranks_ = ranks;
  const int file = ::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return false;
  // With room behind it: a full file system would kill who writes.
  const bool has_room = ::posix_fallocate(file, 0, static_cast<off_t>(bytes())) == 0;
  if (!has_room) remove(name);
  return map(file) && has_room;
}

bool Board::open(const std::string& name, int ranks, int self) {
  ranks_ = ranks;
  self_ = self;
  const int file = ::shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0600);
  return file >= 0 && map(file);
}

bool Board::map(int file) {
  void* const memory = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) return false;
  memory_ = static_cast<std::byte*>(memory);
  return true;
}

// Places are never given back, so that all members find the same one, or none.
Board::Meeting* Board::meeting(std::uint64_t key, int members) {
  if (!memory_ || members > kMostMembers) return nullptr;
  const auto known = meetings_.find(key);
  if (known != meetings_.end()) return &known->second;
  auto* const places = reinterpret_cast<Place*>(memory_);
  const std::uint64_t mark = key == kFree ? ~kFree : key;
  for (std::size_t i = 0; i < kPlaces; ++i) {
    Place& place = places[(mark + i) % kPlaces];
    std::uint64_t found = kFree;
    if (!place.key.compare_exchange_strong(found, mark) && found != mark) continue;
    Meeting& meeting = meetings_[key];
    meeting.place_ = &place;
    return &meeting;
  }
  return nullptr;
}

void Board::Meeting::tell(int self, const Told& own) {
  ++number_;
  Cell& cell = place_->cells[number_ % 2][self];
  cell.told = own;
  cell.number.store(number_, std::memory_order_release);
}

std::optional<Board::Told> Board::Meeting::told(int member) const {
  const Cell& cell = place_->cells[number_ % 2][member];
  if (cell.number.load(std::memory_order_acquire) != number_) return std::nullopt;
  return cell.told;
}

Board::Shown& Board::shown(int of) const {
  return reinterpret_cast<Shown*>(memory_ + kPlaces * sizeof(Place))[of];
}

void Board::show(std::int64_t clock_ps) {
  if (!memory_) return;
  Shown& own = shown(self_);
  if (clock_ps == kWaits && own.clock.load(std::memory_order_relaxed) != kWaits)
    own.waits.store(own.waits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  own.clock.store(clock_ps, std::memory_order_release);
}

void Board::note_told() {
  if (!memory_) return;
  std::atomic<std::uint64_t>& told = shown(self_).told;
  told.store(told.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

Board::Others Board::others(std::span<const std::int64_t> left_behind) const {
  Others others;
  for (int rank = 0; memory_ && rank < ranks_; ++rank) {
    const Shown& other = shown(rank);
    others.waiting = others.waiting * 31 + other.told.load(std::memory_order_acquire);
    if (rank == self_) continue;
    const std::int64_t clock = other.clock.load(std::memory_order_acquire);
    if (clock == left_behind[static_cast<std::size_t>(rank)]) continue;
    others.least = std::min(others.least, clock);
    if (clock == kWaits)
      others.waiting = others.waiting * 31 + other.waits.load(std::memory_order_relaxed) * 1009 +
                       static_cast<std::uint64_t>(rank) + 1;
  }
  return others;
}

void Board::note_look() {
  if (!memory_ || has_looked_) return;
  has_looked_ = true;
  for (int rank = 0; rank < ranks_; ++rank)
    shown(rank).others_look.store(true, std::memory_order_relaxed);
}

const std::atomic<bool>* Board::others_look() const {
  return memory_ ? &shown(self_).others_look : nullptr;
}

bool Board::waits_beside_letters() const {
  for (int to = 0; memory_ && letter_writers(ranks_) != 0 && to < ranks_; ++to) {
    if (to == self_ || shown(to).clock.load(std::memory_order_acquire) != kWaits) continue;
    for (int from = 0; from < ranks_; ++from) {
      const Letters& way = letters(from, to);
      if (from != to &&
          way.read.load(std::memory_order_relaxed) != way.written.load(std::memory_order_relaxed))
        return true;
    }
  }
  return false;
}

void Board::leave_behind(std::int64_t clock_ps, std::span<std::int64_t> left_behind) const {
  for (int rank = 0; memory_ && rank < ranks_; ++rank)
    if (shown(rank).clock.load(std::memory_order_relaxed) == clock_ps)
      left_behind[static_cast<std::size_t>(rank)] = clock_ps;
}

std::atomic<std::uint64_t>& Board::senders(int to) const {
  std::byte* const first =
      memory_ + kPlaces * sizeof(Place) + static_cast<std::size_t>(ranks_) * sizeof(Shown);
  return reinterpret_cast<Senders*>(first)[to].bits;
}

Board::Letters& Board::letters(int from, int to) const {
  std::byte* const first = memory_ + kPlaces * sizeof(Place) +
                           static_cast<std::size_t>(ranks_) * sizeof(Shown) +
                           letter_writers(ranks_) * sizeof(Senders);
  return reinterpret_cast<Letters*>(first)[to * ranks_ + from];
}

bool Board::send(int to, const Letter& letter) {
  if (!memory_ || letter_writers(ranks_) == 0) return false;
  Letters& way = letters(self_, to);
  const std::uint32_t at = way.written.load(std::memory_order_relaxed);
  if (at - way.read.load(std::memory_order_acquire) == kMostLetters) return false;
  way.letters[at % kMostLetters] = letter;
  way.written.store(at + 1, std::memory_order_release);
  senders(to).fetch_or(std::uint64_t{1} << self_, std::memory_order_release);
  return true;
}

bool Board::receive(int& from, Letter& letter) {
  if (!memory_ || letter_writers(ranks_) == 0) return false;
  std::atomic<std::uint64_t>& bits = senders(self_);
  for (;;) {
    for (; from_ != 0; from_ &= from_ - 1) {
      from = std::countr_zero(from_);
      Letters& way = letters(from, self_);
      const std::uint32_t at = way.read.load(std::memory_order_relaxed);
      if (at == way.written.load(std::memory_order_acquire)) continue;
      letter = way.letters[at % kMostLetters];
      way.read.store(at + 1, std::memory_order_release);
      return true;
    }
    if (bits.load(std::memory_order_relaxed) == 0) return false;
    from_ = bits.exchange(0, std::memory_order_acquire);
  }
}

}  // namespace foretrace::capture
