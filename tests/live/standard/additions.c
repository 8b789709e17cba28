/* What MPI 4.1 and 5.0 added: questions about the ABI, handles as integers, statuses and requests
 * looked at, pair types by their parts. */
/* live: ranks 1 2 3 */
/* live: mpi standard */
#include "check.h"

static void ask_about_the_abi(void) {
  int major = -1, minor = -1, version = 0, subversion = 0, flag = 0, length = 16;
  char value[16] = "";
  MPI_Info info = MPI_INFO_NULL;
  CHECK_OK(MPI_Abi_get_version(&major, &minor));
  CHECK(major == 1 && minor == 0, "%d.%d", major, minor);
  CHECK_OK(MPI_Get_version(&version, &subversion));
  CHECK(version == 5 && subversion == 0, "%d.%d", version, subversion);
  CHECK_OK(MPI_Abi_get_info(&info));
  const char* const keys[] = {"mpi_aint_size", "mpi_count_size", "mpi_offset_size"};
  for (int i = 0; i < 3; ++i) {
    length = sizeof value;
    CHECK_OK(MPI_Info_get_string(info, keys[i], &length, value, &flag));
    CHECK(flag && !strcmp(value, "8"), "%s: %s", keys[i], value);
  }
  CHECK_OK(MPI_Info_free(&info));
}

static void fortran_is_known(void) {
  MPI_Info info = MPI_INFO_NULL;
  char value[16] = "";
  int flag = 0, length = sizeof value, is_set = 0;
  int yes = -1, no = -1;
  CHECK_OK(MPI_Abi_get_fortran_info(&info));
  CHECK_OK(MPI_Info_get_string(info, "mpi_integer_size", &length, value, &flag));
  CHECK(flag && !strcmp(value, "4"), "%s", value);
  CHECK_CLASS(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
  CHECK_OK(MPI_Info_free(&info));
  CHECK_OK(MPI_Abi_get_fortran_booleans(4, &yes, &no, &is_set));
  CHECK(is_set && yes == 1 && no == 0, "%d %d %d", is_set, yes, no);
  CHECK_CLASS(MPI_Abi_get_fortran_booleans(3, &yes, &no, &is_set), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Abi_set_fortran_booleans(4, &yes, &no), MPI_ERR_ABI);
}

/* Predefined handles keep their numbers; the program's get others, and both come back. */
static void handles_as_integers(void) {
  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Group group;
  MPI_Op op = MPI_MAXLOC;
  CHECK_EQUAL(MPI_Comm_toint(MPI_COMM_WORLD), 0x101);
  CHECK_EQUAL(MPI_Type_toint(MPI_DOUBLE), 0x214);
  CHECK_EQUAL(MPI_Op_toint(op), 0x39);
  CHECK_EQUAL(MPI_Request_toint(MPI_REQUEST_NULL), 0x180);
  CHECK(MPI_Op_fromint(0x39) == op, "");
  CHECK(MPI_Win_fromint(0x110) == MPI_WIN_NULL, "");
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
  CHECK_OK(MPI_Comm_group(comm, &group));
  const int numbers[] = {MPI_Comm_toint(comm), MPI_Type_toint(type), MPI_Group_toint(group)};
  for (int i = 0; i < 3; ++i) CHECK(numbers[i] >= 4096, "%d", numbers[i]);
  CHECK(MPI_Comm_fromint(numbers[0]) == comm, "");
  CHECK(MPI_Type_fromint(numbers[1]) == type, "");
  CHECK(MPI_Group_fromint(numbers[2]) == group, "");
  CHECK_EQUAL(MPI_Comm_toint(comm), numbers[0]);
  CHECK((intptr_t)comm >= 4096 && (intptr_t)type >= 4096, "");
  MPI_Comm_free(&comm);
  MPI_Type_free(&type);
  MPI_Group_free(&group);
  CHECK(comm == MPI_COMM_NULL && type == MPI_DATATYPE_NULL && group == MPI_GROUP_NULL, "");
}

/* One kind's handle is none of another kind, null handles and garbage are none. */
static void wrong_handles(void) {
  int n = 0;
  CHECK_CLASS(MPI_Comm_size((MPI_Comm)MPI_INT, &n), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_size((MPI_Comm)0, &n), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_size(MPI_COMM_NULL, &n), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_size((MPI_Comm)4095, &n), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Type_size((MPI_Datatype)MPI_COMM_WORLD, &n), MPI_ERR_TYPE);
}

static void optional_types(void) {
  const MPI_Datatype missing[] = {MPI_REAL2, MPI_INTEGER16, MPI_LOGICAL16, MPI_COMPLEX4};
  int size = 0;
  for (int i = 0; i < 4; ++i) {
    CHECK_OK(MPI_Type_size(missing[i], &size));
    CHECK_EQUAL(size, MPI_UNDEFINED);
  }
  CHECK_OK(MPI_Type_size(MPI_COMPLEX32, &size));
  CHECK_EQUAL(size, 32);
}

static void pairs_by_their_parts(void) {
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  CHECK_OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair));
  CHECK(pair == MPI_DOUBLE_INT, "");
  CHECK_OK(MPI_Type_get_value_index(MPI_REAL, MPI_REAL, &pair));
  CHECK(pair == MPI_2REAL, "");
  CHECK_OK(MPI_Type_get_value_index(MPI_BYTE, MPI_INT, &pair));
  CHECK(pair == MPI_DATATYPE_NULL, "");
  CHECK_CLASS(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &pair), MPI_ERR_TYPE);
}

