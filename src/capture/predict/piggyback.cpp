#include "capture/predict/piggyback.hpp"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "capture/host/idle_polls.hpp"
#include "capture/predict/caller.hpp"
#include "capture/predict/shadow.hpp"
#include "capture/predict/yielding.hpp"
#include "capture/session/own_comm.hpp"
#include "capture/session/session.hpp"
#include "capture/session/start_up.hpp"

namespace foretrace::capture {
namespace {

// From kStartTag on there is one for each communicator, as far as they go:
// threads may be in collectives on several at once.
enum Tag : int { kStampTag = 1, kAnswerTag = 2, kPostedTag = 4, kStartTag = 5 };
constexpr int kMostTags = 1 << 20;

std::uint64_t mix(std::uint64_t key) {
  key *= 0x9e3779b97f4a7c15u;
  return key ^ key >> 32;
}

}  // namespace

std::size_t Piggyback::StreamHash::operator()(const StreamKey& key) const {
  std::uint64_t h = key.comm * 0x9e3779b97f4a7c15u;
  h ^= static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.source)) << 32 |
       static_cast<std::uint32_t>(key.tag);
  h *= 0xff51afd7ed558ccdu;
  return h ^ h >> 32;
}

void Piggyback::start(bool rendezvous, bool several_threads) {
  even_counter_ = has_even_counter();
  int rank = 0;
  int size = 0;
  PMPI_Comm_rank(own_comm, &rank);
  PMPI_Comm_size(own_comm, &size);
  rank_ = WorldRank(rank);
  needs_progress_ = rendezvous;
  yields_ = must_yield_in_loops();
  several_threads_ = several_threads;
  int* largest = nullptr;
  int known = 0;
  PMPI_Comm_get_attr(own_comm, MPI_TAG_UB, &largest, &known);
  start_tags_ =
      static_cast<std::uint64_t>((known ? std::min(*largest, kMostTags) : INT16_MAX) - kStartTag);
  if (rank == 0) reports_.resize(static_cast<std::size_t>(size));
  partners_.resize(static_cast<std::size_t>(size));
  const auto read = [this] { return TickReading{read_ticks(even_counter_), monotonic_ns()}; };
  const TickReading before = read();
  open_board();
  const TickReading after = read();
  rest_ticks_ = kRestNs * (after.ticks - before.ticks) /
                static_cast<std::uint64_t>(std::max<std::int64_t>(after.ns - before.ns, 1));
}

// Collective. Where not all on the host can have it, none uses it.
void Piggyback::open_board() {
  MPI_Comm host;
  PMPI_Comm_split_type(own_comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int place = 0;
  int ranks = 0;
  PMPI_Comm_rank(host, &place);
  PMPI_Comm_size(host, &ranks);
  char name[64] = {};
  if (place == 0)
    std::snprintf(name, sizeof name, "/foretrace-%d-%lld", ::getpid(),
                  static_cast<long long>(monotonic_ns()));
  int good = place == 0 && ranks > 1 && board_.make(name, ranks) ? 1 : 0;
  PMPI_Bcast(name, sizeof name, MPI_CHAR, 0, host);
  PMPI_Bcast(&good, 1, MPI_INT, 0, host);
  const bool made = good != 0;
  if (made && place > 0) good = board_.open(name, ranks, place) ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, host);
  if (made && place == 0) Board::remove(name);
  if (good != 0) {
    on_host_.resize(static_cast<std::size_t>(ranks));
    left_behind_.resize(static_cast<std::size_t>(ranks), -1);
    PMPI_Allgather(&rank_.value, 1, MPI_INT32_T, on_host_.data(), 1, MPI_INT32_T, host);
    for (int i = 0; i < ranks; ++i)
      partner(WorldRank(on_host_[static_cast<std::size_t>(i)])).place = i;
    keep_naps_short(board_.others_look());
  }
  PMPI_Comm_free(&host);
}

