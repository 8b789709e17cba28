#include "sim/text/goal_schedule.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace foretrace::sim {

std::uint32_t GoalAssembler::add(GoalDraft& draft) {
  first_ = static_cast<std::uint32_t>(program_.instructions.size());
  GoalBody body;
  body.first = first_;
  body.line = draft.line;
  body.uses_index = draft.uses_index;
  build_edges(draft);
  check_circles(draft);
  const std::size_t waits = program_.waits.size();
  if (!linearize(draft)) {
    program_.instructions.resize(first_);
    program_.waits.resize(waits);
    add_graph(draft, body);
    program_.races = true;
  } else {
    body.slots = slots_;
  }
  body.count = static_cast<std::uint32_t>(program_.instructions.size()) - first_;
  if (program_.instructions.size() > UINT32_MAX / 2)
    throw Error(program_.file + ":" + std::to_string(draft.line) +
                ": expected at most 2147483647 operations in all, found more; use repeat");
  const auto number = static_cast<std::uint32_t>(program_.bodies.size());
  for (std::uint32_t i = first_; i < first_ + body.count; ++i) {
    const GoalInstruction& instruction = program_.instructions[i];
    if (instruction.kind == GoalKind::repeat || instruction.kind == GoalKind::phase)
      program_.bodies[instruction.detail].parent = number;
  }
  program_.bodies.push_back(body);
  draft.clear();
  return number;
}

// Sorts the requirements and turns them into lists by instruction.
void GoalAssembler::build_edges(GoalDraft& draft) {
  const std::size_t count = draft.instructions.size();
  auto& requirements = draft.requirements;
  if (!std::ranges::is_sorted(requirements)) std::ranges::sort(requirements);
  requirements.erase(std::ranges::unique(requirements).begin(), requirements.end());
  graph_.begin.assign(count + 1, 0);
  graph_.back_begin.assign(count + 1, 0);
  graph_.required.assign(count, 0);
  graph_.edges.clear();
  const auto ends_later = [&](const GoalDraft::Requirement& r) {
    return !r.at_start && draft.instructions[r.before].is_request();
  };
  for (const auto& r : requirements) {
    ++graph_.begin[r.before + 1];
    ++graph_.required[r.after];
    if (ends_later(r)) ++graph_.back_begin[r.after + 1];
    graph_.edges.push_back({r.after, r.at_start});
  }
  for (std::size_t i = 0; i < count; ++i) {
    graph_.begin[i + 1] += graph_.begin[i];
    graph_.back_begin[i + 1] += graph_.back_begin[i];
  }
  graph_.back.resize(graph_.back_begin[count]);
  std::vector<std::uint32_t>& at = hits_;
  at.assign(graph_.back_begin.begin(), graph_.back_begin.end());
  for (const auto& r : requirements)
    if (ends_later(r)) graph_.back[at[r.after]++] = r.before;
}

void GoalAssembler::check_circles(const GoalDraft& draft) {
  const auto forward = [](const GoalDraft::Requirement& r) { return r.before < r.after; };
  if (std::ranges::all_of(draft.requirements, forward)) return;
  std::vector<std::uint32_t> left = graph_.required;
  std::vector<std::uint32_t> free;
  for (std::uint32_t i = 0; i < left.size(); ++i)
    if (left[i] == 0) free.push_back(i);
  for (std::size_t n = 0; n < free.size(); ++n)
    for (std::uint32_t e = graph_.begin[free[n]]; e < graph_.begin[free[n] + 1]; ++e)
      if (--left[graph_.edges[e].to] == 0) free.push_back(graph_.edges[e].to);
  if (free.size() < left.size()) report_circle(draft, left);
}

