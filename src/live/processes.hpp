// The ranks' processes: started, watched, and none left behind.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "shared/launcher.hpp"

namespace foretrace::live {

struct Command {
  std::string path;                // of the program
  std::vector<std::string> words;  // what it is called, and its arguments
  std::string library;             // our MPI library, to be loaded before the program's
  // For all ranks, besides the simulator's own environment: "NAME=VALUE".
  std::vector<std::string> environment;
  Launcher launcher = Launcher::any;  // whose variables ranks find in theirs
  std::string hint;                   // what to ask where no rank comes to MPI_Init; may be empty
  bool output_to_stderr = false;      // what they print; standard output is for something else
};

// How a process ended.
struct Ended {
  int rank = 0;
  int signal = 0;  // 0: it exited
  int status = 0;  // exit status
};

// CPU time that a process has used so far, in the system's clock ticks; 0 if it is
// no more.
std::uint64_t cpu_ticks(int process);

// Wants SharedMemory::create() before. One at a time.
class Processes {
 public:
  Processes(const Command& command, int ranks);
  // Kills and reaps those that still live, and kills the programs that scripts have started.
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  // Starts the next ranks while a core is free. Throws Error.
  void start_more();
  int started() const { return started_; }
  // The next `count` ranks are to run another program, whose path is the first word, in that
  // directory (empty: in this one).
  void add(std::vector<std::string> words, std::string directory, int count);
  int wanted() const { return ranks_; }
  // Those that have ended since the last call.
  std::vector<Ended> ended();
  bool all_ended() const;
  // Ranks and their processes that have not ended. May be asked from any thread.
  std::map<int, int> living() const;
  // To each rank that has not ended; where a script has started its program, to that.
  void signal(int signal) const;

 private:
  struct Watch;

  void start(int rank);
  void end_programs_of_scripts() const;
  pid_t execute(int rank);
  std::vector<std::string> environment(int rank) const;

  // Ranks below `end`, from the program before on.
  struct Program {
    int end = 0;
    std::string path;
    std::vector<std::string> words;
    std::string directory;
  };
  Program& program_of(int rank);

  Command command_;
  // What we may run on before ranks share a core; not known where there are more than fit.
  cpu_set_t cores_{};
  bool knows_cores_ = ::sched_getaffinity(0, sizeof cores_, &cores_) == 0;
  std::vector<Program> programs_;  // the first is the command's
  int ranks_;
  int started_ = 0;
  std::unique_ptr<Watch> watch_;
};

}  // namespace foretrace::live
