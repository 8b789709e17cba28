// Condition: what a template asks of the function at hand.
//
//   has ARGUMENT, has @NAME, in TERM, returns TYPE, mpi NAME
//   joined by not, and, or and brackets
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wrap/function_set.hpp"
#include "wrap/mpi_function.hpp"

namespace foretrace::wrap {

struct Condition {
  enum class Kind { has, has_role, in, returns, mpi, negation, conjunction, disjunction };
  Kind kind = Kind::has;
  std::string text;                // the argument, role, type or MPI
  std::optional<FunctionSet> set;  // in
  std::vector<Condition> parts;
};

// Throws Error that begins with `place`.
Condition parse_condition(std::string_view text, const std::string& place);

// True if it asks for a function (all kinds but mpi).
bool asks_for_function(const Condition& condition);

struct Subject {
  const MpiFunction* function = nullptr;
  std::string_view mpi;
  std::function<bool(std::string_view)> wrapped;
};
bool holds(const Condition& condition, const Subject& subject);

// Whether text that names @`role` can be filled in for the function; "bytes"
// needs a count and a datatype.
bool has_role(const MpiFunction& function, std::string_view role);
bool is_role(std::string_view name);

}  // namespace foretrace::wrap