// nullptr: its members tell each other by messages.
Board::Meeting* Piggyback::meet_on_board(const CommInfo& comm) {
  const bool local = std::ranges::all_of(comm.members, [this](WorldRank member) {
    return member.valid() && partner(member).place >= 0;
  });
  return local && comm.size > 1 ? board_.meeting(comm.key, comm.size) : nullptr;
}

// On the target the root of a collective waits for the others, or they for it.
static Blocked in_meeting(Fn fn, int root) {
  Blocked blocked;
  blocked.call = name_of(fn);
  blocked.meets = root >= 0;
  return blocked;
}

Piggyback::Starts Piggyback::exchange_on_board(Board::Meeting& meeting, const CommInfo& comm,
                                               const Start& own, int root, Fn fn) {
  const Caller self = Caller::of(comm, fn, root);
  meeting.tell(comm.rank.value,
               {own.at.count_ps(), own.bytes.count, self.function, self.root, own.untouched});
  board_.note_told();
  Starts starts{own.at, Time::ps(INT64_MIN), own.bytes, true, false};
  int next = 0;
  const auto all_came = [&] {
    for (; next < comm.size; ++next) {
      const auto told = meeting.told(next);
      if (!told) {
        // Others may wait for MPI to go on here; progress() lets it.
        int waiting = 0;
        if (!needs_progress_)
          PMPI_Iprobe(MPI_ANY_SOURCE, kStampTag, own_comm, &waiting, MPI_STATUS_IGNORE);
        return false;
      }
      check_same(self, {comm.member(next).value, told->function, told->root});
      starts.latest = std::max(starts.latest, Time::ps(told->start_ps));
      starts.largest = std::max(starts.largest, Bytes(told->bytes));
      starts.untouched = starts.untouched && told->untouched;
      if (next != root) continue;
      starts.root = Time::ps(told->start_ps);
      starts.root_untouched = told->untouched;
    }
    return true;
  };
  poll(all_came, in_meeting(fn, root));
  return starts;
}

void Piggyback::stop() {
  show_waiting();
  keep_naps_short(nullptr);
  const Blocked blocked{"MPI_Finalize", WorldRank(), 0, 0, false};
  for (Outgoing& out : outgoing_) {
    poll(
        [&out] {
          int done = 1;
          if (out.request != MPI_REQUEST_NULL) PMPI_Test(&out.request, &done, MPI_STATUS_IGNORE);
          return done != 0;
        },
        blocked);
  }
  MPI_Request barrier;
  PMPI_Ibarrier(own_comm, &barrier);
  poll(
      [&barrier] {
        int done = 0;
        PMPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
        return done != 0;
      },
      blocked);
  // All that was sent is here or on its way to here; what nobody received is
  // taken in so that MPI_Finalize finds nothing left over.
  int waiting = 1;
  while (waiting) {
    MPI_Status status;
    PMPI_Iprobe(MPI_ANY_SOURCE, kStampTag, own_comm, &waiting, &status);
    if (waiting) take_message(WorldRank(status.MPI_SOURCE));
  }
}

void Piggyback::send_small(const void* data, int bytes, WorldRank dest, int tag) {
  // Slots are reused in turn; one that is still busy is left alone.
  if (next_outgoing_ >= outgoing_.size()) next_outgoing_ = 0;
  int free = 0;
  if (!outgoing_.empty()) {
    Outgoing& slot = outgoing_[next_outgoing_];
    free = 1;
    if (slot.request != MPI_REQUEST_NULL) PMPI_Test(&slot.request, &free, MPI_STATUS_IGNORE);
  }
  if (!free) {
    outgoing_.emplace_back();
    next_outgoing_ = outgoing_.size() - 1;
  }
  Outgoing& slot = outgoing_[next_outgoing_++];
  std::memcpy(slot.bytes, data, static_cast<std::size_t>(bytes));
  PMPI_Isend(slot.bytes, bytes, MPI_BYTE, dest.value, tag, own_comm, &slot.request);
}

