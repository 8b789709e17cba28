// Equation: the papers' form of a time, t(p,d) = c + s*f(p) + k*g(p,d).
//
// p is the number of ranks, d the message size in the model's own unit (bytes
// or elements), the coefficients are in the model's time unit; MachineModel
// holds both units and turns the result into seconds.
#pragma once

#include <array>
#include <optional>
#include <string_view>

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

struct Equation {
  Coefficient constant;
  StartupForm startup_form = StartupForm::p;
  Coefficient startup;
  DataForm data_form = DataForm::d;
  Coefficient data;

  // Time for p >= 1 ranks and d >= 0 units of data; never negative (a fitted
  // line may cross zero outside the sizes that it was fitted to).
  double evaluate(double p, double d, Bound bound) const;
};

}  // namespace foretrace::machine
