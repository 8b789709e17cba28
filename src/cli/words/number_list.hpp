// "8,1k,64..1m": several numbers in one word of the command line.
//
// From text to numbers; what they mean is the caller's affair.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foretrace::cli {

struct NumberRule {
  std::string what;         // what errors call it: "--bytes"
  std::uint64_t least = 0;  // the smallest and the largest number that is allowed
  std::uint64_t most = UINT64_MAX;
};

// ITEM,ITEM,... An item is a number, or a range FROM..TO that doubles (64..1024 is
// 64,128,256,512,1024; the end is always there, 0 is followed by 1), or FROM..TO:STEP that
// adds. Numbers may have the units of sizes (base/size_text.hpp). The result is in the order
// given, at most 10,000 numbers. Throws UsageError.
std::vector<std::uint64_t> parse_number_list(std::string_view text, const NumberRule& rule);

}  // namespace foretrace::cli
