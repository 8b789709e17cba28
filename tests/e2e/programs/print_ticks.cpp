// Prints a trace as text, every time in picoseconds, for tests that compare
// traces to the last tick.
//
//   print_ticks FILE
//
// Standard output: "rank N EVENTS" before each rank's events, then one line an
// event: kind, name, enter, leave, wait, compute (ps), steps, the number of
// calls, and what its kind has besides. Everything that the trace says of an
// event stands there; what the trace says of itself (origin, machine) does not.
#include <cstdio>
#include <exception>
#include <string>

#include "trace/trace.hpp"

namespace {

using namespace foretrace;
using trace::EventKind;

constexpr const char* kKinds[] = {"",         "init",        "finalize",  "send",     "recv",
                                  "sendrecv", "isend",       "irecv",     "complete", "collective",
                                  "call",     "phase_begin", "phase_end", "aborted",  "icollective",
                                  "mark",     "probe"};

void print_number(const char* name, long long value) {
  std::printf(" %s=%lld", name, value);
}

void print_end(const char* name, const trace::Endpoint& end) {
  std::printf(" %s=%d/%d/%llu%s%s", name, end.peer.value, end.tag,
              static_cast<unsigned long long>(end.bytes.count), end.any_source ? "/any-source" : "",
              end.any_tag ? "/any-tag" : "");
  if (end.piece != 0) std::printf("/in-%u", end.piece);
}

void print_comm(const trace::Communicator& comm) {
  std::printf(" comm=%llx:", static_cast<unsigned long long>(comm.key));
  for (const WorldRank member : comm.members) std::printf("%d.", member.value);
}

void print_event(const trace::Trace& trace, const trace::Event& event) {
  std::printf("%s %s", kKinds[static_cast<int>(event.kind)], trace.names[event.name].c_str());
  print_number("enter", event.enter.count_ps());
  print_number("leave", event.leave.count_ps());
  print_number("wait", event.wait.count_ps());
  print_number("compute", event.compute.count_ps());
  std::printf(" steps=%.17g", event.steps);
  if (event.kind == EventKind::call) print_number("count", event.count);
  if (trace::uses_comm(event)) print_comm(trace.comms[event.comm]);
  if (trace::moves_data(event))
    std::printf(" moves=%d/%llu", event.send.peer.value,
                static_cast<unsigned long long>(event.bytes.count));
  if (trace::is_one_sided(event)) print_number("one_sided", static_cast<int>(event.one_sided));
  const bool sends = event.kind == EventKind::send || event.kind == EventKind::isend;
  const bool receives = event.kind == EventKind::recv || event.kind == EventKind::irecv ||
                        event.kind == EventKind::probe;
  const bool both = event.kind == EventKind::sendrecv;
  if (sends || both) print_number("mode", static_cast<int>(event.mode));
  if (sends || both) print_end("send", event.send);
  if (receives || both) print_end("recv", event.recv);
  if (event.request != 0) print_number("request", static_cast<long long>(event.request));
  for (const trace::Completion& done : event.completions)
    std::printf(" done=%llu:%d/%d/%llu%s", static_cast<unsigned long long>(done.request),
                done.source.value, done.tag, static_cast<unsigned long long>(done.bytes.count),
                done.cancelled ? "/cancelled" : "");
  if (event.taken != 0) print_number("taken", static_cast<long long>(event.taken));
  if (event.kind == EventKind::collective || event.kind == EventKind::icollective) {
    std::printf(" cost=%s", std::string(machine::name_of(event.collective)).c_str());
    print_number("bytes", static_cast<long long>(event.bytes.count));
    print_number("root", event.root.value);
  }
  if (event.reduction != machine::Reduction::none)
    std::printf(" reduction=%s/%llu", machine::name_of(event.reduction).c_str(),
                static_cast<unsigned long long>(event.bytes.count));
  if (event.kind == EventKind::mark) std::printf(" value=%.17g", event.value);
  if (event.kind == EventKind::aborted) print_number("code", event.code);
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: print_ticks FILE\n");
    return 2;
  }
  try {
    const trace::Trace trace = trace::read_trace(argv[1]);
    for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
      std::printf("rank %zu %zu\n", rank, trace.ranks[rank].size());
      for (const trace::Event& event : trace.ranks[rank]) print_event(trace, event);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
