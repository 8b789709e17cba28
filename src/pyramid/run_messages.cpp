#include "pyramid/run_messages.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "pyramid/event_times.hpp"

namespace foretrace::pyramid {

using trace::Event;
using trace::EventKind;

Area::Area(std::int64_t end_ps, std::uint32_t level)
    : bin_(static_cast<double>(std::max<std::int64_t>(1, end_ps)) /
           static_cast<double>(std::uint64_t{1} << level)),
      steps_(std::size_t{1} << level),
      inner_(std::size_t{1} << level) {}

void Area::step(std::int64_t at_ps, double height) {
  const double at = static_cast<double>(at_ps);
  const auto bin = std::min(steps_.size() - 1, static_cast<std::size_t>(std::max(0.0, at / bin_)));
  steps_[bin] += height;
  inner_[bin] += height * (static_cast<double>(bin + 1) * bin_ - at);
}

std::vector<double> Area::take() const {
  std::vector<double> areas{0};
  areas.reserve(steps_.size() + 1);
  double height = 0;
  double area = 0;
  for (std::size_t bin = 0; bin < steps_.size(); ++bin) {
    area += height * bin_ + inner_[bin];
    height += steps_[bin];
    areas.push_back(area);
  }
  return areas;
}

std::size_t RunMessages::Hash::operator()(const Key& key) const {
  std::uint64_t mixed = key.comm;
  for (const std::int32_t part : {key.source, key.dest, key.tag})
    mixed = (mixed ^ static_cast<std::uint32_t>(part)) * 0x9e3779b97f4a7c15U;
  return static_cast<std::size_t>(mixed ^ mixed >> 32);
}

void RunMessages::remember(std::uint64_t what) {
  remembered_ += what;
  if (times_ && remembered_ > most_) {
    times_ = false;
    collectives_.clear();
    for (auto& [key, channel] : channels_) std::vector<Sent>().swap(channel.sent);
  }
  if (channels_.size() > most_) {
    counts_ = false;
    channels_.clear();
  }
}

void RunMessages::take_collective(int rank, const Event& event, std::uint64_t comm_key) {
  if (!times_) return;
  auto& all = collectives_[comm_key];
  const std::uint64_t number = next_[comm_key]++;
  if (number == all.size()) all.emplace_back(), remember(1);
  if (!times_) return;
  if (enter_of(event).count_ps() > all[number].at) all[number] = {enter_of(event).count_ps(), rank};
}

void RunMessages::take(int rank, const Event& event, std::uint64_t comm_key) {
  if (!counts_) return;
  if (event.kind == EventKind::collective || event.kind == EventKind::icollective)
    take_collective(rank, event, comm_key);
  if (event.kind == EventKind::irecv) posted_[event.request] = comm_key;
  const bool sends = event.kind == EventKind::send || event.kind == EventKind::isend ||
                     event.kind == EventKind::sendrecv;
  if (sends && event.send.peer.valid()) {
    Channel& to = channel(rank, event.send.peer.value, event.send.tag, comm_key);
    ++to.sends;
    if (times_) to.sent.push_back({enter_of(event).count_ps(), event.send.bytes.count});
    remember(1);
  }
  const bool receives = event.kind == EventKind::recv || event.kind == EventKind::sendrecv ||
                        (event.kind == EventKind::probe && !trace::leaves_message(event));
  if (receives && event.recv.peer.valid() && counts_)
    ++channel(event.recv.peer.value, rank, event.recv.tag, comm_key).receives;
  for (const trace::Completion& done : event.completions) {
    const auto posted = posted_.find(done.request);
    if (posted == posted_.end()) continue;
    if (!done.cancelled && done.source.valid() && counts_)
      ++channel(done.source.value, rank, done.tag, posted->second).receives;
    posted_.erase(posted);
  }
}

void RunMessages::end_rank() {
  next_.clear();
  posted_.clear();
}

void RunMessages::begin(int ranks, std::int64_t end_ps, std::uint32_t level) {
  if (counts_) areas_.assign(2, Area(end_ps, level));
  if (counts_ && times_) delays_.assign(static_cast<std::size_t>(ranks), 0);
}

void RunMessages::add_send(int rank, const Event& event, std::uint64_t comm) {
  Channel& to = channel(rank, event.send.peer.value, event.send.tag, comm);
  if (to.sends_seen++ >= to.receives) return;
  areas_[0].step(enter_of(event).count_ps(), 1);
  areas_[1].step(enter_of(event).count_ps(), static_cast<double>(event.send.bytes.count));
}

void RunMessages::add_receive(int rank, const trace::Endpoint& came, std::uint64_t comm,
                              const Event& done, Cause& cause) {
  Channel& from = channel(came.peer.value, rank, came.tag, comm);
  const std::uint64_t number = from.receives_seen++;
  if (number >= from.sends) return;
  const Sent sent = times_ ? from.sent[number] : Sent{0, came.bytes.count};
  areas_[0].step(leave_of(done).count_ps(), -1);
  areas_[1].step(leave_of(done).count_ps(), -static_cast<double>(sent.bytes));
  if (std::tie(sent.at, came.peer.value) >= std::tie(cause.sent.at, cause.source))
    cause = {sent, came.peer.value};
}

void RunMessages::add_rank(int rank, const std::vector<Event>& events, std::uint64_t count,
                           const std::vector<trace::Communicator>& comms) {
  if (!counts_) return;
  // By the event that posted a receive: what completed it.
  std::unordered_map<std::uint64_t, std::pair<std::uint64_t, const trace::Completion*>> came;
  std::unordered_map<std::uint64_t, std::uint64_t> open;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (events[i].kind == EventKind::irecv) open[events[i].request] = i;
    for (const trace::Completion& done : events[i].completions)
      if (const auto posted = open.find(done.request); posted != open.end()) {
        if (!done.cancelled) came[posted->second] = {i, &done};
        open.erase(posted);
      }
  }
  std::unordered_map<std::uint64_t, Cause> causes;  // by the completing call
  for (std::uint64_t i = 0; i < count; ++i) {
    const Event& event = events[i];
    if (!trace::uses_comm(event)) continue;
    const std::uint64_t comm = comms[event.comm].key;
    const bool call = event.kind == EventKind::call;
    if (!call && event.send.peer.valid()) add_send(rank, event, comm);
    if (event.kind == EventKind::irecv) {
      const auto found = came.find(i);
      if (found == came.end() || !found->second.second->source.valid()) continue;
      const auto& [by, done] = found->second;
      add_receive(rank, {done->source, done->tag, done->bytes}, comm, events[by], causes[by]);
    } else if (!call && event.recv.peer.valid() && !trace::leaves_message(event)) {
      add_receive(rank, event.recv, comm, event, causes[i]);
    }
    if (event.kind != EventKind::collective && event.kind != EventKind::icollective) continue;
    if (delays_.empty()) continue;
    const Last& last = collectives_[comm][next_[comm]++];
    if (last.rank != rank) delays_[static_cast<std::size_t>(last.rank)] += event.wait.count_ps();
  }
  next_.clear();
  if (delays_.empty()) return;
  for (const auto& [by, cause] : causes)
    if (cause.source >= 0)
      delays_[static_cast<std::size_t>(cause.source)] += events[by].wait.count_ps();
}

std::vector<std::vector<double>> RunMessages::areas() const {
  std::vector<std::vector<double>> all;
  for (const Area& area : areas_) all.push_back(area.take());
  return all;
}

std::vector<std::int64_t> RunMessages::delays() const {
  return delays_;
}

}  // namespace foretrace::pyramid
