#include "sim/collectives/rounds.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

namespace foretrace::sim {
namespace {

// All ranks' steps against each other, where a message is there as soon as it is sent.
class Rounds {
 public:
  Rounds(const Algorithm& algorithm, const CollectiveCall& call, std::size_t most)
      : algorithm_(algorithm),
        call_(call),
        most_(most),
        ranks_(static_cast<std::size_t>(call.size)) {}

  std::vector<RoundMessage> run() {
    bool moved = true;
    while (moved && messages_.size() <= most_) {
      moved = false;
      for (int rank = 0; rank < call_.size; ++rank)
        while (messages_.size() <= most_ && advance(rank)) moved = true;
    }
    if (messages_.size() > most_) return {};
    std::ranges::stable_sort(messages_, {}, [](const RoundMessage& message) {
      return std::pair(message.round, message.from);
    });
    return std::move(messages_);
  }

 private:
  struct Rank {
    std::uint32_t next = 0;    // step
    int finished = 0;          // round
    int sent = 0;              // the last round that it sent in
    std::vector<int> awaited;  // senders, in the order of its receives
    bool waiting = false;
    bool ended = false;
  };

  bool advance(int number) {
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    if (rank.waiting) return finish(number, rank);
    if (rank.ended) return false;
    CollectiveCall call = call_;
    call.rank = number;
    Step step;
    if (!algorithm_.step(call, rank.next++, step)) {
      rank.waiting = rank.ended = true;  // for what is posted
      return true;
    }
    if (step.to != kNobody) {
      rank.sent = rank.finished + 1;
      messages_.push_back({rank.sent, number, step.to, step.send_bytes});
      channels_[{number, step.to}].push_back(rank.sent);
    }
    if (step.from != kNobody) rank.awaited.push_back(step.from);
    rank.waiting = step.kind == Step::Kind::exchange || step.kind == Step::Kind::wait_all;
    return true;
  }

  // Takes what is awaited; false where not all of it is there.
  bool finish(int number, Rank& rank) {
    while (!rank.awaited.empty()) {
      std::deque<int>& channel = channels_[{rank.awaited.front(), number}];
      if (channel.empty()) return false;
      rank.finished = std::max(rank.finished, channel.front());
      channel.pop_front();
      rank.awaited.erase(rank.awaited.begin());
    }
    rank.finished = std::max(rank.finished, rank.sent);
    rank.waiting = false;
    return true;
  }

  const Algorithm& algorithm_;
  const CollectiveCall& call_;
  std::size_t most_;
  std::vector<Rank> ranks_;
  std::map<std::pair<int, int>, std::deque<int>> channels_;  // rounds of what is on its way
  std::vector<RoundMessage> messages_;
};

}  // namespace

std::vector<RoundMessage> rounds_of(const Algorithm& algorithm, CollectiveCall call,
                                    std::size_t most) {
  return Rounds(algorithm, call, most).run();
}

}  // namespace foretrace::sim
