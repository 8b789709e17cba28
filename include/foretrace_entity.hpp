// Entities of an architecture, in C++: what a box of a machine does, as a coroutine or as a handler
// of events, over ports. docs/architecture-entities.md has a worked example.
//
// Built-in entities and those of plug-ins use the same header. An entity reads its parameters,
// receives packets at its ports, lets time pass and sends packets on; the kernel calls it in the
// order of virtual time, and in the order of scheduling at one instant, so that a run is
// deterministic to the byte. Times are whole picoseconds. Everything here is for one thread.
#pragma once

#include <bit>
#include <cmath>
#include <coroutine>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "foretrace_entity_statistics.hpp"

namespace foretrace::entity {

inline constexpr Ps kNever = INT64_MAX >> 2;

// ---- events ------------------------------------------------------------------------------------

// What happens to an entity at a time. `what` is the number of a port, or whatever the
// entity understands; `data` is its affair.
struct Event {
  std::uint64_t key = 0;  // time * 4 + phase
  std::uint32_t entity = 0;
  std::uint32_t what = 0;
  std::uint64_t data = 0;
  Ps time() const { return static_cast<Ps>(key >> 2); }
};

// Events in the order of their keys, equal keys in the order of pushing: a radix heap (Ahuja,
// Mehlhorn, Orlin, Tarjan, JACM 1990). No key may be less than that of the last event taken. An
// event lies in the bucket of the highest bit in which its key differs from the last one taken, a
// function of the two alone: so equal keys always share a bucket, and stay in order there.
class EventQueue {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::uint64_t last() const { return last_; }

  void push(const Event& event) {
    const int bucket = bucket_of(event.key);
    buckets_[bucket].push_back(event);
    used_ |= std::uint64_t{bucket != 0} << (bucket & 63);
    if (size_ == 0 || (least_ != UINT64_MAX && event.key < least_)) least_ = event.key;
    ++size_;
  }

  // The least key; UINT64_MAX when empty.
  std::uint64_t least() {
    if (least_ != UINT64_MAX || size_ == 0) return least_;
    if (head_ < buckets_[0].size()) return least_ = last_;
    for (const Event& event : buckets_[std::countr_zero(used_)])
      if (event.key < least_) least_ = event.key;
    return least_;
  }

  // Not when empty.
  Event pop() {
    if (head_ == buckets_[0].size()) refill();
    const Event event = buckets_[0][head_++];
    --size_;
    if (head_ == buckets_[0].size()) {
      buckets_[0].clear();
      head_ = 0;
      least_ = UINT64_MAX;
    }
    return event;
  }

  // The low two bits of the last key are forgotten: smaller ones may come again. Only when nothing
  // is there that differs from the last key in these alone.
  void rewind() {
    last_ &= ~std::uint64_t{3};
    least_ = UINT64_MAX;
  }

  std::size_t memory() const {
    std::size_t bytes = 0;
    for (const auto& bucket : buckets_) bytes += bucket.capacity() * sizeof(Event);
    return bytes;
  }

 private:
  int bucket_of(std::uint64_t key) const { return 64 - std::countl_zero(key ^ last_); }

  void refill() {
    buckets_[0].clear();
    head_ = 0;
    last_ = least();
    const int from = std::countr_zero(used_);
    used_ &= used_ - 1;
    moving_.swap(buckets_[from]);
    for (const Event& event : moving_) {
      const int bucket = bucket_of(event.key);
      buckets_[bucket].push_back(event);
      used_ |= std::uint64_t{bucket != 0} << (bucket & 63);
    }
    moving_.clear();
    moving_.swap(buckets_[from]);
  }

  std::vector<Event> buckets_[64];  // keys stay below 2^63
  std::vector<Event> moving_;
  std::size_t head_ = 0;    // of bucket 0: those before it have been taken
  std::uint64_t used_ = 0;  // bit b: bucket b holds something; b >= 1
  std::uint64_t last_ = 0;
  std::uint64_t least_ = UINT64_MAX;  // UINT64_MAX: not known
  std::size_t size_ = 0;
};

class Kernel;

class Entity {
 public:
  virtual ~Entity() = default;
  // Before the first event.
  virtual void start(Kernel&) {}
  virtual void handle(Kernel& kernel, const Event& event) = 0;

  std::uint32_t number() const { return number_; }
  const std::string& name() const { return name_; }

