// Shadow: what travels beside a collective that the program has posted, under predict: the members'
// starts.
//
// Where a root waits for others, or others for it, each start goes at once to whom it concerns, as
// a letter. So a rank that has completed its part owes nothing, and may leave MPI, or free the
// communicator. Where all (or all before) are waited for, a posted collective of the same shape on
// the same communicator takes them along: MPI moves it on in whatever call a rank is, and it ends
// with the rank's own.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "base/time.hpp"
#include "capture/handlers/comm_table.hpp"
#include "capture/handlers/functions.hpp"
#include "capture/predict/caller.hpp"
#include "capture/predict/piggyback.hpp"
#include "capture/predict/start_letter.hpp"
#include "machine/timing.hpp"

namespace foretrace::capture {

struct PostedCollective {
  CommInfo* comm = nullptr;
  MPI_Comm on = MPI_COMM_NULL;  // where what travels beside it takes place
  machine::Cost cost = machine::Cost::kCount;
  int root = -1;  // a local rank
  Fn fn{};
};

class Shadow {
 public:
  // Tells this rank's start to those who wait for it.
  void post(const PostedCollective& what, Time own, Bytes bytes);
  // The same for a persistent collective: prepared once, posted by restart().
  void prepare(const PostedCollective& what);
  void restart(Time own, Bytes bytes);
  // The latest start that this rank waits for, its own included. Ends the program where members
  // have called something else.
  Time latest(const Blocked& blocked);
  // Whether latest() need not wait.
  bool is_known();
  // The largest size of any member, where all wait for all; once latest() is known.
  Bytes largest() const { return Bytes(static_cast<std::uint64_t>(latest_[1])); }

  const StartKey& key() const { return key_; }
  void take(const StartLetter& letter);
  void let_go();

 private:
  void describe(const PostedCollective& what);
  bool is_exchanged() const;
  void begin(Time own, Bytes bytes);
  void exchange();
  void send_letters();
  void check_all_same() const;

  PostedCollective what_;
  machine::Dependence dependence_{};
  Caller own_caller_{};
  StartKey key_{};
  // Start in ps, size in bytes, and the caller, as the largest and as the smallest one of all.
  std::array<std::int64_t, 4> own_{};
  std::array<std::int64_t, 4> latest_{};  // the members' maxima
  int awaited_ = 0;                       // letters
  bool persistent_ = false;
  MPI_Request exchange_ = MPI_REQUEST_NULL;
};

// Those in use.
class Shadows {
 public:
  Shadow& add();
  void let_go(Shadow& shadow);

  void begin(Shadow& shadow);
  void take_in(const StartLetter& letter);

 private:
  std::deque<Shadow> slab_;
  std::vector<Shadow*> free_;
  std::map<StartKey, Shadow*> posted_;
  std::map<StartKey, std::vector<StartLetter>> early_;  // this rank has not come there yet
};

extern Shadows shadows;

}  // namespace foretrace::capture
