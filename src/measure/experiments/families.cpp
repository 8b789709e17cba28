#include "measure/experiments/families.hpp"

#include "measure/experiments/scratch_file.hpp"

namespace foretrace::measure {
namespace {

using Make =
    std::function<std::vector<Experiment>(const Group&, std::uint64_t bytes, Buffers& buffers)>;

void add_file_families(const std::string& path, std::vector<Family>& all) {
  all.push_back({"files", false, Scope::counts, Sizes::files, true,
                 [path](const Group& group, std::uint64_t bytes, Buffers& buffers) {
                   return file_experiments(group, bytes, buffers, path);
                 },
                 kMostFileBytes});
  all.push_back({"opening files", false, Scope::counts, Sizes::none, false,
                 [path](const Group& group, std::uint64_t, Buffers&) {
                   return file_opening_experiments(group, path);
                 }});
}

}  // namespace

std::vector<Family> families(const Facilities& facilities) {
  // Rows of long messages take long and tell what shorter ones tell.
  constexpr std::uint64_t kMostRow = 1 << 20;
  const Make ranks_alone = [](const Group& group, std::uint64_t, Buffers& buffers) {
    return barrier_experiments(group, buffers);
  };
  const Make barrier_halves = [](const Group& group, std::uint64_t, Buffers& buffers) {
    return barrier_halves_experiments(group, buffers);
  };
  const Make fences = [](const Group& group, std::uint64_t, Buffers&) {
    return fence_experiments(group);
  };
  const Make local = [](const Group& group, std::uint64_t, Buffers&) {
    return local_experiments(group);
  };
  std::vector<Family> all{
      {"point to point", true, Scope::pair, Sizes::all, false, point_to_point_experiments,
       UINT64_MAX, false, true, true},
      {"send modes", false, Scope::pair, Sizes::few, false, send_mode_experiments},
      {"rows of messages", true, Scope::pair, Sizes::all, false, row_experiments, kMostRow, false,
       false, true},
      {"rewriting", true, Scope::pair, Sizes::all, false, rewriting_experiments, kMostCached},
      {"rewriting after collectives", false, Scope::pair, Sizes::followed, true,
       collective_rewriting_experiments},
      {"pieces", false, Scope::pair, Sizes::pieces, false, pieces_experiments},
      {"one-sided", false, Scope::pair, Sizes::few, false, one_sided_experiments, UINT64_MAX, true},
      {"contention", facilities.hosts, Scope::counts, Sizes::few, true, contention_experiments},
      {"collective", true, Scope::counts, Sizes::doubles, true, collective_experiments, UINT64_MAX,
       false, true, true},
      {"other collectives", false, Scope::counts, Sizes::few, true, other_collective_experiments,
       UINT64_MAX, false, true},
      {"non-blocking collectives", false, Scope::counts, Sizes::few, true, nonblocking_experiments},
      {"blocks", false, Scope::counts, Sizes::blocks, true, block_experiments},
      {"halves", false, Scope::counts, Sizes::few, true, halves_experiments},
      {"ranks alone", true, Scope::counts, Sizes::none, false, ranks_alone},
      {"barriers of halves", false, Scope::counts, Sizes::none, false, barrier_halves},
      {"fences", false, Scope::counts, Sizes::none, false, fences, UINT64_MAX, true},
      {"local calls", false, Scope::pair, Sizes::none, false, local},
  };
  if (!facilities.windows) std::erase_if(all, [](const Family& family) { return family.windows; });
  if (!facilities.scratch_file.empty()) add_file_families(facilities.scratch_file, all);
  return all;
}

}  // namespace foretrace::measure
