// Drawn models: what the machine may be like on another day, by the errors that its model
// states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "machine/machine_model.hpp"

namespace foretrace::machine {

// A copy, in the machine's other state as often as the model says, but in a quarter of all draws at
// least and three quarters at most (in none if it was there less than 2 % of the time), in which
// every function is faster or slower, each by one number drawn from a normal distribution: an
// equation with an interval takes a multiple of its time, such that the interval holds its share
// (95 % where that is not known); one without has all coefficients moved by the same multiple of
// their errors, as MIN and MAX do. The same seed, number and function name give the same draw.
// Parameters of LogGPS that the model states have no errors and stay.
MachineModel draw_model(const MachineModel& model, std::uint64_t seed, std::uint64_t number);

// 0 to `count` - 1, above 0, each as likely. The same seed, number and `what` give the same.
std::size_t draw_one_of(std::size_t count, std::uint64_t seed, std::uint64_t number,
                        std::string_view what);

// From Student's t distribution of so many degrees of freedom, above 0. The same seed, number and
// `what` give the same.
double draw_student(int degrees, std::uint64_t seed, std::uint64_t number, std::string_view what);

}  // namespace foretrace::machine
