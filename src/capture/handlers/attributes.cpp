#include <algorithm>
#include <utility>
#include <vector>

#include "capture/handlers/handlers.hpp"
#include "capture/handlers/posting.hpp"

namespace foretrace::capture {
namespace {

std::vector<int> own_keyvals;  // of MPI_COMM_SELF's attributes, in the order in which they were set

}  // namespace

int attribute_set(Fn fn, MPI_Comm comm, int keyval, Real real) {
  const int result = generic(fn, real);
  if (comm == MPI_COMM_SELF && !is_refused(result) && session.active()) {
    std::erase(own_keyvals, keyval);
    own_keyvals.push_back(keyval);
  }
  return result;
}

int attribute_deleted(Fn fn, MPI_Comm comm, int keyval, Real real) {
  const int result = generic(fn, real);
  if (comm == MPI_COMM_SELF && !is_refused(result)) std::erase(own_keyvals, keyval);
  return result;
}

void delete_own_attributes() {
  if (!session.active() || own_keyvals.empty()) return;
  // An error of these functions ends no program in MPI_Finalize.
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(MPI_COMM_SELF, &before);
  PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  while (!own_keyvals.empty()) {
    const int last = own_keyvals.back();
    own_keyvals.pop_back();
    PMPI_Comm_delete_attr(MPI_COMM_SELF, last);
  }
  PMPI_Comm_set_errhandler(MPI_COMM_SELF, before);
}

}  // namespace foretrace::capture
