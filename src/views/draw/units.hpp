// Numbers on paper: times, sizes and ratios with a unit and four significant
// digits.
//
// Used by every text view, so that the same value looks the same everywhere.
// JSON does not come through here: it has plain seconds and bytes.
#pragma once

#include <string>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace foretrace::views {

// "0 s", "712.3 ms", "40 us", "999.9 ns", "15 ps"; from ps to s, at most four
// significant digits, no trailing zeros.
std::string format_time(Time time);

// Likewise of a time that need not be whole picoseconds, so that it is rounded
// only once; "0 s" below half a picosecond.
std::string format_picoseconds(double ps);

// With "+" before it if it is above zero.
std::string difference_text(Time difference);

// A wait, where it is known.
std::string wait_text(Time wait, bool known);

// "0 B", "4096 B", "1.5 MiB", "117.7 MiB": plain bytes below 10 KiB, then KiB, MiB, ... to four
// digits; plain bytes also where these would look exact and are not ("65537 B").
std::string format_bytes(Bytes bytes);

// "0.5213": four significant digits, "inf" for infinity.
std::string format_ratio(double ratio);

// 0.515 -> "51.5 %"
std::string format_percent(double ratio);

// 0 of nothing.
double share(Time part, Time whole);

// Seconds as the nearest double, for JSON.
double to_seconds(Time time);

}  // namespace foretrace::views
