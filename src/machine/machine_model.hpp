// MachineModel: what Foretrace knows of a machine, as read from its file.
//
// One equation per MPI function and interval of message sizes ("regime"), the
// LogGPS parameters, the network and the cost of a compute step. Pure data and evaluation;
// reading and writing the TOML form is in machine_file.hpp, what the times
// mean for a program is in timing.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "machine/equation.hpp"
#include "machine/topology_shape.hpp"

namespace foretrace::machine {

// An interval of message sizes, both ends included, with its own equation.
struct Regime {
  Bytes from{0};
  Bytes to{UINT64_MAX};
  Equation equation;
  std::optional<double> q;         // goodness of fit, 0..1 (Q of the chi-squared distribution)
  std::optional<double> residual;  // root mean square of the residuals, in the model's time unit
};

// A function's name is MPI's, in lower case without "MPI_" ("allreduce"), or
// one of the data sheet's own: recvmin, isend1, isend2, isendoverlap, irecv1,
// irecv2, irecvoverlap, pingpong, allsend.
struct Function {
  std::string name;
  std::string function_class;   // "point-to-point", "collective", "barrier", "local"
  std::vector<Regime> regimes;  // ascending, contiguous, at least one
};

// LogGPS parameters (Kanbe et al. 2003), those that are known. Seconds, seconds per
// byte, bytes.
struct LogGPS {
  std::optional<double> latency;        // L
  std::optional<double> overhead_send;  // o_s
  std::optional<double> overhead_recv;  // o_r
  std::optional<double> gap;            // g
  std::optional<double> gap_per_byte;   // G
  std::optional<Bytes> sync_threshold;  // S: rendezvous from this size on
};

// The machine's network as its file says it; machine_file.hpp builds it. One of
// the three is there.
struct ModelTopology {
  std::optional<TopologySpec> spec;  // a kind with its sizes
  std::string file;                  // a topology file, as written: from `folder` on
  std::string folder;                // of the machine file; "" is the current one
  std::string graph;                 // node by node: the text of a topology file
};

struct MachineModel {
  std::string name;
  int ranks = 0;  // the largest number of ranks measured; 0: unknown
  std::string source;
  std::string date;
  std::string mpi_library;
  double timer_resolution = 0;  // seconds; 0: unknown
  double time_unit = 1;         // seconds per unit of the coefficients
  Bytes element{1};             // bytes per unit of d
  double compute_step = 0;      // seconds per annotated compute step
  LogGPS loggps;
  std::optional<ModelTopology> topology;
  std::map<std::string, Function, std::less<>> functions;

  // The function called `name`, or nullptr.
  const Function* find(std::string_view name) const;
};

// The regime that holds `bytes`: the first one whose end is not below it, or
// the last one for sizes beyond all.
const Regime& regime_for(const Function& function, Bytes bytes);

// Seconds for `ranks` >= 1 and `bytes`.
double evaluate_seconds(const MachineModel& model, const Function& function, int ranks, Bytes bytes,
                        Bound bound);

}  // namespace foretrace::machine
