// TraceReader and the simulator on mutated traces: each ends with a result or
// an Error. Runs on one file in the working folder that is written anew for
// each case.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "analysis/profile.hpp"
#include "analysis/running.hpp"
#include "analysis/traffic.hpp"
#include "base/error.hpp"
#include "driver.hpp"
#include "machine/machine_file.hpp"
#include "sim/engine.hpp"
#include "sim/trace_source.hpp"
#include "trace/checksum.hpp"
#include "trace/encoding.hpp"

namespace {

using namespace foretrace;
using trace::Event;
using trace::EventKind;

Event message(EventKind kind, int peer, std::uint64_t bytes, std::uint64_t request = 0) {
  Event event;
  event.kind = kind;
  event.compute = Time::ns(1000);
  event.steps = 3;
  event.send.peer = event.recv.peer = WorldRank(peer);
  event.send.bytes = event.recv.bytes = Bytes(bytes);
  event.request = request;
  return event;
}

Event simple(EventKind kind) {
  Event event;
  event.kind = kind;
  return event;
}

// Two ranks, all kinds of operations; ends well as it stands.
trace::Trace example(trace::Clock clock) {
  trace::Trace trace;
  trace.info.ranks = 2;
  trace.info.clock = clock;
  if (clock == trace::Clock::wall)
    trace.info.clocks = {
        2,
        Time::ns(500),
        {{Time(), Time::ns(10), Time::ns(2)}, {Time(), Time::ns(10), Time::ns(-2)}}};
  trace.names = {"MPI_Call"};
  trace.comms.resize(1);
  trace.comms[0].members = {WorldRank(0), WorldRank(1)};
  trace.counts = {{Bytes(100), Bytes(0)},
                  {Bytes(0), Bytes(9), Bytes(0), Bytes(9)},
                  {Bytes(9), Bytes(0), Bytes(9), Bytes(0)}};
  trace.ranks.resize(2);
  for (int r = 0; r < 2; ++r) {
    std::vector<Event>& events = trace.ranks[static_cast<std::size_t>(r)];
    const int peer = 1 - r;
    events.push_back(simple(EventKind::init));
    events.push_back(message(r == 0 ? EventKind::send : EventKind::recv, peer, 800));
    events.push_back(message(EventKind::sendrecv, peer, 16000));
    events.back().send.untouched = r == 0;
    events.push_back(message(EventKind::irecv, peer, 100, 1));
    events.back().recv.any_source = events.back().recv.any_tag = true;
    events.push_back(message(EventKind::isend, peer, 100, 2));
    events.push_back(simple(EventKind::complete));
    events.back().completions = {{1, WorldRank(peer), 0, Bytes(100), false},
                                 {2, WorldRank(), 0, Bytes(0), false}};
    events.push_back(simple(EventKind::phase_begin));
    for (const machine::Cost cost : {machine::Cost::barrier, machine::Cost::bcast,
                                     machine::Cost::reduce, machine::Cost::scan}) {
      events.push_back(simple(EventKind::collective));
      events.back().collective = cost;
      events.back().bytes = Bytes(64);
      events.back().root = LocalRank(0);
    }
    for (const auto& [cost, counts] : {std::pair{machine::Cost::allgatherv, 1U},
                                       std::pair{machine::Cost::alltoallv, r == 0 ? 2U : 3U}}) {
      events.push_back(simple(EventKind::collective));
      events.back().collective = cost;
      events.back().bytes = Bytes(50);
      events.back().counts = counts;
    }
    events.push_back(simple(EventKind::mark));
    events.back().value = 2.5;
    events.push_back(simple(EventKind::phase_end));
    events.push_back(simple(EventKind::call));
    events.back().count = 5;
    events.push_back(simple(EventKind::finalize));
    for (std::size_t i = 0; i < events.size(); ++i)
      events[i].enter = events[i].leave = Time::ns(static_cast<std::int64_t>(i) * 1000);
  }
  return trace;
}

class TraceTarget {
 public:
  static constexpr const char* kName = "trace";

  TraceTarget() {
    model_ = machine::read_machine_file(FORETRACE_SOURCE_DIR "/machines/cray-t3d.toml");
    model_.loggps.sync_threshold = Bytes(8192);
  }

  std::vector<std::string> seeds() const {
    std::vector<std::string> all;
    for (const trace::Clock clock :
         {trace::Clock::cpu, trace::Clock::wall, trace::Clock::virtual_}) {
      trace::write_trace(example(clock), file_);
      const std::string bytes = fuzz::read_bytes(file_);
      all.push_back(bytes);
      all.push_back(compact(bytes));
    }
    std::remove(file_.c_str());
    return all;
  }

