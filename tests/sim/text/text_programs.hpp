// Drives text programs without an engine: what a source hands out, as short
// lines of text, and what is told to it about waits that have a choice.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "sim/text/goal_parser.hpp"
#include "sim/text/goal_source.hpp"

namespace foretrace::sim {

// "MPI_Isend to 1 tag 0 8b #1", "+100ns MPI_Wait #1 #2", "MPI_Bcast root 0 8b on 0".
inline std::string describe(const Source& source, const Operation& operation) {
  using trace::EventKind;
  std::string text;
  if (operation.compute != Time())
    text = "+" + std::to_string(operation.compute.count_ps()) + "ps ";
  text += source.name(operation.name);
  const auto end = [&](const char* direction, const trace::Endpoint& end) {
    text += direction;
    text += end.peer.valid() ? std::to_string(end.peer.value) : end.any_source ? "any" : "none";
    text += end.any_tag ? " tag any" : " tag " + std::to_string(end.tag);
    text += " " + std::to_string(end.bytes.count) + "b";
  };
  switch (operation.kind) {
    case EventKind::send:
    case EventKind::isend:
      end(" to ", operation.send);
      break;
    case EventKind::recv:
    case EventKind::irecv:
      end(" from ", operation.recv);
      break;
    case EventKind::sendrecv:
      end(" to ", operation.send);
      end(" from ", operation.recv);
      break;
    case EventKind::collective:
      if (operation.root.valid()) text += " root " + std::to_string(operation.root.value);
      text +=
          " " + std::to_string(operation.bytes.count) + "b on " + std::to_string(operation.comm);
      break;
    case EventKind::complete:
      for (const trace::Completion& completion : operation.completions)
        text += " #" + std::to_string(completion.request);
      break;
    case EventKind::phase_begin:
      text += " begins";
      break;
    case EventKind::phase_end:
      text += " ends";
      break;
    default:
      break;
  }
  if (operation.kind == EventKind::isend || operation.kind == EventKind::irecv)
    text += " #" + std::to_string(operation.request);
  return text;
}

// Which requests of a wait that has a choice are done, by their numbers; all if
// not given.
using Choose = std::function<std::vector<std::uint64_t>(const Operation&)>;

// All that a rank does, without MPI_Init and MPI_Finalize where these have no
// computation before them. Checks the kinds of the first and the last.
inline std::vector<std::string> operations(Source& source, int rank, const Choose& choose = {}) {
  std::vector<std::string> result;
  Operation operation;
  std::vector<trace::EventKind> kinds;
  while (source.next(WorldRank(rank), operation)) {
    kinds.push_back(operation.kind);
    result.push_back(describe(source, operation));
    if (!source.reactive()) continue;
    std::vector<trace::Completion> done(operation.completions.begin(), operation.completions.end());
    if (choose && operation.completing != Completing::all) {
      done.clear();
      for (const std::uint64_t request : choose(operation)) done.emplace_back().request = request;
    }
    Outcome outcome;
    outcome.completions = done;
    source.completed(WorldRank(rank), operation, {}, outcome);
  }
  EXPECT_EQ(kinds.front(), trace::EventKind::init);
  EXPECT_EQ(kinds.back(), trace::EventKind::finalize);
  EXPECT_EQ(result.front(), "MPI_Init");
  result.erase(result.begin());
  if (result.back() == "MPI_Finalize") result.pop_back();
  return result;
}

inline std::vector<std::string> goal_operations(const std::string& text, int rank,
                                                const Choose& choose = {}) {
  GoalSource source(parse_goal(text, "x.goal"));
  return operations(source, rank, choose);
}

// What the Error says, "" if there is none.
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace foretrace::sim
