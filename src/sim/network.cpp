#include "sim/network.hpp"

#include "base/error.hpp"
#include "sim/network/datasheet.hpp"
#include "sim/network/hops.hpp"
#include "sim/network/links.hpp"
#include "sim/network/loggps.hpp"

namespace foretrace::sim {

std::unique_ptr<Network> make_network(const NetworkOptions& options, const machine::Timing& timing,
                                      int ranks) {
  switch (options.kind) {
    case NetworkKind::datasheet:
      return std::make_unique<DatasheetNetwork>(timing, options.placement);
    case NetworkKind::loggps:
      return std::make_unique<LoggpsNetwork>(options, ranks);
    case NetworkKind::hops:
      return std::make_unique<HopsNetwork>(options, ranks);
    case NetworkKind::bus:
    case NetworkKind::flow:
    case NetworkKind::packet:
    case NetworkKind::architecture:
      return std::make_unique<LinkNetwork>(options, ranks);
  }
  throw Error("there is no such network");
}

}  // namespace foretrace::sim
