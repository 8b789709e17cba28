// MPI's interface for tools (MPI_T): there, but with nothing to look at or to set.
#include <mpi.h>

#include <cstddef>

#include "live_impl.hpp"

#ifdef MPICH
extern "C" {
// Its address is all that it is used for.
static char all_handles;
__attribute__((visibility("default"))) extern MPIR_T_pvar_handle_s* const MPI_T_PVAR_ALL_HANDLES =
    reinterpret_cast<MPIR_T_pvar_handle_s*>(&all_handles);
}
#endif

namespace foretrace::mpi {
namespace {

int users = 0;       // MPI_T_init_thread less MPI_T_finalize
char session_place;  // a session's handle is an address, and all are alike

// Of a call that names an item by its number: there is none.
int no_item() {
  return users > 0 ? MPI_T_ERR_INVALID_INDEX : MPI_T_ERR_NOT_INITIALIZED;
}
int no_name() {
  return users > 0 ? MPI_T_ERR_INVALID_NAME : MPI_T_ERR_NOT_INITIALIZED;
}
int no_handle() {
  return users > 0 ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_NOT_INITIALIZED;
}

int none(int* number) {
  if (users == 0) return MPI_T_ERR_NOT_INITIALIZED;
  if (number) *number = 0;
  return MPI_SUCCESS;
}

MPI_T_pvar_session the_session() {
  return reinterpret_cast<MPI_T_pvar_session>(&session_place);
}

int no_handle_in(MPI_T_pvar_session session) {
  if (users == 0) return MPI_T_ERR_NOT_INITIALIZED;
  return session == the_session() ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_INVALID_SESSION;
}

// Of a call that may name all handles of a session: there are none to fail.
int all_or_no_handle(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  const int error = no_handle_in(session);
  const bool all = error == MPI_T_ERR_INVALID_HANDLE && handle == MPI_T_PVAR_ALL_HANDLES;
  return all ? MPI_SUCCESS : error;
}

}  // namespace

namespace impl {

int T_init_thread(int required, int* provided) {
  ++users;
  if (provided) *provided = required;
  return MPI_SUCCESS;
}

int T_finalize() {
  if (users == 0) return MPI_T_ERR_NOT_INITIALIZED;
  --users;
  return MPI_SUCCESS;
}

int T_enum_get_info(MPI_T_enum, int*, char*, int*) {
  return no_handle();
}
int T_enum_get_item(MPI_T_enum, int, int*, char*, int*) {
  return no_handle();
}

int T_cvar_get_num(int* number) {
  return none(number);
}
int T_cvar_get_info(int, char*, int*, int*, MPI_Datatype*, MPI_T_enum*, char*, int*, int*, int*) {
  return no_item();
}
int T_cvar_get_index(const char*, int*) {
  return no_name();
}
int T_cvar_handle_alloc(int, void*, MPI_T_cvar_handle*, int*) {
  return no_item();
}
int T_cvar_handle_free(MPI_T_cvar_handle*) {
  return no_handle();
}
int T_cvar_read(MPI_T_cvar_handle, void*) {
  return no_handle();
}
int T_cvar_write(MPI_T_cvar_handle, const void*) {
  return no_handle();
}

int T_pvar_get_num(int* number) {
  return none(number);
}
int T_pvar_get_info(int, char*, int*, int*, int*, MPI_Datatype*, MPI_T_enum*, char*, int*, int*,
                    int*, int*, int*) {
  return no_item();
}
int T_pvar_get_index(const char*, int, int*) {
  return no_name();
}
int T_pvar_session_create(MPI_T_pvar_session* session) {
  if (users == 0) return MPI_T_ERR_NOT_INITIALIZED;
  *session = the_session();
  return MPI_SUCCESS;
}
int T_pvar_session_free(MPI_T_pvar_session* session) {
  if (users == 0) return MPI_T_ERR_NOT_INITIALIZED;
  if (*session != the_session()) return MPI_T_ERR_INVALID_SESSION;
  *session = MPI_T_PVAR_SESSION_NULL;
  return MPI_SUCCESS;
}
int T_pvar_handle_alloc(MPI_T_pvar_session, int, void*, MPI_T_pvar_handle*, int*) {
  return no_item();
}
int T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle*) {
  return no_handle_in(session);
}
int T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return all_or_no_handle(session, handle);
}
int T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return all_or_no_handle(session, handle);
}
int T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return all_or_no_handle(session, handle);
}
int T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle, void*) {
  return no_handle_in(session);
}
int T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle, void*) {
  return no_handle_in(session);
}
int T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle, const void*) {
  return no_handle_in(session);
}

int T_category_get_num(int* number) {
  return none(number);
}
int T_category_get_info(int, char*, int*, char*, int*, int*, int*, int*) {
  return no_item();
}
int T_category_get_index(const char*, int*) {
  return no_name();
}
int T_category_get_cvars(int, int, int[]) {
  return no_item();
}
int T_category_get_pvars(int, int, int[]) {
  return no_item();
}
int T_category_get_categories(int, int, int[]) {
  return no_item();
}
int T_category_changed(int* stamp) {
  return none(stamp);
}

#if MPI_VERSION >= 4
int T_category_get_num_events(int, int*) {
  return no_item();
}
int T_category_get_events(int, int, int[]) {
  return no_item();
}
int T_event_get_num(int* number) {
  return none(number);
}
int T_event_get_info(int, char*, int*, int*, MPI_Datatype[], MPI_Aint[], int*, MPI_T_enum*,
                     MPI_Info*, char*, int*, int*) {
  return no_item();
}
int T_event_get_index(const char*, int*) {
  return no_name();
}
int T_event_handle_alloc(int, void*, MPI_Info, MPI_T_event_registration*) {
  return no_item();
}
int T_event_handle_free(MPI_T_event_registration, void*, MPI_T_event_free_cb_function) {
  return no_handle();
}
int T_event_handle_get_info(MPI_T_event_registration, MPI_Info*) {
  return no_handle();
}
int T_event_handle_set_info(MPI_T_event_registration, MPI_Info) {
  return no_handle();
}
int T_event_callback_get_info(MPI_T_event_registration, MPI_T_cb_safety, MPI_Info*) {
  return no_handle();
}
int T_event_callback_set_info(MPI_T_event_registration, MPI_T_cb_safety, MPI_Info) {
  return no_handle();
}
int T_event_register_callback(MPI_T_event_registration, MPI_T_cb_safety, MPI_Info, void*,
                              MPI_T_event_cb_function) {
  return no_handle();
}
int T_event_set_dropped_handler(MPI_T_event_registration, MPI_T_event_dropped_cb_function) {
  return no_handle();
}
int T_event_read(MPI_T_event_instance, int, void*) {
  return no_handle();
}
int T_event_copy(MPI_T_event_instance, void*) {
  return no_handle();
}
int T_event_get_timestamp(MPI_T_event_instance, MPI_Count*) {
  return no_handle();
}
int T_event_get_source(MPI_T_event_instance, int*) {
  return no_handle();
}
int T_source_get_num(int* number) {
  return none(number);
}
int T_source_get_info(int, char*, int*, char*, int*, MPI_T_source_order*, MPI_Count*, MPI_Count*,
                      MPI_Info*) {
  return no_item();
}
int T_source_get_timestamp(int, MPI_Count*) {
  return no_item();
}
#endif

}  // namespace impl
}  // namespace foretrace::mpi
