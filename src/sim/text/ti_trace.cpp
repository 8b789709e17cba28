#include "sim/text/ti_trace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <string_view>

#include "base/error.hpp"
#include "sim/text/mapped_file.hpp"

namespace foretrace::sim {
namespace {

using machine::Cost;
using machine::SendMode;

constexpr std::size_t kMostRanks = std::size_t{1} << 24;
constexpr double kMostBytes = 4e18;

// Bytes of SimGrid's datatypes, by the number that it writes for them.
constexpr std::array<std::uint8_t, 55> kTypeBytes = {
    8,  4,  1,  2,  8,  4,  1,  8,   // double int char short long float byte long long
    1,  1,  2,  4,  8,  8,           // signed char; unsigned char short int long long long
    16, 4,  1,                       // long double, wchar, bool
    1,  2,  4,  8,  1,  2,  4,  8,   // int8 to int64, uint8 to uint64
    8,  16, 32, 8,  8,               // complex: float double long double; aint, offset
    8,  16, 16, 8,  8,  8,  16, 16,  // pairs: float_int long_int double_int short_int 2int ...
    4,  4,  8,  16,                  // Fortran: real, real4, real8, real16
    8,  16, 32,                      // complex8, complex16, complex32
    1,  2,  4,  8,  16, 32, 0,  0,  1, 8,  // integer1 to integer16; long_double_int, ub, lb,
};                                         // packed, ptr

enum class Form : std::uint8_t {
  ignore,
  init,
  finalize,
  compute,
  sleep,
  message,
  sendrecv,
  one_request,
  requests,
  barrier,
  bcast,
  reduce,
  allreduce,
  two_sizes,          // scatter, gather: also a root
  two_sizes_no_root,  // allgather, alltoall
  gatherv,
  allgatherv,
  scatterv,
  alltoallv,
  reduce_scatter,
};

struct ActionName {
  std::string_view name;  // in small letters
  Form form;
  TiKind kind = TiKind::collective;
  Cost cost = Cost::kCount;
  SendMode mode = SendMode::standard;
};

constexpr ActionName kActions[] = {
    {"compute", Form::compute},
    {"send", Form::message, TiKind::send},
    {"recv", Form::message, TiKind::recv},
    {"isend", Form::message, TiKind::isend},
    {"irecv", Form::message, TiKind::irecv},
    {"wait", Form::one_request, TiKind::wait},
    {"waitall", Form::requests, TiKind::waitall},
    {"sendrecv", Form::sendrecv, TiKind::sendrecv},
    {"allreduce", Form::allreduce, TiKind::collective, Cost::allreduce},
    {"bcast", Form::bcast, TiKind::collective, Cost::bcast},
    {"barrier", Form::barrier, TiKind::collective, Cost::barrier},
    {"reduce", Form::reduce, TiKind::collective, Cost::reduce},
    {"alltoall", Form::two_sizes_no_root, TiKind::collective, Cost::alltoall},
    {"alltoallv", Form::alltoallv, TiKind::collective, Cost::alltoallv},
    {"allgather", Form::two_sizes_no_root, TiKind::collective, Cost::allgather},
    {"allgatherv", Form::allgatherv, TiKind::collective, Cost::allgatherv},
    {"gather", Form::two_sizes, TiKind::collective, Cost::gather},
    {"gatherv", Form::gatherv, TiKind::collective, Cost::gatherv},
    {"scatter", Form::two_sizes, TiKind::collective, Cost::scatter},
    {"scatterv", Form::scatterv, TiKind::collective, Cost::scatterv},
    {"reducescatter", Form::reduce_scatter, TiKind::collective, Cost::reduce_scatter},
    {"scan", Form::allreduce, TiKind::collective, Cost::scan},
    {"exscan", Form::allreduce, TiKind::collective, Cost::exscan},
    {"ssend", Form::message, TiKind::send, Cost::kCount, SendMode::synchronous},
    {"bsend", Form::message, TiKind::send, Cost::kCount, SendMode::buffered},
    {"rsend", Form::message, TiKind::send, Cost::kCount, SendMode::ready},
    {"issend", Form::message, TiKind::isend, Cost::kCount, SendMode::synchronous},
    {"ibsend", Form::message, TiKind::isend, Cost::kCount, SendMode::buffered},
    {"irsend", Form::message, TiKind::isend, Cost::kCount, SendMode::ready},
    {"waitany", Form::requests, TiKind::waitany},
    {"waitsome", Form::requests, TiKind::waitsome},
    {"test", Form::one_request, TiKind::test},
    {"testall", Form::requests, TiKind::testall},
    {"testany", Form::requests, TiKind::testany},
    {"testsome", Form::requests, TiKind::testsome},
    {"sleep", Form::sleep},
    {"init", Form::init},
    {"finalize", Form::finalize},
    {"location", Form::ignore},
    {"comm_size", Form::ignore},
    {"comm_split", Form::ignore},
    {"comm_dup", Form::ignore},
};

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

// Lines of a text and the words of each.
class Lines {
 public:
  Lines(std::string_view text, const std::string& file)
      : at_(text.data()), end_(text.data() + text.size()), file_(file) {}

