// A machine with round times and a short way to write programs, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "machine/machine_model.hpp"
#include "machine/timing.hpp"
#include "sim/engine.hpp"
#include "sim/memory_source.hpp"
#include "sim/sink.hpp"

namespace foretrace::sim {

constexpr Time us(std::int64_t microseconds) {
  return Time::ns(microseconds * 1000);
}
constexpr Time tenths(std::int64_t tenths_of_us) {
  return Time::ns(tenths_of_us * 100);
}

// The Cray T3D of Howell's thesis, appendix B (large messages), microseconds and
// elements of 8 bytes, with S = 8192 bytes and collectives without logarithm.
// Times in microseconds that the tests use:
//
//     bytes      send ssend recv recvmin isend1 isend2 overlap irecv1 irecv2 overlap sendrecv
//     0            30   100   60      30     30     10       3     40      5     0.5       90
//     800          39   110  110      70     39   10.1       3     40     55     0.5      150
//     16000       210   300 1060     830    210     12       3     40   1005     0.5     1290
//
// barrier 40, bcast 100+2p, reduce 300+2p, scan 10+p, comm_rank 0.5, a step 1.
inline machine::MachineModel test_machine() {
  machine::MachineModel model;
  model.name = "test";
  model.time_unit = 1e-6;
  model.element = Bytes(8);
  model.compute_step = 1e-6;
  model.loggps.sync_threshold = Bytes(8192);
  const auto add = [&](const std::string& name, double constant, double per_rank,
                       double per_element) {
    machine::Regime regime;
    regime.equation.constant.value = constant;
    regime.equation.startup.value = per_rank;
    regime.equation.data.value = per_element;
    model.functions[name] = {name, "", "", {regime}};
  };
  add("send", 30, 0, 0.09);
  add("ssend", 100, 0, 0.1);
  add("recv", 60, 0, 0.5);
  add("recvmin", 30, 0, 0.4);
  add("isend1", 30, 0, 0.09);
  add("isend2", 10, 0, 0.001);
  add("isendoverlap", 3, 0, 0);
  add("irecv1", 40, 0, 0);
  add("irecv2", 5, 0, 0.5);
  add("irecvoverlap", 0.5, 0, 0);
  add("sendrecv", 90, 0, 0.6);
  add("barrier", 40, 0, 0);
  add("bcast", 100, 2, 0);
  add("reduce", 300, 2, 0);
  add("scan", 10, 1, 0);
  add("comm_rank", 0.5, 0, 0);
  return model;
}

// Programs of all ranks, written call by call. `at` adds compute time before.
class Programs : public MemorySource {
 public:
  using MemorySource::MemorySource;

  Operation make(trace::EventKind kind, const char* call, Time at) {
    Operation operation;
    operation.kind = kind;
    operation.name = add_name(call);
    operation.compute = at;
    return operation;
  }
  static trace::Endpoint end(int peer, std::uint64_t bytes, int tag) {
    trace::Endpoint end;
    end.peer = WorldRank(peer);
    end.bytes = Bytes(bytes);
    end.tag = tag;
    return end;
  }

