#include "trace/whole_reader.hpp"

namespace foretrace::trace {

bool WholeReader::next(WorldRank rank, Event& event) {
  if (!reader_.next(rank, event)) return false;
  if (rank != rank_) {
    rank_ = rank;
    numbers_ = Numbers();
  }
  const auto known = [](auto& numbers, std::size_t own) -> auto& {
    if (numbers.size() <= own) numbers.resize(own + 1, 0);
    return numbers[own];
  };
  NameId& name = known(numbers_.names, event.name);
  if (name == 0) {
    const std::string& text = reader_.name(rank, event.name);
    const auto [entry, added] = name_ids_.emplace(text, static_cast<NameId>(names_.size()));
    if (added) names_.push_back(text);
    name = entry->second + 1;
  }
  event.name = name - 1;
  if (const Counts* counts = reader_.counts(rank, event)) {
    const auto [entry, added] = counts_ids_.try_emplace(*counts);
    if (added) {
      counts_.push_back(*counts);
      entry->second = static_cast<CountsId>(counts_.size());
    }
    event.counts = entry->second;
  }
  if (event.site == 0) return true;
  SiteId& number = known(numbers_.sites, event.site);
  if (number == 0) {
    const Site& site = reader_.site(rank, event.site);
    const auto [entry, added] = site_ids_.try_emplace({site.object, site.offset});
    if (added) {
      sites_.push_back(site);
      entry->second = static_cast<SiteId>(sites_.size());
    }
    number = entry->second;
  }
  event.site = number;
  return true;
}

void WholeReader::rewind(WorldRank rank) {
  reader_.rewind(rank);
  if (rank == rank_) rank_ = WorldRank();
}

}  // namespace foretrace::trace
