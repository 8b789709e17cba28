#include "measure/families.hpp"

namespace foretrace::measure {

std::vector<Family> families() {
  return {
      {"point to point", Scope::pair, Sizes::all, false, point_to_point_experiments},
      {"collective", Scope::counts, Sizes::doubles, true, collective_experiments},
      {"ranks alone", Scope::counts, Sizes::none, false,
       [](const Group& group, std::uint64_t, Buffers& buffers) {
         return barrier_experiments(group, buffers);
       }},
  };
}

}  // namespace foretrace::measure
