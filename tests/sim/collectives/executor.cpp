#include "executor.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace foretrace::sim::test {
namespace {

struct Message {
  std::uint64_t bytes = 0;
  std::uint64_t begin = 0;
  std::uint64_t sent_by = 0;  // the sender's port is free again
  Ranks heard;
  bool taken = false;
};

struct Receive {
  std::uint64_t bytes = 0;
  std::uint64_t reduced = 0;
  std::uint64_t posted = 0;  // when
  std::shared_ptr<Message> message;
};

struct Channel {
  std::deque<std::shared_ptr<Message>> messages;
  std::deque<std::shared_ptr<Receive>> receives;
};

class Execution {
 public:
  Execution(const Algorithm& algorithm, const CollectiveCall& call, Sends sends, Costs costs,
            const std::vector<trace::Counts>& counts)
      : algorithm_(algorithm),
        call_(call),
        sends_(sends),
        costs_(costs),
        counts_(counts),
        ranks_(call.size) {
    result_.ranks.resize(call.size);
    for (int rank = 0; rank < call.size; ++rank)
      result_.ranks[rank].heard.set(static_cast<std::size_t>(rank));
  }

  Result run() {
    bool moved = true;
    while (moved && result_.fault.empty()) {
      moved = false;
      for (int rank = 0; rank < call_.size; ++rank)
        while (result_.fault.empty() && advance(rank)) moved = true;
    }
    for (int rank = 0; rank < call_.size; ++rank)
      if (!ranks_[rank].done) fault(rank, "never ends");
    for (const auto& [ends, channel] : channels_)
      if (!channel.messages.empty() || !channel.receives.empty())
        fault(ends.first,
              "has an unmatched message or receive with " + std::to_string(ends.second));
    return std::move(result_);
  }

 private:
  struct Rank {
    std::uint32_t index = 0;
    bool waiting = false;
    bool done = false;
    bool last = false;
    std::uint64_t sending_until = 0;
    std::uint64_t receiving_until = 0;
    std::vector<std::shared_ptr<Message>> sends;
    std::vector<std::shared_ptr<Receive>> receives;
  };

  void fault(int rank, const std::string& what) {
    if (result_.fault.empty())
      result_.fault = "rank " + std::to_string(rank) + " step " +
                      std::to_string(ranks_[rank].index) + ": " + what;
  }

  std::uint64_t cost(std::uint64_t bytes) const { return costs_.alpha + costs_.beta * bytes; }

  bool valid(int rank, int other) {
    if (other >= 0 && other < call_.size && other != rank) return true;
    fault(rank, "partner " + std::to_string(other));
    return false;
  }

  // One step further, or one wait finished; false if it has to wait.
  bool advance(int number) {
    Rank& rank = ranks_[number];
    if (rank.done) return false;
    if (rank.waiting) return finish_waiting(number);
    CollectiveCall call = call_;
    call.rank = number;
    if (!counts_.empty()) call.counts = counts_[static_cast<std::size_t>(number)];
    Step step;
    if (!algorithm_.step(call, rank.index, step)) {
      for (std::uint32_t i = 1; i < 4; ++i)
        if (algorithm_.step(call, rank.index + i, step)) fault(number, "goes on after its end");
      rank.last = rank.waiting = true;
      return true;
    }
    if (step.kind != Step::Kind::nothing) start(number, step);
    ++rank.index;
    return true;
  }

  void start(int number, const Step& step) {
    Rank& rank = ranks_[number];
    const bool exchange = step.kind == Step::Kind::exchange;
    const bool sends = step.kind == Step::Kind::post_send || (exchange && step.to != kNobody);
    const bool receives = step.kind == Step::Kind::post_recv || (exchange && step.from != kNobody);
    if (!sends && !receives && step.kind != Step::Kind::wait_all) fault(number, "an empty step");
    if ((sends && !valid(number, step.to)) || (receives && !valid(number, step.from))) return;
    if (!sends && (step.to != kNobody || step.send_bytes.count != 0))
      fault(number, "sends nothing");
    if (!receives && (step.from != kNobody || step.recv_bytes.count != 0))
      fault(number, "receives nothing");
    if (step.reduced.count != 0 && !exchange) fault(number, "combines what is not there yet");
    if (sends) send(number, step);
    if (receives) receive(number, step);
    // A blocking step waits for itself alone; with something posted there is no
    // such mixture in any algorithm but at the start of one.
    if (exchange &&
        rank.sends.size() + rank.receives.size() > (sends ? 1u : 0u) + (receives ? 1u : 0u))
      fault(number, "blocks while something is posted");
    rank.waiting = exchange || step.kind == Step::Kind::wait_all;
  }

