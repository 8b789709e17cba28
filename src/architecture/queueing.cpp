#include "architecture/queueing.hpp"

#include <cmath>
#include <deque>
#include <queue>

namespace foretrace::architecture {

using entity::Parameters;
using entity::Ps;
using entity::Task;

namespace {

// What an entity draws its random numbers from: its seed, and its path. Two of the same seed (as
// all that are given none) would draw the same numbers otherwise, so that long services came with
// long intervals.
std::uint64_t stream_of(const Parameters& given, std::string_view path) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash ^ static_cast<std::uint64_t>(given.number("seed")) * 0xd1342543de82ef95U;
}

// Times by a distribution with a mean, the parameter `mean` in seconds.
class Times {
 public:
  Times(const Parameters& given, const char* mean, std::string_view path)
      : mean_(given.number(mean) * 1e12),
        constant_(given.text("distribution") == "constant"),
        random_(stream_of(given, path)) {}
  Ps next() { return constant_ ? std::llround(mean_) : random_.exponential(mean_); }

 private:
  double mean_;
  bool constant_;
  entity::Random random_;
};

class SourceBehaviour final : public entity::Behaviour {
 public:
  SourceBehaviour(const Parameters& given, std::string_view path)
      : intervals_(given, "interval", path),
        bytes_(static_cast<std::uint64_t>(given.number("bytes"))),
        packets_(static_cast<std::uint64_t>(given.number("packets"))) {}
  Task run() override {
    for (std::uint64_t i = 0; packets_ == 0 || i < packets_; ++i) {
      co_await delay(intervals_.next());
      entity::Packet packet;
      packet.id = i;
      packet.bytes = bytes_;
      packet.born = now();
      send(0, packet);
    }
  }

 private:
  Times intervals_;
  std::uint64_t bytes_;
  std::uint64_t packets_;
};

// First come, first served.
class Server final : public entity::Behaviour, public Station {
 public:
  Server(Times times, double ps_per_byte) : times_(std::move(times)), ps_per_byte_(ps_per_byte) {}
  Task run() override {
    while (true) {
      const Received next = co_await receive();
      busy.set(now(), 1);
      serves_ = 1;
      co_await delay(times_.next() +
                     std::llround(static_cast<double>(next.packet.bytes) * ps_per_byte_));
      busy.set(now(), 0);
      serves_ = 0;
      in_system.add(now(), -1);
      holds_ = in_system.value();
      stays.add(now() - next.came);
      came_.pop_front();
      if (connected(1)) send(1, next.packet);
    }
  }
  __int128 stay_time(Ps until) const override {
    __int128 sum = stays.sum();
    for (const Ps came : came_) sum += until - came;
    return sum;
  }

 protected:
  void came(std::uint32_t) override {
    in_system.add(now(), 1);
    holds_ = in_system.value();
    came_.push_back(now());
  }

 private:
  Times times_;
  double ps_per_byte_;
  std::deque<Ps> came_;
  entity::Recorded<std::int64_t> holds_{*this, "inside"};
  entity::Recorded<int> serves_{*this, "busy"};
};

// All at once, each at an equal share of the server (egalitarian processor sharing). A packet is
// done when the service that one packet has got since it came is what it needs.
class SharedServer final : public entity::Handler, public Station {
 public:
  explicit SharedServer(Times times) : times_(std::move(times)) {}
  __int128 stay_time(Ps until) const override {
    __int128 sum = stays.sum();
    auto rest = inside_;
    for (; !rest.empty(); rest.pop()) sum += until - rest.top().came;
    return sum;
  }

 protected:
  void packet(std::uint32_t, const entity::Packet& packet) override {
    serve();
    inside_.push({service_ + static_cast<double>(times_.next()), now(), order_++, packet});
    in_system.add(now(), 1);
    holds_ = in_system.value();
    busy.set(now(), 1);
    plan();
  }
  void timer(std::uint64_t round) override {
    if (round != round_) return;
    serve();
    const Inside done = inside_.top();
    inside_.pop();
    in_system.add(now(), -1);
    holds_ = in_system.value();
    stays.add(now() - done.came);
    if (inside_.empty()) busy.set(now(), 0);
    if (connected(1)) send(1, done.packet);
    plan();
  }

 private:
  struct Inside {
    double until = 0;  // service_ then
    Ps came = 0;
    std::uint64_t order = 0;
    entity::Packet packet;
    bool operator<(const Inside& other) const {
      return until != other.until ? until > other.until : order > other.order;
    }
  };
  void serve() {
    if (!inside_.empty())
      service_ += static_cast<double>(now() - served_) / static_cast<double>(inside_.size());
    served_ = now();
  }
  void plan() {
    ++round_;
    if (inside_.empty()) return;
    const double rest = (inside_.top().until - service_) * static_cast<double>(inside_.size());
    wake_after(rest > 0 ? std::llround(rest) : 0, round_);
  }

  Times times_;
  std::priority_queue<Inside> inside_;
  double service_ = 0;  // that a packet has got which was there all the time
  Ps served_ = 0;
  std::uint64_t order_ = 0;
  std::uint64_t round_ = 0;
  entity::Recorded<std::int64_t> holds_{*this, "inside"};
};

}  // namespace

class SinkBehaviour final : public entity::Handler {
 public:
  std::vector<Ps> times;

 protected:
  void packet(std::uint32_t, const entity::Packet& packet) override {
    times.push_back(now() - packet.born);
  }
};

const std::vector<Ps>* times_of(const entity::Behaviour& behaviour) {
  const auto* sink = dynamic_cast<const SinkBehaviour*>(&behaviour);
  return sink ? &sink->times : nullptr;
}

std::unique_ptr<entity::Behaviour> make_station(std::string_view behaviour, const Parameters& given,
                                                std::string_view path, Station*& station) {
  station = nullptr;
  if (behaviour == "source") return std::make_unique<SourceBehaviour>(given, path);
  if (behaviour == "sink") return std::make_unique<SinkBehaviour>();
  const auto keep = [&](auto made) {
    station = made.get();
    return made;
  };
  if (behaviour == "disk")
    return keep(
        std::make_unique<Server>(Times(given, "seek", path), 1e12 / given.number("bandwidth")));
  if (behaviour != "queue") return nullptr;
  Times times(given, "service", path);
  if (given.text("discipline") == "sharing")
    return keep(std::make_unique<SharedServer>(std::move(times)));
  return keep(std::make_unique<Server>(std::move(times), 0));
}

}  // namespace foretrace::architecture
