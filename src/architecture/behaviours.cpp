#include "architecture/description.hpp"

namespace foretrace::architecture {
namespace {

using Type = ParameterType;

ParameterSpec integer(const char* name, const char* usual, double least, double most,
                      const char* help) {
  return {name, Type::integer, usual, {}, least, most, help};
}
ParameterSpec of(Type type, const char* name, const char* usual, const char* help) {
  return {name, type, usual, {}, 0, 1e18, help};
}
ParameterSpec above_zero(ParameterSpec spec) {
  spec.above_zero = true;
  return spec;
}
ParameterSpec word(const char* name, std::vector<std::string> choices, const char* help) {
  ParameterSpec made{name, Type::word, choices.front(), choices, 0, 1e18, help};
  return made;
}

std::vector<ParameterSpec> switch_parameters() {
  return {
      of(Type::time, "cycle", "1ns", "of a flit at an input or output (levels vc and crossbar)"),
      of(Type::size, "flit", "16B", "bytes of a flit"),
      integer("vcs", "1", 1, 32, "virtual channels of an input"),
      integer("buffer", "8", 1, 4096, "flits of each"),
      integer("crossbar_delay", "1", 0, 1000, "cycles from allocation to the output"),
      word("allocation", {"joint", "speculative", "sequential"}, "of virtual channel and switch"),
      word("routing", {"own", "table", "random", "adaptive", "dimension-order", "up-down"},
           "which way packets take; own: what suits the template"),
  };
}

// The usual values are those of IEEE 802.3 at 10 Mbit/s.
std::vector<ParameterSpec> ethernet_parameters() {
  return {integer("slot", "512", 1, 1e6, "bits: the unit of the back-off"),
          integer("gap", "96", 0, 1e6, "bits of silence before a frame"),
          integer("jam", "32", 0, 1e6, "bits that are sent after a collision is heard"),
          integer("preamble", "64", 0, 1e6, "bits before a frame"),
          integer("header", "18", 0, 1e6, "bytes of a frame beside its data"),
          integer("minimum", "64", 0, 1e6, "bytes of the shortest frame"),
          integer("payload", "1500", 1, 1e6, "bytes of data in a frame, at most"),
          integer("attempts", "16", 1, 1e6, "after which a station gives a frame up"),
          integer("doublings", "10", 0, 30, "of the back-off's range, at most"),
          of(Type::time, "retry", "200ms", "after which a frame that was given up begins anew"),
          integer("seed", "1", 0, 1e9, "of its random numbers")};
}

std::vector<ParameterSpec> queue_parameters() {
  return {of(Type::time, "service", "1us", "mean time of a service"),
          word("distribution", {"exponential", "constant"}, "of the service times"),
          word("discipline", {"fifo", "sharing"}, "in order of coming, or all at once"),
          integer("seed", "1", 0, 1e9, "of its random numbers")};
}

std::vector<BehaviourSpec> make() {
  const PortSpec net{"net", 0, 1 << 20};
  const PortSpec in{"in", 0, 1 << 20, Direction::in};
  const PortSpec out{"out", 0, 1, Direction::out};
  return {
      {"processor",
       {{"net", 1, 64}},
       {integer("ranks", "1", 1, 1 << 20, "of a program on it")},
       {"packet", "hops"},
       "runs ranks; the source and the end of messages and of traffic"},
      {"switch",
       {net},
       switch_parameters(),
       {"packet", "hops", "vc", "crossbar"},
       "passes packets on"},
      {"omega-element",
       {{"net", 0, 4}},
       switch_parameters(),
       {"packet", "hops", "vc", "crossbar"},
       "a 2 x 2 switch of an omega network"},
      {"bus",
       {net},
       {word("arbiter", {"fifo", "round-robin", "priority"},
             "who is next: first come, stations in turn, or the first of them")},
       {"packet", "message", "hops"},
       "one medium that all share: one packet after the other"},
      {"ethernet",
       {net},
       ethernet_parameters(),
       {"collisions", "packet", "message", "hops"},
       "one medium that all share by carrier sense, with collisions and back-off"},
      {"nic",
       {{"host", 1, 1}, {"net", 1, 8}},
       {of(Type::rate, "injection", "1000TB/s", "bytes a second into the network"),
        of(Type::time, "latency", "0ns", "of a packet through it"),
        word("rails", {"round-robin", "first"}, "how packets spread over several links")},
       {"packet"},
       "between a node and the network, by direct memory access"},
      {"cache",
       {{"core", 1, 1024}, {"memory", 1, 1}},
       {of(Type::size, "size", "32MiB", "what it holds of messages that are under way"),
        of(Type::rate, "bandwidth", "1000TB/s", "bytes a second, shared by all cores"),
        of(Type::time, "latency", "0ns", "of a packet through it")},
       {"packet"},
       "between cores and a memory: messages from core to core that fit go no further"},
      {"memory",
       {{"port", 1, 1024}},
       {of(Type::rate, "bandwidth", "1000TB/s", "bytes a second, shared by all that come"),
        of(Type::time, "latency", "0ns", "of a packet through it")},
       {"packet"},
       "a memory bus: what goes in or out takes its turn"},
      {"source",
       {out},
       {above_zero(of(Type::time, "interval", "1us", "mean time between two packets")),
        word("distribution", {"exponential", "constant"}, "of the intervals"),
        of(Type::size, "bytes", "1B", "of a packet"),
        integer("packets", "0", 0, 1e15, "in all; 0: without end"),
        integer("seed", "1", 0, 1e9, "of its random numbers")},
       {"detail"},
       "creates packets"},
      {"queue", {in, out}, queue_parameters(), {"detail"}, "one server with a queue without limit"},
      {"disk",
       {in, out},
       {of(Type::time, "seek", "8ms", "mean, before every access"),
        word("distribution", {"exponential", "constant"}, "of the seeks"),
        of(Type::rate, "bandwidth", "150MB/s", "while it reads or writes"),
        integer("seed", "1", 0, 1e9, "of its random numbers")},
       {"detail"},
       "a queue whose service is a seek and a transfer"},
      {"sink", {in}, {}, {"detail"}, "takes packets, and keeps their times"},
  };
}

}  // namespace

const std::vector<BehaviourSpec>& built_in_behaviours() {
  static const std::vector<BehaviourSpec> kAll = make();
  return kAll;
}

std::string_view name_of(ParameterType type) {
  constexpr std::string_view kNames[] = {"a whole number", "a number", "a time",  "a size",
                                         "a rate",         "a word",   "an array"};
  return kNames[static_cast<std::size_t>(type)];
}

}  // namespace foretrace::architecture
