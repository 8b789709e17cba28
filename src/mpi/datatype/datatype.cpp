#include "mpi/datatype/datatype.hpp"

#include <climits>
#include <cstring>
#include <string>

#include "live_impl.hpp"
#include "mpi/datatype/basic.hpp"
#include "mpi/datatype/description.hpp"

namespace foretrace::mpi {

Datatype::Datatype() : Object(ObjectKind::datatype) {}

Datatype::~Datatype() {
  if (contents)
    for (Datatype* type : contents->types) release(type);
  delete contents;
  delete layout;
}

namespace {

std::string name_of(const Datatype& type) {
  return type.name.empty() && type.basic ? type.basic->name : type.name;
}

template <class Number>
int tell_extent(MPI_Datatype handle, bool true_one, Number* lb, Number* extent) {
  int error = MPI_SUCCESS;
  const Datatype* type = old_type(handle, error);
  if (!type) return error;
  if (!lb || !extent) return check_result(nullptr, "lb or extent");
  *lb = static_cast<Number>(true_one ? type->true_lb : type->lb);
  *extent = static_cast<Number>(true_one ? type->true_extent : type->extent);
  return MPI_SUCCESS;
}

int tell_size(MPI_Datatype handle, MPI_Count* size) {
  int error = MPI_SUCCESS;
  const Datatype* type = old_type(handle, error);
  if (!type) return error;
  if (int missing_result = check_result(size, "size")) return missing_result;
  *size = type->size;
#ifdef FORETRACE_STANDARD_ABI
  // MPI 5.0, 20.4: so that programs see which of Fortran's types there are.
  if (type->basic && type->basic->value == Scalar::none) *size = MPI_UNDEFINED;
#endif
  return MPI_SUCCESS;
}

const TypeContents& contents_of(const Datatype& type) {
  static const TypeContents named;
  return type.contents ? *type.contents : named;
}

// A type made by MPI_Type_..._c has contents that int forms cannot tell.
int refuse_large(const TypeContents& contents) {
  if (contents.large_counts.empty()) return MPI_SUCCESS;
  return raise(MPI_ERR_TYPE, "the datatype was made with large counts, ask with the _c function");
}

int copy_contents(const Datatype& type, MPI_Count max_integers, MPI_Count max_addresses,
                  MPI_Count max_large_counts, MPI_Count max_types, int integers[],
                  MPI_Aint addresses[], MPI_Count large_counts[], MPI_Datatype types[]) {
  const TypeContents& contents = contents_of(type);
  if (contents.combiner == MPI_COMBINER_NAMED)
    return raise(MPI_ERR_TYPE, "a predefined datatype has no contents");
  const auto check = [](const char* what, MPI_Count room, std::size_t have) {
    if (room >= static_cast<MPI_Count>(have)) return MPI_SUCCESS;
    return raise(MPI_ERR_ARG, "room for " + std::to_string(room) + " " + what + ", expected " +
                                  std::to_string(have));
  };
  if (int error = check("integers", max_integers, contents.integers.size())) return error;
  if (int error = check("addresses", max_addresses, contents.addresses.size())) return error;
  if (int error = check("large counts", max_large_counts, contents.large_counts.size()))
    return error;
  if (int error = check("datatypes", max_types, contents.types.size())) return error;
  // The arrays may be null where there is nothing to tell.
  for (const int value : contents.integers) *integers++ = value;
  for (const MPI_Aint value : contents.addresses) *addresses++ = value;
  for (const MPI_Count value : contents.large_counts) *large_counts++ = value;
  for (Datatype* child : contents.types) *types++ = handle_of(retain(child));
  return MPI_SUCCESS;
}

}  // namespace

std::string described(const Datatype& type) {
  const std::string name = name_of(type);
  return name.empty() ? "a derived datatype without a name" : "datatype " + name;
}

namespace impl {

int Type_commit(MPI_Datatype* datatype) {
  if (int error = check_result(datatype, "datatype")) return error;
  int error = MPI_SUCCESS;
  Datatype* type = old_type(*datatype, error);
  if (!type) return error;
  type->committed = true;
  return MPI_SUCCESS;
}

int Type_free(MPI_Datatype* datatype) {
  if (int error = check_result(datatype, "datatype")) return error;
  int error = MPI_SUCCESS;
  Datatype* type = old_type(*datatype, error);
  if (!type) return error;
  if (type->predefined) return raise(MPI_ERR_TYPE, "a predefined datatype cannot be freed");
  if (int refused = delete_attributes(*type)) return refused;
  release(type);
  *datatype = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

int Type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
  if (int error = check_result(newtype, "newtype")) return error;
  int error = MPI_SUCCESS;
  Datatype* old = old_type(oldtype, error);
  if (!old) return error;
  auto* copy = new Datatype;
  copy->size = old->size;
  copy->lb = old->lb;
  copy->extent = old->extent;
  copy->true_lb = old->true_lb;
  copy->true_extent = old->true_extent;
  copy->committed = old->committed;
  copy->dense = old->dense;
  copy->layout = new TypeLayout(layout_of(*old));
  copy->contents = new TypeContents;
  copy->contents->combiner = MPI_COMBINER_DUP;
  copy->contents->types.push_back(retain(old));
  if (int refused = copy_attributes(*old, *copy)) {
    release(copy);
    *newtype = MPI_DATATYPE_NULL;
    return refused;
  }
  *newtype = handle_of(copy);
  return MPI_SUCCESS;
}

int Type_get_extent(MPI_Datatype datatype, MPI_Aint* lb, MPI_Aint* extent) {
  return tell_extent(datatype, false, lb, extent);
}

int Type_get_extent_x(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  return tell_extent(datatype, false, lb, extent);
}

int Type_get_true_extent(MPI_Datatype datatype, MPI_Aint* true_lb, MPI_Aint* true_extent) {
  return tell_extent(datatype, true, true_lb, true_extent);
}

int Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  return tell_extent(datatype, true, true_lb, true_extent);
}

int Type_extent(MPI_Datatype datatype, MPI_Aint* extent) {
  MPI_Aint lb = 0;
  return tell_extent(datatype, false, &lb, extent);
}

int Type_lb(MPI_Datatype datatype, MPI_Aint* displacement) {
  MPI_Aint extent = 0;
  return tell_extent(datatype, false, displacement, &extent);
}

int Type_ub(MPI_Datatype datatype, MPI_Aint* displacement) {
  MPI_Aint lb = 0;
  if (int error = tell_extent(datatype, false, &lb, displacement)) return error;
  *displacement += lb;
  return MPI_SUCCESS;
}

int Address(void* location, MPI_Aint* address) {
  if (int error = check_result(address, "address")) return error;
  *address = reinterpret_cast<MPI_Aint>(location);
  return MPI_SUCCESS;
}

int Type_size(MPI_Datatype datatype, int* size) {
  if (int error = check_result(size, "size")) return error;
  MPI_Count bytes = 0;
  if (int error = tell_size(datatype, &bytes)) return error;
  *size = bytes > INT_MAX ? MPI_UNDEFINED : static_cast<int>(bytes);
  return MPI_SUCCESS;
}

int Type_size_x(MPI_Datatype datatype, MPI_Count* size) {
  return tell_size(datatype, size);
}

int Type_set_name(MPI_Datatype datatype, const char* name) {
  int error = MPI_SUCCESS;
  Datatype* type = old_type(datatype, error);
  if (!type) return error;
  if (int missing_name = check_result(name, "type_name")) return missing_name;
  type->name.assign(name, strnlen(name, MPI_MAX_OBJECT_NAME - 1));
  return MPI_SUCCESS;
}

int Type_get_name(MPI_Datatype datatype, char* name, int* length) {
  if (!name || !length) return check_result(nullptr, "type_name or resultlen");
  // MPI 3.1, 6.8: asking for the name of MPI_DATATYPE_NULL is allowed.
  const Datatype* type = nullptr;
  if (datatype != MPI_DATATYPE_NULL) {
    int error = MPI_SUCCESS;
    type = old_type(datatype, error);
    if (!type) return error;
  }
  std::string text = "MPI_DATATYPE_NULL";
  if (type) text = name_of(*type);
  std::memcpy(name, text.c_str(), text.size() + 1);
  *length = static_cast<int>(text.size());
  return MPI_SUCCESS;
}

int Type_get_envelope(MPI_Datatype datatype, int* integers, int* addresses, int* types,
                      int* combiner) {
  int error = MPI_SUCCESS;
  const Datatype* type = old_type(datatype, error);
  if (!type) return error;
  if (!integers || !addresses || !types || !combiner) return check_result(nullptr, "a result");
  const TypeContents& contents = contents_of(*type);
  if (int refused = refuse_large(contents)) return refused;
  *integers = static_cast<int>(contents.integers.size());
  *addresses = static_cast<int>(contents.addresses.size());
  *types = static_cast<int>(contents.types.size());
  *combiner = contents.combiner;
  return MPI_SUCCESS;
}

int Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_types,
                      int integers[], MPI_Aint addresses[], MPI_Datatype types[]) {
  int error = MPI_SUCCESS;
  const Datatype* type = old_type(datatype, error);
  if (!type) return error;
  if (int refused = refuse_large(contents_of(*type))) return refused;
  return copy_contents(*type, max_integers, max_addresses, 0, max_types, integers, addresses,
                       nullptr, types);
}

