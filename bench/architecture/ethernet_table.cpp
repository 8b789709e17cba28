// How much of an Ethernet many stations use that always have a frame to send, beside Metcalfe and
// Boggs' formula (CACM 1976, section 6): 3 Mbit/s, slots of 16 us, as in their table. A table in
// Markdown, as it stands in docs/architecture-examples.md.
#include <cmath>
#include <cstdio>
#include <vector>

#include "architecture/ethernet.hpp"

namespace {

using namespace foretrace;

constexpr std::size_t kFrames = 20'000;

double simulated(int stations, std::uint64_t bytes) {
  architecture::EthernetSettings settings;
  settings.bytes_per_second = 3e6 / 8;
  settings.slot = 48;
  settings.gap = settings.jam = settings.preamble = 0;
  settings.header = 0;
  settings.minimum = 6;
  // A collision is heard within a slot: 8 us one way.
  const std::vector<entity::Ps> distances(static_cast<std::size_t>(stations), 4'000'000);
  entity::Kernel kernel;
  std::size_t sent = 0;
  architecture::Ethernet* medium = nullptr;
  architecture::Ethernet made("cable", settings, distances, [&](std::uint64_t station, entity::Ps) {
    ++sent;
    medium->offer(kernel, static_cast<int>(station), bytes, station);
  });
  medium = &made;
  kernel.add(made, "cable");
  for (int s = 0; s < stations; ++s)
    for (int i = 0; i < 2; ++i) made.offer(kernel, s, bytes, static_cast<std::uint64_t>(s));
  while (sent < kFrames) kernel.step();
  return static_cast<double>(kFrames) * static_cast<double>(made.duration(bytes)) /
         static_cast<double>(kernel.now());
}

double formula(double stations, double bits) {
  const double a = std::pow(1 - 1 / stations, stations - 1);
  return bits / (bits + (1 - a) / a * 48);
}

}  // namespace

int main() {
  std::printf(
      "| stations | 4,096 bits | 1,024 bits | 512 bits | 48 bits |\n|---|---|---|---|---|\n");
  for (const int stations : {2, 3, 5, 10, 32, 64, 256}) {
    std::printf("| %d |", stations);
    for (const int bits : {4096, 1024, 512, 48}) {
      const double ours = simulated(stations, static_cast<std::uint64_t>(bits) / 8);
      const double theirs = formula(stations, bits);
      std::printf(" %.3f, formula %.3f (%+.1f %%) |", ours, theirs, 100 * (ours / theirs - 1));
    }
    std::printf("\n");
  }
}
