// What data takes longer that does not lie together, at the measured sizes and lengths of a piece.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "machine/pieces.hpp"
#include "measure/core/samples.hpp"

namespace foretrace::measure {

// `samples`: by name, without kPiecesPrefix: "together", "send/8", "both/8". What is sent in pieces
// takes what it takes longer than what lies together; to take it apart what takes longer still
// where it lies in pieces at both ends. The middle over launches; less than nothing, or than
// `negligible` seconds, counts as nothing. Sizes of which nothing was undisturbed are left out.
machine::Pieces pieces_of(const std::map<std::string, std::vector<Sample>>& samples,
                          double negligible);

}  // namespace foretrace::measure
