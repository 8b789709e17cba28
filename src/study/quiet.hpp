// Whether a measurement has this host for itself, and what of the environment it depends on.
#pragma once

#include <string>

namespace foretrace::study {

// Waits until others use at most `limit` of the processors (0 to 1) over 50 ms, at most `seconds`.
// The last share that was seen; 0 where the system does not tell.
double wait_for_quiet(double limit, double seconds);

// Variables that change how programs run (OMP_..., OMPI_MCA_..., MPICH_..., UCX_...), the
// processors and the kernel, as a JSON object; the same text for the same environment.
std::string environment_that_matters();

}  // namespace foretrace::study
