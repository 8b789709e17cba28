#include "formats/fields.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/end_of_time.hpp"
#include "base/error.hpp"

namespace foretrace::formats {

using trace::Clock;
using trace::combines;
using trace::CommId;
using trace::Completion;
using trace::Event;
using trace::EventKind;
using trace::is_one_sided;
using trace::SiteId;
using trace::uses_comm;
namespace {

using machine::Cost;
using machine::SendMode;

constexpr std::string_view kKinds[] = {
    "",          "init",    "finalize",    "send",       "recv", "sendrecv",
    "isend",     "irecv",   "complete",    "collective", "call", "phase_begin",
    "phase_end", "aborted", "icollective", "mark",       "probe"};
constexpr std::string_view kModes[] = {"standard", "synchronous", "buffered", "ready"};
// In the order of machine::OneSided; no call of a window has no word.
constexpr std::string_view kOneSided[] = {"",
                                          "put",
                                          "get",
                                          "accumulate",
                                          "get_accumulate",
                                          "fetch_and_op",
                                          "compare_and_swap",
                                          "flush",
                                          "flush_local",
                                          "lock",
                                          "lock_shared",
                                          "unlock"};

[[noreturn]] void expected(const char* what, std::string_view found) {
  throw Error(std::string("expected ") + what + ", found '" + std::string(found) + "'");
}

template <class Number>
Number number(std::string_view text, const char* what,
              Number least = std::numeric_limits<Number>::min(),
              Number most = std::numeric_limits<Number>::max()) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    expected(what, text);
  return value;
}

Time time_of(std::string_view text) {
  return Time::ps(number<std::int64_t>(text, "a time in ps", 0, kEndOfTime.count_ps()));
}

// Shortest text that is read as the same number; the bits where there is none.
std::string real_text(double value) {
  char buffer[32];
  if (!std::isfinite(value)) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, bits, 16);
    return "0x" + std::string(buffer, end);
  }
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end);
}

double real_of(std::string_view text) {
  if (text.starts_with("0x")) {
    std::uint64_t bits = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
    if (error != std::errc() || end != text.data() + text.size()) expected("a number", text);
    return std::bit_cast<double>(bits);
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) expected("a number", text);
  return value;
}

bool sends(EventKind kind) {
  return kind == EventKind::send || kind == EventKind::isend || kind == EventKind::sendrecv;
}
bool receives(EventKind kind) {
  return kind == EventKind::recv || kind == EventKind::irecv || kind == EventKind::sendrecv ||
         kind == EventKind::probe;
}
bool is_collective(EventKind kind) {
  return kind == EventKind::collective || kind == EventKind::icollective;
}

WorldRank peer_of(std::string_view text, const FieldScope& scope) {
  return WorldRank(number<std::int32_t>(text, "a rank of the trace", 0, scope.ranks - 1));
}

std::string_view next_part(std::string_view& list, char separator) {
  const std::size_t end = list.find(separator);
  const std::string_view part = list.substr(0, end);
  list = end == list.npos ? std::string_view() : list.substr(end + 1);
  return part;
}

// REQUEST, or REQUEST,SOURCE,TAG,BYTES of a receive; then ",cancelled".
std::string completion_text(const Completion& done) {
  std::string text = std::to_string(done.request);
  if (done.source.valid())
    text += "," + std::to_string(done.source.value) + "," + std::to_string(done.tag) + "," +
            std::to_string(done.bytes.count);
  return done.cancelled ? text + ",cancelled" : text;
}

Completion completion_of(std::string_view text, const FieldScope& scope) {
  Completion done;
  constexpr std::string_view kCancelled = ",cancelled";
  if (text.ends_with(kCancelled)) {
    done.cancelled = true;
    text.remove_suffix(kCancelled.size());
  }
  const bool receive = text.find(',') != text.npos;
  done.request = number<std::uint64_t>(next_part(text, ','), "a request");
  if (!receive) return done;
  done.source = peer_of(next_part(text, ','), scope);
  done.tag = number<std::int32_t>(next_part(text, ','), "a tag");
  done.bytes = Bytes(number<std::uint64_t>(text, "a number of bytes"));
  return done;
}

std::string completions_text(const Event& event) {
  std::string text;
  for (const Completion& done : event.completions)
    text += (text.empty() ? "" : ";") + completion_text(done);
  return text;
}

void set_completions(Event& event, std::string_view list, const FieldScope& scope) {
  if (!event.completions.empty()) expected("done once", list);
  while (!list.empty()) event.completions.push_back(completion_of(next_part(list, ';'), scope));
}

