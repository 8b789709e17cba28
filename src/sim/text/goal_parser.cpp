#include "sim/text/goal_parser.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "sim/text/goal_labels.hpp"
#include "sim/text/goal_reader.hpp"
#include "sim/text/goal_schedule.hpp"
#include "sim/text/mapped_file.hpp"

namespace foretrace::sim {
namespace {

using machine::Cost;
using Flag = GoalInstruction::Flag;

constexpr std::size_t kMostNesting = 32;
constexpr std::size_t kShortLine = 16;
constexpr std::size_t kMostMembers = std::size_t{1} << 26;  // of all groups together
constexpr std::int64_t kAnyInGoal = UINT32_MAX;             // LogGOPSim's -1

// The body that is being read, one for each depth.
struct OpenBody {
  GoalDraft draft;
  GoalLabels labels;
  // Requirements that name a label further down.
  struct Later {
    std::string_view before, after;
    std::uint32_t after_number = kGoalNone;
    std::uint32_t line = 0;
    bool at_start = false;
  };
  std::vector<Later> later;
  std::uint32_t joined = kGoalNone;  // the last `wait`
  std::uint32_t join_from = 0;       // the first statement after it
};

// A group, or a family of them.
struct Group {
  std::uint32_t comm = 0;
  std::uint32_t family = kGoalNone;  // in GoalProgram::families
};

class Parser {
 public:
  Parser(std::string_view text, const std::string& file)
      : named_(program_, file), read_(text, program_), assembler_(program_) {
    // As a rule a line has one, and no fewer characters; what is not filled takes no memory.
    program_.instructions.reserve(text.size() / kShortLine);
  }

  GoalProgram parse();

 private:
  // Gives the program its name before the scanner takes it.
  struct Named {
    Named(GoalProgram& program, const std::string& file) { program.file = file; }
  };

  void parse_num_ranks();
  void parse_group();
  void add_group(const std::vector<GoalSpan>& spans, std::span<const std::int64_t> index);
  void parse_rank();
  std::uint32_t parse_body(std::uint32_t line);
  void parse_statement();
  void parse_operation(std::string_view label, std::uint32_t line);
  void parse_head(GoalInstruction& instruction);
  void parse_message(GoalInstruction& instruction);
  void parse_collective(GoalInstruction& instruction, Cost cost);
  void parse_block(GoalInstruction& instruction, std::string_view index);
  void parse_options(GoalInstruction& instruction, std::string_view& index);
  bool parse_group_option(GoalInstruction& instruction);
  void parse_tag(GoalInstruction& instruction);
  void parse_root(GoalInstruction& instruction);
  void parse_index(std::string_view& index);
  void parse_ignored(const char* what, bool& noted);
  void parse_requirements(std::string_view after, bool at_start);
  void require(const OpenBody::Later& requirement);
  void resolve_later(OpenBody& body);
  void add_join(std::string_view label, std::uint32_t line);
  void add_instruction(const GoalInstruction& instruction, std::string_view label);
  std::string_view name(const char* what);
  void check_new_name(std::string_view text, const char* what);
  void set(GoalInstruction& instruction, const GoalNumber& amount);

  OpenBody& open() { return *bodies_[depth_ - 1]; }

