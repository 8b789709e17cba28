// Starting other programs, and where our own files are.
#pragma once

#include <string>
#include <vector>

namespace foretrace::cli {

// Runs a program with our standard streams and waits. Returns its exit status,
// 128 + N if it was killed by signal N. Signals from the keyboard go to it
// alone. Throws Error when it cannot be started.
int run_and_wait(const std::vector<std::string>& command);

// Replaces this process. Throws Error when that fails.
[[noreturn]] void replace_process(const std::vector<std::string>& command);

// What a program prints on standard output. Throws Error when it cannot be
// started; its exit status does not matter.
std::string output_of(const std::vector<std::string>& command);

// This program's file, and its directory of libraries (lib/foretrace).
std::string own_path();
std::string library_directory();
// Of what is data: machines, topologies (share/foretrace).
std::string data_directory();

}  // namespace foretrace::cli
