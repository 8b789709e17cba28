// phase.hpp - a Foretrace phase that lasts as long as a block of the program.
#ifndef PROGRAMS_COMMON_PHASE_HPP
#define PROGRAMS_COMMON_PHASE_HPP

#include "foretrace.h"

namespace programs {

class Phase {
 public:
  explicit Phase(const char* name) : name_(name) { FORETRACE_PHASE_BEGIN(name_); }
  ~Phase() { FORETRACE_PHASE_END(name_); }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

 private:
  const char* name_;
};

}  // namespace programs

#endif  // PROGRAMS_COMMON_PHASE_HPP