  // The next line that is neither empty nor a comment, in words().
  bool next();
  const std::vector<std::string_view>& words() const { return words_; }
  std::uint32_t line() const { return line_; }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(file_ + ":" + std::to_string(line_) + ": " + what);
  }

 private:
  const char* at_;
  const char* end_;
  const std::string& file_;
  std::uint32_t line_ = 0;
  std::vector<std::string_view> words_;
};

bool Lines::next() {
  while (at_ != end_) {
    ++line_;
    words_.clear();
    while (at_ != end_ && *at_ != '\n') {
      if (is_blank(*at_)) {
        ++at_;
        continue;
      }
      const char* begin = at_;
      while (at_ != end_ && *at_ != '\n' && !is_blank(*at_)) ++at_;
      words_.emplace_back(begin, static_cast<std::size_t>(at_ - begin));
    }
    if (at_ != end_) ++at_;
    if (!words_.empty() && words_[0][0] != '#') return true;
  }
  return false;
}

std::string quoted(std::string_view word) {
  std::string text = "'";
  for (const char c : word.substr(0, 40)) text += c >= 0x20 && c < 0x7f ? c : '?';
  return text + "'";
}

bool parse_rank_number(std::string_view word, std::size_t& rank) {
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), rank);
  return error == std::errc() && rest == word.data() + word.size() && rank < kMostRanks;
}

const ActionName* find_action(std::string_view word) {
  std::array<char, 16> small{};
  if (word.size() > small.size()) return nullptr;
  for (std::size_t i = 0; i < word.size(); ++i)
    small[i] = static_cast<char>(word[i] >= 'A' && word[i] <= 'Z' ? word[i] + 32 : word[i]);
  const std::string_view name(small.data(), word.size());
  for (const ActionName& action : kActions)
    if (action.name == name) return &action;
  return nullptr;
}

class TiParser {
 public:
  TiParser(TiTrace& trace, const TiOptions& options, const std::string& file)
      : trace_(trace),
        options_(options),
        file_(file),
        life_(trace.ranks.size(), Life::unknown),
        default_type_(trace.ranks.size(), kByteType),
        pending_(trace.ranks.size()) {}

  // All actions of a file. `only`: the rank that they must be of.
  void parse(std::string_view text, const std::string& file, std::optional<std::size_t> only);
  void finish();

 private:
  enum class Life : std::uint8_t { unknown, begun, over };
  static constexpr std::size_t kByteType = 6;
  static constexpr std::size_t kDoubleType = 0;

  void parse_action(const Lines& lines, std::size_t rank);
  void parse_message(const ActionName& name, TiAction& action);
  void parse_sendrecv(TiAction& action);
  void parse_one_request(TiAction& action);
  // Returns what the ranks compute in it.
  Time parse_collective(const ActionName& name, TiAction& action);
  Time parse_reduction(Form form, TiAction& action);
  void parse_vector(Form form, TiAction& action);
  void note_counts(TiAction& action);

