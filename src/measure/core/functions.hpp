// Functions: the names that the characterisation program writes, what class they
// are of, how d is counted and what their time is. For the fit, the notes of
// the data sheet, and the tests of the documentation. No MPI.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foretrace::measure {

struct FunctionFacts {
  std::string name;
  // "point-to-point", "one-sided": between two ranks, depends on d alone;
  // "collective", "file": on p and d; "barrier": on p alone.
  std::string_view function_class;
  std::string_view bytes;  // what d counts; empty: there are no data
  std::string meaning;     // a sentence
};

// Samples whose names begin so are no function's, but of [rewrite] of the model: how much longer it
// takes to write data again that other ranks of the node have read, in the call whose name follows.
inline constexpr std::string_view kRewritePrefix = "rewrite:";

// So begin those of [pieces]: messages whose data does not lie together ("send/8", "both/8": at the
// sender, at both ends, in pieces of 8 bytes), and "together".
inline constexpr std::string_view kPiecesPrefix = "pieces:";

// Every function, in the order of the documentation.
const std::vector<FunctionFacts>& measured_functions();
// nullptr: none of that name is measured.
const FunctionFacts* facts_of(std::string_view name);

}  // namespace foretrace::measure
