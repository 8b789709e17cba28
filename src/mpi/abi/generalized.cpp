#include "mpi/abi/generalized.hpp"

#include "live_impl.hpp"
#include "mpi/p2p/completion.hpp"
#include "mpi/p2p/request.hpp"

namespace foretrace::mpi::abi {

namespace {
// Fortran's take the extra state by reference, as the program gave it to us.
using FortranQuery = void(void* state, MPI_Fint* status, MPI_Fint* error);
using FortranFree = void(void* state, MPI_Fint* error);
using FortranCancel = void(void* state, MPI_Fint* complete, MPI_Fint* error);

// Stands in for the extra state.
struct FortranFunctions {
  FortranQuery* query;
  FortranFree* free;
  FortranCancel* cancel;
  void* state;
};

int call_query(void* state, MPI_Status* status) {
  const auto& functions = *static_cast<FortranFunctions*>(state);
  MPI_Fint fortran[sizeof(MPI_Status) / sizeof(MPI_Fint)];
  MPI_Fint error = MPI_SUCCESS;
  impl::Status_c2f(status, fortran);
  functions.query(functions.state, fortran, &error);
  impl::Status_f2c(fortran, status);
  return error;
}

int call_free(void* state) {
  auto* const functions = static_cast<FortranFunctions*>(state);
  MPI_Fint error = MPI_SUCCESS;
  functions->free(functions->state, &error);
  delete functions;
  return error;
}

int call_cancel(void* state, int complete) {
  const auto& functions = *static_cast<FortranFunctions*>(state);
  MPI_Fint is_complete = complete;
  MPI_Fint error = MPI_SUCCESS;
  functions.cancel(functions.state, &is_complete, &error);
  return error;
}

template <class To, class From>
To* cast(From* function) {
  return reinterpret_cast<To*>(reinterpret_cast<void*>(function));
}
}  // namespace

void make_fortran(Request& generalized) {
  Request::Generalized& functions = *generalized.generalized();
  functions.state =
      new FortranFunctions{cast<FortranQuery>(functions.query), cast<FortranFree>(functions.free),
                           cast<FortranCancel>(functions.cancel), functions.state};
  functions.query = call_query;
  functions.free = call_free;
  functions.cancel = call_cancel;
}

}  // namespace foretrace::mpi::abi
