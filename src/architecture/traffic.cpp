#include "architecture/traffic.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "architecture/flit_network.hpp"
#include "base/error.hpp"

namespace foretrace::architecture {
namespace {

constexpr int kBatches = 10;
// Student's t for 9 degrees of freedom, 95 % of it.
constexpr double kStudent = 2.262;
// A mean latency above this counts as saturated, as does what is not accepted.
constexpr double kLongest = 500;
// The load that stands for none, and the packets that its latency is taken from.
constexpr double kNoLoad = 0.005;
constexpr std::uint64_t kNoLoadPackets = 1000;

// Creates packets and hears of their end.
class Generator final : public Listener {
 public:
  Generator(FlitNetwork& network, const Pattern& pattern, double offered,
            const TrafficOptions& options)
      : network_(network), pattern_(pattern), options_(options), random_(options.seed * 2 + 1) {
    rate_ = offered / options.packet_flits;
    first_ = options.warm_up;
    end_ = options.warm_up + options.measured;
    if (options.burst > 0) {
      on_rate_ = std::min(1.0, std::max(rate_, options.burst_rate / options.packet_flits));
      // The share of time that is on makes up for the rate: on / (on + off).
      off_ = options.burst * (on_rate_ / rate_ - 1);
    }
    const int terminals = network.fabric().terminals();
    next_.resize(static_cast<std::size_t>(terminals));
    on_until_.resize(next_.size());
    for (int t = 0; t < terminals; ++t) {
      if (rate_ <= 0) {
        next_[static_cast<std::size_t>(t)] = INT64_MAX;
        continue;
      }
      std::int64_t start = -1;
      if (options.burst > 0) {
        // Each source begins somewhere in its round.
        start = static_cast<std::int64_t>(random_.uniform() * (options.burst + off_));
        on_until_[static_cast<std::size_t>(t)] = start + geometric(1 / options.burst);
      }
      next_[static_cast<std::size_t>(t)] = after(t, start);
    }
    network.listen(this);
  }

  // Creates what is due in the cycles before `cycle`, and lets the network go there.
  void run_to(std::int64_t cycle) {
    while (at_ < cycle) {
      const std::int64_t stop = std::min(cycle, at_ + 256);
      for (std::size_t t = 0; t < next_.size(); ++t)
        while (next_[t] < stop) {
          create(static_cast<std::int32_t>(t), next_[t]);
          next_[t] = after(static_cast<int>(t), next_[t]);
        }
      network_.run_to(stop);
      at_ = stop;
    }
  }

  void arrived(std::uint32_t number, std::int64_t cycle) override {
    const FlitPacket& packet = network_.packet(number);
    if (packet.born < first_ || packet.born >= end_) return;
    const std::int64_t latency = cycle - packet.born;
    --open;
    ++packets;
    sum += static_cast<double>(latency);
    network_sum += static_cast<double>(cycle - packet.entered);
    hops += packet.hops;
    most = std::max(most, latency);
    const auto batch =
        static_cast<std::size_t>((packet.born - first_) * kBatches / (end_ - first_));
    batch_sum[batch] += static_cast<double>(latency);
    ++batch_packets[batch];
  }

  std::int64_t first() const { return first_; }
  std::int64_t end() const { return end_; }

  std::uint64_t created = 0;  // in the measured cycles
  std::uint64_t open = 0;     // of these, not there yet
  std::uint64_t packets = 0;
  double sum = 0;
  double network_sum = 0;
  std::uint64_t hops = 0;
  std::int64_t most = 0;
  double batch_sum[kBatches] = {};
  std::uint64_t batch_packets[kBatches] = {};

 private:
  // Cycles until an event that comes in each with this probability, at least 1.
  std::int64_t geometric(double probability) {
    if (probability >= 1) return 1;
    return 1 + static_cast<std::int64_t>(std::log1p(-random_.uniform()) / std::log1p(-probability));
  }

  // When terminal t creates its next packet after `cycle`.
  std::int64_t after(int t, std::int64_t cycle) {
    if (options_.burst <= 0) return cycle + geometric(rate_);
    std::int64_t& until = on_until_[static_cast<std::size_t>(t)];
    cycle += geometric(on_rate_);
    while (cycle >= until) {
      const std::int64_t rest = cycle - until;
      const std::int64_t pause = off_ > 0 ? geometric(1 / (1 + off_)) - 1 : 0;
      cycle = until + pause + rest;
      until = until + pause + geometric(1 / options_.burst);
    }
    return cycle;
  }

  void create(std::int32_t from, std::int64_t cycle) {
    const std::int32_t to = pattern_.destination(from, random_);
    network_.inject(from, to, static_cast<std::uint32_t>(options_.packet_flits), cycle);
    if (cycle < first_ || cycle >= end_) return;
    ++created;
    ++open;
  }

