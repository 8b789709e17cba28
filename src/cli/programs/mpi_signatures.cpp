#include "cli/programs/mpi_signatures.hpp"

namespace foretrace::cli {
namespace {

#define FORETRACE_SIGNATURE(name, result, parameters, arguments) \
  {name, result, parameters, arguments},
#ifdef FORETRACE_WITH_OPENMPI
constexpr wrap::MpiFunction kOpenmpiSignatures[] = {
#include "openmpi/mpi_signatures.inc"
};
#endif
#ifdef FORETRACE_WITH_MPICH
constexpr wrap::MpiFunction kMpichSignatures[] = {
#include "mpich/mpi_signatures.inc"
};
#endif
#undef FORETRACE_SIGNATURE

}  // namespace

std::span<const wrap::MpiFunction> signatures_of([[maybe_unused]] std::string_view mpi) {
#ifdef FORETRACE_WITH_OPENMPI
  if (mpi == "openmpi") return kOpenmpiSignatures;
#endif
#ifdef FORETRACE_WITH_MPICH
  if (mpi == "mpich") return kMpichSignatures;
#endif
  return {};
}

}  // namespace foretrace::cli
