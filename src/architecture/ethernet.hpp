// Ethernet: a medium that stations share by carrier sense, with collisions and back-off.
//
// IEEE 802.3 for half duplex: a station sends when it has heard nothing for the gap between frames;
// who hears another while it sends jams, and tries again after a random number of slots out of
// twice as many as before. docs/architecture-files.md has the rules. One entity on the kernel;
// whoever offers frames (message_network.hpp) hears when they are through.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "foretrace_entity.hpp"
#include "topology/contention.hpp"

namespace foretrace::architecture {

struct EthernetSettings {
  double bytes_per_second = 1.25e6;
  std::int64_t slot = 512, gap = 96, jam = 32, preamble = 64;  // bits
  std::uint64_t header = 18, minimum = 64;                     // bytes of a frame
  std::uint64_t payload = 1500;                                // the most of a frame
  int attempts = 16;
  int doublings = 10;
  entity::Ps retry = 0;  // after the last attempt the frame begins anew, so much later
  std::uint64_t seed = 1;
};
// What an entity's parameters say; the rate is that of its links.
EthernetSettings ethernet_settings(const entity::Parameters& parameters, double bytes_per_second);

class Ethernet final : public entity::Entity {
 public:
  // A frame that got through: the one offered as `frame` was under way from `begin` to now.
  using Sent = std::function<void(std::uint64_t frame, entity::Ps begin)>;

  // distance: by station, how long its signal takes to the middle; between two, the sum. Throws
  // Error (with `name`) where a collision could come after the end of the shortest frame.
  Ethernet(const std::string& name, const EthernetSettings& settings,
           std::vector<entity::Ps> distance, Sent sent);

  // Behind what the station has still to send.
  void offer(entity::Kernel& kernel, int station, std::uint64_t bytes, std::uint64_t frame);
  // What a frame takes, its preamble included.
  entity::Ps duration(std::uint64_t bytes) const;
  std::uint64_t payload() const { return settings_.payload; }
  const machine::Contention& counts() const { return counts_; }

  void handle(entity::Kernel& kernel, const entity::Event& event) override;

 private:
  enum class Step : std::uint32_t { silent, done, again, begin, heard };
  enum class State : std::uint8_t { idle, defers, waits, sends, jams, backs_off };
  struct Frame {
    std::uint64_t bytes = 0;
    std::uint64_t number = 0;
  };
  struct Station {
    Station(entity::Ps far, std::uint64_t seed) : distance(far), random(seed) {}
    entity::Ps distance;
    entity::Random random;
    std::deque<Frame> frames;
    State state = State::idle;
    bool deferred = false;                // the first frame
    int attempts = 0;                     // of it, that failed
    int carriers = 0;                     // that it hears
    entity::Ps silent = -entity::kNever;  // since when it hears nothing
    entity::Ps begins = 0;                // of its sending, or when it is to begin
    std::uint32_t round = 0;              // what was scheduled in earlier ones is void
  };

  static std::uint32_t phase_of(Step step);
  entity::Ps bits(std::int64_t count) const;
  void later(entity::Kernel& kernel, entity::Ps at, Step step, std::size_t station);
  void tell_others(entity::Kernel& kernel, std::size_t from, Step step);
  void next(entity::Kernel& kernel, std::size_t station);
  void begin(entity::Kernel& kernel, std::size_t station);
  void collide(entity::Kernel& kernel, std::size_t station);
  void done(entity::Kernel& kernel, std::size_t station);
  void hear(entity::Kernel& kernel, std::size_t station);
  void fall_silent(entity::Kernel& kernel, std::size_t station);

  EthernetSettings settings_;
  std::vector<Station> stations_;
  Sent sent_;
  machine::Contention counts_;
};

}  // namespace foretrace::architecture