  // Numbers of the action, counted from 0; words that follow rank and action.
  std::size_t count() const { return lines_->words().size() - 2; }
  void need(std::size_t least, const char* form) const;
  double number(std::size_t i, double least, double most) const;
  std::int32_t integer(std::size_t i, std::int64_t least, std::int64_t most) const;
  Time duration(double seconds) const;
  double type_bytes(std::size_t i) const;  // of the datatype there, else the default
  Bytes bytes(std::size_t i, double type) const;
  Bytes each(std::size_t first, double type);  // their sum; adds them to counts_
  Bytes mean(std::size_t first, double type);
  std::int32_t rank(std::size_t i) const;  // of another rank, kAny or kNobody
  std::int32_t root(std::size_t i) const;
  std::int32_t tag(std::size_t i, bool receives) const;

  TiTrace& trace_;
  const TiOptions& options_;
  const std::string& file_;                // the trace or the list
  std::vector<Life> life_;                 // by rank
  std::vector<std::size_t> default_type_;  // by rank
  std::vector<Time> pending_;              // computation before the rank's next action
  trace::Counts counts_;                   // of the action at hand
  std::map<trace::Counts, trace::CountsId> known_counts_;
  const Lines* lines_ = nullptr;
  std::size_t rank_ = 0;
};

void TiParser::parse(std::string_view text, const std::string& file,
                     std::optional<std::size_t> only) {
  Lines lines(text, file);
  lines_ = &lines;
  while (lines.next()) {
    std::size_t rank = 0;
    if (!parse_rank_number(lines.words()[0], rank))
      lines.fail("expected a rank at the begin of the line, found " + quoted(lines.words()[0]));
    if (only && rank != *only)
      lines.fail("expected actions of rank " + std::to_string(*only) +
                 ", the file's place in the list, found some of rank " + std::to_string(rank));
    parse_action(lines, rank);
  }
}

void TiParser::finish() {
  const auto ended = std::ranges::find(life_, Life::over);
  const auto open = std::ranges::find(life_, Life::begun);
  if (ended != life_.end() && open != life_.end())
    throw Error(file_ + ": expected 'finalize' of rank " + std::to_string(open - life_.begin()) +
                ", which has 'init', as rank " + std::to_string(ended - life_.begin()) +
                " has both; the trace was cut off");
  trace_.has_no_end = open != life_.end();
  for (std::size_t r = 0; r < pending_.size(); ++r) trace_.ranks[r].last_compute = pending_[r];
}

void TiParser::need(std::size_t least, const char* form) const {
  if (count() >= least) return;
  lines_->fail("expected " + quoted(lines_->words()[1]) + " with " + form + ", found " +
               std::to_string(count()) + " numbers");
}

double TiParser::number(std::size_t i, double least, double most) const {
  const std::string_view word = lines_->words()[i + 2];
  double value = 0;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || rest != word.data() + word.size() || !(value >= least) ||
      !(value <= most))
    lines_->fail("expected a number" + std::string(least >= 0 ? " that is not negative" : "") +
                 " as number " + std::to_string(i + 1) + " of " + quoted(lines_->words()[1]) +
                 ", found " + quoted(word));
  return value;
}

std::int32_t TiParser::integer(std::size_t i, std::int64_t least, std::int64_t most) const {
  const std::string_view word = lines_->words()[i + 2];
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || rest != word.data() + word.size() || value < least || value > most)
    lines_->fail("expected a whole number from " + std::to_string(least) + " to " +
                 std::to_string(most) + " as number " + std::to_string(i + 1) + " of " +
                 quoted(lines_->words()[1]) + ", found " + quoted(word));
  return static_cast<std::int32_t>(value);
}

Time TiParser::duration(double seconds) const {
  if (!(seconds < 4e6))
    lines_->fail("expected a computation below 4000000 s, found " + std::to_string(seconds) + " s");
  return Time::from_seconds(seconds);
}