  void send(int rank, int to, std::uint64_t bytes, Time at = {}, int tag = 0,
            machine::SendMode mode = machine::SendMode::standard, trace::CommId comm = 0) {
    Operation operation = make(trace::EventKind::send, "MPI_Send", at);
    operation.send = end(to, bytes, tag);
    operation.mode = mode;
    operation.comm = comm;
    add(WorldRank(rank), operation);
  }
  void recv(int rank, int from, std::uint64_t bytes, Time at = {}, int tag = 0,
            trace::CommId comm = 0) {
    Operation operation = make(trace::EventKind::recv, "MPI_Recv", at);
    operation.recv = end(from, bytes, tag);
    operation.comm = comm;
    add(WorldRank(rank), operation);
  }
  void sendrecv(int rank, int to, int from, std::uint64_t bytes, Time at = {}) {
    Operation operation = make(trace::EventKind::sendrecv, "MPI_Sendrecv", at);
    operation.send = end(to, bytes, 0);
    operation.recv = end(from, bytes, 0);
    add(WorldRank(rank), operation);
  }
  void isend(int rank, int to, std::uint64_t bytes, std::uint64_t request, Time at = {},
             int tag = 0, machine::SendMode mode = machine::SendMode::standard) {
    Operation operation = make(trace::EventKind::isend, "MPI_Isend", at);
    operation.send = end(to, bytes, tag);
    operation.mode = mode;
    operation.request = request;
    add(WorldRank(rank), operation);
  }
  void irecv(int rank, int from, std::uint64_t bytes, std::uint64_t request, Time at = {},
             int tag = 0) {
    Operation operation = make(trace::EventKind::irecv, "MPI_Irecv", at);
    operation.recv = end(from, bytes, tag);
    operation.request = request;
    add(WorldRank(rank), operation);
  }
  void wait(int rank, const std::vector<std::uint64_t>& requests, Time at = {}) {
    std::vector<trace::Completion> completions(requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) completions[i].request = requests[i];
    add(WorldRank(rank), make(trace::EventKind::complete, "MPI_Waitall", at), completions);
  }
  void collective(int rank, machine::Cost which, Time at = {}, int root = -1,
                  trace::CommId comm = 0, std::uint64_t bytes = 0) {
    const std::string name = "MPI_" + std::string(machine::name_of(which));
    Operation operation = make(trace::EventKind::collective, name.c_str(), at);
    operation.collective = which;
    operation.root = LocalRank(root);
    operation.comm = comm;
    operation.bytes = Bytes(bytes);
    add(WorldRank(rank), operation);
  }
  void icollective(int rank, machine::Cost which, std::uint64_t request, Time at = {},
                   int root = -1, trace::CommId comm = 0, std::uint64_t bytes = 0) {
    const std::string name = "MPI_I" + std::string(machine::name_of(which));
    Operation operation = make(trace::EventKind::icollective, name.c_str(), at);
    operation.collective = which;
    operation.request = request;
    operation.root = LocalRank(root);
    operation.comm = comm;
    operation.bytes = Bytes(bytes);
    add(WorldRank(rank), operation);
  }
  void finalize(int rank, Time at = {}) {
    add(WorldRank(rank), make(trace::EventKind::finalize, "MPI_Finalize", at));
  }
  void finalize_all() {
    for (int r = 0; r < ranks(); ++r) finalize(r);
  }
};

struct Replayed {
  SimulateResult result;
  trace::Trace trace;

  const trace::Event& event(int rank, int index) const {
    return trace.ranks.at(static_cast<std::size_t>(rank)).at(static_cast<std::size_t>(index));
  }
  Time leave(int rank, int index) const { return event(rank, index).leave; }
  Time wait(int rank, int index) const { return event(rank, index).wait; }
};

// Simulates a source on test_machine(), in every order of ready ranks; throws
// Error where they differ.
template <class Rewindable>
Replayed replay(Rewindable& source, SimulateOptions options = {},
                const machine::MachineModel& model = test_machine()) {
  const machine::Timing timing(model, machine::Bound::avg);
  std::vector<Replayed> runs;
  for (const ReadyOrder order :
       {ReadyOrder::last_in_first_out, ReadyOrder::lowest_rank_first, ReadyOrder::by_time}) {
    source.rewind();
    options.order = order;
    MemorySink sink(source, {});
    SimulateResult result = simulate(source, timing, options, sink);
    runs.push_back({std::move(result), sink.take()});
  }
  for (const Replayed& run : runs)
    if (run.trace.ranks != runs[0].trace.ranks || run.trace.names != runs[0].trace.names)
      throw Error("the order in which ranks are taken up changes the result");
  return std::move(runs[0]);
}

}  // namespace foretrace::sim