  GoalProgram program_;
  Named named_;
  GoalReader read_;
  GoalAssembler assembler_;
  std::vector<std::unique_ptr<OpenBody>> bodies_;
  std::size_t depth_ = 0;
  std::unordered_map<std::string_view, Group> groups_;
  std::unordered_map<std::string_view, std::uint32_t> phases_;
  std::size_t members_ = 0;
  // of an operation, until it has a number
  std::vector<std::pair<std::string_view, bool>> inline_requirements_;
  std::vector<bool> seen_;  // add_group: by rank
  bool noted_cpu_ = false;
  bool noted_nic_ = false;
};

GoalProgram Parser::parse() {
  for (read_.skip_lines(); read_.token().kind != GoalToken::Kind::end; read_.skip_lines()) {
    if (read_.take_name("num_ranks")) {
      parse_num_ranks();
    } else if (!read_.token().is_name("group") && !read_.token().is_name("rank")) {
      read_.expected(program_.ranks ? "rank or group" : "num_ranks");
    } else if (program_.ranks == 0) {
      read_.expected("num_ranks before any group or rank");
    } else if (read_.take_name("group")) {
      parse_group();
    } else {
      read_.advance();
      parse_rank();
    }
  }
  if (program_.ranks == 0) read_.expected("num_ranks");
  // What grew by doubling stays for the whole run.
  program_.bodies.shrink_to_fit();
  program_.waits.shrink_to_fit();
  return std::move(program_);
}

void Parser::parse_num_ranks() {
  if (program_.ranks > 0) read_.fail(read_.token().line, "expected one num_ranks, found another");
  program_.ranks = static_cast<int>(read_.constant("the number of ranks", 1, kGoalMostRanks));
  program_.body_of_rank.assign(static_cast<std::size_t>(program_.ranks), kGoalNone);
}

std::string_view Parser::name(const char* what) {
  if (read_.token().kind != GoalToken::Kind::name) read_.expected(what);
  const std::string_view text = read_.token().text;
  read_.advance();
  return text;
}

void Parser::check_new_name(std::string_view text, const char* what) {
  const auto& index = read_.scope.index;
  if (text == "me" || text == "size" || text == "all" || text == "any" || text == "world" ||
      std::ranges::find(index, text) != index.end())
    read_.fail(read_.token().line, "expected a new name for " + std::string(what) + ", found '" +
                                       std::string(text) + "', which has a meaning already");
}

// group NAME { RANKS }   or   group NAME[INDEX = FROM..TO] { RANKS }
void Parser::parse_group() {
  const std::uint32_t line = read_.token().line;
  const std::string_view text = name("the group's name");
  check_new_name(text, "a group");
  Group group;
  group.comm = static_cast<std::uint32_t>(program_.comms.size()) + 1;
  if (!groups_.try_emplace(text, group).second)
    read_.fail(line, "expected a new name for a group, found '" + std::string(text) +
                         "', which is a group already");
  GoalFamily family{group.comm, 0, 1};
  if (read_.take("[")) {
    group.family = static_cast<std::uint32_t>(program_.families.size());
    const std::string_view index = name("the name of the family's variable");
    check_new_name(index, "a variable");
    read_.expect("=", "after the family's variable");
    family.from = read_.constant("the first of the family", -INT32_MAX, INT32_MAX);
    read_.expect("..", "after the first of the family");
    const std::int64_t to =
        read_.constant("the last of the family", family.from, family.from + kGoalMostRanks - 1);
    family.count = to - family.from + 1;
    read_.expect("]", "after the family's bounds");
    read_.scope.index = {index};
    program_.families.push_back(family);
  }
  read_.expect("{", "before the group's ranks");
  read_.skip_lines();
  const std::vector<GoalSpan> spans = read_.spans("a rank");
  read_.expect("}", "after the group's ranks");
  read_.scope.index.clear();
  for (std::int64_t i = family.from; i < family.from + family.count; ++i)
    add_group(spans,
              group.family != kGoalNone ? std::span(&i, 1) : std::span<const std::int64_t>());
  groups_[text] = group;
}

void Parser::add_group(const std::vector<GoalSpan>& spans, std::span<const std::int64_t> index) {
  trace::Communicator comm;
  comm.key = program_.comms.size() + 1;
  seen_.resize(static_cast<std::size_t>(program_.ranks));
  for (const GoalSpan& span : spans) {
    const std::int64_t from = read_.evaluate(span.from, index, span.line);
    const std::int64_t to = read_.evaluate(span.to, index, span.line);
    const std::int64_t step = read_.evaluate(span.step, index, span.line);
    if (step < 1 || from < 0 || to < from || to >= program_.ranks)
      read_.fail(span.line, "expected ranks from 0 to " + std::to_string(program_.ranks - 1) +
                                " in rising order, found " + std::to_string(from) + ".." +
                                std::to_string(to) + " step " + std::to_string(step));
    for (std::int64_t r = from; r <= to; r += step) {
      if (seen_[static_cast<std::size_t>(r)])
        read_.fail(span.line, "expected each rank once in a group, found rank " +
                                  std::to_string(r) + " again");
      seen_[static_cast<std::size_t>(r)] = true;
      comm.members.push_back(WorldRank(static_cast<std::int32_t>(r)));
      if (++members_ > kMostMembers)
        read_.fail(span.line, "expected at most " + std::to_string(kMostMembers) +
                                  " members in all groups together, found more");
      if (to - r < step) break;
    }
  }
  for (const WorldRank member : comm.members) seen_[static_cast<std::size_t>(member.value)] = false;
  program_.comms.push_back(std::move(comm));
}

void Parser::parse_rank() {
  const std::uint32_t line = read_.token().line;
  const std::vector<GoalSpan> spans = read_.spans("a rank");
  read_.expect("{", "before the rank's operations");
  const auto first = static_cast<std::uint32_t>(program_.bodies.size());
  read_.scope.me = true;
  read_.scope.index.assign(1, {});
  const std::uint32_t body = parse_body(line);
  read_.scope.me = false;
  read_.scope.index.clear();
  assembler_.close(first);
  for (const GoalSpan& span : spans) {
    const std::int64_t from = read_.evaluate(span.from, {}, span.line);
    const std::int64_t to = read_.evaluate(span.to, {}, span.line);
    const std::int64_t step = read_.evaluate(span.step, {}, span.line);
    if (step < 1 || from < 0 || to < from || to >= program_.ranks)
      read_.fail(span.line, "expected ranks from 0 to " + std::to_string(program_.ranks - 1) +
                                ", found rank " +
                                std::to_string(to >= from && from >= 0 ? to : from));
    for (std::int64_t r = from; r <= to; r += std::min(step, std::int64_t{kGoalMostRanks})) {
      std::uint32_t& place = program_.body_of_rank[static_cast<std::size_t>(r)];
      if (place != kGoalNone)
        read_.fail(span.line, "expected one block for each rank, found a second one for rank " +
                                  std::to_string(r) + "; the first is in line " +
                                  std::to_string(program_.bodies[place].line));
      place = body;
    }
  }
}

// Reads up to the closing brace; the opening one is behind us.
std::uint32_t Parser::parse_body(std::uint32_t line) {
  if (depth_ == bodies_.size()) {
    if (depth_ == kMostNesting)
      read_.fail(line, "expected blocks nested at most " + std::to_string(kMostNesting) +
                           " deep, found one more");
    bodies_.push_back(std::make_unique<OpenBody>());
  }
  OpenBody& body = *bodies_[depth_++];
  body.draft.clear();
  body.draft.line = line;
  body.labels.clear();
  body.later.clear();
  body.joined = kGoalNone;
  body.join_from = 0;
  for (read_.skip_lines(); !read_.token().is("}"); read_.skip_lines()) {
    if (read_.token().kind == GoalToken::Kind::end)
      read_.expected("} at the end of the block that begins in line " + std::to_string(line));
    parse_statement();
    if (!read_.at_end_of_statement()) read_.expected("the end of the line or ;");
  }
  resolve_later(body);
  const std::uint32_t number = assembler_.add(body.draft);
  --depth_;
  read_.advance();
  return number;
}

void Parser::parse_statement() {
  const GoalToken first = read_.token();
  if (first.kind != GoalToken::Kind::name) read_.expected("an operation, a label or }");
  std::string_view label;
  if (read_.scanner().colon_follows()) {
    label = first.text;
    read_.advance();
    read_.advance();
  } else if (const auto next = read_.scanner().following_name();
             next == "requires" || next == "irequires") {
    read_.advance();
    const std::string_view before = read_.plain_label();
    if (!before.empty())
      return require({before, first.text, kGoalNone, first.line, next == "irequires"});
    read_.advance();
    return parse_requirements(first.text, next == "irequires");
  }
  parse_operation(label, first.line);
}

void Parser::parse_operation(std::string_view label, std::uint32_t line) {
  if (read_.take_name("wait")) return add_join(label, line);
  GoalInstruction instruction;
  instruction.line = line;
  inline_requirements_.clear();
  if (read_.plain_message(instruction)) return add_instruction(instruction, label);
  parse_head(instruction);
  std::string_view index;
  parse_options(instruction, index);
  if (instruction.kind == GoalKind::repeat || instruction.kind == GoalKind::phase) {
    const auto requirements = std::exchange(inline_requirements_, {});
    parse_block(instruction, index);
    inline_requirements_ = requirements;
  }
  add_instruction(instruction, label);
}

void Parser::set(GoalInstruction& instruction, const GoalNumber& amount) {
  instruction.amount = amount.value;
  if (amount.varies) instruction.flags |= Flag::amount_varies;
}

void Parser::parse_head(GoalInstruction& instruction) {
  if (read_.take_name("send")) {
    instruction.kind = GoalKind::send;
    return parse_message(instruction);
  }
  if (read_.take_name("recv")) {
    instruction.kind = GoalKind::recv;
    return parse_message(instruction);
  }
  if (read_.take_name("calc")) return set(instruction, read_.time());
  if (read_.take_name("repeat")) {
    instruction.kind = GoalKind::repeat;
    return set(instruction, read_.number("how often"));
  }
  if (read_.take_name("phase")) {
    instruction.kind = GoalKind::phase;
    if (read_.token().kind != GoalToken::Kind::string) read_.expected("the phase's name in quotes");
    const auto number = static_cast<std::uint32_t>(program_.phases.size());
    const auto [entry, added] = phases_.try_emplace(read_.token().text, number);
    if (added) program_.phases.emplace_back(read_.token().text);
    instruction.amount = entry->second;
    return read_.advance();
  }
  if (read_.token().kind == GoalToken::Kind::name)
    for (int c = static_cast<int>(Cost::barrier); c < static_cast<int>(Cost::comm_create); ++c)
      if (read_.take_name(machine::name_of(static_cast<Cost>(c))))
        return parse_collective(instruction, static_cast<Cost>(c));
  read_.expected(
      "calc, send, recv, wait, a collective (barrier, bcast, allreduce, ...), repeat, "
      "phase, or a label and requires");
}

void Parser::parse_message(GoalInstruction& instruction) {
  const bool send = instruction.kind == GoalKind::send;
  set(instruction, read_.size());
  if (!read_.take_name(send ? "to" : "from"))
    read_.expected(send ? "to after the size" : "from after the size");
  const GoalToken first = read_.token();
  if (!send && read_.take_name("any")) {
    instruction.flags |= Flag::any_source;
    program_.races = true;
    return;
  }
  const GoalNumber peer = read_.number("a rank");
  if (peer.varies) {
    instruction.flags |= Flag::peer_varies;
  } else if (!send && (peer.value == -1 || peer.value == kAnyInGoal)) {
    instruction.flags |= Flag::any_source;
    program_.races = true;
    return;
  } else if (peer.value < 0 || peer.value >= program_.ranks) {
    read_.fail(first.line, "expected a rank from 0 to " + std::to_string(program_.ranks - 1) +
                               (send ? " to send to" : " to receive from (or any)") + ", found " +
                               std::to_string(peer.value));
  }
  instruction.peer = static_cast<std::int32_t>(peer.value);
}

void Parser::parse_collective(GoalInstruction& instruction, Cost cost) {
  instruction.kind = GoalKind::collective;
  instruction.cost = cost;
  const machine::Dependence dependence = machine::dependence_of(cost);
  const bool rooted = dependence == machine::Dependence::all_for_root ||
                      dependence == machine::Dependence::root_for_all;
  instruction.tag = rooted ? 0 : -1;
  if (cost != Cost::barrier) set(instruction, read_.size());
}

// The body of a repeat or a phase. Nothing of the statement may be kept in
// members meanwhile.
void Parser::parse_block(GoalInstruction& instruction, std::string_view index) {
  read_.skip_lines();
  read_.expect("{", "before what is repeated or belongs to the phase");
  if (!index.empty()) check_new_name(index, "a variable");
  read_.scope.index.push_back(index);
  instruction.detail = parse_body(instruction.line);
  program_.bodies[instruction.detail].uses_index = !index.empty();
  read_.scope.index.pop_back();
}

void Parser::parse_options(GoalInstruction& instruction, std::string_view& index) {
  const bool message = instruction.is_request();
  const bool block = instruction.kind == GoalKind::repeat || instruction.kind == GoalKind::phase;
  const bool collective = instruction.kind == GoalKind::collective;
  while (!read_.at_end_of_statement() && !read_.token().is("{")) {
    if (message && read_.take_name("tag")) {
      parse_tag(instruction);
    } else if (!block && !collective && read_.take_name("cpu")) {
      parse_ignored("cpu", noted_cpu_);
    } else if (message && read_.take_name("nic")) {
      parse_ignored("nic", noted_nic_);
    } else if (collective && instruction.tag >= 0 && read_.take_name("root")) {
      parse_root(instruction);
    } else if (collective && parse_group_option(instruction)) {
    } else if (instruction.kind == GoalKind::repeat && read_.take_name("as")) {
      index = name("the name of the loop's variable");
    } else if (read_.take_name("if")) {
      const GoalNumber condition = read_.number("a condition");
      // One that never varies is an expression, too: it is rare.
      if (!condition.varies) {
        instruction.condition = static_cast<std::uint32_t>(program_.steps.size());
        program_.steps.push_back({condition.value, GoalOperator::number});
        program_.steps.push_back({});
      } else {
        instruction.condition = static_cast<std::uint32_t>(condition.value);
      }
      instruction.flags |= Flag::conditional;
    } else if (read_.take_name("requires")) {
      parse_requirements({}, false);
    } else if (read_.take_name("irequires")) {
      parse_requirements({}, true);
    } else {
      read_.expected(message      ? "tag, cpu, nic, if, requires, irequires or the end of the line"
                     : collective ? "root, on, if, requires, irequires or the end of the line"
                     : block      ? "as, if, requires, irequires or {"
                                  : "cpu, if, requires, irequires or the end of the line");
    }
  }
  if (block && !read_.token().is("{") && read_.token().kind != GoalToken::Kind::newline)
    read_.expected("{ before what is repeated or belongs to the phase");
}

void Parser::parse_tag(GoalInstruction& instruction) {
  const std::uint32_t line = read_.token().line;
  const bool receives = instruction.kind == GoalKind::recv;
  const GoalNumber tag =
      read_.token().is_name("any") ? GoalNumber{false, -1} : read_.number("a tag");
  if (read_.token().is_name("any")) read_.advance();
  if (tag.varies) {
    instruction.flags |= Flag::tag_varies;
  } else if (receives && (tag.value == -1 || tag.value == kAnyInGoal)) {
    instruction.flags |= Flag::any_tag;
    program_.races = true;
    return;
  } else if (tag.value < 0 || tag.value > INT32_MAX) {
    read_.fail(line, "expected a tag from 0 to 2147483647" +
                         std::string(receives ? " or any" : "") + ", found " +
                         std::to_string(tag.value));
  }
  instruction.tag = static_cast<std::int32_t>(tag.value);
}

void Parser::parse_root(GoalInstruction& instruction) {
  const std::uint32_t line = read_.token().line;
  const GoalNumber root = read_.number("the root");
  if (root.varies)
    instruction.flags |= Flag::tag_varies;
  else if (root.value < 0 || root.value >= program_.ranks)
    read_.fail(line, "expected a root from 0 to the group's members less one, found " +
                         std::to_string(root.value));
  instruction.tag = static_cast<std::int32_t>(root.value);
}

bool Parser::parse_group_option(GoalInstruction& instruction) {
  if (!read_.take_name("on")) return false;
  const std::uint32_t line = read_.token().line;
  const std::string_view text = name("the name of a group");
  instruction.flags &= static_cast<std::uint8_t>(~Flag::peer_varies);
  instruction.peer = 0;
  if (text == "world") return true;
  const auto found = groups_.find(text);
  if (found == groups_.end())
    read_.fail(line, "expected a group, found '" + std::string(text) +
                         "', which is none; groups are given before the ranks that use them");
  const Group& group = found->second;
  instruction.peer = static_cast<std::int32_t>(group.comm);
  if (group.family == kGoalNone) return true;
  read_.expect("[", "after the name of a family of groups");
  const GoalNumber which = read_.number("which group of the family");
  read_.expect("]", "after the group's number");
  if (which.varies) {
    instruction.flags |= Flag::peer_varies;
    instruction.peer = static_cast<std::int32_t>(which.value);
    instruction.detail = group.family;
    return true;
  }
  const GoalFamily& family = program_.families[group.family];
  const std::int64_t last = family.from + family.count - 1;
  if (which.value < family.from || which.value > last)
    read_.fail(line, "expected a number from " + std::to_string(family.from) + " to " +
                         std::to_string(last) + " for this family, found " +
                         std::to_string(which.value));
  instruction.peer += static_cast<std::int32_t>(which.value - family.from);
  return true;
}

void Parser::parse_ignored(const char* what, bool& noted) {
  const std::uint32_t line = read_.token().line;
  const std::int64_t number = read_.constant(what, 0, 255);
  if (number == 0 || noted) return;
  noted = true;
  program_.notes.push_back(
      program_.file + ":" + std::to_string(line) + ": " + what + " " + std::to_string(number) +
      " has no effect: a rank has one processor and " + "one way into the network");
}

// The labels after `requires`. Without a name for what requires them they are
// those of the statement that is being read, which has no number yet.
void Parser::parse_requirements(std::string_view after, bool at_start) {
  do {
    const std::uint32_t line = read_.token().line;
    const std::string_view before = name("a label");
    if (after.empty())
      inline_requirements_.emplace_back(before, at_start);
    else
      require({before, after, kGoalNone, line, at_start});
  } while (read_.take(","));
}

// Labels may stand further down.
void Parser::require(const OpenBody::Later& requirement) {
  OpenBody& body = open();
  const std::uint32_t from = body.labels.find(requirement.before);
  const std::uint32_t to = requirement.after_number != kGoalNone
                               ? requirement.after_number
                               : body.labels.find(requirement.after);
  if (from == kGoalNone || to == kGoalNone)
    body.later.push_back(requirement);
  else
    body.draft.requirements.push_back({from, to, requirement.at_start});
}

void Parser::resolve_later(OpenBody& body) {
  for (const OpenBody::Later& later : body.later) {
    const auto number = [&](std::string_view label) {
      const std::uint32_t found = body.labels.find(label);
      if (found == kGoalNone)
        read_.fail(later.line, "expected a label of this block, found '" + std::string(label) +
                                   "', which stands before no operation of it");
      return found;
    };
    const std::uint32_t from = number(later.before);
    const std::uint32_t to =
        later.after_number != kGoalNone ? later.after_number : number(later.after);
    body.draft.requirements.push_back({from, to, later.at_start});
  }
}

void Parser::add_join(std::string_view label, std::uint32_t line) {
  OpenBody& body = open();
  GoalInstruction join;
  join.kind = GoalKind::join;
  join.line = line;
  const std::uint32_t from = body.join_from;
  inline_requirements_.clear();
  add_instruction(join, label);
  const auto number = static_cast<std::uint32_t>(body.draft.instructions.size() - 1);
  for (std::uint32_t i = from; i < number; ++i)
    body.draft.requirements.push_back({i, number, false});
  body.joined = number;
  body.join_from = number + 1;
}

void Parser::add_instruction(const GoalInstruction& instruction, std::string_view label) {
  OpenBody& body = open();
  const auto number = static_cast<std::uint32_t>(body.draft.instructions.size());
  body.draft.instructions.push_back(instruction);
  if (body.joined != kGoalNone) body.draft.requirements.push_back({body.joined, number, false});
  if (!label.empty()) {
    const std::uint32_t first = body.labels.add(label, number);
    if (first != kGoalNone)
      read_.fail(instruction.line, "expected a new label, found '" + std::string(label) +
                                       "', which stands in line " +
                                       std::to_string(body.draft.instructions[first].line));
  }
  for (const auto& [before, at_start] : inline_requirements_)
    require({before, label, number, instruction.line, at_start});
}

}  // namespace

GoalProgram parse_goal(std::string_view text, const std::string& file) {
  return Parser(text, file).parse();
}

GoalProgram read_goal(const std::string& path) {
  const MappedFile file(path);
  return parse_goal(file.text(), path);
}

}  // namespace foretrace::sim
