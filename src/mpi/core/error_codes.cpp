// Error classes and codes: their names, texts, and those that programs add.
//
// Foretrace's own error codes are the classes themselves.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "live_impl.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/core/error.hpp"

namespace foretrace::mpi {
namespace {

struct ErrorClass {
  int number;
  const char* name;
  const char* text;
};

#define FORETRACE_CLASS(name, text) \
  { name, #name, text }
constexpr ErrorClass kClasses[] = {
    FORETRACE_CLASS(MPI_SUCCESS, "no error"),
    FORETRACE_CLASS(MPI_ERR_BUFFER, "the buffer cannot be used"),
    FORETRACE_CLASS(MPI_ERR_COUNT, "the count cannot be used"),
    FORETRACE_CLASS(MPI_ERR_TYPE, "the datatype cannot be used"),
    FORETRACE_CLASS(MPI_ERR_TAG, "the tag is out of range"),
    FORETRACE_CLASS(MPI_ERR_COMM, "not a communicator for this call"),
    FORETRACE_CLASS(MPI_ERR_RANK, "the rank is out of range"),
    FORETRACE_CLASS(MPI_ERR_REQUEST, "not a request for this call"),
    FORETRACE_CLASS(MPI_ERR_ROOT, "the root is out of range"),
    FORETRACE_CLASS(MPI_ERR_GROUP, "not a group for this call"),
    FORETRACE_CLASS(MPI_ERR_OP, "not an operation for this call"),
    FORETRACE_CLASS(MPI_ERR_TOPOLOGY, "the communicator lacks this topology"),
    FORETRACE_CLASS(MPI_ERR_DIMS, "the dimensions cannot be used"),
    FORETRACE_CLASS(MPI_ERR_ARG, "an argument cannot be used"),
    FORETRACE_CLASS(MPI_ERR_UNKNOWN, "unknown error"),
    FORETRACE_CLASS(MPI_ERR_TRUNCATE, "the message is longer than the buffer"),
    FORETRACE_CLASS(MPI_ERR_OTHER, "an error of no other class"),
    FORETRACE_CLASS(MPI_ERR_INTERN, "an error inside the library"),
    FORETRACE_CLASS(MPI_ERR_IN_STATUS, "the statuses tell which errors there were"),
    FORETRACE_CLASS(MPI_ERR_PENDING, "the request is not done"),
    FORETRACE_CLASS(MPI_ERR_ACCESS, "no permission"),
    FORETRACE_CLASS(MPI_ERR_AMODE, "the access mode cannot be used"),
    FORETRACE_CLASS(MPI_ERR_ASSERT, "the assertion cannot be used"),
    FORETRACE_CLASS(MPI_ERR_BAD_FILE, "not a file's name"),
    FORETRACE_CLASS(MPI_ERR_BASE, "the base address cannot be used"),
    FORETRACE_CLASS(MPI_ERR_CONVERSION, "a conversion function failed"),
    FORETRACE_CLASS(MPI_ERR_DISP, "the displacement cannot be used"),
    FORETRACE_CLASS(MPI_ERR_DUP_DATAREP, "the data representation exists already"),
    FORETRACE_CLASS(MPI_ERR_FILE_EXISTS, "the file exists"),
    FORETRACE_CLASS(MPI_ERR_FILE_IN_USE, "the file is open"),
    FORETRACE_CLASS(MPI_ERR_FILE, "not a file for this call"),
    FORETRACE_CLASS(MPI_ERR_INFO_KEY, "the info key cannot be used"),
    FORETRACE_CLASS(MPI_ERR_INFO_NOKEY, "there is no such info key"),
    FORETRACE_CLASS(MPI_ERR_INFO_VALUE, "the info value cannot be used"),
    FORETRACE_CLASS(MPI_ERR_INFO, "not an info object"),
    FORETRACE_CLASS(MPI_ERR_IO, "input or output failed"),
    FORETRACE_CLASS(MPI_ERR_KEYVAL, "not a keyval for this call"),
    FORETRACE_CLASS(MPI_ERR_LOCKTYPE, "not a kind of lock"),
    FORETRACE_CLASS(MPI_ERR_NAME, "no such service"),
    FORETRACE_CLASS(MPI_ERR_NO_MEM, "no memory left"),
    FORETRACE_CLASS(MPI_ERR_NOT_SAME, "the processes' arguments differ"),
    FORETRACE_CLASS(MPI_ERR_NO_SPACE, "no space left"),
    FORETRACE_CLASS(MPI_ERR_NO_SUCH_FILE, "there is no such file"),
    FORETRACE_CLASS(MPI_ERR_PORT, "not a port"),
    FORETRACE_CLASS(MPI_ERR_QUOTA, "the quota is used up"),
    FORETRACE_CLASS(MPI_ERR_READ_ONLY, "may only be read"),
    FORETRACE_CLASS(MPI_ERR_RMA_CONFLICT, "accesses to the window conflict"),
    FORETRACE_CLASS(MPI_ERR_RMA_SYNC, "the window is not in such an epoch"),
    FORETRACE_CLASS(MPI_ERR_SERVICE, "not a service"),
    FORETRACE_CLASS(MPI_ERR_SIZE, "the size cannot be used"),
    FORETRACE_CLASS(MPI_ERR_SPAWN, "no process was started"),
    FORETRACE_CLASS(MPI_ERR_UNSUPPORTED_DATAREP, "no such data representation"),
    FORETRACE_CLASS(MPI_ERR_UNSUPPORTED_OPERATION, "not possible here"),
    FORETRACE_CLASS(MPI_ERR_WIN, "not a window for this call"),
    FORETRACE_CLASS(MPI_ERR_RMA_RANGE, "outside the window's memory"),
    FORETRACE_CLASS(MPI_ERR_RMA_ATTACH, "the memory cannot be attached"),
    FORETRACE_CLASS(MPI_ERR_RMA_FLAVOR, "not such a kind of window"),
    FORETRACE_CLASS(MPI_ERR_RMA_SHARED, "the memory cannot be shared"),
    FORETRACE_CLASS(MPI_T_ERR_MEMORY, "tools: no memory left"),
    FORETRACE_CLASS(MPI_T_ERR_NOT_INITIALIZED, "tools: not initialized"),
    FORETRACE_CLASS(MPI_T_ERR_CANNOT_INIT, "tools: cannot be initialized"),
    FORETRACE_CLASS(MPI_T_ERR_INVALID_INDEX, "tools: no such index"),
    FORETRACE_CLASS(MPI_T_ERR_INVALID_ITEM, "tools: no such item"),
    FORETRACE_CLASS(MPI_T_ERR_INVALID_HANDLE, "tools: not a handle"),
    FORETRACE_CLASS(MPI_T_ERR_OUT_OF_HANDLES, "tools: no handles left"),
    FORETRACE_CLASS(MPI_T_ERR_OUT_OF_SESSIONS, "tools: no sessions left"),
    FORETRACE_CLASS(MPI_T_ERR_INVALID_SESSION, "tools: not a session"),
    FORETRACE_CLASS(MPI_T_ERR_CVAR_SET_NOT_NOW, "tools: cannot be set now"),
    FORETRACE_CLASS(MPI_T_ERR_CVAR_SET_NEVER, "tools: cannot be set any more"),
    FORETRACE_CLASS(MPI_T_ERR_PVAR_NO_STARTSTOP, "tools: cannot be started or stopped"),
    FORETRACE_CLASS(MPI_T_ERR_PVAR_NO_WRITE, "tools: cannot be written"),
    FORETRACE_CLASS(MPI_T_ERR_PVAR_NO_ATOMIC, "tools: cannot be read and written at once"),
    FORETRACE_CLASS(MPI_T_ERR_INVALID, "tools: an argument cannot be used"),
    FORETRACE_CLASS(MPI_T_ERR_INVALID_NAME, "tools: no such name"),
#if MPI_VERSION >= 4
    FORETRACE_CLASS(MPI_ERR_SESSION, "not a session"),
    FORETRACE_CLASS(MPI_ERR_PROC_ABORTED, "the other process has ended"),
    FORETRACE_CLASS(MPI_ERR_VALUE_TOO_LARGE, "the value does not fit the variable"),
    FORETRACE_CLASS(MPI_T_ERR_NOT_SUPPORTED, "tools: not supported"),
#endif
#ifdef MPI_ERR_ABI
    FORETRACE_CLASS(MPI_ERR_ERRHANDLER, "not an error handler for this call"),
    FORETRACE_CLASS(MPI_ERR_ABI, "the ABI does not allow it now"),
#endif
};
#undef FORETRACE_CLASS

// A class (whose error_class is itself) or a code that the program added.
struct Added {
  int code;
  int error_class;
  std::string text;
};

int last_used = MPI_ERR_LASTCODE;

std::vector<Added>& added() {
  static auto& all = *new std::vector<Added>;
  return all;
}

Added* find_added(int code) {
  const auto found = std::find_if(added().begin(), added().end(),
                                  [&](const Added& entry) { return entry.code == code; });
  return found == added().end() ? nullptr : &*found;
}

const ErrorClass* find_class(int code) {
  const auto* found = std::find_if(std::begin(kClasses), std::end(kClasses),
                                   [&](const ErrorClass& entry) { return entry.number == code; });
  return found == std::end(kClasses) ? nullptr : found;
}

int raise_no_code(int code) {
  return raise(world_comm, MPI_ERR_ARG, std::to_string(code) + " is no error code");
}

}  // namespace

std::string error_class_name(int error_class) {
  if (const ErrorClass* known = find_class(error_class)) return known->name;
  const Added* entry = find_added(error_class);
  if (entry && !entry->text.empty()) return entry->text;
  return "error " + std::to_string(error_class);
}

const int& last_used_error_code() {
  return last_used;
}

namespace impl {

int Error_class(int errorcode, int* errorclass) {
  if (find_class(errorcode)) {
    *errorclass = errorcode;
  } else if (const Added* entry = find_added(errorcode)) {
    *errorclass = entry->error_class;
  } else {
    return raise_no_code(errorcode);
  }
  return MPI_SUCCESS;
}

int Error_string(int errorcode, char* string, int* resultlen) {
  std::string text;
  if (const ErrorClass* known = find_class(errorcode)) {
    text = std::string(known->name) + ": " + known->text;
  } else if (const Added* entry = find_added(errorcode)) {
    text = entry->text;
  } else {
    return raise_no_code(errorcode);
  }
  if (text.size() >= MPI_MAX_ERROR_STRING) text.resize(MPI_MAX_ERROR_STRING - 1);
  std::memcpy(string, text.c_str(), text.size() + 1);
  *resultlen = static_cast<int>(text.size());
  return MPI_SUCCESS;
}

int Add_error_class(int* errorclass) {
  *errorclass = ++last_used;
  added().push_back({last_used, last_used, {}});
  return MPI_SUCCESS;
}

int Add_error_code(int errorclass, int* errorcode) {
  const Added* own = find_added(errorclass);
  if (!find_class(errorclass) && (!own || own->error_class != errorclass)) {
    return raise(world_comm, MPI_ERR_ARG, std::to_string(errorclass) + " is no error class");
  }
  *errorcode = ++last_used;
  added().push_back({last_used, errorclass, {}});
  return MPI_SUCCESS;
}

int Add_error_string(int errorcode, const char* string) {
  Added* entry = find_added(errorcode);
  if (!entry) {
    return raise(world_comm, MPI_ERR_ARG,
                 std::to_string(errorcode) + " is no error code that the program added");
  }
  entry->text = string;
  return MPI_SUCCESS;
}

#if MPI_VERSION >= 4
// MPI 4.1 has them under another name.
#ifdef FORETRACE_STANDARD_ABI
#define FORETRACE_REMOVE(what) Remove_error_##what
#else
#define FORETRACE_REMOVE(what) X_Delete_error_##what
#endif

int FORETRACE_REMOVE(class)(int errorclass) {
  const Added* entry = find_added(errorclass);
  if (!entry || entry->error_class != errorclass) return raise_no_code(errorclass);
  added().erase(added().begin() + (entry - added().data()));
  return MPI_SUCCESS;
}

int FORETRACE_REMOVE(code)(int errorcode) {
  const Added* entry = find_added(errorcode);
  if (!entry) return raise_no_code(errorcode);
  added().erase(added().begin() + (entry - added().data()));
  return MPI_SUCCESS;
}

int FORETRACE_REMOVE(string)(int errorcode) {
  Added* entry = find_added(errorcode);
  if (!entry) return raise_no_code(errorcode);
  entry->text.clear();
  return MPI_SUCCESS;
}
#endif

}  // namespace impl
}  // namespace foretrace::mpi