std::string text_unless(auto value, decltype(value) usual) {
  return value == usual ? std::string() : std::to_string(value);
}
std::string flag_text(bool flag) {
  return flag ? "1" : "";
}
bool flag_of(std::string_view text) {
  return number<int>(text, "1", 1, 1) == 1;
}
std::string time_text(Time time) {
  return text_unless(time.count_ps(), std::int64_t{0});
}

// BACK,left or BACK,entered, and two times; and twice steps.
std::string join_text(const trace::Join& join) {
  if (join.back == 0) return {};
  return std::to_string(join.back) + (join.entered ? ",entered," : ",left,") +
         std::to_string(join.after.count_ps()) + "," + std::to_string(join.held.count_ps()) +
         (join.knows_steps ? "," + real_text(join.after_steps) + "," + real_text(join.held_steps)
                           : std::string());
}

trace::Join join_of(std::string_view text, const FieldScope& scope) {
  trace::Join join;
  join.back =
      number<std::uint64_t>(next_part(text, ','), "an event before this one", 1, scope.events);
  const std::string_view moment = next_part(text, ',');
  if (moment != "left" && moment != "entered") expected("left or entered", moment);
  join.entered = moment == "entered";
  join.after = time_of(next_part(text, ','));
  join.held = time_of(next_part(text, ','));
  join.knows_steps = !text.empty();
  if (!join.knows_steps) return join;
  join.after_steps = real_of(next_part(text, ','));
  join.held_steps = real_of(text);
  return join;
}

Cost cost_of(std::string_view text) {
  for (int cost = static_cast<int>(Cost::barrier); cost <= static_cast<int>(Cost::comm_dup); ++cost)
    if (machine::name_of(static_cast<Cost>(cost)) == text) return static_cast<Cost>(cost);
  expected("a collective", text);
}

SendMode mode_of(std::string_view text) {
  for (std::size_t mode = 0; mode < std::size(kModes); ++mode)
    if (kModes[mode] == text) return static_cast<SendMode>(mode);
  expected("standard, synchronous, buffered or ready", text);
}

constexpr std::size_t index_of(machine::OneSided what) {
  return static_cast<std::size_t>(what);
}

machine::OneSided one_sided_of(std::string_view text) {
  for (std::size_t what = 1; what < std::size(kOneSided); ++what)
    if (kOneSided[what] == text) return static_cast<machine::OneSided>(what);
  expected("what a call does to a window", text);
}

machine::Reduction reduction_of(std::string_view text) {
  if (const auto reduction = machine::parse_reduction(text)) return *reduction;
  expected("what a reduction computes", text);
}

struct Field {
  std::string_view key;
  bool (*has)(EventKind kind);
  std::string (*text)(const Event& event);  // "": as usual
  void (*set)(Event& event, std::string_view value, const FieldScope& scope);
};

constexpr auto any = [](EventKind) { return true; };
constexpr auto moves = [](EventKind kind) { return kind == EventKind::call; };
using Text = std::string_view;
using Scope = const FieldScope&;

