#include "formats/dumpi_comms.hpp"

#include <algorithm>
#include <tuple>

namespace foretrace::formats {

DumpiComms::DumpiComms(int ranks)
    : creations_(static_cast<std::size_t>(ranks)), resolved_(static_cast<std::size_t>(ranks)) {
  comms_.emplace_back();
  for (int r = 0; r < ranks; ++r) comms_.front().members.push_back(WorldRank(r));
  for (int r = 0; r < ranks; ++r) {
    self_.push_back(static_cast<std::int64_t>(comms_.size()));
    comms_.push_back({comms_.size(), {WorldRank(r)}});
  }
}

std::int64_t DumpiComms::find(int rank, std::int64_t number, std::size_t made) const {
  const auto r = static_cast<std::size_t>(rank);
  if (number == kDumpiWorld) return 0;
  if (number == kDumpiSelf) return self_[r];
  for (std::size_t i = std::min(made, resolved_[r].size()); i-- > 0;)
    if (creations_[r][i].made == number) return resolved_[r][i];
  return -1;
}

// What the next creation of a rank is made of; -1: it has no further one, or it is not known.
std::int64_t DumpiComms::parent(int rank) const {
  const auto r = static_cast<std::size_t>(rank);
  const std::size_t next = resolved_[r].size();
  return next < creations_[r].size() ? find(rank, creations_[r][next].from, next) : -1;
}

std::uint64_t DumpiComms::resolve() {
  std::vector<std::size_t> waiting(comms_.size());  // by communicator: members that stand there
  std::vector<int> moved;
  for (int r = 0; r < static_cast<int>(creations_.size()); ++r) moved.push_back(r);
  while (!moved.empty()) {
    const int rank = moved.back();
    moved.pop_back();
    const auto r = static_cast<std::size_t>(rank);
    const std::int64_t comm = parent(rank);
    if (comm < 0) {
      // Of an unknown one nothing is known either.
      if (resolved_[r].size() < creations_[r].size()) {
        resolved_[r].push_back(-1);
        moved.push_back(rank);
      }
      continue;
    }
    const auto at = static_cast<std::size_t>(comm);
    if (++waiting[at] < comms_[at].members.size()) continue;
    waiting[at] = 0;
    for (const WorldRank member : comms_[at].members) moved.push_back(member.value);
    resolve_on(comm);
    waiting.resize(comms_.size());
  }
  std::uint64_t lost = 0;
  for (std::size_t r = 0; r < creations_.size(); ++r) {
    lost += creations_[r].size() - resolved_[r].size();
    resolved_[r].resize(creations_[r].size(), -1);
  }
  return lost;
}

// All members of `comm` make their next one of it.
void DumpiComms::resolve_on(std::int64_t comm) {
  struct Part {
    std::int64_t color, key;
    std::size_t place;
    std::int32_t rank;
  };
  std::vector<Part> parts;
  const std::vector<WorldRank> members = comms_[static_cast<std::size_t>(comm)].members;
  for (std::size_t place = 0; place < members.size(); ++place) {
    const auto r = static_cast<std::size_t>(members[place].value);
    const DumpiCreation& creation = creations_[r][resolved_[r].size()];
    resolved_[r].push_back(-1);
    if (creation.made != kDumpiNull)
      parts.push_back({creation.color, creation.key, place, members[place].value});
  }
  std::ranges::sort(parts, {},
                    [](const Part& part) { return std::tuple(part.color, part.key, part.place); });
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i == 0 || parts[i].color != parts[i - 1].color) comms_.push_back({comms_.size(), {}});
    comms_.back().members.push_back(WorldRank(parts[i].rank));
    resolved_[static_cast<std::size_t>(parts[i].rank)].back() =
        static_cast<std::int64_t>(comms_.size()) - 1;
  }
}

}  // namespace foretrace::formats
