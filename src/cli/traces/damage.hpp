// What commands that show a trace say of its damage.
#pragma once

#include <string>
#include <vector>

#include "trace/trace_reader.hpp"

namespace foretrace::cli {

// Says on standard error what is damaged in the trace that was read from `path`, and
// what is left. The exit status: 0 if nothing is damaged, else 1.
int tell_damage(const std::string& path, const std::vector<trace::Damage>& damage);

// Says on standard error what a run that did not come to its end left in its trace; nothing where
// nothing is there.
void tell_what_is_there(const std::string& path);

}  // namespace foretrace::cli
