#include "mpi/onesided/pending.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include "mpi/core/line.hpp"
#include "mpi/onesided/state.hpp"

namespace foretrace::mpi {
namespace {

constexpr std::size_t kMost = 4096;  // a program may never wait for them

struct Pending {
  Win* win = nullptr;
  std::function<int()> move;
  std::vector<Datatype*> types;
};
std::vector<Pending> pending;

// Another access that need not be waited for.
bool moves_later(Fn function) {
  std::string_view name = name_of(function);
  if (name.ends_with("_c")) name.remove_suffix(2);
  for (const std::string_view access :
       {"MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Get_accumulate", "MPI_Fetch_and_op",
        "MPI_Compare_and_swap"})
    if (name == access) return true;
  return false;
}

void begin_call(Fn function) {
  if (!moves_later(function)) take_turn();
}

}  // namespace

void put_off(Win& win, std::function<int()> move, std::initializer_list<Datatype*> types) {
  Pending& added = pending.emplace_back(&win, std::move(move), types);
  for (Datatype* type : added.types) retain(type);
  line.at_entry(begin_call);
  if (pending.size() >= kMost) take_turn();
}

void take_turn() {
  line.at_entry(nullptr);
  line.take_turn();
  // What handles an error may make accesses of its own.
  for (const Pending& access : std::exchange(pending, {})) {
    const int error = access.move();
    int& first = access.win->state->access_error;
    if (first == MPI_SUCCESS) first = error;
    for (Datatype* type : access.types) release(type);
  }
}

int take_access_error(Win& win) {
  return std::exchange(win.state->access_error, MPI_SUCCESS);
}

}  // namespace foretrace::mpi
