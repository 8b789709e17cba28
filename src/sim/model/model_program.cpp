#include "sim/model/model_program.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <exception>
#include <functional>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "sim/model/model_names.hpp"
#include "sim/new_operation.hpp"

namespace foretrace::sim {

using trace::EventKind;

namespace {

std::string mpi_name(machine::Cost collective) {
  std::string name(machine::name_of(collective));
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return "MPI_" + name;
}

std::string text_of(Time time) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3f us", time.seconds() * 1e6);
  return text;
}

}  // namespace

ModelProgram::ModelProgram(int ranks, Body body, Racing racing)
    : body_(std::move(body)), racing_(racing) {
  if (ranks < 1)
    throw Error("a model program: expected at least 1 rank, found " + std::to_string(ranks));
  CommEntry& world = comms_.emplace_back();
  for (int r = 0; r < ranks; ++r) {
    ranks_.emplace_back(ModelRank::Key(), *this, r);
    world.comm.members.push_back(WorldRank(r));
  }
  names_.assign(model_names::kNames.begin(), model_names::kNames.end());
  for (int i = 0; i <= static_cast<int>(machine::Cost::comm_dup); ++i)
    names_.push_back(mpi_name(static_cast<machine::Cost>(i)));
  for (std::size_t i = 0; i < names_.size(); ++i)
    numbers_.try_emplace(names_[i], static_cast<trace::NameId>(i));
}

ModelProgram::~ModelProgram() {
  for (ModelRank& rank : ranks_) end(rank);
}

ModelComm ModelProgram::add_comm(const std::vector<int>& members) {
  trace::Communicator comm;
  comm.key = comms_.size();
  for (const int member : members) {
    if (member < 0 || member >= ranks())
      throw Error("a communicator: expected ranks below " + std::to_string(ranks()) + ", found " +
                  std::to_string(member));
    comm.members.push_back(WorldRank(member));
  }
  if (members.empty()) throw Error("a communicator: expected members, found none");
  std::vector<int> by_world(members.size());
  std::iota(by_world.begin(), by_world.end(), 0);
  const auto world = [&](int local) { return members[static_cast<std::size_t>(local)]; };
  std::ranges::sort(by_world, std::less<>(), world);
  if (const auto twice = std::ranges::adjacent_find(by_world, std::equal_to<>(), world);
      twice != by_world.end())
    throw Error("a communicator: rank " + std::to_string(world(*twice)) + " is listed twice");
  if (std::ranges::is_sorted(by_world)) by_world = {};
  comms_.push_back({std::move(comm), std::move(by_world)});
  return ModelComm{static_cast<trace::CommId>(comms_.size() - 1)};
}

const ModelProgram::CommEntry& ModelProgram::entry(ModelComm comm) const {
  if (comm.id >= comms_.size())
    throw Error("communicator " + std::to_string(comm.id) + " is not of this model program");
  return comms_[comm.id];
}

int ModelProgram::local_rank(trace::CommId comm, WorldRank rank) const {
  if (comm == kWorld.id) return rank.value;
  const CommEntry& found = entry(ModelComm{comm});
  const auto& members = found.comm.members;
  if (found.by_world.empty()) {
    const auto at = std::ranges::lower_bound(members, rank);
    return at != members.end() && *at == rank ? static_cast<int>(at - members.begin()) : -1;
  }
  const auto at = std::ranges::lower_bound(found.by_world, rank, std::less<>(), [&](int local) {
    return members[static_cast<std::size_t>(local)];
  });
  return at != found.by_world.end() && members[static_cast<std::size_t>(*at)] == rank ? *at : -1;
}

trace::NameId ModelProgram::name_number(std::string_view name) {
  const auto [at, added] =
      numbers_.try_emplace(std::string(name), static_cast<trace::NameId>(names_.size()));
  if (added) names_.emplace_back(name);
  return at->second;
}

void ModelProgram::want_racing(const char* what) const {
  if (racing_ == Racing::no)
    throw Error(std::string(what) +
                " depends on what comes first; make the ModelProgram with Racing::yes");
}

void ModelProgram::rewind() {
  for (ModelRank& rank : ranks_) {
    end(rank);
    rank.stage_ = ModelRank::Stage::fresh;
    rank.clock_ = Time();
    rank.message_ = Received();
    rank.last_request_ = 0;
    rank.found_ = false;
  }
}

std::size_t ModelProgram::memory() const {
  return pool_.memory() + ranks_.size() * sizeof(ModelRank);
}

bool ModelProgram::next(WorldRank id, Operation& operation) {
  ModelRank& rank = ranks_[static_cast<std::size_t>(id.value)];
  operation = kNewOperation;
  switch (rank.stage_) {
    case ModelRank::Stage::fresh:
      rank.stage_ = ModelRank::Stage::initialized;
      operation.kind = EventKind::init;
      operation.name = model_names::kInit;
      return true;
    case ModelRank::Stage::ended:
      return false;
    case ModelRank::Stage::initialized:
    case ModelRank::Stage::running:
      break;
  }
  running_ = &rank;
  operation_ = &operation;
  made_ = awaited_ = false;
  try {
    const FramePool::Use use(pool_);
    if (!resume(rank)) {
      end(rank);
      operation.kind = EventKind::finalize;
      operation.name = model_names::kFinalize;
    }
  } catch (const std::exception& error) {
    running_ = nullptr;
    end(rank);
    throw Error("rank " + std::to_string(id.value) + " of the model program, at " +
                text_of(rank.clock_) + ": " + error.what());
  } catch (...) {
    running_ = nullptr;
    end(rank);
    throw;
  }
  running_ = nullptr;
  return true;
}

// Runs the rank's coroutine up to its next call; false: it has ended.
bool ModelProgram::resume(ModelRank& rank) {
  if (rank.stage_ == ModelRank::Stage::initialized) start(rank);
  rank.innermost_.resume();
  if (!rank.task_.done()) {
    if (awaited_) return true;
    throw Error("its coroutine awaits something that is no call of its ModelRank and no Task");
  }
  rank.task_.promise().rethrow();
  if (made_) throw Error(names_[operation_->name] + " was called without co_await");
  return false;
}

void ModelProgram::start(ModelRank& rank) {
  rank.task_ = body_(rank).release();
  if (!rank.task_) throw Error("the body of the model program returned an empty task");
  rank.innermost_ = rank.task_;
  rank.stage_ = ModelRank::Stage::running;
}

void ModelProgram::end(ModelRank& rank) {
  rank.give_block();
  if (rank.task_) std::exchange(rank.task_, nullptr).destroy();
  rank.stage_ = ModelRank::Stage::ended;
}

void ModelProgram::completed(WorldRank id, const Operation& operation, const Interval& interval,
                             const Outcome& outcome) {
  ModelRank& rank = ranks_[static_cast<std::size_t>(id.value)];
  rank.clock_ = interval.leave;
  if (rank.has_block_) {
    rank.block_.count = static_cast<std::uint32_t>(outcome.completions.size());
    if (outcome.completions.data() != rank.block_.items)
      std::ranges::copy(outcome.completions, static_cast<trace::Completion*>(rank.block_.items));
    return;
  }
  const trace::Endpoint& message = outcome.message;
  rank.message_ = Received();
  if (message.peer.valid())
    rank.message_ = {local_rank(operation.comm, message.peer), message.tag, message.bytes};
  rank.found_ = message.peer.valid() || operation.probing == Probing::none;
}

}  // namespace foretrace::sim
