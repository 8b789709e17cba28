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

constexpr int kRankBits = 32;

std::int64_t code_of(const Caller& caller) {
  return static_cast<std::int64_t>(caller.function) << kRankBits | caller.rank;
}

Caller caller_of(std::int64_t code) {
  return {static_cast<std::int32_t>(code), static_cast<std::uint32_t>(code >> kRankBits), -1};
}

}  // namespace

// By a posted collective; else by letters.
bool Shadow::is_exchanged() const {
  return dependence_ == Dependence::all_for_all || dependence_ == Dependence::prefix;
}

// All members post the same collectives on a communicator in the same order.
void Shadow::describe(const PostedCollective& what) {
  what_ = what;
  dependence_ = session.timing().dependence(what.cost);
  own_caller_ = Caller::of(*what.comm, what.fn, is_exchanged() ? -1 : what.root);
  key_ = {what.comm->key, ++what.comm->posted, 0};
}

void Shadow::post(const PostedCollective& what, Time own, Bytes bytes) {
  describe(what);
  begin(own, bytes);
}

// Members may start their persistent collectives in different orders, so each
// has a persistent one beside it.
void Shadow::prepare(const PostedCollective& what) {
  describe(what);
#ifdef FORETRACE_PERSISTENT
  persistent_ = true;
  const auto numbers = static_cast<int>(own_.size());
  if (dependence_ == Dependence::all_for_all)
    FORETRACE_PERSISTENT(Allreduce, own_.data(), latest_.data(), numbers, MPI_INT64_T, MPI_MAX,
                         what.on, MPI_INFO_NULL, &exchange_);
  else if (dependence_ == Dependence::prefix)
    FORETRACE_PERSISTENT(Scan, own_.data(), latest_.data(), numbers, MPI_INT64_T, MPI_MAX, what.on,
                         MPI_INFO_NULL, &exchange_);
#endif
}

void Shadow::restart(Time own, Bytes bytes) {
  ++key_.round;
  begin(own, bytes);
}

void Shadow::begin(Time own, Bytes bytes) {
  const std::int64_t code = code_of(own_caller_);
  own_ = latest_ = {own.count_ps(), static_cast<std::int64_t>(bytes.count), code, ~code};
  const CommInfo& comm = *what_.comm;
  const bool is_root = comm.rank.value == what_.root;
  awaited_ = 0;
  if (dependence_ == Dependence::all_for_root && !is_root) awaited_ = 1;
  if (dependence_ == Dependence::root_for_all && is_root) awaited_ = comm.size - 1;
  if (is_exchanged())
    exchange();
  else
    send_letters();
  shadows.begin(*this);
}

void Shadow::exchange() {
  const auto numbers = static_cast<int>(own_.size());
  if (persistent_)
    PMPI_Start(&exchange_);
  else if (dependence_ == Dependence::all_for_all)
    PMPI_Iallreduce(own_.data(), latest_.data(), numbers, MPI_INT64_T, MPI_MAX, what_.on,
                    &exchange_);
  else
    PMPI_Iscan(own_.data(), latest_.data(), numbers, MPI_INT64_T, MPI_MAX, what_.on, &exchange_);
}

void Shadow::send_letters() {
  const CommInfo& comm = *what_.comm;
  const StartLetter letter{key_,
                           own_[0],
                           static_cast<std::uint64_t>(own_[1]),
                           own_caller_.rank,
                           own_caller_.function,
                           own_caller_.root};
  session.piggyback.note_root(comm, what_.cost, what_.root, true);
  const bool is_root = comm.rank.value == what_.root;
  if (dependence_ == Dependence::root_for_all) {
    if (!is_root) session.piggyback.send_start(letter, comm.member(what_.root));
    return;
  }
  for (int member = 0; is_root && member < comm.size; ++member)
    if (member != what_.root) session.piggyback.send_start(letter, comm.member(member));
}

void Shadow::take(const StartLetter& letter) {
  check_same(own_caller_, {letter.rank, letter.function, letter.root});
  latest_[0] = std::max(latest_[0], letter.start_ps);
  latest_[1] = std::max(latest_[1], static_cast<std::int64_t>(letter.bytes));
  --awaited_;
}

void Shadow::check_all_same() const {
  check_same(own_caller_, caller_of(latest_[2]));
  check_same(own_caller_, caller_of(~latest_[3]));
}

bool Shadow::is_known() {
  session.piggyback.take_starts();
  int done = 1;
  if (is_exchanged()) PMPI_Test(&exchange_, &done, MPI_STATUS_IGNORE);
  return done != 0 && awaited_ <= 0;
}

Time Shadow::latest(const Blocked& blocked) {
  session.piggyback.poll([&] { return is_known(); }, blocked);
  if (is_exchanged()) check_all_same();
  return std::max(Time::ps(own_[0]), Time::ps(latest_[0]));
}

void Shadow::let_go() {
  if (persistent_ && exchange_ != MPI_REQUEST_NULL) PMPI_Request_free(&exchange_);
}

Shadow& Shadows::add() {
  if (free_.empty()) return slab_.emplace_back();
  Shadow& shadow = *free_.back();
  free_.pop_back();
  shadow = Shadow();
  return shadow;
}

void Shadows::let_go(Shadow& shadow) {
  shadow.let_go();
  posted_.erase(shadow.key());
  free_.push_back(&shadow);
}

void Shadows::begin(Shadow& shadow) {
  const StartKey key = shadow.key();
  // A persistent one's last start is over.
  if (key.round > 1) posted_.erase({key.comm, key.number, key.round - 1});
  posted_[key] = &shadow;
  const auto early = early_.extract(key);
  if (early.empty()) return;
  for (const StartLetter& letter : early.mapped()) shadow.take(letter);
}

void Shadows::take_in(const StartLetter& letter) {
  const auto found = posted_.find(letter.key);
  if (found != posted_.end())
    found->second->take(letter);
  else
    early_[letter.key].push_back(letter);
}

}  // namespace foretrace::capture
