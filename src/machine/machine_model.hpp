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
#include "machine/path.hpp"
#include "machine/pieces.hpp"
#include "machine/reduction.hpp"
#include "machine/size_factors.hpp"
#include "machine/size_times.hpp"
#include "topology/shape.hpp"

namespace foretrace::machine {

// An interval of message sizes, both ends included, with its own equation.
struct Regime {
  Bytes from{0};
  Bytes to{UINT64_MAX};
  Equation equation;
  std::optional<double> q;         // goodness of fit, 0..1 (Q of the chi-squared distribution)
  std::optional<double> residual;  // root mean square of the residuals, in the model's time unit
  std::optional<double> chi_squared = {};      // of the fit, from the spread between launches
  std::optional<int> degrees_of_freedom = {};  // that it has
  // What the function takes in the machine's other state, as a multiple of the equation.
  double other_state = 1;
};

// What a function was measured with.
struct MeasuredRange {
  std::vector<int> ranks;  // ascending, at least one
  Bytes from{0};           // the least and the largest size
  Bytes to{0};
};

// Relative errors at sizes that the fit did not see (cross-validation).
struct HeldOutError {
  double mean = 0;
  double max = 0;
};

// A function's name is MPI's, in lower case without "MPI_" ("allreduce"), or
// one of the data sheet's own: recvmin, isend1, isend2, isendoverlap, irecv1,
// irecv2, irecvoverlap, pingpong, allsend.
struct Function {
  std::string name;
  std::string
      function_class;  // "point-to-point", "one-sided", "collective", "barrier", "local", "file"
  std::string method = {};      // how the figures came to be; empty: as `measure` does it
  std::vector<Regime> regimes;  // ascending, contiguous, at least one

  std::optional<MeasuredRange> measured = {};  // not set: unknown
  std::optional<HeldOutError> held_out = {};   // of `regimes`
  // What was measured beside the equations, which then only tell how times grow: by ranks, of a
  // function to which the ranks are nothing one alone. Empty: the equations hold.
  std::vector<Correction> corrections = {};
  // What data takes that nobody has written since it was sent last: in shared memory it then lies
  // in the receiver's cache already. By bytes, ascending. Empty: as other data.
  std::vector<SizeFactor> untouched = {};
  bool of_untouched = false;  // its times are those of such data (on_path())
  bool valid = true;          // false: whoever measured it found it not to be trusted
  // How far the times at the largest ranks (relative) are from an equation that
  // was fitted without them: what a time beyond the measured ranks is worth.
  std::optional<double> extrapolation_error = {};
  // The best of the papers' forms in each regime, to compare with; no
  // prediction uses it. May be empty.
  std::vector<Regime> baseline = {};
  std::optional<HeldOutError> baseline_held_out = {};
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
  // P: from this size on a send is not over before its receiver is in a call of MPI; nothing: no
  // send is like that, or it is not known.
  std::optional<Bytes> attended_from;
};

// A parameter with its standard error; or one that the measurements cannot tell
// from the others (a latency that comes out below zero).
struct Parameter {
  double value = 0;
  double error = 0;
  bool separable = true;
};

// LogGPS parameters of an interval of message sizes, those that were looked for.
// Nothing computes with them: LogGPS is what --network loggps takes.
struct LogGPSRegime {
  Bytes from{0};
  Bytes to{UINT64_MAX};
  std::optional<Parameter> latency;        // L, seconds
  std::optional<Parameter> overhead_send;  // o_s
  std::optional<Parameter> overhead_recv;  // o_r
  std::optional<Parameter> gap;            // g
  std::optional<Parameter> gap_per_byte;   // G, seconds per byte
  // Share of a transfer during which its sender, its receiver can compute, 0..1.
  std::optional<double> overlap_send;
  std::optional<double> overlap_recv;
};

// Store-and-forward over one hop, i + k t for k bytes (Demaine, HPCS 1996, section 3).
struct HopParameters {
  Parameter startup;   // i, seconds
  Parameter per_byte;  // t, seconds per byte
};

// The machine's network as its file says it; machine_file.hpp builds it. One of
// the three is there.
struct ModelTopology {
  std::optional<TopologySpec> spec;  // a kind with its sizes
  std::string file;                  // a topology file, as written: from `folder` on
  std::string folder;                // of the machine file; "" is the current one
  std::string graph;                 // node by node: the text of a topology file
};

// Rules of the papers for collectives, beside MPI's own (docs/theory.md).
struct CollectiveRules {
  bool synchronise = false;    // every collective waits for all its members
  bool largest_count = false;  // where all wait for all, all pay for the largest member's size