#if MPI_VERSION >= 4
int Type_get_extent_c(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  return tell_extent(datatype, false, lb, extent);
}

int Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  return tell_extent(datatype, true, true_lb, true_extent);
}

int Type_size_c(MPI_Datatype datatype, MPI_Count* size) {
  return tell_size(datatype, size);
}

int Type_get_envelope_c(MPI_Datatype datatype, MPI_Count* integers, MPI_Count* addresses,
                        MPI_Count* large_counts, MPI_Count* types, int* combiner) {
  int error = MPI_SUCCESS;
  const Datatype* type = old_type(datatype, error);
  if (!type) return error;
  if (!integers || !addresses || !large_counts || !types || !combiner)
    return check_result(nullptr, "a result");
  const TypeContents& contents = contents_of(*type);
  *integers = static_cast<MPI_Count>(contents.integers.size());
  *addresses = static_cast<MPI_Count>(contents.addresses.size());
  *large_counts = static_cast<MPI_Count>(contents.large_counts.size());
  *types = static_cast<MPI_Count>(contents.types.size());
  *combiner = contents.combiner;
  return MPI_SUCCESS;
}

int Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
                        MPI_Count max_large_counts, MPI_Count max_types, int integers[],
                        MPI_Aint addresses[], MPI_Count large_counts[], MPI_Datatype types[]) {
  int error = MPI_SUCCESS;
  const Datatype* type = old_type(datatype, error);
  if (!type) return error;
  return copy_contents(*type, max_integers, max_addresses, max_large_counts, max_types, integers,
                       addresses, large_counts, types);
}
#endif

}  // namespace impl
}  // namespace foretrace::mpi
