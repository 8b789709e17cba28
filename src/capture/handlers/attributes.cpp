// The attributes of MPI_COMM_SELF, which MPI_Finalize deletes first.
#include <algorithm>
#include <mutex>
#include <vector>

#include "capture/handlers/handlers.hpp"
#include "capture/handlers/posting.hpp"

namespace foretrace::capture {
namespace {

std::mutex own_lock;
std::vector<int> own_keyvals;  // in the order in which the program set them

void note(int keyval, bool is_set) {
  const std::lock_guard lock(own_lock);
  std::erase(own_keyvals, keyval);
  if (is_set) own_keyvals.push_back(keyval);
}

// MPI's own layers have attributes, too (ROMIO), whose end is MPI's business.
template <class RealCall>
int call_and_note(Fn fn, MPI_Comm comm, int keyval, bool sets, RealCall real) {
  const bool programs = session.active() && is_of_program();
  const int result = generic(fn, real);
  if (programs && comm == MPI_COMM_SELF && !is_refused(result)) note(keyval, sets);
  return result;
}

}  // namespace

int set_attribute(Fn fn, MPI_Comm comm, int keyval, Real real) {
  return call_and_note(fn, comm, keyval, true, real);
}

int delete_attribute(Fn fn, MPI_Comm comm, int keyval, Real real) {
  return call_and_note(fn, comm, keyval, false, real);
}

void delete_own_attributes() {
  if (!session.active() || own_keyvals.empty()) return;
  // An error of these functions ends no program in MPI_Finalize. What the handle of the errors
  // refers to is not freed: it may be a predefined one.
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