  std::vector<std::string> words() const {
    return {std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10),
            std::string("\xff\xff\xff\xff\xff\xff\xff\xff\x1f", 9),
            std::string(4, '\0'),
            "\xff\xff\xff\xff",
            "FTB3",
            "\x01\x01x",
            std::string("\x02\x00\x02\x00\x02\x02", 6),
            std::string("\x03\x00\x01y", 4),
            std::string("\x04\x00\x0a\x00\x00", 5),
            "\x05",
            "\x09",
            "\x08",
            std::string(4096, '\0')};
  }

  // Whether the simulation came to its end.
  bool run(const std::string& data) {
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << restore(data);
    bool finished = false;
    for (const sim::ComputeMode compute : {sim::ComputeMode::recorded, sim::ComputeMode::annotated})
      for (const bool expanded : {false, true}) finished = simulate(compute, expanded) || finished;
    analyse();
    std::remove(file_.c_str());
    return finished;
  }

 private:
  // The same trace without the padding of header and info block, so that
  // mutations hit what matters: version, ranks, u32 length of the info text, text,
  // blocks. It gets checksums that are right, whatever became of it.
  static std::string compact(const std::string& bytes) {
    trace::BlockHeader info;
    std::memcpy(&info, bytes.data() + kInfoAt, sizeof info);
    return "C" + bytes.substr(8, 8) + as_bytes(info.used) +
           bytes.substr(kInfoAt + sizeof info, info.used) + bytes.substr(kBlocksAt);
  }

  template <class T>
  static std::string as_bytes(const T& value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  }

  static std::string restore(const std::string& data) {
    if (data.size() < 13 || data[0] != 'C') return data;
    std::uint32_t used;
    std::memcpy(&used, data.data() + 9, sizeof used);
    used = static_cast<std::uint32_t>(std::min<std::size_t>(used, data.size() - 13));
    trace::BlockHeader info{};
    if (used > kBlocksAt - kInfoAt - sizeof info) return data;
    const std::string blocks = data.substr(13 + used);
    trace::FileHeader head{};
    std::memcpy(&head.version, data.data() + 1, 8);
    head.length = kBlocksAt + blocks.size();
    std::string bytes = "FORETRC\n" + as_bytes(head).substr(8);
    const std::uint32_t check = trace::checksum(bytes.data(), offsetof(trace::FileHeader, check));
    bytes.replace(offsetof(trace::FileHeader, check), sizeof check, as_bytes(check));
    bytes.resize(kInfoAt, '\0');
    std::memcpy(info.magic, trace::kBlockMagic, sizeof info.magic);
    info.rank = trace::kNoRank;
    info.size = static_cast<std::uint32_t>(kBlocksAt - kInfoAt - sizeof info);
    info.used = used;
    info.state = trace::BlockState::last;
    bytes += as_bytes(info) + data.substr(13, used);
    bytes.resize(kBlocksAt, '\0');
    bytes += blocks;
    correct_checksums(bytes);
    return bytes;
  }

  static void correct_checksums(std::string& bytes) {
    trace::BlockHeader header;
    for (std::size_t at = kInfoAt; at + sizeof header <= bytes.size();
         at += sizeof header + header.size) {
      std::memcpy(&header, bytes.data() + at, sizeof header);
      if (std::memcmp(header.magic, trace::kBlockMagic, sizeof header.magic) != 0) return;
      header.frame = trace::frame_of(header, at);
      if (header.used <= bytes.size() - at - sizeof header)
        header.check = trace::check_of(header, bytes.data() + at + sizeof header);
      bytes.replace(at, sizeof header, as_bytes(header));
    }
  }

  void analyse() const {
    try {
      analysis::profile_trace(trace::read_trace(file_));
      analysis::profile_file(file_);
      analysis::look_at_run(file_);
      analysis::traffic_of(trace::read_trace(file_));
    } catch (const Error&) {
      // Refused.
    }
  }

  bool simulate(sim::ComputeMode compute, bool expanded) const {
    try {
      trace::TraceReader reader(file_);
      sim::TraceSource source(reader);
      sim::NullSink sink;
      sim::SimulateOptions options;
      options.compute = compute;
      if (expanded) options.algorithms = &algorithms_;
      sim::simulate(source, machine::Timing(model_, machine::Bound::avg), options, sink);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  static constexpr std::size_t kInfoAt = 4096;
  static constexpr std::size_t kBlocksAt = 8192;

  machine::MachineModel model_;
  const sim::AlgorithmTable algorithms_{"openmpi"};
  std::string file_ = "fuzz-" + std::to_string(::getpid()) + ".ftr";
};

}  // namespace

FORETRACE_FUZZ_MAIN(TraceTarget)
