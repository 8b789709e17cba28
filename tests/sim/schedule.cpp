#include "schedule.hpp"

#include <string>
#include <vector>

#include "machine/loggps.hpp"
#include "topology/builders.hpp"
#include "topology/file.hpp"

namespace foretrace::sim {

using nlohmann::json;
using trace::EventKind;

namespace {

void parse_pieces(const json& data, machine::Pieces& pieces) {
  for (const auto& [side, lengths] : data.items())
    for (const auto& [length, times] : lengths.items())
      for (const json& each : times)
        (side == "send" ? pieces.send : pieces.recv)[Bytes(std::stoull(length))].push_back(
            {Bytes(each.at(0)), Time::ps(each.at(1))});
}

// What one path has.
void parse_path(const json& data, machine::PathModel& model) {
  if (!data.at("sync_threshold").is_null())
    model.loggps.sync_threshold = Bytes(data.at("sync_threshold"));
  if (const json from = data.value("attended_from", json()); !from.is_null())
    model.loggps.attended_from = Bytes(from);
  if (data.contains("pieces")) parse_pieces(data.at("pieces"), model.pieces);
  for (const auto& [name, regimes] : data.at("functions").items()) {
    machine::Function& function = model.functions[name];
    function.name = name;
    Bytes from{0};
    for (const json& entry : regimes) {
      machine::Regime regime;
      regime.from = from;
      regime.to = Bytes(entry.at("to"));
      regime.equation.constant.value = entry.at("c");
      regime.equation.startup.value = entry.at("s");
      regime.equation.data.value = entry.at("k");
      regime.equation.startup_form =
          machine::parse_startup_form(entry.at("f").get<std::string>()).value();
      regime.equation.data_form =
          machine::parse_data_form(entry.at("g").get<std::string>()).value();
      function.regimes.push_back(regime);
      from = Bytes(regime.to.count + 1);
    }
  }
}

}  // namespace

machine::MachineModel parse_machine(const json& data) {
  machine::MachineModel model;
  model.time_unit = data.at("time_unit");
  model.element = Bytes(data.at("element"));
  model.compute_step = data.at("compute_step");
  parse_path(data, model);
  if (data.contains("node")) parse_path(data["node"], model.paths[machine::Path::node]);
  machine::Functions& inner =
      data.contains("node") ? model.paths[machine::Path::node].functions : model.functions;
  const json factors = data.value("untouched", json::object());
  for (const auto& [name, factor] : factors.items())
    inner.at(name).untouched = {{Bytes(1), factor.get<double>()}};
  return model;
}

namespace {

class ScheduleParser {
 public:
  explicit ScheduleParser(const json& data) : source_(data.at("ranks").get<int>()) {
    for (const json& members : data.at("comms")) {
      comms_.emplace_back();
      for (const json& member : members) comms_.back().push_back(WorldRank(member));
      if (comms_.size() > 1) source_.add_comm(comms_.back());
    }
    int rank = 0;
    for (const json& program : data.at("programs")) add_program(WorldRank(rank++), program);
  }

  ScheduleSource take() { return std::move(source_); }

 private:
  void add_program(WorldRank rank, const json& program) {
    Operation operation;
    operation.kind = EventKind::init;
    source_.add(rank, operation);
    double steps = 0;
    for (const json& call : program) {
      if (call.at("op") == "compute") {
        steps += call.at("steps").get<double>();
        continue;
      }
      std::vector<trace::Completion> completions;
      trace::Counts counts;
      operation = parse_call(call, completions);
      for (const json& each : call.value("counts", json::array())) counts.emplace_back(each);
      if (!counts.empty()) operation.counts = &counts;
      operation.steps = steps;
      steps = 0;
      source_.add(rank, operation, completions);
    }
    operation = Operation();
    operation.kind = EventKind::finalize;
    operation.steps = steps;
    source_.add(rank, operation);
  }

  Operation parse_call(const json& call, std::vector<trace::Completion>& completions) {
    const std::string op = call.at("op");
    Operation operation;
    operation.name = source_.add_name(op == "barrier" ? "MPI_Barrier" : op);
    operation.comm = call.value("comm", 0);
    operation.request = call.value("request", 0);
    if (op == "send" || op == "isend" || op == "sendrecv") {
      operation.kind = op == "send"    ? EventKind::send
                       : op == "isend" ? EventKind::isend
                                       : EventKind::sendrecv;
      operation.mode = parse_mode(call.value("mode", "standard"));
      operation.send = endpoint(call, "to", "tag", "bytes");
      if (op == "sendrecv") operation.recv = endpoint(call, "from", "recv_tag", "recv_bytes");
    } else if (op == "recv" || op == "irecv") {
      operation.kind = op == "recv" ? EventKind::recv : EventKind::irecv;
      operation.recv = endpoint(call, "from", "tag", "bytes");
    } else if (op == "access" || op == "flush" || op == "lock") {
      // Any call on a window: that it is one is known by its name.
      operation.name = source_.add_name(op == "access" ? "MPI_Put" : "MPI_Win_" + op);
      operation.one_sided = parse_one_sided(op, call);
      operation.bytes = Bytes(call.value("bytes", 0));
      const int target = call.at("to");
      if (target >= 0)
        operation.send.peer = comms_.at(operation.comm).at(static_cast<std::size_t>(target));
    } else if (op == "probe") {
      operation.kind = EventKind::probe;
      operation.name = source_.add_name("MPI_Probe");
      operation.recv = endpoint(call, "from", "tag", nullptr);
    } else if (op == "wait") {
      operation.kind = EventKind::complete;
      for (const json& request : call.at("requests")) {
        completions.emplace_back();
        completions.back().request = request;
      }
    } else {
      operation.kind = EventKind::collective;
      if (operation.request != 0) {
        operation.kind = EventKind::icollective;
        operation.name = source_.add_name("i" + op);
      }
      operation.collective = parse_collective(op);
      operation.bytes = Bytes(call.at("bytes"));
      if (call.contains("root")) operation.root = LocalRank(call.at("root"));
    }
    operation.send.untouched = call.value("untouched", false);
    if (operation.send.peer.valid()) operation.send.piece = call.value("piece", std::uint16_t{0});
    if (operation.recv.peer.valid() || operation.recv.any_source)
      operation.recv.piece = call.value("recv_piece", std::uint16_t{0});
    return operation;
  }