  void send(int number, const Step& step) {
    Rank& rank = ranks_[number];
    auto message = std::make_shared<Message>();
    RankResult& own = result_.ranks[number];
    message->bytes = step.send_bytes.count;
    message->begin = std::max(own.time, rank.sending_until);
    message->sent_by = rank.sending_until = message->begin + cost(message->bytes);
    message->heard = own.heard;
    own.sent += message->bytes;
    rank.sends.push_back(message);
    Channel& channel = channels_[{number, step.to}];
    channel.messages.push_back(message);
    match(channel);
  }

  void receive(int number, const Step& step) {
    auto receive = std::make_shared<Receive>();
    receive->bytes = step.recv_bytes.count;
    receive->reduced = step.reduced.count;
    receive->posted = result_.ranks[number].time;
    ranks_[number].receives.push_back(receive);
    Channel& channel = channels_[{step.from, number}];
    channel.receives.push_back(receive);
    match(channel);
  }

  static void match(Channel& channel) {
    while (!channel.messages.empty() && !channel.receives.empty()) {
      channel.messages.front()->taken = true;
      channel.receives.front()->message = channel.messages.front();
      channel.messages.pop_front();
      channel.receives.pop_front();
    }
  }

  bool finish_waiting(int number) {
    Rank& rank = ranks_[number];
    RankResult& own = result_.ranks[number];
    for (const auto& message : rank.sends)
      if (sends_ == Sends::synchronous && !message->taken) return false;
    for (const auto& receive : rank.receives)
      if (!receive->message) return false;
    for (const auto& message : rank.sends) own.time = std::max(own.time, message->sent_by);
    for (const auto& receive : rank.receives) take(number, *receive);
    rank.sends.clear();
    rank.receives.clear();
    rank.waiting = false;
    rank.done = rank.last;
    return true;
  }

  void take(int number, const Receive& receive) {
    RankResult& own = result_.ranks[number];
    const Message& message = *receive.message;
    if (message.bytes != receive.bytes)
      fault(number, "expects " + std::to_string(receive.bytes) + " bytes and gets " +
                        std::to_string(message.bytes));
    if (receive.reduced != 0 && (message.heard & own.heard).any()) own.combined_twice = true;
    own.heard |= message.heard;
    std::uint64_t& port = ranks_[number].receiving_until;
    port = std::max({message.begin, receive.posted, port}) + cost(message.bytes);
    own.time = std::max(own.time, port);
    own.bytes += message.bytes;
    own.reduced += receive.reduced;
    ++own.messages;
  }

  const Algorithm& algorithm_;
  CollectiveCall call_;
  Sends sends_;
  Costs costs_;
  const std::vector<trace::Counts>& counts_;
  std::vector<Rank> ranks_;
  std::map<std::pair<int, int>, Channel> channels_;
  Result result_;
};

std::uint64_t sum(const Result& result, std::uint64_t RankResult::*member) {
  return std::accumulate(
      result.ranks.begin(), result.ranks.end(), std::uint64_t{0},
      [=](std::uint64_t total, const RankResult& rank) { return total + rank.*member; });
}

}  // namespace

std::uint64_t Result::time() const {
  std::uint64_t latest = 0;
  for (const RankResult& rank : ranks) latest = std::max(latest, rank.time);
  return latest;
}

std::uint64_t Result::messages() const {
  return sum(*this, &RankResult::messages);
}

std::uint64_t Result::bytes() const {
  return sum(*this, &RankResult::bytes);
}

std::uint64_t Result::reduced() const {
  return sum(*this, &RankResult::reduced);
}

Result execute(const Algorithm& algorithm, CollectiveCall call, Sends sends, Costs costs,
               const std::vector<trace::Counts>& counts) {
  return Execution(algorithm, call, sends, costs, counts).run();
}

const Algorithm& named(machine::Cost collective, std::string_view name) {
  for (const Algorithm& algorithm : algorithms_for(collective))
    if (algorithm.name == name) return algorithm;
  throw std::logic_error("no such algorithm");
}

}  // namespace foretrace::sim::test
