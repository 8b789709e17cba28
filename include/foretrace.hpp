// foretrace.hpp - Foretrace's annotations for C++ programs.
//
// On top of foretrace.h, whose macros work in C++ too: a phase that lasts as
// long as a block of the program, however the block is left. C++11 or later.
#ifndef FORETRACE_HPP
#define FORETRACE_HPP

#include "foretrace.h"

namespace foretrace {

class Phase {
 public:
  // `name` must live as long as this object; a string literal does.
  explicit Phase(const char* name) : name_(name) { FORETRACE_PHASE_BEGIN(name_); }
  ~Phase() { FORETRACE_PHASE_END(name_); }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

 private:
  const char* name_;
};

}  // namespace foretrace

#endif  // FORETRACE_HPP