std::uint64_t Piggyback::send_stamp(const CommInfo& comm, WorldRank dest, int tag,
                                    const machine::MessageStamp& stamp) {
  const Wire wire{comm.key, stamp.sent.count_ps(), stamp.bytes.count, ++serials_,
                  tag,      stamp.rendezvous,      stamp.untouched,   ++partner(dest).sent};
  if (stamp.rendezvous) ++unanswered_;
  tell(wire, dest, kStampTag);
  return wire.serial;
}

// By a letter if that goes, else by a message.
template <class Text>
void Piggyback::tell(const Text& text, WorldRank dest, int tag) {
  static_assert(sizeof text + sizeof(std::uint64_t) <= sizeof(Board::Letter));
  Board::Letter letter{static_cast<std::uint64_t>(tag)};
  std::memcpy(&letter[1], &text, sizeof text);
  const int place = partner(dest).place;
  if (place < 0 || !board_.send(place, letter)) send_small(&text, sizeof text, dest, tag);
  board_.note_told();
}

void Piggyback::take_letters() {
  int from = 0;
  for (Board::Letter letter; board_.receive(from, letter);) {
    if (letter[0] == kAnswerTag) {
      Answer answer;
      std::memcpy(&answer, &letter[1], sizeof answer);
      take_in(answer);
    } else if (letter[0] == kPostedTag) {
      StartLetter start;
      std::memcpy(&start, &letter[1], sizeof start);
      shadows.take_in(start);
    } else {
      Wire wire;
      std::memcpy(&wire, &letter[1], sizeof wire);
      take_in(wire, WorldRank(on_host_[static_cast<std::size_t>(from)]));
    }
  }
}

void Piggyback::send_start(const StartLetter& start, WorldRank dest) {
  tell(start, dest, kPostedTag);
}

void Piggyback::take_starts() {
  take_letters();
  int waiting = 1;
  MPI_Status status;
  while (waiting) {
    PMPI_Iprobe(MPI_ANY_SOURCE, kPostedTag, own_comm, &waiting, &status);
    if (!waiting) return;
    StartLetter start;
    PMPI_Recv(&start, sizeof start, MPI_BYTE, status.MPI_SOURCE, kPostedTag, own_comm,
              MPI_STATUS_IGNORE);
    shadows.take_in(start);
  }
}

void Piggyback::take_in(const Answer& answer) {
  --unanswered_;
  answers_[answer.serial] = Time::ps(answer.posted_ps);
}

// Letters overtake messages, and messages letters that have not been taken out.
void Piggyback::take_in(const Wire& wire, WorldRank source) {
  std::uint64_t& taken = partner(source).taken;
  if (wire.order != taken + 1) {
    early_[{source.value, wire.order}] = wire;
    return;
  }
  ++taken;
  use(wire, source);
  while (!early_.empty()) {
    const auto next = early_.find({source.value, taken + 1});
    if (next == early_.end()) return;
    ++taken;
    use(early_.extract(next).mapped(), source);
  }
}

