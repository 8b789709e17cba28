#include "cli/machines/function_list.hpp"

#include <algorithm>

namespace foretrace::cli {
namespace {

#define FORETRACE_FUNCTION(name, klass) {#name, #klass},
#ifdef FORETRACE_WITH_OPENMPI
constexpr ListedFunction kOpenmpi[] = {
#include "openmpi/mpi_functions.inc"
};
#endif
#ifdef FORETRACE_WITH_MPICH
constexpr ListedFunction kMpich[] = {
#include "mpich/mpi_functions.inc"
};
#endif
#undef FORETRACE_FUNCTION

}  // namespace

std::vector<ListedFunction> functions_of([[maybe_unused]] std::string_view mpi) {
#ifdef FORETRACE_WITH_OPENMPI
  if (mpi == "openmpi") return {std::begin(kOpenmpi), std::end(kOpenmpi)};
#endif
#ifdef FORETRACE_WITH_MPICH
  if (mpi == "mpich") return {std::begin(kMpich), std::end(kMpich)};
#endif
  return {};
}

bool carries_no_time(std::string_view function) {
  for (const char* mpi : {"openmpi", "mpich"}) {
    const auto list = functions_of(mpi);
    const auto found = std::ranges::find(list, function, &ListedFunction::name);
    if (found != list.end()) return found->treatment.starts_with("untreated");
  }
  return false;
}

std::string note_of_untimed(std::string_view list) {
  std::string note = "these calls carry no virtual time yet: ";
  note += list;
  // Processes that are not followed: what is called on a communicator with them is a state.
  if (list.find("MPI_Comm_") != std::string_view::npos ||
      list.find("MPI_Intercomm_") != std::string_view::npos)
    note += "; nor does any call on the communicators that they made";
  return note;
}

}  // namespace foretrace::cli