double TiParser::type_bytes(std::size_t i) const {
  if (i >= count()) return kTypeBytes[default_type_[rank_]];
  const std::int32_t type = integer(i, -1, static_cast<std::int64_t>(kTypeBytes.size()) - 1);
  if (type >= 0) return kTypeBytes[static_cast<std::size_t>(type)];
  if (options_.derived_type) return static_cast<double>(options_.derived_type->count);
  lines_->fail(
      "expected a basic datatype, found a derived one (-1), whose size the trace does not "
      "tell; say how many bytes an element of it has");
}

Bytes TiParser::bytes(std::size_t i, double type) const {
  // A receive may say -1 for a size that it does not know.
  const double size = std::max(number(i, -1, kMostBytes), 0.0) * type;
  if (size > kMostBytes) lines_->fail("expected a size below 4e18 bytes, found a larger one");
  return Bytes(static_cast<std::uint64_t>(std::llround(size)));
}

// Of a count for each rank.
Bytes TiParser::each(std::size_t first, double type) {
  double sum = 0;
  for (std::size_t r = 0; r < trace_.ranks.size(); ++r) sum += number(first + r, 0, kMostBytes);
  if (sum * type > kMostBytes) lines_->fail("expected a size below 4e18 bytes, found a larger one");
  for (std::size_t r = 0; r < trace_.ranks.size(); ++r) counts_.push_back(bytes(first + r, type));
  return Bytes(static_cast<std::uint64_t>(std::llround(sum * type)));
}

Bytes TiParser::mean(std::size_t first, double type) {
  return Bytes(each(first, type).count / trace_.ranks.size());
}

// SimGrid writes -333 for both MPI_ANY_SOURCE and MPI_PROC_NULL; its own values
// of these are -555 and -666.
std::int32_t TiParser::rank(std::size_t i) const {
  const std::string_view word = lines_->words()[i + 2];
  if (word == "-333" || word == "-555" || word == "-1") return TiAction::kAny;
  if (word == "-666") return TiAction::kNobody;
  return integer(i, 0, static_cast<std::int64_t>(trace_.ranks.size()) - 1);
}

std::int32_t TiParser::root(std::size_t i) const {
  return i < count() ? integer(i, 0, static_cast<std::int64_t>(trace_.ranks.size()) - 1) : 0;
}

std::int32_t TiParser::tag(std::size_t i, bool receives) const {
  const std::string_view word = lines_->words()[i + 2];
  if (receives && (word == "-444" || word == "-1")) return TiAction::kAny;
  return integer(i, 0, INT32_MAX);
}

void TiParser::parse_message(const ActionName& name, TiAction& action) {
  need(3, "a partner, a tag and a count (traces of SimGrid before 3.20 have no tag)");
  const bool receives = name.kind == TiKind::recv || name.kind == TiKind::irecv;
  action.peer = rank(0);
  if (!receives && action.peer == TiAction::kAny) action.peer = TiAction::kNobody;
  action.tag = tag(1, receives);
  action.bytes = bytes(2, type_bytes(3));
  if (action.peer == TiAction::kAny || action.tag == TiAction::kAny) trace_.races = true;
}

void TiParser::parse_sendrecv(TiAction& action) {
  need(4, "a count and a rank to send, a count and a rank to receive");
  action.bytes = bytes(0, type_bytes(4));
  action.received = bytes(2, type_bytes(5));
  action.peer = rank(1);
  action.second = rank(3);
  if (action.peer == TiAction::kAny) action.peer = TiAction::kNobody;
  if (action.second == TiAction::kAny) action.second = TiAction::kNobody;
}

// The numbers are those of the request; one that no request has is no error.
// Whatever is no rank is one thing: SimGrid writes the same number for both.
void TiParser::parse_one_request(TiAction& action) {
  need(3, "a source, a destination and a tag");
  const auto any_number = [&](std::size_t i) { return integer(i, INT32_MIN, INT32_MAX); };
  const auto partner = [](std::int32_t rank) { return std::max(rank, TiAction::kAny); };
  action.peer = partner(any_number(0));
  action.second = partner(any_number(1));
  action.tag = any_number(2);
  if (action.tag == -444) action.tag = TiAction::kAny;
}

