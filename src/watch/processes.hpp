// The processes of a run on this host, and whether they run.
#pragma once

#include <map>
#include <string>

namespace foretrace::watch {

struct RankProcess {
  int process = 0;   // its id
  char state = '?';  // as /proc/ID/stat has it: R, S, D, T (stopped), Z
  bool stopped() const { return state == 'T' || state == 't'; }
};

// Processes that write the trace `output` (an absolute path), by rank: those whose environment
// names it, and a rank as Open MPI, MPICH, PMIx and Slurm do. Of several of a rank the oldest.
std::map<int, RankProcess> find_processes(const std::string& output);

// Those that somebody knows: ranks and the ids of their processes.
std::map<int, RankProcess> look_at_processes(const std::map<int, int>& ids);

}  // namespace foretrace::watch
