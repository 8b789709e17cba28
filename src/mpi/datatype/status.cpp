// What a status tells in terms of a datatype: MPI_Get_count, MPI_Get_elements.
#include <climits>
#include <string>

#include "live_impl.hpp"
#include "mpi/datatype/description.hpp"

namespace foretrace::mpi {
namespace {

// The datatype; nullptr after an error or for a status that is none.
Datatype* check(const MPI_Status* status, MPI_Datatype datatype, const void* result, int& error) {
  if (!status || is_ignored(status)) {
    error = raise(MPI_ERR_ARG, "the status is MPI_STATUS_IGNORE");
    return nullptr;
  }
  if ((error = check_result(result, "count")) != MPI_SUCCESS) return nullptr;
  return old_type(datatype, error);
}

MPI_Count count_in(std::uint64_t bytes, const Datatype& type) {
  if (type.size == 0) return bytes == 0 ? 0 : MPI_UNDEFINED;
  const auto size = static_cast<std::uint64_t>(type.size);
  return bytes % size == 0 ? static_cast<MPI_Count>(bytes / size) : MPI_UNDEFINED;
}

// `ask(bytes, type)` is what the status tells; more than `limit` cannot be told.
template <class Number, class Ask>
int tell(const MPI_Status* status, MPI_Datatype datatype, MPI_Count limit, Number* count, Ask ask) {
  int error = MPI_SUCCESS;
  const Datatype* type = check(status, datatype, count, error);
  if (!type) return error;
  const MPI_Count answer = ask(status_bytes(*status), *type);
  *count = static_cast<Number>(answer > limit ? MPI_UNDEFINED : answer);
  return MPI_SUCCESS;
}

int set_elements(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  int error = MPI_SUCCESS;
  const Datatype* type = check(status, datatype, status, error);
  if (!type) return error;
  if (count < 0)
    return raise(MPI_ERR_COUNT, "count " + std::to_string(count) + ", expected at least 0");
  set_status_bytes(*status, bytes_of_elements(static_cast<std::uint64_t>(count), *type),
                   status_cancelled(*status));
  return MPI_SUCCESS;
}

}  // namespace

namespace impl {

int Get_count(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  return tell(status, datatype, INT_MAX, count, count_in);
}

int Get_elements(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  return tell(status, datatype, INT_MAX, count, elements_in);
}

int Get_elements_x(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  return tell(status, datatype, LLONG_MAX, count, elements_in);
}

int Status_set_elements(MPI_Status* status, MPI_Datatype datatype, int count) {
  return set_elements(status, datatype, count);
}

int Status_set_elements_x(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  return set_elements(status, datatype, count);
}

#if MPI_VERSION >= 4
int Get_count_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  return tell(status, datatype, LLONG_MAX, count, count_in);
}

int Get_elements_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  return tell(status, datatype, LLONG_MAX, count, elements_in);
}
#endif

}  // namespace impl
}  // namespace foretrace::mpi
