// What every mode does when a rank's session begins.
#pragma once

#include <string>

namespace foretrace::capture {

// One line on standard error.
void say(const std::string& message);

// Whether the loader has made this library's objects. Until then nothing of it may be used but
// this, and tell_of_early_init(), by which rank 0 says that MPI_Init came before that.
bool is_loaded();
void tell_of_early_init();

// Ends all ranks once the launcher has had time to pass on what was said: when
// it hears of the end first, MPICH's loses what it has not read yet.
[[noreturn]] void end_program();

// True on all ranks if it is true on all of them. Collective.
bool all_agree(bool mine);

// Whether this is one of several processes that were started together, each of which is
// rank 0 of 1, since its MPI does not know the launcher. The first of them says so.
bool runs_alone(int world_size);

// Says, once for all ranks, where the program has brought another MPI than the one whose calls
// are followed: its calls and our library's would be of two.
void warn_of_another_mpi();

// Tells the tool that started the run that it goes on without Foretrace: an empty file
// where the run's would be, unless something is there.
void leave_empty(const std::string& path);

// As the program was started, its words separated by spaces.
std::string command_line();

// Programs that this one starts are none of our business.
void leave_environment();

}  // namespace foretrace::capture
