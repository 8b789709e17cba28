// Caller: a member of a collective, and the function that it called. Told to the others, it shows
// where calls do not match.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "capture/handlers/comm_table.hpp"
#include "capture/handlers/functions.hpp"

namespace foretrace::capture {

struct Caller {
  std::int32_t rank;
  std::uint32_t function;
  std::int32_t root;  // a local rank; -1: none, or one that members name differently

  // `root`: a local rank or -1.
  static Caller of(const CommInfo& comm, Fn fn, int root);
  // MPI_Allreduce_c is MPI_Allreduce with larger counts.
  std::string_view name() const;
  std::string text() const;
};

// Where the two called different functions, or named different roots, says so and ends the program.
void check_same(const Caller& own, const Caller& other);

}  // namespace foretrace::capture