// In the order in which they are written.
constexpr Field kFields[] = {
    {"compute", any, [](const Event& e) { return time_text(e.compute); },
     [](Event& e, Text v, Scope) { e.compute = time_of(v); }},
    {"steps", any, [](const Event& e) { return e.steps == 0 ? "" : real_text(e.steps); },
     [](Event& e, Text v, Scope) { e.steps = real_of(v); }},
    {"enter", any, [](const Event& e) { return time_text(e.enter); },
     [](Event& e, Text v, Scope) { e.enter = time_of(v); }},
    {"leave", any, [](const Event& e) { return time_text(e.leave); },
     [](Event& e, Text v, Scope) { e.leave = time_of(v); }},
    {"wait", any, [](const Event& e) { return time_text(e.wait); },
     [](Event& e, Text v, Scope) { e.wait = time_of(v); }},
    {"join", any, [](const Event& e) { return join_text(e.join); },
     [](Event& e, Text v, Scope s) { e.join = join_of(v, s); }},
    {"second_join", any, [](const Event& e) { return join_text(e.second); },
     [](Event& e, Text v, Scope s) { e.second = join_of(v, s); }},
    {"site", any, [](const Event& e) { return text_unless(e.site, 0u); },
     [](Event& e, Text v, Scope s) {
       e.site = number<SiteId>(v, "a site that was defined", 1, static_cast<SiteId>(s.sites));
     }},
    {"request",
     [](EventKind k) {
       return k == EventKind::isend || k == EventKind::irecv || k == EventKind::icollective ||
              k == EventKind::probe || moves(k);
     },
     [](const Event& e) { return text_unless(e.request, std::uint64_t{0}); },
     [](Event& e, Text v, Scope) { e.request = number<std::uint64_t>(v, "a request"); }},
    {"comm", [](EventKind k) { return uses_comm(k) || k == EventKind::call; },
     [](const Event& e) { return uses_comm(e) ? text_unless(e.comm, 0u) : ""; },
     [](Event& e, Text v, Scope s) {
       if (s.comms.empty()) expected("a communicator that was defined", v);
       e.comm = number<CommId>(v, "a communicator that was defined", 0,
                               static_cast<CommId>(s.comms.size() - 1));
     }},
    {"mode", sends,
     [](const Event& e) {
       return e.mode == SendMode::standard ? std::string()
                                           : std::string(kModes[static_cast<std::size_t>(e.mode)]);
     },
     [](Event& e, Text v, Scope) { e.mode = mode_of(v); }},
    {"to", [](EventKind k) { return sends(k) || moves(k); },
     [](const Event& e) { return text_unless(e.send.peer.value, -1); },
     [](Event& e, Text v, Scope s) { e.send.peer = peer_of(v, s); }},
    {"to_tag", sends, [](const Event& e) { return text_unless(e.send.tag, 0); },
     [](Event& e, Text v, Scope) { e.send.tag = number<std::int32_t>(v, "a tag"); }},
    {"to_bytes", sends,
     [](const Event& e) { return text_unless(e.send.bytes.count, std::uint64_t{0}); },
     [](Event& e, Text v, Scope) {
       e.send.bytes = Bytes(number<std::uint64_t>(v, "a number of bytes"));
     }},
    {"untouched", [](EventKind k) { return sends(k) || is_collective(k); },
     [](const Event& e) { return flag_text(e.send.untouched); },
     [](Event& e, Text v, Scope) { e.send.untouched = flag_of(v); }},
    {"piece", sends, [](const Event& e) { return text_unless(e.send.piece, std::uint16_t{0}); },
     [](Event& e, Text v, Scope) {
       e.send.piece = number<std::uint16_t>(v, "the bytes of a piece");
     }},
    {"from", receives, [](const Event& e) { return text_unless(e.recv.peer.value, -1); },
     [](Event& e, Text v, Scope s) { e.recv.peer = peer_of(v, s); }},
    {"from_tag", receives, [](const Event& e) { return text_unless(e.recv.tag, 0); },
     [](Event& e, Text v, Scope) { e.recv.tag = number<std::int32_t>(v, "a tag"); }},
    {"from_bytes", receives,
     [](const Event& e) { return text_unless(e.recv.bytes.count, std::uint64_t{0}); },
     [](Event& e, Text v, Scope) {
       e.recv.bytes = Bytes(number<std::uint64_t>(v, "a number of bytes"));
     }},
    {"from_piece", receives,
     [](const Event& e) { return text_unless(e.recv.piece, std::uint16_t{0}); },
     [](Event& e, Text v, Scope) {
       e.recv.piece = number<std::uint16_t>(v, "the bytes of a piece");
     }},
    {"any_source", receives, [](const Event& e) { return flag_text(e.recv.any_source); },
     [](Event& e, Text v, Scope) { e.recv.any_source = flag_of(v); }},
    {"any_tag", receives, [](const Event& e) { return flag_text(e.recv.any_tag); },
     [](Event& e, Text v, Scope) { e.recv.any_tag = flag_of(v); }},
    {"taken", [](EventKind k) { return k == EventKind::recv || k == EventKind::irecv; },
     [](const Event& e) { return text_unless(e.taken, std::uint64_t{0}); },
     [](Event& e, Text v, Scope) { e.taken = number<std::uint64_t>(v, "a request"); }},
    {"done", [](EventKind k) { return k == EventKind::complete; }, completions_text,
     set_completions},
    {"collective", is_collective,
     [](const Event& e) { return std::string(machine::name_of(e.collective)); },
     [](Event& e, Text v, Scope) { e.collective = cost_of(v); }},
    {"bytes", [](EventKind k) { return is_collective(k) || moves(k); },
     [](const Event& e) { return text_unless(e.bytes.count, std::uint64_t{0}); },
     [](Event& e, Text v, Scope) {
       e.bytes = Bytes(number<std::uint64_t>(v, "a number of bytes"));
     }},
    {"root", is_collective, [](const Event& e) { return text_unless(e.root.value, -1); },
     [](Event& e, Text v, Scope) { e.root = LocalRank(number<std::int32_t>(v, "a rank", 0)); }},
    {"one_sided", moves,
     [](const Event& e) { return std::string(kOneSided[index_of(e.one_sided)]); },
     [](Event& e, Text v, Scope) { e.one_sided = one_sided_of(v); }},
    {"reduction", [](EventKind k) { return is_collective(k) || moves(k); },
     [](const Event& e) { return machine::name_of(e.reduction); },
     [](Event& e, Text v, Scope) { e.reduction = reduction_of(v); }},
    {"count", [](EventKind k) { return k != EventKind::mark; },
     [](const Event& e) { return text_unless(e.count, 1u); },
     [](Event& e, Text v, Scope) { e.count = number<std::uint32_t>(v, "a count"); }},
    {"code", [](EventKind k) { return k == EventKind::aborted; },
     [](const Event& e) { return text_unless(e.code, 0); },
     [](Event& e, Text v, Scope) { e.code = number<std::int32_t>(v, "a code"); }},
    {"value", [](EventKind k) { return k == EventKind::mark; },
     [](const Event& e) { return e.value == 0 ? "" : real_text(e.value); },
     [](Event& e, Text v, Scope) { e.value = real_of(v); }},
};

