// What Open MPI's Fortran library takes from its C library besides MPI's functions:
// constants that are known by address, strings, and subroutines that programs pass.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "live_impl.hpp"
#include "mpi/core/function.hpp"
#include "mpi/core/object.hpp"

#define FORETRACE_EXPORT __attribute__((visibility("default")))
// A Fortran subroutine under the names that compilers give it.
#define FORETRACE_FORTRAN(result, lower, upper, parameters)                              \
  FORETRACE_EXPORT result lower##_ parameters;                                           \
  FORETRACE_EXPORT result lower parameters __attribute__((weak, alias(#lower "_")));     \
  FORETRACE_EXPORT result lower##__ parameters __attribute__((weak, alias(#lower "_"))); \
  FORETRACE_EXPORT result upper parameters __attribute__((weak, alias(#lower "_")));     \
  result lower##_ parameters
// And under the name that the library itself has for it.
#define FORETRACE_ALIAS(own, lower, parameters) \
  FORETRACE_EXPORT void own parameters __attribute__((weak, alias(#lower "_")));

// In C these are other functions' names.
#undef MPI_DUP_FN
#undef MPI_NULL_COPY_FN
#undef MPI_NULL_DELETE_FN
#undef MPI_COMM_DUP_FN
#undef MPI_COMM_NULL_COPY_FN
#undef MPI_COMM_NULL_DELETE_FN
#undef MPI_TYPE_DUP_FN
#undef MPI_TYPE_NULL_COPY_FN
#undef MPI_TYPE_NULL_DELETE_FN
#undef MPI_WIN_DUP_FN
#undef MPI_WIN_NULL_COPY_FN
#undef MPI_WIN_NULL_DELETE_FN
#undef MPI_CONVERSION_FN_NULL

using namespace foretrace::mpi;

namespace {
// Without the blanks that Fortran fills strings up with, and those before.
std::string_view trimmed(const char* text, int length) {
  std::string_view string(text, length > 0 ? static_cast<std::size_t>(length) : 0);
  const std::size_t begin = string.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return string.substr(begin, string.find_last_not_of(' ') - begin + 1);
}

char* new_string(std::string_view text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (!copy) return nullptr;
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

// Appends to a list of strings that ends with a null pointer, as free() takes it.
bool append(char**& list, std::size_t& length, std::string_view text) {
  char** const longer = static_cast<char**>(std::realloc(list, (length + 2) * sizeof(char*)));
  if (!longer) return false;
  list = longer;
  list[length] = new_string(text);
  if (!list[length]) return false;
  list[++length] = nullptr;
  return true;
}

// Elements of an array of strings, until a blank one or `most`.
int strings_of(const char* array, int most, int string_length, int advance, char*** list) {
  std::size_t length = 0;
  *list = static_cast<char**>(std::calloc(1, sizeof(char*)));
  if (!*list) return MPI_ERR_NO_MEM;
  for (int i = 0; most < 0 || i < most; ++i) {
    const std::string_view text = trimmed(array + std::ptrdiff_t{i} * advance, string_length);
    if (most < 0 && text.empty()) break;
    if (!append(*list, length, text)) return MPI_ERR_NO_MEM;
  }
  return MPI_SUCCESS;
}
}  // namespace

extern "C" {

// Programs' common blocks of these names take their place.
FORETRACE_EXPORT MPI_Fint mpi_fortran_bottom_ = 0;
FORETRACE_EXPORT MPI_Fint mpi_fortran_in_place_ = 0;
FORETRACE_EXPORT MPI_Fint mpi_fortran_unweighted_ = 0;
FORETRACE_EXPORT MPI_Fint mpi_fortran_weights_empty_ = 0;
FORETRACE_EXPORT MPI_Fint mpi_fortran_errcodes_ignore_ = 0;
FORETRACE_EXPORT char mpi_fortran_argv_null_ = 0;
FORETRACE_EXPORT char mpi_fortran_argvs_null_ = 0;
FORETRACE_EXPORT MPI_Fint mpi_fortran_status_ignore_[2] = {};
FORETRACE_EXPORT MPI_Fint mpi_fortran_statuses_ignore_[2] = {};

FORETRACE_EXPORT MPI_Fint* MPI_F_STATUS_IGNORE = mpi_fortran_status_ignore_;
FORETRACE_EXPORT MPI_Fint* MPI_F_STATUSES_IGNORE = mpi_fortran_statuses_ignore_;

// Its tables of error numbers; there are none, which makes every internal error
// MPI_ERR_UNKNOWN.
FORETRACE_EXPORT int ompi_errcode_intern_lastused = 0;
FORETRACE_EXPORT char ompi_errcodes_intern[120] = {};
// That MPI is initialised need not be checked: the calls behind do.
FORETRACE_EXPORT bool ompi_mpi_param_check = false;
FORETRACE_EXPORT int ompi_mpi_state = 0;
FORETRACE_EXPORT MPI_Status ompi_status_empty = {MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, 0, 0};

// A list's head: an element whose neighbours are itself, and a count.
struct ListHead {
  void* unused[2];
  struct {
    void* unused[2];
    void* next;
    void* previous;
    void* also_unused;
  } sentinel;
  std::size_t length;
};
FORETRACE_EXPORT extern ListHead ompi_registered_datareps;
ListHead ompi_registered_datareps = {
    {}, {{}, &ompi_registered_datareps.sentinel, &ompi_registered_datareps.sentinel, nullptr}, 0};
static_assert(sizeof(ListHead) == 64);

FORETRACE_EXPORT int ompi_fortran_string_f2c(const char* fortran, int length, char** c) {
  *c = new_string(trimmed(fortran, length));
  return *c ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

FORETRACE_EXPORT int ompi_fortran_string_c2f(const char* c, char* fortran, int length) {
  const std::size_t room = length > 0 ? static_cast<std::size_t>(length) : 0;
  const std::size_t used = ::strnlen(c, room);
  std::memcpy(fortran, c, used);
  std::memset(fortran + used, ' ', room - used);
  return MPI_SUCCESS;
}

FORETRACE_EXPORT int ompi_fortran_argv_blank_f2c(const char* array, int string_length, int advance,
                                                 char*** list) {
  return strings_of(array, -1, string_length, advance, list);
}

FORETRACE_EXPORT int ompi_fortran_argv_count_f2c(const char* array, int count, int string_length,
                                                 int advance, char*** list) {
  return strings_of(array, count, string_length, advance, list);
}

FORETRACE_EXPORT int ompi_fortran_multiple_argvs_f2c(int lists, const char* array,
                                                     int string_length, char**** result) {
  auto*** const all =
      static_cast<char***>(std::calloc(static_cast<std::size_t>(lists) + 1, sizeof(char**)));
  if (!all) return MPI_ERR_NO_MEM;
  *result = all;
  for (int i = 0; i < lists; ++i) {
    // The lists are the rows of a matrix, stored by columns.
    const int error = strings_of(array + std::ptrdiff_t{i} * string_length, -1, string_length,
                                 lists * string_length, &all[i]);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

// `kind` says integer, real or complex; the null handle if there is no such type.
FORETRACE_EXPORT MPI_Datatype ompi_datatype_match_size(int size, int kind, int) {
  constexpr int kIntegers = 0x1000;
  constexpr int kReals = 0x2000;
  const Entry entry(Fn::MPI_Type_match_size);
  const int type_class = kind == kIntegers ? MPI_TYPECLASS_INTEGER
                         : kind == kReals  ? MPI_TYPECLASS_REAL
                                           : MPI_TYPECLASS_COMPLEX;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  impl::Type_match_size(type_class, size, &type);
  return type;
}

#define FORETRACE_COPY_PARAMETERS(Value) \
  (MPI_Fint*, MPI_Fint*, Value*, Value * value, Value * copy, MPI_Fint * wanted, MPI_Fint * error)
#define FORETRACE_DELETE_PARAMETERS(Value) (MPI_Fint*, MPI_Fint*, Value*, Value*, MPI_Fint * error)
#define FORETRACE_DUP(lower, upper, own, Value)                             \
  FORETRACE_FORTRAN(void, lower, upper, FORETRACE_COPY_PARAMETERS(Value)) { \
    *wanted = 1;                                                            \
    *copy = *value;                                                         \
    *error = MPI_SUCCESS;                                                   \
  }                                                                         \
  FORETRACE_ALIAS(own, lower, FORETRACE_COPY_PARAMETERS(Value))
#define FORETRACE_NULL_COPY(lower, upper, own, Value)                       \
  FORETRACE_FORTRAN(void, lower, upper, FORETRACE_COPY_PARAMETERS(Value)) { \
    static_cast<void>(value);                                               \
    static_cast<void>(copy);                                                \
    *wanted = 0;                                                            \
    *error = MPI_SUCCESS;                                                   \
  }                                                                         \
  FORETRACE_ALIAS(own, lower, FORETRACE_COPY_PARAMETERS(Value))
#define FORETRACE_NULL_DELETE(lower, upper, own, Value)                       \
  FORETRACE_FORTRAN(void, lower, upper, FORETRACE_DELETE_PARAMETERS(Value)) { \
    *error = MPI_SUCCESS;                                                     \
  }                                                                           \
  FORETRACE_ALIAS(own, lower, FORETRACE_DELETE_PARAMETERS(Value))

FORETRACE_DUP(mpi_dup_fn, MPI_DUP_FN, ompi_dup_fn_f, MPI_Fint)
FORETRACE_NULL_COPY(mpi_null_copy_fn, MPI_NULL_COPY_FN, ompi_null_copy_fn_f, MPI_Fint)
FORETRACE_NULL_DELETE(mpi_null_delete_fn, MPI_NULL_DELETE_FN, ompi_null_delete_fn_f, MPI_Fint)
#define FORETRACE_ATTRIBUTE_FUNCTIONS(lower, upper)                                            \
  FORETRACE_DUP(mpi_##lower##_dup_fn, MPI_##upper##_DUP_FN, ompi_##lower##_dup_fn_f, MPI_Aint) \
  FORETRACE_NULL_COPY(mpi_##lower##_null_copy_fn, MPI_##upper##_NULL_COPY_FN,                  \
                      ompi_##lower##_null_copy_fn_f, MPI_Aint)                                 \
  FORETRACE_NULL_DELETE(mpi_##lower##_null_delete_fn, MPI_##upper##_NULL_DELETE_FN,            \
                        ompi_##lower##_null_delete_fn_f, MPI_Aint)
FORETRACE_ATTRIBUTE_FUNCTIONS(comm, COMM)
FORETRACE_ATTRIBUTE_FUNCTIONS(type, TYPE)
FORETRACE_ATTRIBUTE_FUNCTIONS(win, WIN)

// Stands for "no conversion": only its address matters.
FORETRACE_FORTRAN(void, mpi_conversion_fn_null, MPI_CONVERSION_FN_NULL, (void)) {}
FORETRACE_ALIAS(mpi_conversion_fn_null_f, mpi_conversion_fn_null, (void))

FORETRACE_FORTRAN(double, mpi_wtime_f90, MPI_WTIME_F90, (void)) {
  const Entry entry(Fn::MPI_Wtime);
  return impl::Wtime();
}
FORETRACE_FORTRAN(double, mpi_wtick_f90, MPI_WTICK_F90, (void)) {
  const Entry entry(Fn::MPI_Wtick);
  return impl::Wtick();
}
FORETRACE_FORTRAN(MPI_Aint, mpi_aint_add_f90, MPI_AINT_ADD_F90,
                  (const MPI_Aint* base, const MPI_Aint* displacement)) {
  return *base + *displacement;
}
FORETRACE_FORTRAN(MPI_Aint, mpi_aint_diff_f90, MPI_AINT_DIFF_F90,
                  (const MPI_Aint* first, const MPI_Aint* second)) {
  return *first - *second;
}

FORETRACE_EXPORT int MPIX_Query_cuda_support(void) {
  return 0;
}
}