// Dissemination: in round k everybody tells what it knows to the member 2^k
// further on; after ceil(log2 p) rounds all know all. No two messages of one
// exchange go from one rank to the same other.
Piggyback::Starts Piggyback::exchange_starts(const CommInfo& comm, const Start& own, int root,
                                             Fn fn) {
  struct Known {
    std::int64_t latest_ps;
    std::int64_t root_ps;  // INT64_MIN: not known yet
    std::uint64_t largest;
    Caller caller;
    bool untouched;
    bool root_untouched;
  };
  if (Board::Meeting* const meeting = meet_on_board(comm))
    return exchange_on_board(*meeting, comm, own, root, fn);
  const int self = comm.rank.value;
  const int tag = kStartTag + static_cast<int>(mix(comm.key) % start_tags_);
  Known known{own.at.count_ps(), self == root ? own.at.count_ps() : INT64_MIN,
              own.bytes.count,   Caller::of(comm, fn, root),
              own.untouched,     self == root && own.untouched};
  for (int distance = 1; distance < comm.size; distance *= 2) {
    const WorldRank to = comm.member((self + distance) % comm.size);
    const WorldRank from = comm.member((self - distance % comm.size + comm.size) % comm.size);
    Known theirs;
    if (needs_progress_) {
      MPI_Request request;
      PMPI_Irecv(&theirs, sizeof theirs, MPI_BYTE, from.value, tag, own_comm, &request);
      send_small(&known, sizeof known, to, tag);
      poll(
          [&request] {
            int done = 0;
            PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
            return done != 0;
          },
          in_meeting(fn, root));
    } else {
      wait_in([&] {
        return PMPI_Sendrecv(&known, sizeof known, MPI_BYTE, to.value, tag, &theirs, sizeof theirs,
                             MPI_BYTE, from.value, tag, own_comm, MPI_STATUS_IGNORE);
      });
    }
    check_same(known.caller, theirs.caller);
    known.latest_ps = std::max(known.latest_ps, theirs.latest_ps);
    known.root_ps = std::max(known.root_ps, theirs.root_ps);
    known.largest = std::max(known.largest, theirs.largest);
    known.untouched = known.untouched && theirs.untouched;
    known.root_untouched = known.root_untouched || theirs.root_untouched;
  }
  return {Time::ps(known.latest_ps), Time::ps(known.root_ps), Bytes(known.largest), known.untouched,
          known.root_untouched};
}

// The sum over all ranks is 0 if the members of every communicator have noted the same: the first
// one takes off what the others add.
void Piggyback::note_root(const CommInfo& comm, machine::Cost cost, int root, bool posted) {
  if (comm.is_inter()) return;
  const auto others = static_cast<std::uint64_t>(comm.size - 1);
  const std::uint64_t what = static_cast<std::uint64_t>(cost) << 1 | (posted ? 1 : 0);
  const std::uint64_t call =
      mix(mix(comm.key + 1) + what * 0x10001u + (static_cast<std::uint64_t>(root) << 32));
  roots_ += mix(call) * (comm.rank.value == 0 ? -others : 1);
}

bool Piggyback::roots_match() const {
  std::uint64_t sum = roots_;
  PMPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, own_comm);
  return sum == 0;
}

Time Piggyback::await_answer(std::uint64_t serial, const Blocked& blocked) {
  poll([&] { return answers_.contains(serial); }, blocked);
  const auto found = answers_.find(serial);
  const Time posted = found->second;
  answers_.erase(found);
  return posted;
}

std::optional<Time> Piggyback::find_answer(std::uint64_t serial) {
  progress();
  const auto found = answers_.find(serial);
  return found == answers_.end() ? std::nullopt : std::optional(found->second);
}

void Piggyback::post(PostedRecv& recv) {
  if (!recv.source.valid()) recv.any_source_tag = recv.tag;
  const bool wildcard = !recv.source.valid() || recv.tag == MPI_ANY_TAG;
  if (!wildcard && recv.comm->unsettled.empty()) {
    enqueue(recv, recv.source, recv.tag);
    return;
  }
  if (recv.comm->unsettled.empty()) unsettled_comms_.push_back(recv.comm);
  recv.comm->unsettled.push_back(&recv);
}

void Piggyback::set_matched(PostedRecv& recv, WorldRank source, int tag) {
  recv.matched = true;
  recv.matched_source = source;
  recv.matched_tag = tag;
}

// Whether MPI has matched a receive that is not settled, and with what.
Piggyback::Match Piggyback::ask_match(PostedRecv& recv) {
  if (recv.matched) return Match::message;
  if (recv.handle == MPI_REQUEST_NULL) return Match::none;
  int complete = 0;
  MPI_Status status;
  PMPI_Request_get_status(recv.handle, &complete, &status);
  if (!complete) return Match::none;
  int cancelled = 0;
  PMPI_Test_cancelled(&status, &cancelled);
  if (cancelled) return Match::cancelled;
  set_matched(recv, recv.comm->world(status.MPI_SOURCE), status.MPI_TAG);
  return Match::message;
}

