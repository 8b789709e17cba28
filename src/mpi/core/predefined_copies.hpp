// MPI_COMM_DUP_FN, MPI_TYPE_NULL_COPY_FN and the like: functions that the headers
// name and programs pass to MPI_X_create_keyval.
#pragma once

namespace foretrace::mpi {

// Whether a copy function is one that copies the value as it is. Then the library
// copies it itself, and what language set it is not lost.
bool is_dup_function(void (*function)());

}  // namespace foretrace::mpi