  bool operator==(const CollectiveRules&) const = default;
};

// What a pattern took in which all ranks send at once. No prediction is made from it; networks are
// judged by it.
struct PatternTimes {
  struct Time {
    Bytes bytes;         // of one message
    double seconds = 0;  // of the call, the middle of what was measured
  };
  std::string name;  // of the function that measures it
  int ranks = 0;
  std::vector<Time> times;  // by bytes
};

// What a launch of the measurement took, as multiples of the model's times: a run of a program is
// one launch, too, on a machine that is not left alone.
struct LaunchFactors {
  double calls = 1;        // MPI's
  double computation = 1;  // of the kernels
};

using Reductions = std::map<Reduction, double>;  // seconds to combine a byte

using Functions = std::map<std::string, Function, std::less<>>;  // by name

// How much longer it takes a rank to write again what it gave and other ranks of its node have
// read, by the call that gave it: "send", "bcast", "allgather", "alltoall", "gather", "scatter"; of
// so many bytes as the rank gave. May be empty, or lack some.
using Rewrite = std::map<std::string, std::vector<SizeTime>, std::less<>>;

// What holds on one path (machine/path.hpp).
struct PathModel {
  LogGPS loggps;
  std::vector<LogGPSRegime> loggps_regimes;  // ascending, contiguous; may be empty
  std::optional<HopParameters> hop;
  Functions functions;
  Rewrite rewrite;
  Pieces pieces;
};

// What it has of a PathModel is that of the outer path.
struct MachineModel : PathModel {
  std::string name;
  int ranks = 0;  // the largest number of ranks measured; 0: unknown
  // "measured" on the machine by Foretrace, "derived" from other people's measurements,
  // "printed": equations as somebody published them; empty: the file does not say.
  std::string kind = {};
  std::string source;
  std::string licence = {};  // of the figures behind it
  std::string date;
  std::string mpi_library;
  double timer_resolution = 0;  // seconds; 0: unknown
  // Seconds from core to core of one host while it was measured; 0: unknown. Tells the state that
  // a virtual machine was in.
  double cache_line = 0;
  // The share of the measurement in which the machine was in another state, 0..1; see
  // Regime::other_state.
  double other_state_share = 0;
  double time_unit = 1;     // seconds per unit of the coefficients
  Bytes element{1};         // bytes per unit of d
  double compute_step = 0;  // seconds per annotated compute step
  CollectiveRules collectives;
  std::map<Path, PathModel> paths;  // the inner ones that it knows
  std::optional<ModelTopology> topology;
  std::vector<PatternTimes> patterns;
  std::vector<LaunchFactors> launches;  // may be empty: not known
  // With sum_double, or empty: combining takes no time.
  Reductions reductions;

  // The function called `name`, or nullptr.
  const Function* find(std::string_view name) const;
};

// Whether its equations say nothing: it is not valid, or they were off by more than half, in
// the mean, where they were left to predict.
bool is_unreliable(const Function& function);
// By name, those of all paths: "bcast", "node/bcast".
std::vector<std::string> unreliable_functions(const MachineModel& model);
// "off by 138 % at sizes that were left out".
std::string why_unreliable(const Function& function);

// The regime of `regimes` (not empty) that holds `bytes`: the first one whose end
// is not below it, or the last one for sizes beyond all.
const Regime& regime_for(const std::vector<Regime>& regimes, Bytes bytes);
const Regime& regime_for(const Function& function, Bytes bytes);

// Whether a time is beyond what the function was measured with. Where the file
// does not say, the model's ranks and the regimes' sizes count. The ranks of a
// function of class point-to-point or one-sided are always two.
struct Beyond {
  bool ranks = false;
  bool bytes = false;
  bool any() const { return ranks || bytes; }
};
Beyond beyond_measured(const MachineModel& model, const Function& function, int ranks, Bytes bytes);

// What data of this size takes that is untouched, as a multiple; 1 where that is not known.
double untouched_factor(const Function& function, Bytes bytes);

// What was measured there as a multiple of the equation; 1 where that is not known.
double correction_factor(const Function& function, int ranks, Bytes bytes);

// Seconds for `ranks` >= 1 and `bytes`; of untouched data where the function is that. Beyond the
// measured ranks, min and max are at least the function's extrapolation error away from avg: avg /
// (1 + error), avg * (1 + error).
double evaluate_seconds(const MachineModel& model, const Function& function, int ranks, Bytes bytes,
                        Bound bound);
// Whether its equation is below zero there, and 0 seconds stand for it.
bool is_below_zero(const MachineModel& model, const Function& function, int ranks, Bytes bytes);
// Where the function has factors (corrections, untouched data): no more than any of its times, in
// seconds; else without limit.
double least_between_factors(const MachineModel& model, const Function& function, int ranks,
                             Bound bound);
// Makes its times so many seconds longer; exactly so where there are no corrections, and where they
// were measured.
void add_seconds(const MachineModel& model, Function& function, double more);
// As evaluate_seconds() with the baseline's equations, which must not be empty.
double evaluate_baseline_seconds(const MachineModel& model, const Function& function, int ranks,
                                 Bytes bytes, Bound bound);

}  // namespace foretrace::machine
