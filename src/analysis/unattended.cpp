#include "analysis/unattended.hpp"

#include <algorithm>

#include "mpi_api/groups.hpp"

namespace foretrace::analysis {

using trace::EventKind;

namespace {

// A shorter stay outside of MPI counts as none: it hardly ever matters, and there may be many.
constexpr Time kLeastStay = Time::ns(5'000);

}  // namespace

UnattendedSends::UnattendedSends(int ranks, IsAttended is_attended, NameOf name_of)
    : is_attended_(std::move(is_attended)),
      name_of_(std::move(name_of)),
      ranks_(static_cast<std::size_t>(ranks)) {}

UnattendedSends::Kind UnattendedSends::kind_of(Rank& state, WorldRank rank,
                                               const trace::Call& call) {
  switch (call.kind) {
    case EventKind::phase_begin:
    case EventKind::phase_end:
    case EventKind::mark:
    // What only posts hardly moves what others have sent.
    case EventKind::isend:
    case EventKind::irecv:
    case EventKind::icollective:
      return moves_nothing;
    case EventKind::call:
    case EventKind::complete:
      break;
    default:
      return moves;
  }
  if (state.kinds.size() <= call.name) state.kinds.resize(call.name + 1, 0);
  signed char& known = state.kinds[call.name];
  if (known == 0) {
    const std::string_view name = name_of_(rank, call.name);
    known = mpi_api::is_poll(name) ? looks
            : call.kind == EventKind::complete ||
                    mpi_api::is_in_any(name, {"completions", "probes", "one_sided", "io"})
                ? moves
                : moves_nothing;
  }
  return static_cast<Kind>(known);
}

void UnattendedSends::add(WorldRank rank, const trace::Call& call, Time enter, Time leave,
                          Time wait, std::span<const trace::Completion> completions) {
  Rank& state = of(rank);
  const Kind kind = kind_of(state, rank, call);
  // Of calls in a row it is only known how long they took together.
  const bool in_a_row = call.kind == EventKind::call && call.count != 1;
  if (kind != moves_nothing) come(state, in_a_row ? state.until : enter, leave);
  state.waited += wait;
  if (call.kind == EventKind::finalize || call.kind == EventKind::aborted) end(state);
  const bool sends = call.kind == EventKind::send || call.kind == EventKind::isend ||
                     call.kind == EventKind::sendrecv;
  if (sends && call.send.peer.valid() &&
      is_attended_(rank, call.send.peer, call.mode, call.send.bytes)) {
    const std::uint32_t send = post(rank, call, enter);
    if (call.kind == EventKind::isend)
      state.open.emplace_back(call.request, send);
    else
      complete(send, call, leave);
  }
  if (!state.open.empty())
    for (const trace::Completion& completion : completions) {
      const auto open = std::ranges::find(state.open, completion.request,
                                          &std::pair<std::uint64_t, std::uint32_t>::first);
      if (open == state.open.end()) continue;
      // Who only looks does not wait: it would find the send complete some looks later.
      complete(open->second, call, kind == looks || completion.cancelled ? Time::max() : leave);
      state.open.erase(open);
    }
  if (stays_ > most_stays_) forget_stays();
}

// The rank is in MPI from then on until it leaves the call.
void UnattendedSends::come(Rank& state, Time from, Time leave) {
  const bool stayed = from - state.until >= kLeastStay;
  if (stayed) {
    state.stays.push_back({state.until, from});
    ++stays_;
  }
  state.until = std::max(leave, state.until);
  while (!state.arriving.empty() && state.arriving.front().first <= state.until) {
    std::ranges::pop_heap(state.arriving, std::greater<>());
    const auto [sent, send] = state.arriving.back();
    state.arriving.pop_back();
    sends_[send].attended = stayed ? std::max(sent, from) : sent;
    settle(of(sends_[send].sender));
  }
}

// What comes later nobody keeps waiting.
void UnattendedSends::end(Rank& state) {
  state.ended = true;
  for (const auto& [sent, send] : std::exchange(state.arriving, {})) {
    sends_[send].attended = sent;
    settle(of(sends_[send].sender));
  }
}

std::uint32_t UnattendedSends::post(WorldRank rank, const trace::Call& call, Time sent) {
  const std::uint32_t number = sends_.take({});
  Send& send = sends_[number];
  send.sender = rank;
  send.receiver = call.send.peer;
  send.sent = sent;
  Rank& receiver = of(send.receiver);
  if (sent > receiver.until && !receiver.ended) {
    receiver.arriving.emplace_back(sent, number);
    std::ranges::push_heap(receiver.arriving, std::greater<>());
    return number;
  }
  const auto stay = std::ranges::upper_bound(receiver.stays, sent, {}, &Stay::to);
  send.attended = stay != receiver.stays.end() && stay->from < sent ? stay->to : sent;
  return number;
}

void UnattendedSends::complete(std::uint32_t number, const trace::Call& call, Time left) {
  Send& send = sends_[number];
  Rank& sender = of(send.sender);
  send.left = left;
  send.waited = sender.waited;
  send.name = call.name;
  send.site = call.site;
  if (sender.completed.empty() && send.attended) return count(sender, number);
  sender.completed.push_back(number);
  settle(sender);
}

// In the order in which the rank completed them, so that nothing hangs on the order of events.
void UnattendedSends::settle(Rank& sender) {
  while (!sender.completed.empty() && sends_[sender.completed.front()].attended) {
    const std::uint32_t number = sender.completed.front();
    sender.completed.pop_front();
    count(sender, number);
  }
}

void UnattendedSends::count(Rank& sender, std::uint32_t number) {
  sends_.give_back(number);
  const Send& send = sends_[number];
  if (*send.attended <= send.left) return;
  // What the rank waits for anyway it need not wait for twice.
  const Time waited = send.waited - std::exchange(sender.waited_before, send.waited);
  const Time early = std::max(*send.attended - std::max(send.left, sender.late_until), Time());
  sender.early = std::max(sender.early - waited, Time()) + early;
  sender.late_until = std::max(sender.late_until, *send.attended);
  sender.places[{send.name, send.site, send.receiver.value}] += early;
}

// Those before which no rank sends any more.
void UnattendedSends::forget_stays() {
  Time least = Time::max();
  for (const Rank& rank : ranks_)
    if (!rank.ended) least = std::min(least, rank.until);
  stays_ = 0;
  for (Rank& rank : ranks_) {
    std::erase_if(rank.stays, [least](const Stay& stay) { return stay.to < least; });
    stays_ += rank.stays.size();
  }
  most_stays_ = std::max(most_stays_, 2 * stays_);
}

std::optional<Unattended> UnattendedSends::most(Time end) const {
  std::optional<Unattended> worst;
  for (std::size_t at = 0; at < ranks_.size(); ++at) {
    const Rank& rank = ranks_[at];
    const Time hidden = rank.waited - rank.waited_before + std::max(end - rank.until, Time());
    if (rank.early <= hidden || (worst && rank.early - hidden <= worst->early)) continue;
    const auto place =
        std::ranges::max_element(rank.places, {}, [](const auto& each) { return each.second; });
    const auto& [name, site, receiver] = place->first;
    worst = Unattended{WorldRank(static_cast<std::int32_t>(at)), rank.early - hidden,
                       WorldRank(receiver), name, site};
  }
  return worst;
}

}  // namespace foretrace::analysis
