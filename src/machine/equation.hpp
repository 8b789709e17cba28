// Equation: a time as a function of p and d. Either the papers' form,
// t(p,d) = c + s*f(p) + k*g(p,d), or a sum of terms, one coefficient each.
//
// p is the number of ranks, d the message size in the model's own unit (bytes
// or elements), the coefficients are in the model's time unit; MachineModel
// holds both units and turns the result into seconds.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace foretrace::machine {

// f(p): how the start-up cost grows with the ranks. Howell's thesis section 3.5.1.
enum class StartupForm { p, ln_p, p2 };
// g(p,d): how the cost of the data grows. Howell's thesis section 3.5.1.
enum class DataForm { d, p_d, ln_p_d, p2_d };
// Which end of the error interval to evaluate (Howell's thesis section 5.4.5).
enum class Bound { min, avg, max };

inline constexpr std::array kStartupForms{StartupForm::p, StartupForm::ln_p, StartupForm::p2};
inline constexpr std::array kDataForms{DataForm::d, DataForm::p_d, DataForm::ln_p_d,
                                       DataForm::p2_d};

// The names used in machine files: "p", "ln p", "p^2"; "d", "p d", "ln p d", "p^2 d".
std::string_view name_of(StartupForm form);
std::string_view name_of(DataForm form);
std::optional<StartupForm> parse_startup_form(std::string_view name);
std::optional<DataForm> parse_data_form(std::string_view name);

double evaluate(StartupForm form, double p);
double evaluate(DataForm form, double p, double d);

struct Coefficient {
  double value = 0;
  double error = 0;  // standard error, >= 0

  // value - error, value or value + error.
  double at(Bound bound) const;
};

// What a coefficient can multiply: the papers' forms, and what the messages of
// a collective grow with (steps of a tree, messages of a ring).
enum class Factor {
  one,
  p,
  ln_p,
  p2,
  d,
  p_d,
  ln_p_d,
  p2_d,
  ceil_log2_p,    // steps of a tree over p ranks
  p_minus_1,      // the other ranks
  share,          // (p-1)/p
  ceil_log2_p_d,  // all data in each step
  share_d,        // (p-1)/p d: each rank's share goes to all others
  p_minus_1_d,    // all data to each of the others
};
inline constexpr std::array kFactors{
    Factor::one,         Factor::p,         Factor::ln_p,  Factor::p2,
    Factor::ceil_log2_p, Factor::p_minus_1, Factor::share, Factor::d,
    Factor::p_d,         Factor::ln_p_d,    Factor::p2_d,  Factor::ceil_log2_p_d,
    Factor::p_minus_1_d, Factor::share_d};

// The names used in machine files: "1", "p", "ln p", ..., "ceil log2 p", "(p-1)",
// "ceil log2 p d", "(p-1)/p d", "(p-1) d".
std::string_view name_of(Factor factor);
std::optional<Factor> parse_factor(std::string_view name);
// p >= 1, d >= 0.
double evaluate(Factor factor, double p, double d);
// Whether it is another for other numbers of ranks, other amounts of data.
bool depends_on_ranks(Factor factor);
bool depends_on_data(Factor factor);

struct Term {
  Factor factor = Factor::one;
  Coefficient coefficient;
};

// Where the share `coverage` of measured times lies, as multiples of the
// equation's time.
struct PredictionInterval {
  double low = 1;       // 0..1
  double high = 1;      // >= 1
  double coverage = 0;  // 0..1
};

// The numbers of ranks that a sum of terms holds for. Libraries take other
// ways where p is no power of two.
enum class RankSet { all, powers_of_two, others };
struct TermSum {
  RankSet ranks = RankSet::all;
  std::vector<Term> terms;
};

struct Equation {
  // The papers' form; looked at only where `terms` is empty.
  Coefficient constant;
  StartupForm startup_form = StartupForm::p;
  Coefficient startup;
  DataForm data_form = DataForm::d;
  Coefficient data;

  std::vector<Term> terms = {};
  // For p that is no power of two; empty: `terms` hold for all p.
  std::vector<Term> other_terms = {};
  // What MIN and MAX are; without it, every coefficient less and more its error.
  std::optional<PredictionInterval> interval = {};

  // Time for p >= 1 ranks and d >= 0 units of data; never negative (a fitted
  // line may cross zero outside the sizes that it was fitted to).
  double evaluate(double p, double d, Bound bound) const;
  // Whether it is below zero there, and evaluate() takes zero for it.
  bool is_below_zero(double p, double d) const { return sum(p, d, Bound::avg) < 0; }

  // The same, `times` as long; `more` units of time longer.
  void scale(double times);
  void add(double more);

  bool is_papers_form() const { return terms.empty(); }
  // The equation as sums of terms, whatever its form, to be drawn or walked:
  // one for all ranks, or one for the powers of two and one for the others.
  // Coefficients that are zero and have no error are left out.
  std::vector<TermSum> sums() const;

 private:
  double sum(double p, double d, Bound bound) const;
};

Factor factor_of(StartupForm form);
Factor factor_of(DataForm form);

}  // namespace foretrace::machine
