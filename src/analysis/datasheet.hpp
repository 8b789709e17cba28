// The data sheet of a machine model: times at common points, curves, and the
// measured samples beside what the equations say of them (Howell's thesis, chapter 3
// and appendix B).
//
// From a MachineModel and its samples, if there are any, to plain tables and
// curves in seconds; views draw them. Reads no file, formats nothing.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "machine/compute_costs.hpp"
#include "machine/machine_model.hpp"

namespace foretrace::analysis {

// One measured block of repetitions, of a launch that the fit uses.
struct SheetSample {
  std::string function;
  int ranks = 0;
  Bytes bytes;
  double seconds = 0;
  bool kept = true;  // false: disturbed; counts for the share that survived alone
};

// What lies beside a model: its samples, what their file says of the measurement ("# key = value"
// lines), and what the functions mean, by name.
struct SheetSource {
  std::vector<SheetSample> samples;
  std::map<std::string, std::string> facts;
  std::map<std::string, std::string> meanings;
  machine::ComputeCosts computation = {};
  std::vector<std::string> invalid_reasons = {};  // why the measurement is not to be trusted
};

struct SheetOptions {
  // Empty: powers of two up to the model's ranks, five at most; three of a model of many functions.
  std::vector<int> ranks;
  std::vector<Bytes> bytes;  // empty: 8 bytes to 1 MiB
};

// How a function's times are laid out.
enum class SheetGroup {
  point_to_point,  // depends on d alone: p = 2
  collective,      // depends on d, and has ranks to choose
  no_data,         // has no message
};

// T(p,d) in seconds, from all coefficients one standard error lower (min), as
// they are, and one higher (max).
struct SheetTime {
  int ranks = 0;
  Bytes bytes;
  double min = 0, avg = 0, max = 0;
  bool beyond = false;  // outside the ranks or sizes that are known to have been measured
};

struct CurvePoint {
  double x = 0;  // bytes; ranks for SheetGroup::no_data
  double min = 0, avg = 0, max = 0;
};

// What one number of ranks takes; over the ranks for SheetGroup::no_data.
struct SheetCurve {
  int ranks = 0;
  std::vector<std::vector<CurvePoint>> pieces;  // one for each regime that is in sight
};

// All samples of one point; those that were disturbed only where there is no other.
struct MeasuredPoint {
  int ranks = 0;
  Bytes bytes;
  std::size_t samples = 0;
  double median = 0, low = 0, high = 0;  // seconds; the quartiles
  double fitted = 0;                     // seconds, what the equation says
  bool disturbed = false;                // no sample survived
};

// What is known to have been measured, by the model or else by the samples.
struct KnownRange {
  int least_ranks = 1, most_ranks = 0;  // most 0: unknown, or of no importance
  Bytes least_bytes{0}, most_bytes{UINT64_MAX};

  bool holds(int ranks, Bytes bytes) const {
    return ranks >= least_ranks && (most_ranks == 0 || ranks <= most_ranks) &&
           bytes >= least_bytes && bytes <= most_bytes;
  }
};

struct SheetFunction {
  machine::Function function;
  SheetGroup group = SheetGroup::collective;
  KnownRange known;
  std::vector<SheetTime> times;         // all bytes of the first rank count, then the next
  std::vector<SheetCurve> curves;       // ascending ranks
  std::vector<SheetCurve> surface;      // the same sizes for several ranks; may be empty
  std::vector<MeasuredPoint> measured;  // ascending ranks, then bytes
  std::size_t blocks = 0;               // of samples, those that were disturbed included
  std::size_t kept = 0;
  std::string meaning;  // a sentence; may be empty
};

// What an inner path of the model says itself; times and curves alone.
struct PathSheet {
  machine::Path path = machine::Path::outer;
  std::vector<SheetFunction> functions;  // in the same order
};

struct Datasheet {
  machine::MachineModel model;
  std::vector<int> ranks;                // of the tables
  std::vector<Bytes> bytes;              // of the tables
  std::vector<SheetFunction> functions;  // by group, then as the thesis orders them, then by name
  std::vector<PathSheet> paths;          // from inner to outer; may be empty
  bool has_samples = false;
  bool knows_sizes = false;                  // which sizes were measured, of any function
  std::map<std::string, std::string> facts;  // of the measurement; may be empty
  machine::ComputeCosts computation = {};
  std::vector<std::string> invalid_reasons = {};  // why the measurement is not to be trusted

  // The fact called `key`, or "".
  std::string fact(const std::string& key) const;
  const SheetFunction* find(std::string_view name) const;
};

// What one call takes at a point.
SheetTime time_of(const Datasheet& sheet, const SheetFunction& function, int ranks, Bytes bytes);

// True if T depends on the ranks, or on the size, in any regime.
bool depends_on_ranks(const machine::Function& function);
bool depends_on_bytes(const machine::Function& function);
// True if any coefficient of the function has a standard error.
bool has_errors(const machine::Function& function);

// What the equations say from `least` >= 1 to `most`, at points that are evenly spaced on a
// logarithmic axis, both ends included.
SheetCurve curve_over_bytes(const machine::MachineModel& model, const machine::Function& function,
                            int ranks, Bytes least, Bytes most);
SheetCurve curve_over_ranks(const machine::MachineModel& model, const machine::Function& function,
                            Bytes bytes, int least, int most);

// Samples of functions that the model lacks are ignored.
Datasheet make_datasheet(const machine::MachineModel& model, const SheetSource& source,
                         const SheetOptions& options);

// One call on several machines.
struct ComparedCall {
  std::string function;
  SheetGroup group = SheetGroup::collective;
  int ranks = 0;
  Bytes bytes;
  std::vector<std::optional<SheetTime>> times;  // nothing: the model lacks the function
  std::vector<std::optional<double>> ratios;    // to the first sheet's avg; nothing if either is 0
};

// `options`, with ranks that all models have where it has none.
SheetOptions common_options(std::span<const machine::MachineModel> models, SheetOptions options);
// The most ranks of the first sheet's tables that no model has fewer of; the least where there are
// none.
int common_ranks(std::span<const Datasheet> sheets);
// Every function that any sheet has, at the ranks and sizes of the first sheet.
std::vector<ComparedCall> compare_datasheets(std::span<const Datasheet> sheets);

}  // namespace foretrace::analysis