void Piggyback::await_stamp(PostedRecv& recv, WorldRank source, int tag) {
  if (!recv.settled) settle_before(recv, source, tag);
  while (!recv.has_stamp) take_stamp(source);
}

void Piggyback::settle(PostedRecv& recv, WorldRank source, int tag) {
  await_stamp(recv, source, tag);
  if (recv.any_source_tag)
    any_source_.note(recv.comm->key, *recv.any_source_tag, source, recv.stamp.sent);
}

machine::MessageStamp Piggyback::see(CommInfo& comm, WorldRank source, int tag) {
  settle_earlier(comm, nullptr, source, tag);
  const StreamKey key{comm.key, source.value, tag};
  while (stream(key).stamps.empty()) take_stamp(source);
  return stamp_of(stream(key).stamps.front());
}

// MPI has found a message of (source, tag). Receives posted before that could have taken it were
// then matched before: their messages are settled first, in posting order.
void Piggyback::settle_earlier(CommInfo& comm, const PostedRecv* than, WorldRank source, int tag) {
  auto& unsettled = comm.unsettled;
  for (std::size_t i = 0; i < unsettled.size() && unsettled[i] != than;) {
    PostedRecv& earlier = *unsettled[i];
    if (!earlier.may_match(source, tag)) {
      ++i;
      continue;
    }
    Match match = Match::none;
    while (match == Match::none) match = ask_match(earlier);
    if (match == Match::cancelled)
      unsettled.erase(unsettled.begin() + static_cast<std::ptrdiff_t>(i));
    else
      settle_before(earlier, earlier.matched_source, earlier.matched_tag);
    i = 0;  // the list has changed
  }
}

void Piggyback::settle_before(PostedRecv& recv, WorldRank source, int tag) {
  settle_earlier(*recv.comm, &recv, source, tag);
  auto& unsettled = recv.comm->unsettled;
  const auto self = std::ranges::find(unsettled, &recv);
  if (self != unsettled.end()) {
    unsettled.erase(self);
    if (unsettled.empty()) std::erase(unsettled_comms_, recv.comm);
  }
  enqueue(recv, source, tag);
}

// Programs may never use a tag twice. An empty stream costs as much memory as one
// that is in use, so now and then they go.
Piggyback::Stream& Piggyback::stream(const StreamKey& key) {
  const auto found = streams_.find(key);
  if (found != streams_.end()) return found->second;
  if (streams_.size() >= most_streams_) {
    std::erase_if(streams_, [](const auto& each) {
      return each.second.stamps.empty() && each.second.receives.empty();
    });
    most_streams_ = std::max(kFewStreams, 2 * streams_.size());
  }
  return streams_[key];
}

void Piggyback::enqueue(PostedRecv& recv, WorldRank source, int tag) {
  recv.settled = true;
  recv.source = source;
  recv.tag = tag;
  Stream& queue = stream({recv.comm->key, source.value, tag});
  if (queue.stamps.empty()) {
    queue.receives.push_back(&recv);
    return;
  }
  const Wire wire = queue.stamps.front();
  queue.stamps.pop_front();
  pair(recv, wire, source);
}

void Piggyback::take_message(WorldRank source) {
  Wire wire;
  PMPI_Recv(&wire, sizeof wire, MPI_BYTE, source.value, kStampTag, own_comm, MPI_STATUS_IGNORE);
  take_in(wire, source);
}

// Waits for the next one.
void Piggyback::take_stamp(WorldRank source) {
  const Partner& from = partner(source);
  for (const std::uint64_t before = from.taken; from.taken == before;) {
    take_letters();
    if (from.taken != before) return;
    int waiting = 1;
    if (from.place >= 0)
      PMPI_Iprobe(source.value, kStampTag, own_comm, &waiting, MPI_STATUS_IGNORE);
    if (waiting) take_message(source);
  }
}