// With CPU times the clock is the sum of the computations.
bool is_left_out(const Field& field, Clock clock) {
  return clock == Clock::cpu && (field.key == "enter" || field.key == "leave");
}

}  // namespace

std::string_view kind_name(EventKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

bool parse_kind(std::string_view text, EventKind& kind) {
  for (std::size_t i = 1; i < std::size(kKinds); ++i) {
    if (kKinds[i] != text) continue;
    kind = static_cast<EventKind>(i);
    return true;
  }
  return false;
}

void append_fields(std::string& line, const Event& event, Clock clock) {
  for (const Field& field : kFields) {
    if (!field.has(event.kind) || is_left_out(field, clock)) continue;
    const std::string text = field.text(event);
    if (text.empty()) continue;
    line += ' ';
    line += field.key;
    line += '=';
    line += text;
  }
}

void parse_field(std::string_view key, std::string_view value, const FieldScope& scope,
                 Event& event) {
  for (const Field& field : kFields) {
    if (field.key != key) continue;
    if (!field.has(event.kind) || is_left_out(field, scope.clock)) break;
    return field.set(event, value, scope);
  }
  throw Error("expected a field of " + std::string(kind_name(event.kind)) + ", found '" +
              std::string(key) + "'");
}

std::string counts_text(const trace::Counts& counts) {
  std::string text;
  for (std::size_t i = 0, n = 0; i < counts.size(); i += n) {
    for (n = 1; i + n < counts.size() && counts[i + n] == counts[i];) ++n;
    text += (i == 0 ? "" : ",") + (n == 1 ? std::string() : std::to_string(n) + "x") +
            std::to_string(counts[i].count);
  }
  return text;
}

trace::Counts parse_counts(std::string_view value, const FieldScope& scope) {
  trace::Counts counts;
  while (!value.empty()) {
    std::string_view run = next_part(value, ',');
    const std::size_t most = 2 * static_cast<std::size_t>(scope.ranks) - counts.size();
    std::size_t repeated = 1;
    if (run.find('x') != run.npos)
      repeated = number<std::size_t>(next_part(run, 'x'), "no more counts than members", 1, most);
    else if (most == 0)
      expected("no more counts than members", run);
    counts.insert(counts.end(), repeated, Bytes(number<std::uint64_t>(run, "a number of bytes")));
  }
  return counts;
}

void check_event(const Event& event, const trace::Counts& counts, const FieldScope& scope,
                 Time last_leave) {
  if (uses_comm(event) && event.comm >= scope.comms.size())
    throw Error("expected a communicator to be defined before, found none");
  if (is_collective(event.kind)) {
    if (event.collective == Cost::kCount) throw Error("expected collective=NAME, found none");
    if (event.root.value >= static_cast<std::int32_t>(scope.comms[event.comm].members.size()))
      throw Error("expected a root in the communicator, found " + std::to_string(event.root.value));
  }
  if (combines(event) && (is_one_sided(event) || event.send.peer.valid()))
    throw Error("expected a reduction or what it does to others, found both");
  if (!counts.empty() &&
      (!is_collective(event.kind) ||
       !trace::fits(counts.size(), event.collective, scope.comms[event.comm].members.size())))
    throw Error("expected counts as the call has them, found " + std::to_string(counts.size()));
  if (scope.clock == Clock::cpu) return;
  if (event.enter < last_leave)
    throw Error("expected enter >= " + std::to_string(last_leave.count_ps()) +
                ", where the event before left; found " + std::to_string(event.enter.count_ps()));
  if (event.leave < event.enter)
    throw Error("expected leave >= enter, found " + std::to_string(event.leave.count_ps()));
}

}  // namespace foretrace::formats