  FlitNetwork& network_;
  const Pattern& pattern_;
  const TrafficOptions& options_;
  entity::Random random_;
  double rate_ = 0;
  double on_rate_ = 0;
  double off_ = 0;
  std::int64_t first_ = 0;
  std::int64_t end_ = 0;
  std::int64_t at_ = 0;
  std::vector<std::int64_t> next_;      // by terminal
  std::vector<std::int64_t> on_until_;  // by terminal
};

void add_loads(const FlitNetwork& network, std::int64_t cycles, TrafficPoint& point) {
  const Fabric& fabric = network.fabric();
  for (int r = 0; r < fabric.routers(); ++r) {
    const FlitRouter& router = network.router(r);
    point.occupancy.push_back(router.occupancy().average(cycles * network.cycle()));
    point.link_load.emplace_back();
    for (std::size_t p = 0; p < fabric.ports[static_cast<std::size_t>(r)].size(); ++p)
      point.link_load.back().push_back(static_cast<double>(router.sent(static_cast<int>(p))) /
                                       static_cast<double>(cycles));
  }
}

void add_error(const Generator& generator, TrafficPoint& point) {
  double spread = 0;
  for (int b = 0; b < kBatches; ++b) {
    if (generator.batch_packets[b] == 0) return;
    const double mean = generator.batch_sum[b] / static_cast<double>(generator.batch_packets[b]);
    spread += (mean - point.latency) * (mean - point.latency);
  }
  point.error = kStudent * std::sqrt(spread / (kBatches - 1) / kBatches);
}

}  // namespace

TrafficPoint simulate_traffic(const Fabric& fabric, const Pattern& pattern, double offered,
                              const TrafficOptions& options) {
  if (!(offered >= 0 && offered <= 1))
    throw Error("a load must be from 0 to 1 flit a cycle and terminal, found " +
                std::to_string(offered));
  const auto started = std::chrono::steady_clock::now();
  FlitNetwork network(fabric, 1000, options.seed);
  Generator generator(network, pattern, offered, options);
  generator.run_to(generator.first());
  const std::uint64_t before = network.ejected_flits();
  generator.run_to(generator.end());
  TrafficPoint point;
  point.offered = offered;
  const double terminal_cycles =
      static_cast<double>(options.measured) * static_cast<double>(fabric.terminals());
  point.accepted = static_cast<double>(network.ejected_flits() - before) / terminal_cycles;
  point.created = static_cast<double>(generator.created) * options.packet_flits / terminal_cycles;
  add_loads(network, generator.end(), point);
  // The sources go on while the measured packets come to their ends.
  const std::int64_t patience = generator.end() + 2 * options.measured + 20 * std::int64_t{1000};
  for (std::int64_t at = generator.end(); generator.open > 0 && at < patience;) {
    const double waiting = static_cast<double>(generator.open);
    if (waiting > 0.25 * static_cast<double>(generator.created) && at > generator.end() + 4000)
      break;
    generator.run_to(at += 500);
  }
  point.packets = generator.packets;
  if (generator.packets > 0) {
    const auto packets = static_cast<double>(generator.packets);
    point.latency = generator.sum / packets;
    point.network_latency = generator.network_sum / packets;
    point.hops = static_cast<double>(generator.hops) / packets;
    point.most = generator.most;
    add_error(generator, point);
  }
  const double least =
      0.98 * point.created - 3 * std::sqrt(point.created * options.packet_flits / terminal_cycles);
  point.stable = generator.open == 0 && point.latency <= kLongest && point.accepted >= least;
  point.events = network.kernel().events();
  point.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return point;
}

namespace {

// However few cycles are to be measured: a mean of few packets would depend on which they are.
double latency_without_load(const Fabric& fabric, const Pattern& pattern, TrafficOptions options) {
  const double packets_a_cycle = kNoLoad * fabric.terminals() / options.packet_flits;
  const auto enough = std::llround(1.1 * static_cast<double>(kNoLoadPackets) / packets_a_cycle);
  options.measured = std::max<std::int64_t>(options.measured, enough);
  while (true) {
    const TrafficPoint point = simulate_traffic(fabric, pattern, kNoLoad, options);
    if (point.packets >= kNoLoadPackets || !point.stable) return point.latency;
    options.measured *= 2;
  }
}

}  // namespace

TrafficCurve traffic_curve(const Fabric& fabric, const Pattern& pattern, std::vector<double> loads,
                           const TrafficOptions& options) {
  TrafficCurve curve;
  const auto at = [&](double load) { return simulate_traffic(fabric, pattern, load, options); };
  curve.zero_load = latency_without_load(fabric, pattern, options);
  const auto within = [&](const TrafficPoint& point) {
    return point.stable && point.latency < 3 * curve.zero_load;
  };
  const TrafficPoint full = at(1);
  curve.throughput = full.accepted;
  if (!within(full)) {
    double low = kNoLoad;
    double high = 1;
    while (high - low > 0.004) {
      const double middle = (low + high) / 2;
      (within(at(middle)) ? low : high) = middle;
    }
    curve.saturation = (low + high) / 2;
  }
  if (loads.empty()) {
    const double most = curve.saturation.value_or(1);
    for (const double part : {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05})
      loads.push_back(std::min(1.0, part * most));
    loads.erase(std::unique(loads.begin(), loads.end()), loads.end());
  }
  for (const double load : loads) curve.points.push_back(load == 1 ? full : at(load));
  return curve;
}

}  // namespace foretrace::architecture