 private:
  friend class Kernel;
  std::uint32_t number_ = 0;
  std::string name_;
};

// ---- packets -----------------------------------------------------------------------------------

// What travels between ports. `data` is for those who send and receive it.
struct Packet {
  std::uint64_t id = 0;
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::uint64_t bytes = 0;
  Ps born = 0;
  std::uint64_t data = 0;
};

// ---- recording ---------------------------------------------------------------------------------

// Who writes down what happens, where somebody asked for it.
class Recorder {
 public:
  virtual ~Recorder() = default;
  // A number for a quantity of an entity, told once.
  virtual std::uint32_t quantity(std::uint32_t entity, const std::string& name) = 0;
  virtual void changed(std::uint32_t quantity, Ps time, double value) = 0;
  // A packet is on a link: its first byte leaves at `begin`, its last is there at `end`.
  virtual void passed(std::uint32_t from, std::uint32_t to, std::uint64_t id, std::uint64_t bytes,
                      Ps begin, Ps end) = 0;
};

// ---- the kernel --------------------------------------------------------------------------------

class Kernel {
 public:
  // The entity stays the caller's and must outlive the kernel.
  std::uint32_t add(Entity& entity, std::string name) {
    entity.number_ = static_cast<std::uint32_t>(entities_.size());
    entity.name_ = std::move(name);
    entities_.push_back(&entity);
    return entity.number_;
  }

  // Before start(); the recorder stays the caller's.
  void record(Recorder* recorder) { recorder_ = recorder; }
  Recorder* recorder() const { return recorder_; }

  Ps now() const { return now_; }
  // At one time, events of a lower phase (0 to 3) come first. What is scheduled for now in a phase
  // that is over comes after all that is due now, in phases again.
  void at(Ps time, std::uint32_t entity, std::uint32_t what, std::uint64_t data = 0,
          std::uint32_t phase = 0) {
    const std::uint64_t key = static_cast<std::uint64_t>(time) << 2 | phase;
    if (key < queue_.last())
      again_.push_back({key, entity, what, data});
    else
      queue_.push({key, entity, what, data});
  }
  void after(Ps delay, std::uint32_t entity, std::uint32_t what, std::uint64_t data = 0,
             std::uint32_t phase = 0) {
    at(now_ + delay, entity, what, data, phase);
  }

  void start() {
    for (; started_ < entities_.size(); ++started_) {
      current_ = static_cast<std::uint32_t>(started_);
      entities_[started_]->start(*this);
    }
  }

  // When the next event is due; kNever: there is none.
  Ps next() {
    if (!again_.empty()) return static_cast<Ps>(again_.front().key >> 2);
    return queue_.empty() ? kNever : static_cast<Ps>(queue_.least() >> 2);
  }

  // Everything due up to `until`, which becomes now.
  void run(Ps until) {
    while (!stopped_ && next() <= until) step();
    if (!stopped_ && until > now_ && until != kNever) now_ = until;
  }
  // Until nothing is due, or somebody stops.
  void run() {
    while (!stopped_ && next() != kNever) step();
  }
  void step() {
    if (!again_.empty() && (queue_.empty() || queue_.least() >> 2 > queue_.last() >> 2)) {
      queue_.rewind();
      for (const Event& event : again_) queue_.push(event);
      again_.clear();
    }
    const Event event = queue_.pop();
    now_ = event.time();
    ++events_;
    current_ = event.entity;
    entities_[event.entity]->handle(*this, event);
  }
  void stop() { stopped_ = true; }
  // Whose event is, or was, handled last.
  const Entity& current() const { return *entities_[current_]; }

  std::uint64_t events() const { return events_; }
  std::size_t memory() const { return queue_.memory() + packets_.capacity() * sizeof(Packet); }

  std::uint64_t keep(const Packet& packet) {
    if (free_.empty()) {
      packets_.push_back(packet);
      return packets_.size() - 1;
    }
    const std::uint64_t slot = free_.back();
    free_.pop_back();
    packets_[slot] = packet;
    return slot;
  }
  Packet take(std::uint64_t slot) {
    free_.push_back(slot);
    return packets_[slot];
  }

