#include "formulas/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "base/error.hpp"
#include "formulas/builtin.hpp"
#include "machine/timing.hpp"

namespace foretrace::formulas {
namespace {

using machine::Bound;

constexpr int kDeepest = 250;           // calls inside calls; gnuplot's own limit
constexpr long kMostSteps = 5'000'000;  // of one evaluation
constexpr double kMostRanks = 1 << 26;

// gnuplot has integers, whose quotient is one, too.
struct Value {
  double number = 0;
  bool whole = false;
};

// Arguments of the function under way, or the index of a sum.
struct Frame {
  std::map<std::string, Value, std::less<>> values;
  const Frame* outer = nullptr;  // of a sum: what is around it
};

struct Term {
  const Node* node = nullptr;
  double sign = 1;
};

void split_sum(const Node& node, double sign, std::vector<Term>& out) {
  if (node.kind == Node::Kind::binary && (node.text == "+" || node.text == "-")) {
    split_sum(node.children[0], sign, out);
    split_sum(node.children[1], node.text == "+" ? sign : -sign, out);
  } else {
    out.push_back({&node, sign});
  }
}

std::string shown(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

class Evaluator {
 public:
  Evaluator(const ModelFile& model, const machine::MachineModel* machine, const Values& at,
            Bound bound, std::set<std::string>& notes)
      : model_(model), machine_(machine), at_(at), bound_(bound), notes_(notes) {}

  double total(const Definition& definition) {
    return positive(call_total(definition), definition);
  }

  // The addends of the total; of one that is a single call of the file's, the addends of that.
  std::vector<std::pair<std::string, double>> phases(const Definition& total) {
    const Definition* definition = &total;
    Frame frame = total_frame(total);
    std::vector<Term> terms;
    for (int depth = 0; depth < kDeepest; ++depth) {
      terms.clear();
      split_sum(definition->body, 1, terms);
      if (terms.size() > 1 || !descend(*terms.front().node, definition, frame)) break;
    }
    std::vector<std::pair<std::string, double>> out;
    for (const Term& term : terms) {
      const std::string name = phase_name(*term.node);
      const double value = term.sign * finite(eval(*term.node, &frame), *term.node);
      const auto known = std::ranges::find(out, name, &std::pair<std::string, double>::first);
      if (known == out.end())
        out.emplace_back(name, value);
      else
        known->second += value;
    }
    return out;
  }

 private:
  [[noreturn]] void fail(const Node& node, const std::string& message) const {
    throw Error(model_.file + ":" + std::to_string(node.line) + ": " + message);
  }

  static std::string phase_name(const Node& node) {
    return node.kind == Node::Kind::call ? node.text : format_expression(node);
  }

  // Whether `node` is a call (or a variable) of the file's, which is gone into.
  bool descend(const Node& node, const Definition*& definition, Frame& frame) {
    if (node.kind != Node::Kind::call && node.kind != Node::Kind::name) return false;
    if (node.kind == Node::Kind::name &&
        (frame.values.contains(node.text) || at_.contains(node.text)))
      return false;
    const Definition* inner = model_.find(node.text);
    if (!inner || inner->is_function != (node.kind == Node::Kind::call) ||
        inner->arguments.size() != node.children.size())
      return false;
    std::vector<Term> terms;
    split_sum(inner->body, 1, terms);
    if (terms.size() < 2 && terms.front().node->kind != Node::Kind::call) return false;
    Frame next;
    for (std::size_t i = 0; i < inner->arguments.size(); ++i)
      next.values[inner->arguments[i]] = eval(node.children[i], &frame);
    frame = std::move(next);
    definition = inner;
    return true;
  }

  Frame total_frame(const Definition& total) {
    Frame frame;
    for (const std::string& name : total.arguments) frame.values[name] = variable(name, total.body);
    return frame;
  }

  double call_total(const Definition& total) {
    const Frame frame = total_frame(total);
    return finite(eval(total.body, &frame), total.body);
  }

  double positive(double value, const Definition& definition) const {
    if (value < 0) fail(definition.body, "the whole time is negative (" + shown(value) + " s)");
    return value;
  }

  double finite(Value value, const Node& node) const {
    if (!std::isfinite(value.number))
      fail(node, format_expression(node) + " is no finite number here");
    return value.number;
  }

  // What was given counts first; then, at the ends of the interval, NAME_min or NAME_max.
  Value variable(const std::string& name, const Node& node) {
    if (const auto given = at_.find(name); given != at_.end()) return {given->second, false};
    if (const auto known = known_.find(name); known != known_.end()) return known->second;
    const std::string end = bound_ == Bound::min ? "_min" : bound_ == Bound::max ? "_max" : "";
    const Definition* definition = end.empty() ? nullptr : model_.find(name + end);
    if (!definition || definition->is_function) definition = model_.find(name);
    if (!definition || definition->is_function) {
      if (name == "pi") return {std::numbers::pi, false};
      if (name == "T_step") return {machine_for(node).compute_step, false};
      throw UsageError(model_.file + ":" + std::to_string(node.line) + ": '" + name +
                       "' has no value; give it as in --at " + name + "=8");
    }
    if (!under_way_.insert(name).second) fail(node, "'" + name + "' is defined by itself");
    if (machine_ && bound_ == Bound::avg) note_own_range(name, *definition);
    const Value value = eval(definition->body, nullptr);
    under_way_.erase(name);
    known_[name] = value;
    return value;
  }

  // What has a range, as a compute step, is a guess at some machine: not at that which was named.
  void note_own_range(const std::string& name, const Definition& own) {
    const Definition* const least = model_.find(name + "_min");
    const Definition* const most = model_.find(name + "_max");
    if (!least || !most || least->is_function || most->is_function) return;
    notes_.insert(name + " = " + format_expression(own.body) + " (" +
                  format_expression(least->body) + " to " + format_expression(most->body) +
                  ") is the model file's, whatever the machine; --at " + name +
                  "=... says another");
  }

  Value name(const Node& node, const Frame* frame) {
    for (; frame; frame = frame->outer)
      if (const auto found = frame->values.find(node.text); found != frame->values.end())
        return found->second;
    return variable(node.text, node);
  }

  Value eval(const Node& node, const Frame* frame) {
    if (++steps_ > kMostSteps) fail(node, "the model does not come to an end");
    switch (node.kind) {
      case Node::Kind::number:
        return {node.value, node.whole};
      case Node::Kind::name:
        return name(node, frame);
      case Node::Kind::call:
        return call(node, frame);
      case Node::Kind::unary: {
        const Value value = eval(node.children[0], frame);
        if (node.text == "!") return {value.number == 0 ? 1.0 : 0.0, true};
        return {node.text == "-" ? -value.number : value.number, value.whole};
      }
      case Node::Kind::binary:
        return binary(node, frame);
      case Node::Kind::choice:
        return eval(node.children[eval(node.children[0], frame).number != 0 ? 1 : 2], frame);
      case Node::Kind::sum:
        return sum(node, frame);
    }
    return {};
  }

  Value sum(const Node& node, const Frame* frame) {
    const double first = eval(node.children[0], frame).number;
    const double last = eval(node.children[1], frame).number;
    if (!std::isfinite(first) || !std::isfinite(last)) fail(node, "a sum without end");
    Value all{0, true};
    Frame inner{{}, frame};
    for (double i = std::trunc(first); i <= std::trunc(last); ++i) {
      inner.values[node.text] = {i, true};
      const Value term = eval(node.children[2], &inner);
      all = {all.number + term.number, all.whole && term.whole};
      if (++steps_ > kMostSteps) fail(node, "the model does not come to an end");
    }
    return all;
  }

  Value binary(const Node& node, const Frame* frame) {
    const std::string& sign = node.text;
    const Value a = eval(node.children[0], frame);
    if (sign == "&&" && a.number == 0) return {0, true};
    if (sign == "||" && a.number != 0) return {1, true};
    const Value b = eval(node.children[1], frame);
    const double x = a.number;
    const double y = b.number;
    const bool whole = a.whole && b.whole;
    if (sign == "+") return {x + y, whole};
    if (sign == "-") return {x - y, whole};
    if (sign == "*") return {x * y, whole};
    if (sign == "/") return quotient(node, a, b);
    if (sign == "%") return remainder(node, x, y);
    if (sign == "**") return {std::pow(x, y), whole && y >= 0};
    const bool holds = sign == "<"    ? x < y
                       : sign == "<=" ? x <= y
                       : sign == ">"  ? x > y
                       : sign == ">=" ? x >= y
                       : sign == "==" ? x == y
                       : sign == "!=" ? x != y
                                      : y != 0;  // && and ||: the first has not decided
    return {holds ? 1.0 : 0.0, true};
  }

  Value quotient(const Node& node, Value a, Value b) const {
    if (b.number == 0) fail(node, format_expression(node) + " divides by zero here");
    const double value = a.number / b.number;
    const bool whole = a.whole && b.whole;
    if (whole && value != std::trunc(value))
      fail(node, format_expression(node) + ": gnuplot cuts off the fraction of a quotient of " +
                     "whole numbers; write one with a point (2.0), or int(...)");
    return {value, whole};
  }

  Value remainder(const Node& node, double x, double y) const {
    if (x != std::trunc(x) || y != std::trunc(y) || y == 0)
      fail(node, format_expression(node) + ": % is for whole numbers, the second not zero");
    return {std::fmod(x, y), true};
  }

  Value call(const Node& node, const Frame* frame) {
    std::vector<Value> arguments;
    for (const Node& child : node.children) arguments.push_back(eval(child, frame));
    if (node.text.starts_with("T_")) return {machine_time(node, arguments), false};
    const auto expect = [&](std::size_t count) {
      if (arguments.size() != count)
        fail(node, node.text + "() has " + std::to_string(count) + " argument" +
                       (count == 1 ? "" : "s") + ", here it gets " +
                       std::to_string(arguments.size()));
    };
    if (const Builtin* builtin = find_builtin(node.text)) {
      expect(1);
      return {builtin->compute(arguments[0].number), builtin->whole};
    }
    const Definition* definition = model_.find(node.text);
    if (!definition || !definition->is_function)
      fail(node, definition ? "'" + node.text + "' is a variable, not a function"
                            : "there is no function '" + node.text +
                                  "'; MPI's are called T_bcast " + "and so on");
    expect(definition->arguments.size());
    Frame inner;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      inner.values[definition->arguments[i]] = arguments[i];
    if (++depth_ > kDeepest) fail(node, node.text + "() calls itself without an end");
    const Value result = eval(definition->body, &inner);
    --depth_;
    return result;
  }

  const machine::MachineModel& machine_for(const Node& node) const {
    if (!machine_)
      throw UsageError(model_.file + ":" + std::to_string(node.line) + ": " + node.text +
                       " is the machine's; say which with --machine");
    return *machine_;
  }

  // T_bcast, or T_bcast_min, T_bcast_avg, T_bcast_max, which are the same at every bound.
  double machine_time(const Node& node, const std::vector<Value>& arguments) {
    const machine::MachineModel& machine = machine_for(node);
    std::string name = node.text.substr(2);
    Bound bound = bound_;
    if (!machine::charged_function(machine, name).known)
      for (const auto& [end, each] :
           {std::pair("_min", Bound::min), {"_avg", Bound::avg}, {"_max", Bound::max}})
        if (name.ends_with(end)) {
          name.resize(name.size() - 4);
          bound = each;
          break;
        }
    const machine::Charged charged = machine::charged_function(machine, name);
    if (!charged.known) fail(node, "there is no function " + node.text + "() on any machine");
    if (!charged.function) {
      notes_.insert(machine::kTakesNoTime + name);
      return 0;
    }
    if (charged.function->name != name)
      notes_.insert(name + " is not in the machine model; " + charged.function->name +
                    " stands in, as in predictions");
    return seconds(node, name, *machine::predicted_function(machine, name), bound, arguments);
  }

  double seconds(const Node& node, const std::string& name, const machine::Function& function,
                 Bound bound, const std::vector<Value>& arguments) {
    const std::string& kind = function.function_class;
    const bool between_two = kind == "point-to-point" || kind == "one-sided";
    const bool alone = kind == "barrier" || kind == "local";
    if (arguments.size() > 2 || (arguments.size() == 1 && !between_two && !alone))
      fail(node, node.text + "() takes " +
                     (between_two ? "(d)"
                      : alone     ? "(p)"
                                  : "(p,d): ranks and bytes"));
    double ranks = 2;
    double bytes = 0;
    if (arguments.size() == 2 || !between_two) ranks = arguments[0].number;
    if (arguments.size() == 2 || between_two) bytes = arguments.back().number;
    if (!(ranks >= 1 && ranks <= kMostRanks) || ranks != std::trunc(ranks))
      fail(node, format_expression(node) + ": " + shown(ranks) +
                     " ranks; a whole number from 1 on is needed (ceil() rounds up)");
    if (!(bytes >= 0 && bytes < 9e18))
      fail(node, format_expression(node) + ": " + shown(bytes) + " bytes make no message");
    const Bytes size(static_cast<std::uint64_t>(std::llround(bytes)));
    const int count = static_cast<int>(ranks);
    const machine::Beyond beyond = beyond_measured(*machine_, function, count, size);
    if (beyond.ranks) notes_.insert(name + " is extrapolated: outside the measured ranks");
    if (beyond.bytes) notes_.insert(name + " is extrapolated: outside the measured sizes");
    return evaluate_seconds(*machine_, function, count, size, bound);
  }

  const ModelFile& model_;
  const machine::MachineModel* machine_;
  const Values& at_;
  Bound bound_;
  std::set<std::string>& notes_;
  std::map<std::string, Value, std::less<>> known_;  // variables that were computed
  std::set<std::string> under_way_;
  int depth_ = 0;
  long steps_ = 0;
};

void check_names(const ModelFile& model, const Values& at) {
  const std::vector<std::string> known = parameters_of(model);
  for (const auto& [name, unused] : at) {
    if (std::ranges::binary_search(known, name)) continue;
    std::string list;
    for (const std::string& each : known) list += " " + each;
    throw UsageError(model.file + " has no parameter '" + name + "'; it has" + list);
  }
}

}  // namespace

Evaluation evaluate(const ModelFile& model, const machine::MachineModel* machine,
                    const Values& at) {
  check_names(model, at);
  const Definition& total = total_of(model);
  Evaluation out;
  for (const auto& [bound, member] : {std::pair(Bound::min, &Spread::min),
                                      {Bound::avg, &Spread::avg},
                                      {Bound::max, &Spread::max}}) {
    Evaluator evaluator(model, machine, at, bound, out.notes);
    out.total.*member = evaluator.total(total);
    const auto phases = evaluator.phases(total);
    if (out.phases.empty())
      for (const auto& [name, unused] : phases) out.phases.push_back({name, {}});
    for (std::size_t i = 0; i < phases.size(); ++i) out.phases[i].time.*member = phases[i].second;
  }
  return out;
}

}  // namespace foretrace::formulas
