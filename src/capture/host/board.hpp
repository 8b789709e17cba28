// Board: memory that the ranks of a host share, for what predict has to tell beside the program's
// messages. It stands in for messages of our own, which would have to be handled and waited for
// one after the other. Three things: the members of a communicator tell each other of the
// collectives that they have come to, each rank sends each other one letters, and each shows how
// far it is. Knows no MPI.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

namespace foretrace::capture {

class Board {
  struct Place;
  struct Letters;

 public:
  static constexpr int kMostMembers = 64;

  struct Told {
    std::int64_t start_ps = 0;
    std::uint64_t bytes = 0;
    std::uint32_t function = 0;
    std::int32_t root = -1;
    bool untouched = false;
  };

  // The next collective of a communicator, as one member sees it.
  class Meeting {
   public:
    void tell(int self, const Told& own);
    // What the member has told; nothing if it has not come yet. Until the next tell().
    std::optional<Told> told(int member) const;

   private:
    friend class Board;
    Place* place_ = nullptr;
    std::uint64_t number_ = 0;
  };

  using Letter = std::array<std::uint64_t, 7>;

  Board() = default;
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  // One rank makes it, the others open it after that; false if it cannot be had. Then its name may
  // go (remove()), since it is open. Of the `ranks` this one is `self`.
  bool make(const std::string& name, int ranks);
  bool open(const std::string& name, int ranks, int self);
  static void remove(const std::string& name);

  // Of the communicator with this key and so many members; nullptr, for all members, if there is
  // no room for it.
  Meeting* meeting(std::uint64_t key, int members);

  // How far this rank is, a clock from 0 on, where it begins; it waits for others as long as it
  // shows kWaits.
  static constexpr std::int64_t kWaits = INT64_MAX;
  void show(std::int64_t clock_ps);
  // This one works until a look finds something: it waits for those who are behind, and they should
  // go on soon. Whether one of the host's ranks does; valid as long as the board.
  void note_look();
  const std::atomic<bool>* others_look() const;
  // This one has sent others something, for which they may wait.
  void note_told();
  struct Others {
    std::int64_t least = kWaits;  // that another rank shows
    // Another number where another rank waits, waits anew, or somebody has told others something.
    std::uint64_t waiting = 0;
  };
  // `left_behind`: by rank, who shows that is not asked for any more.
  Others others(std::span<const std::int64_t> left_behind) const;
  // Whether another rank waits to which letters have come that it has not taken: it may go on as
  // soon as it has a core.
  bool waits_beside_letters() const;
  // Does so of all that show `clock_ps`.
  void leave_behind(std::int64_t clock_ps, std::span<std::int64_t> left_behind) const;

  // False: there is no room for it now.
  bool send(int to, const Letter& letter);
  // The next one that has come, those of one sender in order; false if there is none.
  bool receive(int& from, Letter& letter);

 private:
  std::size_t bytes() const;
  Letters& letters(int from, int to) const;
  std::atomic<std::uint64_t>& senders(int to) const;
  struct Shown;
  Shown& shown(int of) const;
  bool map(int file);

  std::byte* memory_ = nullptr;
  bool has_looked_ = false;
  int ranks_ = 0;
  int self_ = 0;
  std::uint64_t from_ = 0;  // those whose letters this rank is taking out
  std::unordered_map<std::uint64_t, Meeting> meetings_;
};

}  // namespace foretrace::capture
