// The two kinds of failure that end a command. Both carry one line of text
// "where: what is wrong; what to do" and are caught once, in main.
#pragma once

#include <stdexcept>
#include <string>

namespace foretrace {

// Bad data or a failed run: exit status 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Wrong use of the command line: exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace foretrace