void Piggyback::use(const Wire& wire, WorldRank source) {
  Stream& queue = stream({wire.comm, source.value, wire.tag});
  if (queue.receives.empty()) {
    queue.stamps.push_back(wire);
    return;
  }
  PostedRecv& recv = *queue.receives.front();
  queue.receives.pop_front();
  pair(recv, wire, source);
}

machine::MessageStamp Piggyback::stamp_of(const Wire& wire) {
  return {Time::ps(wire.sent_ps), Bytes(wire.bytes), wire.rendezvous != 0, wire.untouched != 0};
}

void Piggyback::pair(PostedRecv& recv, const Wire& wire, WorldRank source) {
  recv.has_stamp = true;
  recv.stamp = stamp_of(wire);
  recv.serial = wire.serial;
  answer_if_known(recv, source);
}

void Piggyback::answer_if_known(const PostedRecv& recv, WorldRank source) {
  if (!recv.stamp.rendezvous || !recv.is_posted) return;
  const Answer answer{recv.serial, recv.posted.count_ps()};
  tell(answer, source, kAnswerTag);
}

void Piggyback::set_posted(PostedRecv& recv, Time r0) {
  recv.posted = r0;
  recv.is_posted = true;
  if (recv.has_stamp) answer_if_known(recv, recv.source);
}

void Piggyback::withdraw(PostedRecv& recv) {
  if (recv.settled) {
    if (!recv.has_stamp)
      std::erase(stream({recv.comm->key, recv.source.value, recv.tag}).receives, &recv);
    return;
  }
  std::erase(recv.comm->unsettled, &recv);
  if (recv.comm->unsettled.empty()) std::erase(unsettled_comms_, recv.comm);
}

void Piggyback::progress() {
  take_letters();
  int waiting = 0;
  MPI_Status status;
  PMPI_Iprobe(MPI_ANY_SOURCE, kStampTag, own_comm, &waiting, &status);
  if (waiting) take_message(WorldRank(status.MPI_SOURCE));
  waiting = 0;
  if (unanswered_ > 0) PMPI_Iprobe(MPI_ANY_SOURCE, kAnswerTag, own_comm, &waiting, &status);
  if (waiting) {
    Answer answer;
    PMPI_Recv(&answer, sizeof answer, MPI_BYTE, status.MPI_SOURCE, kAnswerTag, own_comm,
              MPI_STATUS_IGNORE);
    take_in(answer);
  }
  // Unsettled receives whose message has come need their stamp now: its sender
  // may be waiting for the answer.
  for (std::size_t c = 0; c < unsettled_comms_.size(); ++c) {
    CommInfo& comm = *unsettled_comms_[c];
    for (PostedRecv* recv : comm.unsettled) {
      const Match match = ask_match(*recv);
      if (match == Match::none) continue;
      if (match == Match::cancelled)
        withdraw(*recv);
      else
        settle_before(*recv, recv->matched_source, recv->matched_tag);
      return;  // the list has changed; the next round sees the rest
    }
  }
}

// With a core for every rank a rank that waits keeps spinning, as the MPI
// libraries do; else the library's own polls give the core away, where we know
// them.
void Piggyback::relax(unsigned spin, const Blocked& blocked) {
  if (yields_) give_way(spin);
  // A rank whose threads wait waits for several.
  if (needs_progress_ && spin % 1024 == 0 && !session.others_called()) watch(blocked);
}

void Piggyback::give_way(unsigned spin) const {
  if (spin < 2 * kSpins || !yields_) {
    ::sched_yield();
  } else {
    constexpr timespec kNap{0, 20'000};
    ::nanosleep(&kNap, nullptr);
  }
}

void Piggyback::let_others_in() {
  const LetOthersIn others;
}

}  // namespace foretrace::capture
