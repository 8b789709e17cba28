// How a lock is used on a rank's clock: by one thread at a time, whoever had it first here.
#pragma once

#include <array>
#include <cstddef>

#include "base/time.hpp"

namespace foretrace {

// Threads hold a lock for so long, from where they are on the clock. Where cores are few here, one
// may be far ahead of another that gets the lock after it. So what counts is not the order, but
// that uses do not overlap: each takes what those before it have left free. All together they take
// as long as they do one after the other.
class LockUse {
 public:
  // Somebody held it for `length` in all, from `from` on, with breaks. Where that ends at the
  // earliest.
  Time add(Time from, Time length);
  // The first moment from `from` on at which nobody holds it, but for less than a hundredth of the
  // use before.
  Time free_at(Time from) const;

 private:
  // Held for `used` of the time between the two.
  struct Span {
    Time begin;
    Time end;
    Time used;

    // From `from` on, as if the uses were spread evenly.
    Time left(Time from) const;
    // But for what is lost between two uses.
    bool is_full() const;
  };

  std::size_t find(Time from) const;
  void insert(std::size_t at, const Span& span);
  void join_nearest();

  // In their order, apart from each other; of too many, the two nearest become one.
  std::array<Span, 32> spans_{};
  std::size_t count_ = 0;
};

}  // namespace foretrace
