/* Handles and statuses from C to Fortran's form and back; handles that are no more. */
/* live: ranks 1 2 */
/* live: not standard */
#include <mpi.h>

#include "check.h"

static void f2c_of_all_predefined(void) {
  const MPI_Datatype types[] = {MPI_CHAR,   MPI_INT,     MPI_LONG,         MPI_DOUBLE,           MPI_BYTE,
                                MPI_PACKED, MPI_INTEGER, MPI_REAL,         MPI_DOUBLE_PRECISION, MPI_COMPLEX,
                                MPI_2INT,   MPI_AINT,    MPI_LONG_DOUBLE,  MPI_LOGICAL,          MPI_CHARACTER,
                                MPI_COUNT,  MPI_OFFSET,  MPI_C_BOOL,       MPI_INT64_T,          MPI_2INTEGER,
                                MPI_REAL8,  MPI_INTEGER8, MPI_FLOAT_INT,   MPI_DATATYPE_NULL};
  const MPI_Op ops[] = {MPI_MAX, MPI_MIN, MPI_SUM,    MPI_PROD,   MPI_LAND,    MPI_BAND,  MPI_LOR,    MPI_BOR,
                        MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP, MPI_OP_NULL};
  for (unsigned i = 0; i < sizeof types / sizeof types[0]; ++i)
    CHECK(MPI_Type_f2c(MPI_Type_c2f(types[i])) == types[i], "type %u", i);
  for (unsigned i = 0; i < sizeof ops / sizeof ops[0]; ++i)
    CHECK(MPI_Op_f2c(MPI_Op_c2f(ops[i])) == ops[i], "op %u", i);
  CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD, "world");
  CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_SELF)) == MPI_COMM_SELF, "self");
  CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_NULL)) == MPI_COMM_NULL, "null communicator");
  CHECK(MPI_Group_f2c(MPI_Group_c2f(MPI_GROUP_EMPTY)) == MPI_GROUP_EMPTY, "empty group");
  CHECK(MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL, "null request");
  CHECK(MPI_Info_f2c(MPI_Info_c2f(MPI_INFO_NULL)) == MPI_INFO_NULL, "null info");
  CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL, "null file");
  CHECK(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL, "null window");
  CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN, "handler");
  CHECK(MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC, "message");
}

static void numbers_of_new_objects(void) {
  enum { kMany = 100 };
  MPI_Datatype types[kMany];
  MPI_Fint numbers[kMany];
  for (int i = 0; i < kMany; ++i) {
    MPI_Type_contiguous(i + 1, MPI_INT, &types[i]);
    numbers[i] = MPI_Type_c2f(types[i]);
    for (int j = 0; j < i; ++j) CHECK(numbers[i] != numbers[j], "types %d and %d have one number", i, j);
  }
  for (int i = 0; i < kMany; ++i) {
    int size = 0;
    MPI_Type_size(MPI_Type_f2c(numbers[i]), &size);
    CHECK(size == (i + 1) * (int)sizeof(int), "type %d", i);
    MPI_Type_free(&types[i]);
    CHECK(types[i] == MPI_DATATYPE_NULL, "handle %d is null", i);
  }
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int same = MPI_UNEQUAL;
  MPI_Comm_compare(MPI_Comm_f2c(MPI_Comm_c2f(comm)), MPI_COMM_WORLD, &same);
  CHECK(same == MPI_CONGRUENT, "communicator");
  MPI_Comm_free(&comm);
}

static void statuses(void) {
  MPI_Fint fortran[16];
  MPI_Status status, back;
  int rank, data = 5, got = 0, count = 0, cancelled = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Sendrecv(&data, 1, MPI_INT, rank, 9, &got, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &status);
  CHECK(MPI_Status_c2f(&status, fortran) == MPI_SUCCESS, "to Fortran");
  CHECK(MPI_Status_f2c(fortran, &back) == MPI_SUCCESS, "from Fortran");
  CHECK(back.MPI_SOURCE == rank && back.MPI_TAG == 9, "source %d, tag %d", back.MPI_SOURCE, back.MPI_TAG);
  MPI_Get_count(&back, MPI_INT, &count);
  MPI_Test_cancelled(&back, &cancelled);
  CHECK(count == 1 && !cancelled, "count %d, cancelled %d", count, cancelled);
  /* A count that needs more than 32 bits, and the mark beside it. */
  MPI_Status_set_elements_x(&back, MPI_BYTE, 5000000000);
  MPI_Status_set_cancelled(&back, 1);
  MPI_Count large = 0;
  MPI_Get_elements_x(&back, MPI_BYTE, &large);
  MPI_Test_cancelled(&back, &cancelled);
  CHECK(large == 5000000000 && cancelled, "large count");
  MPI_Get_count(&back, MPI_BYTE, &count);
  CHECK(count == MPI_UNDEFINED, "a count that int does not hold is %d", count);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  f2c_of_all_predefined();
  numbers_of_new_objects();
  statuses();
  MPI_Finalize();
  return check_done();
}