Time TiParser::parse_reduction(Form form, TiAction& action) {
  const std::size_t ranks = trace_.ranks.size();
  if (form == Form::reduce_scatter) {
    need(ranks + 1, "a count for each rank and the computation");
    // All of it, as a reduction of the whole vector.
    action.bytes = each(0, type_bytes(ranks + 1));
    return duration(number(ranks, 0, 1e300) / options_.speed);
  }
  need(2, "a count and the computation");
  const bool rooted = form == Form::reduce;
  action.bytes = bytes(0, type_bytes(rooted ? 3 : 2));
  if (rooted) action.peer = root(2);
  return duration(number(1, 0, 1e300) / options_.speed);
}

void TiParser::parse_vector(Form form, TiAction& action) {
  const std::size_t ranks = trace_.ranks.size();
  const auto me = static_cast<std::int32_t>(rank_);
  if (form == Form::gatherv) {
    need(ranks + 1, "a count and one for each rank");
    action.peer = root(ranks + 1);
    action.bytes =
        action.peer == me ? mean(1, type_bytes(ranks + 3)) : bytes(0, type_bytes(ranks + 2));
  } else if (form == Form::scatterv) {
    need(ranks + 1, "a count for each rank and one more");
    action.peer = root(ranks + 1);
    action.bytes =
        action.peer == me ? mean(0, type_bytes(ranks + 2)) : bytes(ranks, type_bytes(ranks + 3));
  } else if (form == Form::allgatherv) {
    need(ranks + 1, "a count and one for each rank");
    // Displacements may stand before the datatype or without one.
    const std::size_t more = count() - ranks - 1;
    const bool typed = more > 0 && (more <= 2 || more > ranks);
    action.bytes = mean(1, type_bytes(typed ? ranks + 1 : count()));
  } else {
    need(2 * ranks + 2, "a buffer's size and a count for each rank, twice");
    action.bytes = mean(1, type_bytes(2 * ranks + 2));
    action.bytes = std::max(action.bytes, mean(ranks + 2, type_bytes(2 * ranks + 3)));
  }
}

// Elsewhere than at the root they are the rank's own alone.
void TiParser::note_counts(TiAction& action) {
  if (counts_.empty() && trace::fits(1, action.cost, 2)) counts_.push_back(action.bytes);
  if (!trace::are_told(action.cost, counts_)) return;
  const auto [entry, added] = known_counts_.try_emplace(counts_);
  if (added) {
    trace_.counts.push_back(counts_);
    entry->second = static_cast<trace::CountsId>(trace_.counts.size());
  }
  action.counts = entry->second;
}

Time TiParser::parse_collective(const ActionName& name, TiAction& action) {
  switch (name.form) {
    case Form::barrier:
      break;
    case Form::bcast:
      need(1, "a count");
      action.bytes = bytes(0, type_bytes(2));
      action.peer = root(1);
      break;
    case Form::reduce:
    case Form::allreduce:
    case Form::reduce_scatter:
      return parse_reduction(name.form, action);
    case Form::two_sizes: {
      need(2, "two counts");
      action.peer = root(2);
      const bool sends =
          name.cost == Cost::gather || action.peer == static_cast<std::int32_t>(rank_);
      action.bytes = sends ? bytes(0, type_bytes(3)) : bytes(1, type_bytes(4));
      break;
    }
    case Form::two_sizes_no_root:
      need(2, "two counts");
      action.bytes = bytes(0, type_bytes(2));
      break;
    default:
      parse_vector(name.form, action);
  }
  return Time();
}

