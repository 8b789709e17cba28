// The LogGPS parameters in force: what the command line says, else the machine
// model, else what follows from the model's equations (docs/networks.md,
// Parameters).
//
// Here are the words of --loggps and the numbers; what a message takes with
// them is the network model's affair. Ino et al. (PPoPP 2001) define them.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "machine/equation.hpp"
#include "machine/machine_model.hpp"

namespace foretrace::machine {

struct LogGPSTimes {
  Time latency;                         // L
  Time overhead_send;                   // o_s
  Time overhead_recv;                   // o_r
  Time gap;                             // g
  double gap_per_byte = 0;              // G, seconds per byte, not rounded
  std::optional<Bytes> sync_threshold;  // S: rendezvous from this size on; nothing: never
  // Those that nobody gave, of o_s, o_r, L, g, G in this order.
  std::vector<std::string> derived;
  // Of these, those of which the model's equations say nothing either: they are 0.
  std::vector<std::string> unknown;

  bool is_unknown(std::string_view name) const {
    return std::ranges::find(unknown, name) != unknown.end();
  }

  // (k-1) G for k >= 1, 0 for an empty message: from the first byte's arrival
  // to the last one's. Rounded here, once for each message.
  Time stream(Bytes size) const {
    if (size.count == 0) return Time();
    return Time::from_seconds(static_cast<double>(size.count - 1) * gap_per_byte);
  }
};

// By path, those of the inner ones that a model has.
using InnerTimes = std::map<Path, LogGPSTimes>;

// "L=2us,o=500ns,os=1us,or=1us,g=100ns,G=0.08ns,S=65536", in any order. o is
// os and or together, which win over it. G may be a rate (12.5GB/s); S takes
// sizes (base/size_text.hpp), and "none" (which takes a model's S away). An empty
// text gives nothing. Throws UsageError, which names `option` and the fault, and quotes the list.
LogGPS parse_loggps(std::string_view text, std::string_view option = "--loggps");

// The same, where a value may also be added to what there is: "L=+1us".
struct Settings {
  LogGPS values;
  LogGPS added;  // all but S
};
Settings parse_settings(std::string_view text, std::string_view option);
LogGPSTimes plus(LogGPSTimes times, const LogGPS& added);

// `over` where it says something, else `under`.
LogGPS merge(const LogGPS& under, const LogGPS& over);

// The parameters of `model`, those of `given` before them; the rest from the
// model's equations at `bound`, and 0 where it has none (`unknown`). L is derived with the
// o_s and o_r in force, so that a message of one byte takes T_recv(1) whatever
// they are.
LogGPSTimes loggps_times(const MachineModel& model, const LogGPS& given, Bound bound);
// On the inner paths, where the command line says nothing of them.
InnerTimes inner_times(const MachineModel& model, Bound bound);

}  // namespace foretrace::machine
