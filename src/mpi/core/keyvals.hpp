// Attributes that a program caches on communicators, datatypes and windows.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "mpi/core/object.hpp"

namespace foretrace::mpi {

// By keyval. What a value holds depends on who set it: C (a pointer), Fortran (an
// INTEGER, or an address-sized integer); see attributes.cpp.
struct AttributeSet {
  struct Value {
    std::intptr_t bits = 0;
    enum class By : std::uint8_t { pointer, fint, aint } by = By::pointer;
    std::uint64_t order = 0;  // when the attribute was first set
  };
  std::map<int, Value> values;
};

// Copies what the keyvals' copy functions want copied; MPI_SUCCESS, or the error
// code of a copy function, and then nothing was copied.
int copy_attributes(Comm& from, Comm& to);
int copy_attributes(Datatype& from, Datatype& to);
// Calls the delete functions, last set first; stops at the first that fails.
int delete_attributes(Comm& object);
int delete_attributes(Datatype& object);
int delete_attributes(Win& object);

// What a keyval stands for. Lives as long as attributes have it.
struct Keyval {
  using Value = AttributeSet::Value;

  ObjectKind kind = ObjectKind::comm;
  // The copy function; empty: not copied. Sets `wanted` and then `to`.
  std::function<int(Object& object, int keyval, Value& from, Value& to, bool& wanted)> copy;
  // The delete function; empty: none.
  std::function<int(Object& object, int keyval, Value& value)> remove;
  int references = 1;
  bool freed = false;
  // As the program gave them, where it is C's functions that make a keyval: other
  // languages' libraries say afterwards how they are to be called.
  void (*users_copy)() = nullptr;
  void (*users_remove)() = nullptr;
  void* extra_state = nullptr;
};

// Returns the new keyval.
int add_keyval(Keyval keyval);
// nullptr: there is none of the program with this number.
Keyval* find_keyval(int keyval);
// With copy and delete functions that are Fortran subroutines: of INTEGERs (by
// fint), as in MPI-1, or of address-sized integers (aint). nullptr: none.
int create_fortran_keyval(ObjectKind kind, void (*copy)(), void (*remove)(), MPI_Aint extra_state,
                          AttributeSet::Value::By by);
// Gives back the program's reference, sets it to MPI_KEYVAL_INVALID.
int free_keyval(ObjectKind kind, int* keyval);

// An attribute as MPI 3.1, 17.2.7, shows it to each language.
struct Attribute {
  void* in_c = nullptr;
  MPI_Aint in_fortran = 0;
};
// Predefined ones included; empty: not set.
std::optional<Attribute> get_attribute(Comm& comm, int keyval);
std::optional<Attribute> get_attribute(Datatype& type, int keyval);
std::optional<Attribute> get_attribute(Win& win, int keyval);
// Results are error codes, errors are raised.
int set_attribute(Comm& comm, int keyval, AttributeSet::Value value);
int set_attribute(Datatype& type, int keyval, AttributeSet::Value value);
int set_attribute(Win& win, int keyval, AttributeSet::Value value);
int delete_attribute(Comm& comm, int keyval);
int delete_attribute(Datatype& type, int keyval);
int delete_attribute(Win& win, int keyval);
// Whether it is a keyval for objects of this kind, one of the program or a
// predefined one.
bool is_keyval(ObjectKind kind, int keyval);

}  // namespace foretrace::mpi
