// Posted collectives as messages. What a rank has posted goes on without it: step after step as
// soon as the one before is over, from the same ports and over the same links as what the rank
// itself sends. docs/collectives.md has the rules.

#include <algorithm>
#include <utility>

#include "sim/engine_impl.hpp"

namespace foretrace::sim {
namespace {

// A request of a posted collective's own: which one, and which of its open parts.
std::uint64_t part_request(std::uint32_t at, std::size_t part) {
  return kPartRequest | std::uint64_t{at} << 32 | part;
}
std::uint32_t posted_of(std::uint64_t request) {
  return static_cast<std::uint32_t>((request & ~kPartRequest) >> 32);
}
std::uint32_t part_of(std::uint64_t request) {
  return static_cast<std::uint32_t>(request);
}

// In the rank's name, beside what it does itself.
class Acting {
 public:
  Acting(Rank& rank, const PostedCollective& posted)
      : rank_(rank), operation_(rank.operation), enter_(rank.enter) {
    rank.operation = Operation();
    rank.operation.comm = posted.comm | kCollectiveComm | kPostedComm;
    rank.enter = posted.clock;
  }
  ~Acting() {
    rank_.operation = operation_;
    rank_.enter = enter_;
  }
  Acting(const Acting&) = delete;
  Acting& operator=(const Acting&) = delete;

