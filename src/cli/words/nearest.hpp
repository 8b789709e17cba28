// "Did you mean": the known word that a mistyped one is nearest to.
#pragma once

#include <string>
#include <vector>

namespace foretrace::cli {

// The word of `known` with the fewest letters to change, add, drop or swap (case does not
// count), or one that begins with `word`; "" if none is near: at most one fault in three letters.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

// "; did you mean 'record'?", or "".
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

}  // namespace foretrace::cli
