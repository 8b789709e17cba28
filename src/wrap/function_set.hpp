// FunctionSet: the functions that a template names: by name, by pattern, by
// group, joined and taken away from left to right.
//
//   SET   TERM [+ TERM | - TERM | & TERM] ...      a comma is a plus
//   TERM  MPI_Send      a function, with its form for large counts (MPI_Send_c)
//         MPI_*send*    a pattern: * any text, ? any character
//         /^MPI_I/      an extended regular expression
//         collectives   a group (mpi_api/groups.txt lists them), all, wrapped
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wrap/mpi_function.hpp"

namespace foretrace::wrap {

class FunctionSet {
 public:
  // Throws Error that begins with `place`.
  FunctionSet(std::string_view text, const std::string& place);

  // Whether it asks for the functions that the template wraps.
  bool uses_wrapped() const;
  // Throws Error if a function that is named is none of `functions`.
  void check(std::span<const MpiFunction> functions) const;
  // `wrapped` tells of a function whether the template wraps it.
  bool contains(std::string_view function,
                const std::function<bool(std::string_view)>& wrapped) const;

 private:
  enum class Kind { name, pattern, regex, group, all, wrapped };
  struct Term {
    char joined = '+';
    Kind kind = Kind::all;
    std::string text;
    std::shared_ptr<const void> regex;  // compiled
  };
  Term parse_term(std::string_view& rest) const;
  static bool matches(const Term& term, std::string_view function,
                      const std::function<bool(std::string_view)>& wrapped);

  std::string place_;
  std::vector<Term> terms_;
};

// For messages and the documentation: every group's name.
std::vector<std::string_view> group_names();

}  // namespace foretrace::wrap