// Every instruction that is left requires another one that is left: going back
// from any of them ends in a circle.
void GoalAssembler::report_circle(const GoalDraft& draft, const std::vector<std::uint32_t>& left) {
  std::vector<std::uint32_t> before(left.size(), kGoalNone);
  for (const auto& r : draft.requirements)
    if (left[r.before] > 0 && before[r.after] == kGoalNone) before[r.after] = r.before;
  std::uint32_t at = 0;
  while (left[at] == 0) ++at;
  std::vector<bool> seen(left.size());
  for (; !seen[at]; at = before[at]) seen[at] = true;
  constexpr int kShown = 8;
  const auto line = [&](std::uint32_t i) { return std::to_string(draft.instructions[i].line); };
  std::string circle = "line " + line(at);
  int shown = 0;
  for (std::uint32_t i = before[at]; i != at; i = before[i])
    if (++shown <= kShown) circle += " after line " + line(i);
  if (shown > kShown) circle += " ... (" + std::to_string(shown + 1) + " operations)";
  circle += " after line " + line(at);
  throw Error(program_.file + ":" + line(at) + ": expected requirements without a circle, found " +
              circle);
}

void GoalAssembler::batch_ready(std::uint32_t index) {
  if (unbegun_[index] > 0) return;
  if (pending_[index] == 0)
    ready_.push_back(index);
  else
    candidates_.push_back(index);
}

void GoalAssembler::end_batch() {
  if (ready_.size() - batch_ > 1)
    std::sort(ready_.begin() + static_cast<std::ptrdiff_t>(batch_), ready_.end());
  batch_ = ready_.size();
}

void GoalAssembler::emit(const GoalInstruction& instruction) {
  program_.instructions.push_back(instruction);
}

void GoalAssembler::begin_instruction(const GoalDraft& draft, std::uint32_t index) {
  place_[index] = static_cast<std::uint32_t>(program_.instructions.size()) - first_;
  GoalInstruction instruction = draft.instructions[index];
  const bool request = instruction.is_request();
  if (request) {
    if (free_slots_.empty()) {
      instruction.detail = slots_++;
    } else {
      instruction.detail = free_slots_.back();
      free_slots_.pop_back();
    }
  }
  if (instruction.kind != GoalKind::join) emit(instruction);
  for (const bool at_start : {true, false}) {
    for (std::uint32_t e = graph_.begin[index]; e < graph_.begin[index + 1]; ++e) {
      const GoalGraph::Edge& edge = graph_.edges[e];
      if (edge.at_start != at_start) continue;
      --unbegun_[edge.to];
      if (request && !at_start) ++pending_[edge.to];
      batch_ready(edge.to);
    }
    end_batch();
  }
}

// Finds the requests without which nothing can go on, into awaited_. False if
// it depends on which of them ends first.
bool GoalAssembler::choose_wait() {
  std::erase_if(candidates_, [&](std::uint32_t i) { return pending_[i] == 0; });
  const auto fewest = std::ranges::min_element(candidates_, [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(pending_[a], a) < std::pair(pending_[b], b);
  });
  awaited_.clear();
  for (std::uint32_t b = graph_.back_begin[*fewest]; b < graph_.back_begin[*fewest + 1]; ++b)
    if (!ended_[graph_.back[b]]) awaited_.push_back(graph_.back[b]);
  const auto count_hits = [&](std::uint32_t by) {
    for (const std::uint32_t request : awaited_)
      for (std::uint32_t e = graph_.begin[request]; e < graph_.begin[request + 1]; ++e)
        if (!graph_.edges[e].at_start) hits_[graph_.edges[e].to] += by;
  };
  count_hits(1);
  const bool certain = std::ranges::all_of(
      candidates_, [&](std::uint32_t i) { return hits_[i] == awaited_.size(); });
  count_hits(static_cast<std::uint32_t>(-1));
  return certain;
}

void GoalAssembler::emit_wait() {
  std::ranges::sort(awaited_, {}, [&](std::uint32_t i) { return place_[i]; });
  GoalInstruction wait;
  wait.kind = GoalKind::wait;
  wait.line = program_.instructions[first_ + place_[awaited_.front()]].line;
  wait.amount = static_cast<std::int64_t>(awaited_.size());
  wait.detail = static_cast<std::uint32_t>(program_.waits.size());
  wait.peer = -1;
  for (const std::uint32_t request : awaited_) {
    const GoalInstruction& awaited = program_.instructions[first_ + place_[request]];
    if (awaited.has(GoalInstruction::conditional)) wait.flags |= GoalInstruction::conditional;
    program_.waits.push_back(place_[request]);
    free_slots_.push_back(awaited.detail);
    ended_[request] = true;
  }
  emit(wait);
}

