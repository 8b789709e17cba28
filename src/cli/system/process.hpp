// Starting other programs, and where our own files are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrace::cli {

// Opens on nothing what of the standard streams is closed, so that no file of ours gets its number:
// reading finds the end at once, writing fails as it did.
void open_standard_streams();

// Runs a program with our standard streams and waits. Returns its exit status,
// 128 + N if it was killed by signal N. SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 do
// not end us meanwhile: the program gets them, each once, whether they were sent to us or to all of
// our process group, and we go on when it has ended. Throws Error when it cannot be started.
int run_and_wait(const std::vector<std::string>& command);

// While it lives, what started programs print goes to standard error, so that standard output
// holds our own JSON alone.
class OutputAside {
 public:
  OutputAside();
  ~OutputAside();
  OutputAside(const OutputAside&) = delete;
  OutputAside& operator=(const OutputAside&) = delete;

 private:
  int output_;
};

// The last of these, but for SIGUSR1 and SIGUSR2, that came during run_and_wait(); 0: none.
int interrupting_signal();
// If one came: ends this process by it.
void end_by_signal_if_interrupted();

// From now on a signal that ends this process removes first what is Unfinished, unless somebody
// else has his own handler then.
void remove_unfinished_if_interrupted();

// From now on a signal that ends this process says so first, on standard error ("": nothing), and
// does `last`, which may call only what a handler may.
void say_if_interrupted(std::string_view words, void (*last)());

// Replaces this process. Throws Error when that fails.
[[noreturn]] void replace_process(const std::vector<std::string>& command);

// What a program prints on standard output. Throws Error when it cannot be
// started; its exit status does not matter.
std::string output_of(const std::vector<std::string>& command);

// This program's file, and its directory of libraries (lib/foretrace).
std::string own_path();
std::string library_directory();
// Whether the dynamic linker takes the path in LD_PRELOAD for one; the other throws Error if not.
bool is_preloadable(const std::string& library);
void check_preloadable(const std::string& library);
std::string include_directory();
// Of what is data: machines, topologies (share/foretrace).
std::string data_directory();

}  // namespace foretrace::cli
