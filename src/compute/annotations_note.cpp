#include "compute/annotations_note.hpp"

namespace foretrace::compute {

std::string note_of_annotations(bool announced, double seconds_per_step, std::string_view instead) {
  if (!announced)
    return "no FORETRACE_COMPUTE seen: --compute annotated counts nothing else, so the time is "
           "that of communication alone; use --compute " +
           std::string(instead);
  if (seconds_per_step == 0)
    return "--compute annotated: the machine model says no step under [compute], so what the "
           "program announces takes no time; add it, or use --compute " +
           std::string(instead);
  return {};
}

}  // namespace foretrace::compute
