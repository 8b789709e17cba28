// Shadow: what travels beside a collective that the program has posted.
//
// Under predict the members' starts, by a posted collective of the same shape on
// the same communicator: it ends when the program's may. Beside the making of a
// communicator, the new one's key.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/time.hpp"
#include "capture/handlers/comm_table.hpp"
#include "capture/predict/piggyback.hpp"
#include "machine/timing.hpp"

namespace foretrace::capture {

class Shadow {
 public:
  // Tells this rank's start to those who wait for it. `root` is a local rank.
  void post_start(const CommInfo& info, MPI_Comm comm, machine::Dependence dependence, int root,
                  Time own, Bytes bytes);
  // The same for a persistent collective: prepared once, posted by restart().
  void prepare_start(const CommInfo& info, MPI_Comm comm, machine::Dependence dependence, int root);
  void restart(Time own, Bytes bytes);
  // The latest start that this rank waits for, its own included.
  Time latest(const Blocked& blocked);
  // The largest size of any member, where all wait for all; once latest() is known.
  Bytes largest() const { return Bytes(static_cast<std::uint64_t>(latest_[1])); }

  // The first member's `key` goes to all.
  void post_key(MPI_Comm comm, std::uint64_t key);
  std::uint64_t key(const Blocked& blocked);

  // Whether nothing is under way any more; never waits.
  bool is_over();
  void await_end(const Blocked& blocked);
  void free_requests();

 private:
  static bool ended(MPI_Request& request);
  static void await(MPI_Request& request, const Blocked& blocked);

  bool needed_ = false;  // this rank waits for others
  bool persistent_ = false;
  std::array<std::int64_t, 2> own_{};     // start in ps, size in bytes
  std::array<std::int64_t, 2> latest_{};  // the members' maxima
  std::uint64_t key_ = 0;
  MPI_Request start_ = MPI_REQUEST_NULL;
  MPI_Request key_request_ = MPI_REQUEST_NULL;
  bool start_under_way_ = false;
};

// Those in use, and those that nobody waits for but that are not over yet.
class Shadows {
 public:
  Shadow& add();
  void let_go(Shadow& shadow);
  // Before MPI_Finalize: waits until all are over.
  void finish();

 private:
  void sweep();

  std::deque<Shadow> slab_;
  std::vector<Shadow*> free_;
  std::vector<Shadow*> lingering_;
};

extern Shadows shadows;

}  // namespace foretrace::capture