bool GoalAssembler::linearize(const GoalDraft& draft) {
  const auto count = static_cast<std::uint32_t>(draft.instructions.size());
  unbegun_.assign(graph_.required.begin(), graph_.required.end());
  pending_.assign(count, 0);
  hits_.assign(count, 0);
  place_.assign(count, kGoalNone);
  ended_.assign(count, false);
  ready_.clear();
  candidates_.clear();
  free_slots_.clear();
  next_ready_ = batch_ = slots_ = 0;
  for (std::uint32_t i = 0; i < count; ++i) batch_ready(i);
  batch_ = ready_.size();
  for (;;) {
    if (next_ready_ < ready_.size()) {
      begin_instruction(draft, ready_[next_ready_++]);
    } else if (next_ready_ < count) {
      if (!choose_wait()) return false;
      emit_wait();
      for (const std::uint32_t request : awaited_)
        for (std::uint32_t e = graph_.begin[request]; e < graph_.begin[request + 1]; ++e)
          if (!graph_.edges[e].at_start) {
            --pending_[graph_.edges[e].to];
            if (pending_[graph_.edges[e].to] == 0 && unbegun_[graph_.edges[e].to] == 0)
              ready_.push_back(graph_.edges[e].to);
          }
      end_batch();
    } else {
      break;
    }
  }
  awaited_.clear();
  for (std::uint32_t i = 0; i < count; ++i)
    if (draft.instructions[i].is_request() && !ended_[i]) awaited_.push_back(i);
  if (!awaited_.empty()) emit_wait();
  return true;
}

void GoalAssembler::add_graph(GoalDraft& draft, GoalBody& body) {
  for (std::uint32_t i = 0; i < draft.instructions.size(); ++i) {
    GoalInstruction& instruction = draft.instructions[i];
    if (instruction.is_request()) instruction.detail = i;
    emit(instruction);
  }
  body.slots = static_cast<std::uint32_t>(draft.instructions.size());
  body.graph = static_cast<std::uint32_t>(program_.graphs.size());
  program_.graphs.push_back({graph_.begin, graph_.edges, graph_.required});
}

// The completions of a wait are the same for most ranks: each set is kept once.
std::uint32_t GoalAssembler::intern(const GoalBody& body, const GoalInstruction& wait) {
  std::string key;
  for (std::int64_t i = 0; i < wait.amount; ++i) {
    const std::uint32_t request = program_.waits[wait.detail + static_cast<std::size_t>(i)];
    const std::uint32_t slot = body.slot_base + program_.instructions[body.first + request].detail;
    key.append(reinterpret_cast<const char*>(&slot), sizeof slot);
  }
  const auto [entry, added] =
      known_sets_.try_emplace(std::move(key), static_cast<std::uint32_t>(program_.sets.size()));
  if (!added) return entry->second;
  program_.sets.push_back({static_cast<std::uint32_t>(program_.completions.size()),
                           static_cast<std::uint32_t>(wait.amount)});
  for (std::int64_t i = 0; i < wait.amount; ++i) {
    const std::uint32_t request = program_.waits[wait.detail + static_cast<std::size_t>(i)];
    trace::Completion completion;
    completion.request =
        std::uint64_t{1} + body.slot_base + program_.instructions[body.first + request].detail;
    program_.completions.push_back(completion);
  }
  return entry->second;
}

void GoalAssembler::close(std::uint32_t first) {
  for (auto b = static_cast<std::uint32_t>(program_.bodies.size()); b-- > first;) {
    GoalBody& body = program_.bodies[b];
    if (body.parent != kGoalNone) {
      const GoalBody& parent = program_.bodies[body.parent];
      body.slot_base = parent.slot_base + parent.slots;
    }
    for (std::uint32_t i = body.first; i < body.first + body.count; ++i) {
      GoalInstruction& instruction = program_.instructions[i];
      if (instruction.kind == GoalKind::wait && !instruction.has(GoalInstruction::conditional))
        instruction.peer = static_cast<std::int32_t>(intern(body, instruction));
    }
  }
}

}  // namespace foretrace::sim
