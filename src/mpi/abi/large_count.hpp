// What the generated large-count functions (MPI_X_c) need to call their int form:
// counts over INT_MAX become one element of a contiguous type.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

namespace foretrace::mpi {
struct Datatype;
}

namespace foretrace::mpi::abi {

// Ends the run: what the int form of a function cannot take.
[[noreturn]] void too_large(const char* function, const char* parameter, std::int64_t value);

template <class Small, class Large>
Small narrow(const char* function, const char* parameter, Large value) {
  static_assert(std::is_integral_v<Small>);
  if (value < std::numeric_limits<Small>::min() || value > std::numeric_limits<Small>::max()) {
    too_large(function, parameter, value);
  }
  return static_cast<Small>(value);
}

// A (count, datatype) pair that an int form takes.
class Counted {
 public:
  Counted(MPI_Count large_count, MPI_Datatype element);
  ~Counted();
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  int count;
  MPI_Datatype type;

 private:
  Datatype* contiguous_ = nullptr;
};

// An array's elements as the int form wants them; nullptr where the program gave
// none or they do not matter (length 0). Lives for the call only.
template <class Small>
class Narrowed {
 public:
  template <class Large>
  Narrowed(const char* function, const char* parameter, const Large* values, int length) {
    if (!values || length <= 0) return;
    elements_ = std::make_unique<Small[]>(static_cast<std::size_t>(length));
    for (int i = 0; i < length; ++i) {
      elements_[static_cast<std::size_t>(i)] = narrow<Small>(function, parameter, values[i]);
    }
  }
  const Small* data() const { return elements_.get(); }

 private:
  std::unique_ptr<Small[]> elements_;
};

// Lengths of collectives' arrays; 0 for what is no communicator.
int members_of(MPI_Comm comm);
int partners_of(MPI_Comm comm);
// Of arrays that matter at the root alone.
int partners_at_root_of(MPI_Comm comm, int root);
int sources_of(MPI_Comm comm);
int destinations_of(MPI_Comm comm);

}  // namespace foretrace::mpi::abi