static void statuses(void) {
  MPI_Status status;
  int value = 0;
  memset(&status, 0, sizeof status);
  CHECK_OK(MPI_Status_set_source(&status, 7));
  CHECK_OK(MPI_Status_set_tag(&status, 8));
  CHECK_OK(MPI_Status_set_error(&status, MPI_ERR_TRUNCATE));
  CHECK(status.MPI_SOURCE == 7 && status.MPI_TAG == 8 && status.MPI_ERROR == MPI_ERR_TRUNCATE, "");
  CHECK_OK(MPI_Status_get_source(&status, &value));
  CHECK_EQUAL(value, 7);
  CHECK_OK(MPI_Status_get_tag(&status, &value));
  CHECK_EQUAL(value, 8);
  CHECK_OK(MPI_Status_get_error(&status, &value));
  CHECK_EQUAL(value, MPI_ERR_TRUNCATE);
  CHECK_OK(MPI_Status_set_elements_x(&status, MPI_INT, 3000000000LL));
  MPI_Count count = 0;
  CHECK_OK(MPI_Get_elements_x(&status, MPI_INT, &count));
  CHECK_EQUAL(count, 3000000000LL);
}

/* Looking leaves the requests as they are. */
static void requests(void) {
  const int right = (check_rank + 1) % check_size;
  const int left = (check_rank + check_size - 1) % check_size;
  int received[2] = {-1, -1}, flag = 0, index = -1, outcount = 0, indices[3];
  MPI_Status status, several[3];
  MPI_Request all[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  CHECK_OK(MPI_Request_get_status_any(3, all, &index, &flag, &status));
  CHECK(flag && index == MPI_UNDEFINED && status.MPI_SOURCE == MPI_ANY_SOURCE, "%d %d", flag,
        index);
  CHECK_OK(MPI_Request_get_status_some(3, all, &outcount, indices, several));
  CHECK_EQUAL(outcount, MPI_UNDEFINED);
  CHECK_OK(MPI_Irecv(&received[0], 1, MPI_INT, left, 1, MPI_COMM_WORLD, &all[0]));
  CHECK_OK(MPI_Irecv(&received[1], 1, MPI_INT, left, 2, MPI_COMM_WORLD, &all[2]));
  CHECK_OK(MPI_Request_get_status_all(3, all, &flag, several));
  CHECK(!flag, "nothing is sent yet");
  CHECK_OK(MPI_Send(&check_rank, 1, MPI_INT, right, 2, MPI_COMM_WORLD));
  for (flag = 0; !flag;) CHECK_OK(MPI_Request_get_status_any(3, all, &index, &flag, &status));
  CHECK(index == 2 && status.MPI_SOURCE == left && status.MPI_TAG == 2, "%d", index);
  CHECK_OK(MPI_Request_get_status_some(3, all, &outcount, indices, several));
  CHECK(outcount == 1 && indices[0] == 2 && several[0].MPI_TAG == 2, "%d", outcount);
  CHECK_OK(MPI_Send(&check_rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD));
  for (flag = 0; !flag;) CHECK_OK(MPI_Request_get_status_all(3, all, &flag, several));
  CHECK(several[0].MPI_TAG == 1 && several[2].MPI_TAG == 2, "");
  CHECK(several[1].MPI_SOURCE == MPI_ANY_SOURCE, "an empty status");
  CHECK(all[0] != MPI_REQUEST_NULL && all[2] != MPI_REQUEST_NULL, "");
  CHECK_OK(MPI_Waitall(3, all, several));
  CHECK(received[0] == left && received[1] == left, "%d %d", received[0], received[1]);
}

static void buffers(void) {
  void* buffer = NULL;
  int size = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
  CHECK_OK(MPI_Bsend(&check_rank, 1, MPI_INT, check_rank, 5, MPI_COMM_WORLD));
  CHECK_OK(MPI_Buffer_flush());
  CHECK_OK(MPI_Buffer_iflush(&request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  int value = -1;
  CHECK_OK(MPI_Recv(&value, 1, MPI_INT, check_rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQUAL(value, check_rank);
  CHECK_OK(MPI_Buffer_detach(&buffer, &size));
  CHECK(buffer == MPI_BUFFER_AUTOMATIC, "%p", buffer);
}

/* A communicator's own buffer comes before a session's, and that before the process's. */
static void buffers_of_their_own(void) {
  char place[MPI_BSEND_OVERHEAD + 8];
  void* buffer = NULL;
  int size = -1, value = -1;
  MPI_Count large = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Session session;
  MPI_Comm comm;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  CHECK_CLASS(MPI_Bsend(&check_rank, 1, MPI_INT, 0, 5, comm), MPI_ERR_BUFFER);
  CHECK_OK(MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0));
  CHECK_CLASS(MPI_Session_attach_buffer(session, place, 1), MPI_ERR_BUFFER);
  CHECK_OK(MPI_Bsend(&check_rank, 1, MPI_INT, 0, 5, comm));
  CHECK_OK(MPI_Comm_attach_buffer(comm, place, MPI_BSEND_OVERHEAD + 3));
  CHECK_CLASS(MPI_Comm_attach_buffer(comm, place, 1), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Bsend(&check_rank, 1, MPI_INT, 0, 6, comm), MPI_ERR_BUFFER);
  CHECK_OK(MPI_Comm_detach_buffer(comm, &buffer, &size));
  CHECK(buffer == place && size == MPI_BSEND_OVERHEAD + 3, "%d", size);
  CHECK_OK(MPI_Comm_attach_buffer_c(comm, place, MPI_BSEND_OVERHEAD + 4));
  CHECK_OK(MPI_Bsend(&check_rank, 1, MPI_INT, 0, 6, comm));
  CHECK_OK(MPI_Comm_flush_buffer(comm));
  CHECK_OK(MPI_Comm_iflush_buffer(comm, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Session_flush_buffer(session));
  CHECK_OK(MPI_Session_iflush_buffer(session, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Comm_detach_buffer_c(comm, &buffer, &large));
  CHECK_EQUAL(large, MPI_BSEND_OVERHEAD + 4);
  CHECK_OK(MPI_Session_detach_buffer(session, &buffer, &size));
  CHECK(buffer == MPI_BUFFER_AUTOMATIC && size == 0, "%d", size);
  CHECK_CLASS(MPI_Bsend(&check_rank, 1, MPI_INT, 0, 7, comm), MPI_ERR_BUFFER);
  CHECK_OK(MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0));
  CHECK_OK(MPI_Session_finalize(&session));
  CHECK_CLASS(MPI_Bsend(&check_rank, 1, MPI_INT, 0, 7, comm), MPI_ERR_BUFFER);
  for (int tag = 5; tag < 7; ++tag)
    CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 0, tag, comm, MPI_STATUS_IGNORE));
  CHECK_CLASS(MPI_Comm_flush_buffer(MPI_COMM_NULL), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Session_flush_buffer(MPI_SESSION_NULL), MPI_ERR_SESSION);
  CHECK_OK(MPI_Comm_free(&comm));
}

/* The ABI keeps the numbers up to 16384 for constants. */
static void keyvals_beyond_the_constants(void) {
  int keyval = MPI_KEYVAL_INVALID, flag = -1;
  void* value = NULL;
  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
  CHECK(keyval > 16384, "%d", keyval);
  CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &keyval));
  MPI_Comm copy;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &copy));
  CHECK_OK(MPI_Comm_get_attr(copy, keyval, &value, &flag));
  CHECK(flag && value == &keyval, "MPI_COMM_DUP_FN copies");
  CHECK_OK(MPI_Comm_free(&copy));
  CHECK_OK(MPI_Comm_free_keyval(&keyval));
}