  trace::Endpoint endpoint(const json& call, const char* peer, const char* tag, const char* bytes) {
    trace::Endpoint end;
    const int local = is_any(call, peer) ? -1 : int(call.at(peer));
    end.any_source = is_any(call, peer);
    end.any_tag = is_any(call, tag);
    if (end.any_source || end.any_tag) source_.set_races();
    if (local >= 0)
      end.peer = comms_.at(call.at("comm").get<std::size_t>()).at(static_cast<std::size_t>(local));
    end.tag = end.any_tag ? kAnyTag : std::int32_t(call.at(tag));
    if (bytes) end.bytes = Bytes(call.at(bytes));
    return end;
  }

  static bool is_any(const json& call, const char* key) { return call.at(key) == "any"; }

  static machine::SendMode parse_mode(const std::string& mode) {
    if (mode == "synchronous") return machine::SendMode::synchronous;
    if (mode == "buffered") return machine::SendMode::buffered;
    if (mode == "ready") return machine::SendMode::ready;
    return machine::SendMode::standard;
  }

  static machine::OneSided parse_one_sided(const std::string& op, const json& call) {
    using machine::OneSided;
    if (op == "lock") return OneSided::lock;
    if (op == "flush") return call.value("local", false) ? OneSided::flush_local : OneSided::flush;
    for (OneSided what = OneSided::put; machine::is_access(what);
         what = static_cast<OneSided>(static_cast<int>(what) + 1))
      if (machine::name_of(machine::cost_of(what)) == call.at("what")) return what;
    throw std::invalid_argument("no such access: " + call.at("what").dump());
  }

  static machine::Cost parse_collective(const std::string& op) {
    for (int i = 0; i < static_cast<int>(machine::Cost::kCount); ++i)
      if (machine::name_of(static_cast<machine::Cost>(i)) == op)
        return static_cast<machine::Cost>(i);
    throw std::invalid_argument("no such operation: " + op);
  }

  ScheduleSource source_;
  std::vector<std::vector<WorldRank>> comms_;
};

NetworkKind parse_kind(const std::string& kind) {
  if (kind == "loggps") return NetworkKind::loggps;
  if (kind == "hops") return NetworkKind::hops;
  if (kind == "bus") return NetworkKind::bus;
  if (kind == "flow") return NetworkKind::flow;
  if (kind == "packet") return NetworkKind::packet;
  return NetworkKind::datasheet;
}

machine::LogGPS parse_parameters(const json& data) {
  const auto seconds = [&data](const char* key) -> std::optional<double> {
    if (!data.contains(key)) return std::nullopt;
    return data[key].get<double>() * 1e-12;
  };
  machine::LogGPS given;
  given.latency = seconds("L");
  given.overhead_send = seconds("os");
  given.overhead_recv = seconds("or");
  given.gap = seconds("g");
  if (data.contains("G")) given.gap_per_byte = data["G"];
  if (data.contains("S")) given.sync_threshold = Bytes(data["S"]);
  return given;
}

// A graph as a topology file.
std::string graph_file(const json& graph) {
  const int processors = graph.at("processors");
  const int switches = graph.at("switches");
  std::vector<std::string> lists(static_cast<std::size_t>(processors + switches));
  std::string speeds;
  for (const json& link : graph.at("links")) {
    lists.at(link[0]) += link[1].dump() + ", ";
    speeds += "[[link]]\nfrom = " + link[0].dump() + "\nto = " + link[1].dump() + "\nlatency = \"" +
              link[2].dump() + "ps\"\nbandwidth = \"" + link[3].dump() + "B/s\"\n";
  }
  std::string text = "[topology]\nswitches = " + std::to_string(switches) + "\nincidence = [\n";
  for (const std::string& list : lists) text += "  [" + list + "],\n";
  return text + "]\n" + speeds;
}

}  // namespace

ScheduleSource parse_schedule(const json& data) {
  return ScheduleParser(data).take();
}

ParsedNetwork parse_network(const json& data, const machine::MachineModel& model) {
  ParsedNetwork network;
  network.options.kind = parse_kind(data.at("kind"));
  network.options.loggps =
      machine::loggps_times(model, parse_parameters(data), machine::Bound::avg);
  network.options.inner = machine::inner_times(model, machine::Bound::avg);
  network.options.block = Bytes(data.value("block", 0));
  network.options.packet_size = Bytes(data.value("packet_size", 2048));
  network.options.buffer_packets = data.value("buffer", 16);
  network.options.piece = Bytes(data.value("piece", kPiece.count));
  network.options.cut_through = data.value("cut_through", false);
  if (data.contains("topology"))
    network.topology =
        machine::build_topology(machine::parse_topology_expression(std::string(data["topology"])));
  else if (data.contains("graph"))
    network.topology = machine::parse_topology(graph_file(data["graph"]), "graph");
  return network;
}

}  // namespace foretrace::sim
