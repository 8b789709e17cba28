// The numbers of a data sheet: coefficients with as many digits as their errors
// justify, times, and the model's units.
#pragma once

#include <string>

#include "analysis/datasheet.hpp"
#include "machine/machine_model.hpp"

namespace foretrace::views {

inline constexpr const char* kUnknown = "-";

// `significant` digits, 1 or more, with trailing zeros: (0.5, 2) is "0.50", (234, 1)
// is "200". An exponent below 1e-4 and from 1e7 on.
std::string format_digits(double value, int significant);

// Up to six digits, without trailing zeros.
std::string format_plain(double value);

// A coefficient's value, and its error ("" if it has none), rounded alike: to
// `digits` significant digits, or for 0 to the place of the error's first digit
// (second, if the first is 1). Without an error, or with one too small to show in
// six digits of the value, the value has up to six digits.
struct RoundedCoefficient {
  std::string value, error;
};
RoundedCoefficient round_coefficient(const machine::Coefficient& coefficient, int digits);

// "110 us"; four significant digits.
std::string format_seconds(double seconds);

// "9.16 GB/s"; three significant digits.
std::string format_rate(double bytes_per_second);

// The middle one, with an asterisk where it is extrapolated.
std::string time_cell(const analysis::SheetTime& time);

// Q with two digits; "-" if it is not known.
std::string q_cell(const machine::Regime& regime);

std::string title_of(const machine::MachineModel& model);
// "s", "ms", "us", "ns"; "1e-05 s" for any other.
std::string unit_name(const machine::MachineModel& model);
// "bytes" or "elements of 8 bytes"
std::string data_unit(const machine::MachineModel& model);
// A regime's equation; "m × (its)" where what was measured corrects it by factors m.
std::string equation_cell(const machine::Function& function, const machine::Regime& regime,
                          int digits);
// "all sizes", "0 to 256 B", "257 B and more"
std::string format_interval(const machine::Regime& regime);

}  // namespace foretrace::views