static void error_codes_taken_back(void) {
  int added = 0, code = 0;
  CHECK_OK(MPI_Add_error_class(&added));
  CHECK(added > MPI_ERR_LASTCODE, "%d", added);
  CHECK_OK(MPI_Add_error_code(added, &code));
  CHECK_OK(MPI_Add_error_string(code, "tired"));
  CHECK_OK(MPI_Remove_error_string(code));
  CHECK_OK(MPI_Remove_error_code(code));
  CHECK_OK(MPI_Remove_error_class(added));
}

static void data_representations(void) {
  CHECK_CLASS(MPI_Register_datarep_c("native", MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C,
                                     NULL, NULL),
              MPI_ERR_DUP_DATAREP);
  CHECK_CLASS(
      MPI_Register_datarep_c("own", MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C, NULL, NULL),
      MPI_ERR_UNSUPPORTED_DATAREP);
}

int main(int argc, char** argv) {
  ask_about_the_abi(); /* MPI allows it at any time */
  check_init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  fortran_is_known();
  handles_as_integers();
  wrong_handles();
  optional_types();
  pairs_by_their_parts();
  statuses();
  requests();
  buffers();
  buffers_of_their_own();
  keyvals_beyond_the_constants();
  error_codes_taken_back();
  data_representations();
  return check_end();
}
