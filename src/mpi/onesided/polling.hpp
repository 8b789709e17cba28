// Programs that look into a window again and again until something is there.
//
// Operations on windows take no virtual time and ask the simulator nothing; such a
// loop would keep its core, and its clock would stand still: whoever it waits for
// might never get on. So now and then it asks, and if nothing has changed for
// long it lets virtual time pass.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "mpi/onesided/state.hpp"

namespace foretrace::mpi {

class Polling {
 public:
  struct Place {
    const Win* win = nullptr;
    int target = 0;
    MPI_Aint displacement = 0;
    bool operator==(const Place&) const = default;
  };
  // The program has read this; or looks at its own memory (target -1).
  void look(const Place& place, std::string_view data);
  // It has changed something: it does not only look.
  void write();
  // At the end of functions that such loops call.
  void pass_turn(Win& win);

 private:
  struct Seen {
    Place place;
    std::size_t hash = 0;
  };
  std::array<Seen, 8> seen_;
  std::size_t next_ = 0;
  std::int64_t clock_ = -1;  // virtual time of the looks so far
  std::int64_t patience_ = 0;
  unsigned in_vain_ = 0;  // looks in a row at the same time that saw the same
  unsigned turns_ = 0;
};

extern Polling polling;

}  // namespace foretrace::mpi
