#include "architecture/ethernet.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace foretrace::architecture {
namespace {

using entity::Kernel;
using entity::Ps;

constexpr double kPsPerSecond = 1e12;

}  // namespace

EthernetSettings ethernet_settings(const entity::Parameters& parameters, double bytes_per_second) {
  const auto whole = [&](const char* name) {
    return static_cast<std::int64_t>(parameters.number(name));
  };
  EthernetSettings made;
  made.bytes_per_second = bytes_per_second;
  made.slot = whole("slot");
  made.gap = whole("gap");
  made.jam = whole("jam");
  made.preamble = whole("preamble");
  made.header = static_cast<std::uint64_t>(whole("header"));
  made.minimum = static_cast<std::uint64_t>(whole("minimum"));
  made.payload = static_cast<std::uint64_t>(whole("payload"));
  made.attempts = static_cast<int>(whole("attempts"));
  made.doublings = static_cast<int>(whole("doublings"));
  made.retry = parameters.time("retry");
  made.seed = static_cast<std::uint64_t>(whole("seed"));
  return made;
}

Ethernet::Ethernet(const std::string& name, const EthernetSettings& settings,
                   std::vector<Ps> distance, Sent sent)
    : settings_(settings), sent_(std::move(sent)) {
  for (std::size_t s = 0; s < distance.size(); ++s)
    stations_.emplace_back(distance[s], settings.seed << 32 | s);
  std::ranges::sort(distance, std::greater<>());
  const Ps farthest = distance.size() < 2 ? 0 : distance[0] + distance[1];
  const Ps shortest = duration(0);
  if (2 * farthest > shortest)
    throw Error(name + ": expected every collision to be heard before the shortest frame ends (" +
                std::to_string(shortest) + " ps), found stations whose signals take " +
                std::to_string(farthest) +
                " ps one way; make the links' latency less, or 'minimum' more");
}

// At one time: what ends, then what begins, then who hears it. So two that begin at once collide.
std::uint32_t Ethernet::phase_of(Step step) {
  return step == Step::heard ? 2 : step == Step::begin ? 1 : 0;
}

Ps Ethernet::bits(std::int64_t count) const {
  return std::llround(static_cast<double>(count) * kPsPerSecond / (8 * settings_.bytes_per_second));
}

Ps Ethernet::duration(std::uint64_t bytes) const {
  const std::uint64_t frame = std::max(settings_.minimum, bytes + settings_.header);
  return bits(settings_.preamble + 8 * static_cast<std::int64_t>(frame));
}

void Ethernet::later(Kernel& kernel, Ps at, Step step, std::size_t station) {
  kernel.at(at, number(), static_cast<std::uint32_t>(step),
            station | std::uint64_t{++stations_[station].round} << 32, phase_of(step));
}

// Each hears it when it has come so far.
void Ethernet::tell_others(Kernel& kernel, std::size_t from, Step step) {
  for (std::size_t to = 0; to < stations_.size(); ++to)
    if (to != from)
      kernel.after(stations_[from].distance + stations_[to].distance, number(),
                   static_cast<std::uint32_t>(step), to, phase_of(step));
}

void Ethernet::offer(Kernel& kernel, int number, std::uint64_t bytes, std::uint64_t frame) {
  const auto station = static_cast<std::size_t>(number);
  Station& own = stations_[station];
  own.frames.push_back({bytes, frame});
  if (own.state == State::idle) next(kernel, station);
}

// The first frame's turn, by what the station hears.
void Ethernet::next(Kernel& kernel, std::size_t station) {
  Station& own = stations_[station];
  if (own.frames.empty()) {
    own.state = State::idle;
    return;
  }
  if (own.carriers > 0) {
    own.state = State::defers;
    own.deferred = own.deferred || own.attempts == 0;
    return;
  }
  own.state = State::waits;
  own.begins = std::max(kernel.now(), own.silent + bits(settings_.gap));
  later(kernel, own.begins, Step::begin, station);
}

void Ethernet::begin(Kernel& kernel, std::size_t station) {
  Station& own = stations_[station];
  own.state = State::sends;
  own.begins = kernel.now();
  tell_others(kernel, station, Step::heard);
  if (own.carriers > 0) return collide(kernel, station);
  later(kernel, kernel.now() + duration(own.frames.front().bytes), Step::done, station);
}

// Its preamble is sent whole, then the jam.
void Ethernet::collide(Kernel& kernel, std::size_t station) {
  Station& own = stations_[station];
  own.state = State::jams;
  ++counts_.collisions;
  const Ps jams = std::max(kernel.now(), own.begins + bits(settings_.preamble));
  later(kernel, jams + bits(settings_.jam), Step::done, station);
}

void Ethernet::done(Kernel& kernel, std::size_t station) {
  Station& own = stations_[station];
  own.silent = kernel.now();
  tell_others(kernel, station, Step::silent);
  if (own.state == State::jams) {
    own.state = State::backs_off;
    counts_.most_attempts = std::max(counts_.most_attempts, ++own.attempts);
    Ps wait = settings_.retry;
    if (own.attempts < settings_.attempts) {
      const int doublings = std::min(own.attempts, settings_.doublings);
      wait = own.random.below(1U << doublings) * bits(settings_.slot);
    } else {
      ++counts_.given_up;
      own.attempts = 0;
    }
    return later(kernel, kernel.now() + wait, Step::again, station);
  }
  const Frame frame = own.frames.front();
  own.frames.pop_front();
  ++counts_.frames;
  counts_.deferred += own.deferred;
  counts_.most_attempts = std::max(counts_.most_attempts, own.attempts + 1);
  own.deferred = false;
  own.attempts = 0;
  sent_(frame.number, own.begins);
  next(kernel, station);
}

// A carrier comes. In the last third of the gap a station does not listen any more, so that who
// has just sent is not always the first.
void Ethernet::hear(Kernel& kernel, std::size_t station) {
  Station& own = stations_[station];
  ++own.carriers;
  if (own.state == State::sends) return collide(kernel, station);
  if (own.state != State::waits || kernel.now() >= own.begins - bits(settings_.gap) / 3) return;
  ++own.round;
  own.state = State::defers;
  own.deferred = own.deferred || own.attempts == 0;
}

void Ethernet::fall_silent(Kernel& kernel, std::size_t station) {
  Station& own = stations_[station];
  if (--own.carriers > 0) return;
  own.silent = std::max(own.silent, kernel.now());
  if (own.state == State::defers) next(kernel, station);
}

void Ethernet::handle(Kernel& kernel, const entity::Event& event) {
  const auto station = static_cast<std::size_t>(event.data & UINT32_MAX);
  const auto step = static_cast<Step>(event.what);
  if (step == Step::heard) return hear(kernel, station);
  if (step == Step::silent) return fall_silent(kernel, station);
  if (event.data >> 32 != stations_[station].round) return;
  switch (step) {
    case Step::done:
      return done(kernel, station);
    case Step::again:
      return next(kernel, station);
    case Step::begin:
      return begin(kernel, station);
    case Step::heard:
    case Step::silent:
      return;
  }
}

}  // namespace foretrace::architecture
