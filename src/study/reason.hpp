// Why a command failed, in one line of what it wrote to standard error. Private to src/study.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrace::study {

// The last line that says why: not what launchers print around it (Open MPI's and MPICH's boxes,
// the lines of Open MPI's daemons) and not our own summary of a run ("... -> FILE"). If there is
// nothing else, the last line of a box: it names the signal. "" for nothing.
std::string reason_in(std::string_view errors);

// What our own commands note there beside their summary, without "foretrace: ".
std::vector<std::string> notes_in(std::string_view errors);

}  // namespace foretrace::study
