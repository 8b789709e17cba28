// LiveSource: processes that ranks start.
#include <algorithm>
#include <numeric>
#include <utility>

#include "live/live_source.hpp"
#include "shared/birth.hpp"
#include "shared/heap.hpp"

namespace foretrace::live {

bool LiveSource::starts(WorldRank rank) const {
  return rank.value < SharedMemory::header().world;
}

std::vector<WorldRank> LiveSource::take_started() {
  return std::exchange(begun_, {});
}

// The processes that a rank asks for, if there is room for all of them: with a
// world of their own, and an inter-communicator with those that asked.
void LiveSource::spawn(const Record& record, Answer& answer) {
  answer.context = 0;
  answer.member_count = 0;
  SpawnRequest request = spawn_request({SharedMemory::at<char>(record.list), record.list_count});
  heap::free(record.list);
  int count = 0;
  for (const Application& application : request.applications) count += application.count;
  const int first = processes_.wanted();
  if (count > ranks_ - first) return;

  std::vector<WorldRank> children, together;
  for (int i = 0; i < count; ++i) children.emplace_back(first + i);
  for (const std::int32_t parent : request.parents) together.emplace_back(parent);
  together.insert(together.end(), children.begin(), children.end());
  const std::size_t parents = request.parents.size();
  const std::uint64_t place =
      allocate(sizeof(Birth) + (2 * children.size() + parents) * sizeof(std::int32_t));
  Birth& birth = *new (SharedMemory::at<Birth>(place)) Birth;
  birth.readers.store(static_cast<std::uint32_t>(count), std::memory_order_relaxed);
  birth.world = add_comm(std::move(children));
  birth.together = add_comm(std::move(together));
  birth.children = count;
  birth.parents = static_cast<std::int32_t>(parents);
  std::iota(birth.ranks(), birth.ranks() + count, first);
  std::copy(request.parents.begin(), request.parents.end(), birth.parent_ranks());
  std::int32_t* number = birth.applications();
  for (std::size_t i = 0; i < request.applications.size(); ++i) {
    Application& application = request.applications[i];
    number = std::fill_n(number, application.count, static_cast<std::int32_t>(i));
    processes_.add(std::move(application.words), std::move(application.directory),
                   application.count);
  }
  place_world(first, count);
  for (int i = 0; i < count; ++i) {
    SharedMemory::slot(first + i).birth = place;
    begun_.emplace_back(first + i);
    standstill_.starts(WorldRank(first + i));
  }
  answer.context = birth.together;
  answer.first = first;
  answer.member_count = static_cast<std::uint32_t>(count);
}

}  // namespace foretrace::live
