// Keyvals, and the attributes of objects.
//
// An attribute may be set in one language and got in another (MPI 3.1, 17.2.7):
//
//   set by                     C gets                      Fortran gets
//   C: a pointer               the pointer                 the pointer as an integer
//   Fortran: INTEGER           the address of the INTEGER  the integer
//   Fortran: address-sized     the address of it           the integer
//
// (INTEGERs are the low bytes of `bits`: the machine is little-endian.)
#include "mpi/core/keyvals.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mpi/abi/largest_tag.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/core/error.hpp"
#include "mpi/core/predefined_copies.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/onesided/win.hpp"

namespace foretrace::mpi {
namespace {

using Value = AttributeSet::Value;
using By = Value::By;

// Beyond the predefined keyvals, and all numbers that the standard's ABI keeps.
constexpr int kFirstKeyval = 16385;

std::map<int, Keyval>& keyvals() {
  static auto& all = *new std::map<int, Keyval>;
  return all;
}

void release_keyval(int keyval) {
  const auto found = keyvals().find(keyval);
  if (found != keyvals().end() && --found->second.references == 0) keyvals().erase(found);
}

std::uint64_t next_order() {
  static std::uint64_t last = 0;
  return ++last;
}

// On the object that the call is about, if errors can be raised on it.
int raise_on(Comm& comm, int error_class, const std::string& what) {
  return raise(&comm, error_class, what);
}
int raise_on(Win& win, int error_class, const std::string& what) {
  return raise(&win, error_class, what);
}
int raise_on(Datatype&, int error_class, const std::string& what) {
  return raise(world_comm, error_class, what);
}

template <class Kind>
int raise_keyval(Kind& object, int keyval) {
  return raise_on(object, MPI_ERR_KEYVAL, std::to_string(keyval) + " is no keyval for this call");
}

template <class Kind>
int raise_read_only(Kind& object, int keyval) {
  return raise_on(object, MPI_ERR_KEYVAL,
                  "keyval " + std::to_string(keyval) + " is predefined: it cannot be changed");
}

template <class Function>
auto as(void (*function)()) {
  return reinterpret_cast<Function*>(function);
}

ObjectKind kind_of(const Comm&) {
  return ObjectKind::comm;
}
ObjectKind kind_of(const Datatype&) {
  return ObjectKind::datatype;
}
ObjectKind kind_of(const Win&) {
  return ObjectKind::win;
}

// --- predefined ones ------------------------------------------------------------

// Under MPICH's ABI Fortran's constants are C's plus one.
int in_c(int keyval) {
#ifdef MPICH
  const bool predefined = (static_cast<unsigned>(keyval) >> 30) == 1;
  return predefined && keyval % 2 == 0 ? keyval - 1 : keyval;
#else
  return keyval;
#endif
}

bool is_predefined(ObjectKind kind, int keyval) {
  switch (in_c(keyval)) {
    case MPI_TAG_UB:
    case MPI_HOST:
    case MPI_IO:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_UNIVERSE_SIZE:
    case MPI_LASTUSEDCODE:
    case MPI_APPNUM:
      return kind == ObjectKind::comm;
    case MPI_WIN_BASE:
    case MPI_WIN_SIZE:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
      return kind == ObjectKind::win;
    default:
      return false;
  }
}

// MPICH's launcher leaves the size of the universe out unless it is told of room for more
// processes.
bool has_value([[maybe_unused]] ObjectKind kind, [[maybe_unused]] int keyval) {
#ifdef MPICH
  const bool universe = kind == ObjectKind::comm && in_c(keyval) == MPI_UNIVERSE_SIZE;
  return !universe || world_size() > world_comm->size();
#else
  return true;
#endif
}

Attribute integer(int& value) {
  return {&value, value};
}

Attribute predefined(Comm&, int keyval) {
  static int tag_ub = kLargestTag;
  static int host = MPI_PROC_NULL;
  static int io = MPI_ANY_SOURCE;
  static int wtime_is_global = 1;
  static int universe_size = 0;
  switch (in_c(keyval)) {
    case MPI_TAG_UB:
      return integer(tag_ub);
    case MPI_HOST:
      return integer(host);
    case MPI_IO:
      return integer(io);
    case MPI_WTIME_IS_GLOBAL:
      return integer(wtime_is_global);
    case MPI_UNIVERSE_SIZE:
      universe_size = world_size();
      return integer(universe_size);
    case MPI_APPNUM:
      return integer(application_number);
    default:
      return integer(const_cast<int&>(last_used_error_code()));
  }
}

Attribute predefined(Win& win, int keyval) {
  switch (in_c(keyval)) {
    case MPI_WIN_BASE:
      return {win.base, static_cast<MPI_Aint>(reinterpret_cast<std::intptr_t>(win.base))};
    case MPI_WIN_SIZE:
      return {&win.bytes, win.bytes};
    case MPI_WIN_DISP_UNIT:
      return integer(win.disp_unit);
    case MPI_WIN_CREATE_FLAVOR:
      return integer(win.flavor);
    default:
      return integer(win.model);
  }
}

Attribute predefined(Datatype&, int) {
  return {};
}

// --- on any object ----------------------------------------------------------------

template <class Kind>
std::optional<Attribute> get_from(Kind& object, int keyval) {
  if (is_predefined(kind_of(object), keyval)) {
    if (!has_value(kind_of(object), keyval)) return std::nullopt;
    return predefined(object, keyval);
  }
  const auto found = object.attributes.values.find(keyval);
  if (found == object.attributes.values.end()) return std::nullopt;
  Value& value = found->second;
  if (value.by == By::pointer) {
    return Attribute{reinterpret_cast<void*>(value.bits), static_cast<MPI_Aint>(value.bits)};
  }
  return Attribute{&value.bits, static_cast<MPI_Aint>(value.bits)};
}

// Calls the delete function and takes the attribute out, if the function agrees.
template <class Kind>
int remove_from(Kind& object, int keyval) {
  auto& values = object.attributes.values;
  const auto found = values.find(keyval);
  if (found == values.end()) return MPI_SUCCESS;
  const Keyval* known = find_keyval(keyval);
  if (known && known->remove) {
    // The function may free the keyval or change attributes, of this object too.
    const auto remove = known->remove;
    Value value = found->second;
    if (const int error = remove(object, keyval, value)) return error;
  }
  if (values.erase(keyval) > 0) release_keyval(keyval);
  return MPI_SUCCESS;
}

template <class Kind>
int set_on(Kind& object, int keyval, Value value) {
  const ObjectKind kind = kind_of(object);
  if (is_predefined(kind, keyval)) return raise_read_only(object, keyval);
  Keyval* known = find_keyval(keyval);
  if (!known || known->kind != kind || known->freed) return raise_keyval(object, keyval);
  auto& values = object.attributes.values;
  value.order = next_order();
  // The new value's, from now on: the old one's delete function may free the keyval.
  ++known->references;
  const auto old = values.find(keyval);
  if (old != values.end()) {
    value.order = old->second.order;
    if (const int error = remove_from(object, keyval)) {
      release_keyval(keyval);
      return raise_on(object, error, "from an attribute's delete function");
    }
  }
  values[keyval] = value;
  return MPI_SUCCESS;
}

template <class Kind>
int delete_on(Kind& object, int keyval) {
  const ObjectKind kind = kind_of(object);
  if (is_predefined(kind, keyval)) return raise_read_only(object, keyval);
  const Keyval* known = find_keyval(keyval);
  if (!known || known->kind != kind) return raise_keyval(object, keyval);
  if (!object.attributes.values.contains(keyval)) return MPI_SUCCESS;
  const int error = remove_from(object, keyval);
  return error ? raise_on(object, error, "from an attribute's delete function") : MPI_SUCCESS;
}

// Keyvals in the order in which the attributes were first set.
std::vector<int> in_order(const AttributeSet& set) {
  std::vector<std::pair<std::uint64_t, int>> all;
  for (const auto& [keyval, value] : set.values) all.emplace_back(value.order, keyval);
  std::sort(all.begin(), all.end());
  std::vector<int> result;
  for (const auto& entry : all) result.push_back(entry.second);
  return result;
}

template <class Kind>
int delete_all(Kind& object) {
  while (!object.attributes.values.empty()) {
    const int last = in_order(object.attributes).back();
    if (const int error = remove_from(object, last)) return error;
  }
  return MPI_SUCCESS;
}

template <class Kind>
int copy_all(Kind& from, Kind& to) {
  for (const int keyval : in_order(from.attributes)) {
    const Keyval* known = find_keyval(keyval);
    const auto found = from.attributes.values.find(keyval);
    if (!known || !known->copy || found == from.attributes.values.end()) continue;
    const auto copy = known->copy;
    Value copied;
    bool wanted = false;
    if (const int error = copy(from, keyval, found->second, copied, wanted)) {
      delete_all(to);
      return error;
    }
    Keyval* still_known = find_keyval(keyval);
    if (!wanted || !still_known) continue;
    copied.order = next_order();
    to.attributes.values[keyval] = copied;
    ++still_known->references;
  }
  return MPI_SUCCESS;
}

// A user's function may have any of three kinds of handles; they differ in C only.
MPI_Fint fortran_handle_of(Object& object) {
  // Making the handle makes the Fortran one.
  if (object.kind == ObjectKind::comm) handle_of(static_cast<Comm*>(&object));
  if (object.kind == ObjectKind::datatype) handle_of(static_cast<Datatype*>(&object));
  if (object.kind == ObjectKind::win) handle_of(static_cast<Win*>(&object));
  return object.fortran;
}

template <class Int>
Keyval fortran_keyval(void (*copy)(), void (*remove)(), MPI_Aint extra_state, By by) {
  using Copy = void(MPI_Fint*, MPI_Fint*, Int*, Int*, Int*, MPI_Fint*, MPI_Fint*);
  using Delete = void(MPI_Fint*, MPI_Fint*, Int*, Int*, MPI_Fint*);
  Keyval made;
  if (copy) {
    made.copy = [=](Object& object, int keyval, Value& from, Value& to, bool& wanted) {
      MPI_Fint handle = fortran_handle_of(object), flag = 0, error = MPI_SUCCESS;
      auto extra = static_cast<Int>(extra_state), in = static_cast<Int>(from.bits);
      Int out = 0;
      as<Copy>(copy)(&handle, &keyval, &extra, &in, &out, &flag, &error);
      wanted = flag != 0;
      to.bits = out;
      to.by = by;
      return static_cast<int>(error);
    };
  }
  if (remove) {
    made.remove = [=](Object& object, int keyval, Value& value) {
      MPI_Fint handle = fortran_handle_of(object), error = MPI_SUCCESS;
      auto extra = static_cast<Int>(extra_state), in = static_cast<Int>(value.bits);
      as<Delete>(remove)(&handle, &keyval, &in, &extra, &error);
      return static_cast<int>(error);
    };
  }
  return made;
}

}  // namespace

Keyval* find_keyval(int keyval) {
  const auto found = keyvals().find(keyval);
  return found == keyvals().end() ? nullptr : &found->second;
}

int add_keyval(Keyval keyval) {
  static int next = kFirstKeyval;
  keyvals().emplace(next, std::move(keyval));
  return next++;
}

int create_fortran_keyval(ObjectKind kind, void (*copy)(), void (*remove)(), MPI_Aint extra_state,
                          By by) {
  Keyval made = by == By::fint ? fortran_keyval<MPI_Fint>(copy, remove, extra_state, by)
                               : fortran_keyval<MPI_Aint>(copy, remove, extra_state, by);
  made.kind = kind;
  return add_keyval(std::move(made));
}

int free_keyval(ObjectKind kind, int* keyval) {
  if (is_predefined(kind, *keyval)) return raise_read_only(*world_comm, *keyval);
  Keyval* known = find_keyval(*keyval);
  if (!known || known->kind != kind) return raise_keyval(*world_comm, *keyval);
  // Programs free it in its attributes' delete functions, each time.
  if (!std::exchange(known->freed, true)) release_keyval(*keyval);
  *keyval = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

bool is_keyval(ObjectKind kind, int keyval) {
  const Keyval* known = find_keyval(keyval);
  return is_predefined(kind, keyval) || (known && known->kind == kind);
}

int copy_attributes(Comm& from, Comm& to) {
  return copy_all(from, to);
}
int copy_attributes(Datatype& from, Datatype& to) {
  return copy_all(from, to);
}
int delete_attributes(Comm& object) {
  return delete_all(object);
}
int delete_attributes(Datatype& object) {
  return delete_all(object);
}
int delete_attributes(Win& object) {
  return delete_all(object);
}

std::optional<Attribute> get_attribute(Comm& comm, int keyval) {
  return get_from(comm, keyval);
}
std::optional<Attribute> get_attribute(Datatype& type, int keyval) {
  return get_from(type, keyval);
}
std::optional<Attribute> get_attribute(Win& win, int keyval) {
  return get_from(win, keyval);
}
int set_attribute(Comm& comm, int keyval, Value value) {
  return set_on(comm, keyval, value);
}
int set_attribute(Datatype& type, int keyval, Value value) {
  return set_on(type, keyval, value);
}
int set_attribute(Win& win, int keyval, Value value) {
  return set_on(win, keyval, value);
}
int delete_attribute(Comm& comm, int keyval) {
  return delete_on(comm, keyval);
}
int delete_attribute(Datatype& type, int keyval) {
  return delete_on(type, keyval);
}
int delete_attribute(Win& win, int keyval) {
  return delete_on(win, keyval);
}

}  // namespace foretrace::mpi