void TiParser::parse_action(const Lines& lines, std::size_t rank) {
  rank_ = rank;
  if (lines.words().size() < 2) lines.fail("expected an action after the rank, found nothing");
  const ActionName* name = find_action(lines.words()[1]);
  if (!name)
    lines.fail(
        "expected an action (compute, send, recv, isend, irecv, wait, waitall, allreduce, "
        "...), found " +
        quoted(lines.words()[1]));
  TiAction action;
  action.kind = name->kind;
  action.mode = name->mode;
  action.cost = name->cost;
  action.line = lines.line();
  Time after;
  switch (name->form) {
    case Form::ignore:
      return;
    case Form::init:
      default_type_[rank] = count() > 0 ? kDoubleType : kByteType;
      life_[rank] = Life::begun;
      return;
    case Form::finalize:
      life_[rank] = Life::over;
      return;
    case Form::compute:
      need(1, "a number of operations");
      pending_[rank] += duration(number(0, 0, 1e300) / options_.speed);
      return;
    case Form::sleep:
      need(1, "seconds");
      pending_[rank] += duration(number(0, 0, 1e300));
      return;
    case Form::message:
      parse_message(*name, action);
      break;
    case Form::sendrecv:
      parse_sendrecv(action);
      break;
    case Form::one_request:
      parse_one_request(action);
      trace_.races = trace_.races || name->kind == TiKind::test;
      break;
    case Form::requests:
      trace_.races = trace_.races || name->kind != TiKind::waitall;
      break;
    default:
      counts_.clear();
      after = parse_collective(*name, action);
      note_counts(action);
  }
  action.compute = pending_[rank];
  pending_[rank] = after;
  trace_.ranks[rank].actions.push_back(action);
}

// One more than the highest rank.
std::size_t count_ranks(std::string_view text, const std::string& file) {
  Lines lines(text, file);
  std::size_t ranks = 0;
  while (lines.next()) {
    std::size_t rank = 0;
    if (!parse_rank_number(lines.words()[0], rank))
      lines.fail("expected a rank below " + std::to_string(kMostRanks) +
                 " at the begin of the line, found " + quoted(lines.words()[0]));
    ranks = std::max(ranks, rank + 1);
  }
  if (ranks == 0) throw Error(file + ":1: expected actions, found none");
  return ranks;
}

// A trace itself, not a list of traces.
bool is_trace(std::string_view text, const std::string& file) {
  Lines lines(text, file);
  std::size_t rank = 0;
  return lines.next() && lines.words().size() > 1 && parse_rank_number(lines.words()[0], rank);
}

std::string resolve(const std::string& list, const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path beside = fs::path(list).parent_path() / name;
  std::error_code error;
  return fs::exists(beside, error) || !fs::exists(name, error) ? beside.string() : name;
}

void check_options(const TiOptions& options) {
  if (!(options.speed > 0) || !std::isfinite(options.speed))
    throw UsageError("expected a speed above 0 flop/s, found " + std::to_string(options.speed));
}

}  // namespace

TiTrace parse_ti(std::string_view text, const std::string& file, const TiOptions& options) {
  check_options(options);
  TiTrace trace;
  trace.ranks.resize(count_ranks(text, file));
  TiParser parser(trace, options, file);
  parser.parse(text, file, std::nullopt);
  parser.finish();
  return trace;
}

TiTrace read_ti(const std::string& path, const TiOptions& options) {
  check_options(options);
  const MappedFile file(path);
  if (is_trace(file.text(), path)) return parse_ti(file.text(), path, options);
  std::vector<std::string> names;
  Lines lines(file.text(), path);
  while (lines.next()) {
    std::string name(lines.words()[0]);
    if (lines.words().size() > 1)
      lines.fail("expected the name of a trace file alone on the line, found " +
                 quoted(lines.words()[1]) + " after it");
    names.push_back(resolve(path, name));
  }
  if (names.empty()) throw Error(path + ":1: expected names of trace files, found none");
  if (names.size() == 1) {
    const MappedFile only(names[0]);
    return parse_ti(only.text(), names[0], options);
  }
  TiTrace trace;
  trace.ranks.resize(names.size());
  TiParser parser(trace, options, path);
  for (std::size_t r = 0; r < names.size(); ++r)
    parser.parse(MappedFile(names[r]).text(), names[r], r);
  parser.finish();
  return trace;
}

}  // namespace foretrace::sim