 private:
  Rank& rank_;
  Operation operation_;
  Time enter_;
};

}  // namespace

// The members stay known, also where the communicator is freed meanwhile.
std::shared_ptr<const std::vector<WorldRank>> Engine::members_of(trace::CommId comm) {
  auto& known = posting_members_[comm];
  if (!known) known = std::make_shared<const std::vector<WorldRank>>(source_.comm(comm).members);
  return known;
}

// The rank has posted its operation and leaves at rank.leave.
void Engine::post_messages(Rank& rank, Request& request, Collectives::Place place) {
  const Operation& operation = rank.operation;
  if (!by_time_) fail(rank, "posts a collective, but its source says that there are none");
  const std::uint32_t at = posted_.take({});
  request.expanded = true;
  request.tag = static_cast<std::int32_t>(at);
  PostedCollective& posted = posted_[at];
  posted.rank = rank.id;
  posted.request = operation.request;
  posted.comm = operation.comm;
  posted.members = members_of(operation.comm);
  posted.tag = static_cast<std::int32_t>(place.number & INT32_MAX);
  posted.number = posted_count_++;
  posted.call = call_of(operation, place.local);
  posted.counts.assign(posted.call.counts.begin(), posted.call.counts.end());
  posted.call.counts = posted.counts;
  posted.blocks = stands_for_blocking(operation);
  posted.step = steps_of(posted.call, operation.algorithm);
  posted.combines = operation.reduction;
  posted.clock = rank.racing ? std::max(rank.leave, rank.racing->told) : rank.leave;
  posted.since = posted.clock;
  go_on_later(at);
}

void Engine::go_on_later(std::uint32_t at) {
  const PostedCollective& posted = posted_[at];
  if (posted.clock > kEndOfTime) too_late(rank_of(posted.rank));
  events_.push({posted.clock, EventClass::progress, posted.rank.value, posted.number, at});
}

// Goes through the steps that begin now.
void Engine::go_on(std::uint32_t at) {
  const Time now = posted_[at].clock;
  while (posted_[at].clock == now) {
    PostedCollective& posted = posted_[at];
    switch (posted.stage) {
      case PostedCollective::Stage::receive:
        if (!take_step(posted)) return end_posted(at);
        if (posted.at_hand.from != kNobody) post_part(at, false);
        posted.stage = PostedCollective::Stage::send;
        break;
      case PostedCollective::Stage::send:
        if (posted.at_hand.to != kNobody) post_part(at, true);
        posted.stage = PostedCollective::Stage::wait;
        break;
      case PostedCollective::Stage::wait:
        if (!wait_for_parts(posted)) return;
        end_step(posted);
        if (in_calls_) return go_on_later(at);
        break;
    }
  }
  go_on_later(at);
}

// False after the last one.
bool Engine::take_step(PostedCollective& posted) {
  Step& step = posted.at_hand;
  posted.waits_from = posted.open.size();
  if (!take_from(posted, step)) return false;
  if (step.kind == Step::Kind::wait_all) posted.waits_from = 0;
  return true;
}

// Posts a send or a receive of the step at hand.
void Engine::post_part(std::uint32_t at, bool sends) {
  PostedCollective& posted = posted_[at];
  Rank& rank = rank_of(posted.rank);
  const Acting acting(rank, posted);
  const Step& step = posted.at_hand;
  trace::Endpoint end;
  end.peer = (*posted.members)[static_cast<std::size_t>(sends ? step.to : step.from)];
  end.tag = posted.tag;
  end.bytes = sends ? step.send_bytes : step.recv_bytes;
  const std::uint64_t request = part_request(at, posted.open.size());
  PostedCollective::Part part;
  part.peer = end.peer;
  part.is_send = sends;
  if (!sends) {
    posted.open.push_back(part);
    rank.operation.recv = end;
    posted.clock = post_receive_leave(rank);
    return connect_recv(rank, machine::RecvKind::posted, request);
  }
  rank.operation.send = end;
  const machine::SendMode mode = machine::SendMode::standard;
  const bool rendezvous = network_->is_rendezvous(path_of(rank, end), mode, end.bytes);
  const SendTimes times =
      network_->begin_send(rank.id, end.peer, posted.clock, mode, end.bytes, true, false);
  const bool attended = !rendezvous && is_attended(rank, end, mode);
  part.done = !rendezvous && !attended;
  part.end = times.end;
  part.bytes = end.bytes;
  posted.open.push_back(part);
  const std::uint64_t stalled = attended ? end_when_attended(rank, request, times) : 0;
  posted.clock = times.leave;
  if (log_) log_->note_send(rank.id, Time());
  connect_send(rank, times, rendezvous, request, stalled);
}

// Whether the step waits for nothing that is not done.
bool Engine::wait_for_parts(PostedCollective& posted) {
  const Step::Kind kind = posted.at_hand.kind;
  if (kind == Step::Kind::post_send || kind == Step::Kind::post_recv) return true;
  posted.left = 0;
  for (std::size_t i = posted.waits_from; i < posted.open.size(); ++i)
    posted.left += posted.open[i].done ? 0 : 1;
  return posted.left == 0;
}

// A message of a posted collective has ended for one of its ends.
void Engine::part_done(std::uint64_t request, Time end, Bytes bytes) {
  const std::uint32_t at = posted_of(request);
  PostedCollective& posted = posted_[at];
  const std::uint32_t number = part_of(request);
  PostedCollective::Part& part = posted.open[number];
  part.done = true;
  part.end = end;
  part.bytes = bytes;
  if (posted.left == 0 || number < posted.waits_from || --posted.left > 0) return;
  end_step(posted);
  go_on_later(at);
}

void Engine::end_step(PostedCollective& posted) {
  const Step& step = posted.at_hand;
  posted.stage = PostedCollective::Stage::receive;
  if (step.kind == Step::Kind::exchange || step.kind == Step::Kind::wait_all) {
    posted.has_waited = true;
    finished_.clear();
    for (std::size_t i = posted.waits_from; i < posted.open.size(); ++i) {
      const PostedCollective::Part& part = posted.open[i];
      finished_.push_back({part.is_send, part.end, part.bytes,
                           network_->path(posted.rank, part.peer), static_cast<std::uint32_t>(i)});
    }
    if (log_) posted.empty += empty_round(posted);
    Time minimum;
    const Time begin = posted.clock;
    posted.clock =
        std::max(posted.clock, network_->complete(posted.rank, posted.clock, finished_, minimum));
    posted.waited += std::max(posted.clock - begin - minimum, Time());
    posted.open.resize(posted.waits_from);
  }
  if (step.reduced.count > 0) posted.clock += combine_time(posted.combines, step.reduced);
}

// Its last step is over.
void Engine::end_posted(std::uint32_t at) {
  const PostedCollective& posted = posted_[at];
  Rank& rank = rank_of(posted.rank);
  const Time end = posted.clock;
  if (log_) log_posted(posted, end);
  const std::uint64_t request = posted.request;
  const Time alone = posted.blocks ? end - posted.since - posted.waited : Time();
  posted_[at] = {};
  posted_.give_back(at);
  request_done(rank, request, end, {}, static_cast<std::uint64_t>(alone.count_ps()));
}

// What the longest of the messages would take that the step waits for, if it were empty and alone.
Time Engine::empty_round(const PostedCollective& posted) const {
  Time longest;
  for (std::size_t i = posted.waits_from; i < posted.open.size(); ++i) {
    const PostedCollective::Part& part = posted.open[i];
    const machine::Path path = network_->path(posted.rank, part.peer);
    const WorldRank from = part.is_send ? posted.rank : part.peer;
    const WorldRank to = part.is_send ? part.peer : posted.rank;
    longest = std::max(longest, network_->send_overhead(path) + network_->header(from, to, {}) +
                                    network_->receive_overhead(path));
  }
  return longest;
}

// To the graph it is one collective, which takes what its messages took.
void Engine::log_posted(const PostedCollective& posted, Time end) {
  log_->note_unknown();
  if (posted.latest && *posted.latest <= end)
    return log_release({posted.rank, *posted.latest, {}, false, posted.request}, posted.comm, end,
                       std::min(*posted.latest + posted.empty, end));
  Link own;
  own.from = log_->posted(posted.rank, posted.request);
  own.takes = end - (*log_)[own.from].at;
  log_->end_request(posted.rank, posted.request, end, std::span(&own, 1));
}

// nullptr: it is over, or no collective that is carried out as messages.
PostedCollective* Engine::posted_collective(const Request* request) {
  if (!request || !request->expanded || request->done) return nullptr;
  return &posted_[static_cast<std::size_t>(request->tag)];
}

}  // namespace foretrace::sim