 private:
  EventQueue queue_;
  std::vector<Event> again_;  // all for the time of the last event
  std::vector<Entity*> entities_;
  std::size_t started_ = 0;
  Ps now_ = 0;
  std::uint64_t events_ = 0;
  bool stopped_ = false;
  std::uint32_t current_ = 0;
  Recorder* recorder_ = nullptr;
  std::vector<Packet> packets_;
  std::vector<std::uint64_t> free_;
};

// ---- behaviours: entities with ports, as coroutines
// ----------------------------------------------

// What a behaviour's coroutine returns.
class Task {
 public:
  struct promise_type {
    std::exception_ptr failure;
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { failure = std::current_exception(); }
  };
  Task() = default;
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }
  void resume() {
    if (!handle_ || handle_.done()) return;
    handle_.resume();
    if (handle_.promise().failure)
      std::rethrow_exception(std::exchange(handle_.promise().failure, nullptr));
  }
  bool done() const { return !handle_ || handle_.done(); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

// Parameters as the description gives them, in base units: seconds, bytes, bytes a second.
struct Parameters {
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> texts;
  double number(const std::string& name) const {
    const auto found = numbers.find(name);
    if (found == numbers.end()) throw std::out_of_range("there is no parameter '" + name + "'");
    return found->second;
  }
  Ps time(const std::string& name) const {
    return static_cast<Ps>(std::llround(number(name) * 1e12));
  }
  std::string text(const std::string& name) const {
    const auto found = texts.find(name);
    return found == texts.end() ? std::string() : found->second;
  }
};

class Behaviour;

// A number of an entity whose changes can be recorded: a member, made with its owner and its name.
//   Recorded<int> window{*this, "window", 1};    window = 2 * window;
class RecordedNumber {
 public:
  RecordedNumber(const RecordedNumber&) = delete;
  RecordedNumber& operator=(const RecordedNumber&) = delete;

 protected:
  RecordedNumber(Behaviour& owner, const char* name);
  ~RecordedNumber() = default;
  inline void tell(double value);

 private:
  friend class Behaviour;
  virtual double current() const = 0;
  Behaviour& owner_;
  const char* name_;
  std::uint32_t quantity_ = 0;
};

template <class T>
class Recorded final : public RecordedNumber {
 public:
  Recorded(Behaviour& owner, const char* name, T value = {})
      : RecordedNumber(owner, name), value_(value) {}
  Recorded& operator=(const T& value) {
    if (value == value_) return *this;
    value_ = value;
    tell(static_cast<double>(value));
    return *this;
  }
  operator const T&() const { return value_; }

 private:
  double current() const override { return static_cast<double>(value_); }
  T value_;
};

// One end of a link. Packets leave it one after the other, at the link's bandwidth.
struct OutPort {
  std::uint32_t entity = UINT32_MAX;  // UINT32_MAX: not connected
  std::uint32_t port = 0;
  Ps latency = 0;
  double ps_per_byte = 0;
  Ps free = 0;  // when the last packet has left
};

// An entity that is a coroutine over its ports. Ports have numbers, in the order of the
// description; receive() waits for the next packet at any of them.
class Behaviour : public Entity {
 public:
  static constexpr std::uint32_t kWake = 1U << 31;

  virtual Task run() = 0;
  void connect(std::uint32_t port, const OutPort& out) {
    if (out_.size() <= port) out_.resize(port + 1);
    out_[port] = out;
  }
  const Histogram& waits() const { return waits_; }
  const TimeAverage& queued() const { return queued_; }
  std::uint64_t received() const { return received_; }
  std::uint64_t sent() const { return sent_; }

  void start(Kernel& kernel) override {
    kernel_ = &kernel;
    if (Recorder* recorder = kernel.recorder()) {
      waiting_quantity_ = recorder->quantity(number(), "waiting");
      for (RecordedNumber* one : recorded_) {
        one->quantity_ = recorder->quantity(number(), one->name_);
        recorder->changed(one->quantity_, kernel.now(), one->current());
      }
    }
    begin();
    task_ = run();
    proceed();
  }
  void handle(Kernel& kernel, const Event& event) override {
    if (event.what == kWake) return proceed();
    came(event.what);
    queue_.push_back({kernel.take(event.data), event.what, kernel.now()});
    count_waiting(1);
    if (waiting_) {
      waiting_ = false;
      proceed();
    }
  }

 protected:
  struct Received {
    Packet packet;
    std::uint32_t port = 0;
    Ps came = 0;
  };

  Ps now() const { return kernel_->now(); }
  Kernel& kernel() { return *kernel_; }
  // Before run(), or before the first packet.
  virtual void begin() {}
  // A packet is at a port; receive() gives it later.
  virtual void came(std::uint32_t /*port*/) {}

  // co_await delay(t): goes on t picoseconds later.
  auto delay(Ps time) {
    struct Awaiter {
      Behaviour& self;
      Ps time;
      bool await_ready() const { return time < 0; }
      void await_suspend(std::coroutine_handle<>) {
        self.kernel_->after(time, self.number(), kWake);
      }
      void await_resume() const {}
    };
    return Awaiter{*this, time};
  }

  // co_await receive(): the next packet, in the order of coming.
  auto receive() {
    struct Awaiter {
      Behaviour& self;
      bool await_ready() const { return !self.queue_.empty(); }
      void await_suspend(std::coroutine_handle<>) { self.waiting_ = true; }
      Received await_resume() const {
        const Received first = self.queue_.front();
        self.queue_.pop_front();
        ++self.received_;
        self.waits_.add(self.now() - first.came);
        self.count_waiting(-1);
        return first;
      }
    };
    return Awaiter{*this};
  }

  bool connected(std::uint32_t port) const {
    return port < out_.size() && out_[port].entity != UINT32_MAX;
  }

  // Onto the link at `port`; returns when its last byte has left.
  Ps send(std::uint32_t port, const Packet& packet) {
    if (port >= out_.size() || out_[port].entity == UINT32_MAX)
      throw std::logic_error("sends to port " + std::to_string(port) + ", which is not connected");
    OutPort& out = out_[port];
    const Ps begin = out.free > now() ? out.free : now();
    out.free = begin + std::llround(static_cast<double>(packet.bytes) * out.ps_per_byte);
    ++sent_;
    if (Recorder* recorder = kernel_->recorder())
      recorder->passed(number(), out.entity, packet.id, packet.bytes, begin,
                       out.free + out.latency);
    kernel_->at(out.free + out.latency, out.entity, out.port, kernel_->keep(packet));
    return out.free;
  }

 private:
  friend class RecordedNumber;

  void count_waiting(int change) {
    queued_.add(kernel_->now(), change);
    if (Recorder* recorder = kernel_->recorder())
      recorder->changed(waiting_quantity_, kernel_->now(), static_cast<double>(queued_.value()));
  }

  void proceed() {
    const Ps at = kernel_->now();
    if (at != last_resumed_) {
      last_resumed_ = at;
      resumed_ = 0;
    }
    if (++resumed_ > 10'000'000)
      throw std::runtime_error(name() + " goes on and on without letting time pass");
    task_.resume();
  }

  Kernel* kernel_ = nullptr;
  Task task_;
  std::vector<OutPort> out_;
  std::deque<Received> queue_;
  bool waiting_ = false;
  Ps last_resumed_ = -1;
  std::uint64_t resumed_ = 0;
  Histogram waits_;
  TimeAverage queued_;
  std::uint64_t received_ = 0;
  std::uint64_t sent_ = 0;
  std::vector<RecordedNumber*> recorded_;
  std::uint32_t waiting_quantity_ = 0;
};

inline RecordedNumber::RecordedNumber(Behaviour& owner, const char* name)
    : owner_(owner), name_(name) {
  owner.recorded_.push_back(this);
}

inline void RecordedNumber::tell(double value) {
  Kernel* kernel = owner_.kernel_;
  if (kernel && kernel->recorder()) kernel->recorder()->changed(quantity_, kernel->now(), value);
}

// An entity that is a handler instead: it is called with every packet, and when a time has come
// that it asked for.
class Handler : public Behaviour {
 public:
  Task run() override { co_return; }
  void handle(Kernel& kernel, const Event& event) final {
    if (event.what == kWake) return timer(event.data);
    packet(event.what, kernel.take(event.data));
  }

 protected:
  virtual void packet(std::uint32_t port, const Packet& packet) = 0;
  virtual void timer(std::uint64_t /*data*/) {}
  // timer(data) after `delay`.
  void wake_after(Ps delay, std::uint64_t data) { kernel().after(delay, number(), kWake, data); }
};

// What a plug-in's make function returns; FORETRACE_ENTITY(Class) defines it.
inline constexpr int kPluginVersion = 3;

}  // namespace foretrace::entity

// Makes the class, whose constructor takes `const Parameters&`, the entity of this plug-in.
#define FORETRACE_ENTITY(Class)                                   \
  extern "C" int foretrace_entity_version() {                     \
    return foretrace::entity::kPluginVersion;                     \
  }                                                               \
  extern "C" foretrace::entity::Behaviour* foretrace_entity_make( \
      const foretrace::entity::Parameters& parameters) {          \
    return new Class(parameters);                                 \
  }
