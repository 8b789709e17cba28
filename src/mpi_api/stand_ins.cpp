#include "mpi_api/stand_ins.hpp"

#include <algorithm>
#include <iterator>

namespace foretrace::mpi_api {
namespace {

struct Row {
  StandInKind kind;
  std::string_view function;
  std::string_view stand_in;
};

constexpr Row kRows[] = {
#define FORETRACE_STAND_IN(kind, function, stand_in) {StandInKind::kind, function, stand_in},
#include "mpi_stand_ins.inc"
#undef FORETRACE_STAND_IN
};

}  // namespace

std::string_view stand_in_for(StandInKind kind, std::string_view function) {
  const auto* const row = std::ranges::find_if(
      kRows, [&](const Row& each) { return each.kind == kind && each.function == function; });
  return row == std::end(kRows) ? std::string_view() : row->stand_in;
}

}  // namespace foretrace::mpi_api
