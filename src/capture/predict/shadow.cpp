#include "capture/predict/shadow.hpp"

#include <algorithm>

#include "capture/session/session.hpp"
#include "mpi_api/mpi_and_extensions.h"

// Persistent collectives by their names in MPI 4, or in Open MPI 4.
#if MPI_VERSION >= 4
#define FORETRACE_PERSISTENT(name, ...) PMPI_##name##_init(__VA_ARGS__)
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define FORETRACE_PERSISTENT(name, ...) PMPIX_##name##_init(__VA_ARGS__)
#endif

namespace foretrace::capture {

using machine::Dependence;

Shadows shadows;

namespace {

bool waits_for_others(const CommInfo& info, Dependence dependence, int root) {
  switch (dependence) {
    case Dependence::all_for_root:
      return info.rank.value != root;
    case Dependence::root_for_all:
      return info.rank.value == root;
    case Dependence::all_for_all:
    case Dependence::prefix:
      return true;
  }
  return true;
}

}  // namespace

void Shadow::post_start(const CommInfo& info, MPI_Comm comm, Dependence dependence, int root,
                        Time own, Bytes bytes) {
  own_ = latest_ = {own.count_ps(), static_cast<std::int64_t>(bytes.count)};
  needed_ = waits_for_others(info, dependence, root);
  start_under_way_ = true;
  switch (dependence) {
    case Dependence::all_for_all:
      PMPI_Iallreduce(own_.data(), latest_.data(), 2, MPI_INT64_T, MPI_MAX, comm, &start_);
      return;
    case Dependence::all_for_root:
      PMPI_Ibcast(latest_.data(), 2, MPI_INT64_T, root, comm, &start_);
      return;
    case Dependence::root_for_all:
      PMPI_Ireduce(own_.data(), latest_.data(), 2, MPI_INT64_T, MPI_MAX, root, comm, &start_);
      return;
    case Dependence::prefix:
      PMPI_Iscan(own_.data(), latest_.data(), 2, MPI_INT64_T, MPI_MAX, comm, &start_);
      return;
  }
}

// Members may start their persistent collectives in different orders, so each
// has a persistent one beside it.
void Shadow::prepare_start([[maybe_unused]] const CommInfo& info, [[maybe_unused]] MPI_Comm comm,
                           [[maybe_unused]] Dependence dependence, [[maybe_unused]] int root) {
#ifdef FORETRACE_PERSISTENT
  needed_ = waits_for_others(info, dependence, root);
  persistent_ = true;
  switch (dependence) {
    case Dependence::all_for_all:
      FORETRACE_PERSISTENT(Allreduce, own_.data(), latest_.data(), 2, MPI_INT64_T, MPI_MAX, comm,
                           MPI_INFO_NULL, &start_);
      return;
    case Dependence::all_for_root:
      FORETRACE_PERSISTENT(Bcast, latest_.data(), 2, MPI_INT64_T, root, comm, MPI_INFO_NULL,
                           &start_);
      return;
    case Dependence::root_for_all:
      FORETRACE_PERSISTENT(Reduce, own_.data(), latest_.data(), 2, MPI_INT64_T, MPI_MAX, root, comm,
                           MPI_INFO_NULL, &start_);
      return;
    case Dependence::prefix:
      FORETRACE_PERSISTENT(Scan, own_.data(), latest_.data(), 2, MPI_INT64_T, MPI_MAX, comm,
                           MPI_INFO_NULL, &start_);
      return;
  }
#endif
}

void Shadow::restart(Time own, Bytes bytes) {
  // The last round may still be under way where nobody here waited for it.
  await_end(Blocked{"MPI_Start", WorldRank(), 0, 0, false});
  own_ = latest_ = {own.count_ps(), static_cast<std::int64_t>(bytes.count)};
  start_under_way_ = true;
  PMPI_Start(&start_);
}

Time Shadow::latest(const Blocked& blocked) {
  const Time own = Time::ps(own_[0]);
  if (!needed_) return own;
  await_end(blocked);
  return std::max(own, Time::ps(latest_[0]));
}

void Shadow::post_key(MPI_Comm comm, std::uint64_t key) {
  key_ = key;
  PMPI_Ibcast(&key_, 1, MPI_UINT64_T, 0, comm, &key_request_);
}

std::uint64_t Shadow::key(const Blocked& blocked) {
  if (key_request_ != MPI_REQUEST_NULL) await(key_request_, blocked);
  return key_;
}

bool Shadow::ended(MPI_Request& request) {
  int done = 0;
  return PMPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
}

void Shadow::await(MPI_Request& request, const Blocked& blocked) {
  if (session.predicting())
    session.piggyback.poll([&] { return ended(request); }, blocked);
  else
    wait_in([&] { return PMPI_Wait(&request, MPI_STATUS_IGNORE); });
}

bool Shadow::is_over() {
  if (start_under_way_ && ended(start_)) start_under_way_ = false;
  return !start_under_way_ && (key_request_ == MPI_REQUEST_NULL || ended(key_request_));
}

void Shadow::await_end(const Blocked& blocked) {
  if (!start_under_way_) return;
  await(start_, blocked);
  start_under_way_ = false;
}

void Shadow::free_requests() {
  if (persistent_ && start_ != MPI_REQUEST_NULL) PMPI_Request_free(&start_);
}

Shadow& Shadows::add() {
  sweep();
  if (free_.empty()) return slab_.emplace_back();
  Shadow& shadow = *free_.back();
  free_.pop_back();
  shadow = Shadow();
  return shadow;
}

void Shadows::let_go(Shadow& shadow) {
  lingering_.push_back(&shadow);
  sweep();
}

// The oldest are over first.
void Shadows::sweep() {
  std::size_t over = 0;
  for (; over < lingering_.size() && lingering_[over]->is_over(); ++over) {
    lingering_[over]->free_requests();
    free_.push_back(lingering_[over]);
  }
  lingering_.erase(lingering_.begin(), lingering_.begin() + static_cast<std::ptrdiff_t>(over));
}

void Shadows::finish() {
  const auto all_over = [this] {
    sweep();
    return lingering_.empty();
  };
  if (session.predicting())
    session.piggyback.poll(all_over, Blocked{"MPI_Finalize", WorldRank(), 0, 0, false});
  else
    while (!all_over()) continue;
}

}  // namespace foretrace::capture
