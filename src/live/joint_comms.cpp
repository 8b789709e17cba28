#include "live/joint_comms.hpp"

#include <algorithm>

namespace foretrace::live {

trace::CommId JointComms::join(WorldRank rank, const Wish& wish,
                               const std::function<trace::CommId(std::vector<WorldRank>)>& make) {
  std::deque<Begun>& begun = begun_[wish];
  auto next = std::ranges::find_if(
      begun, [rank](const Begun& each) { return std::ranges::count(each.joined, rank) == 0; });
  if (next == begun.end()) next = begun.insert(next, {make(wish.members), {}});
  next->joined.push_back(rank);
  const trace::CommId comm = next->comm;
  if (next->joined.size() == wish.members.size()) begun.erase(next);
  if (begun.empty()) begun_.erase(wish);
  return comm;
}

}  // namespace foretrace::live
