#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <type_traits>

#include "base/error.hpp"
#include "sim/model/model_names.hpp"
#include "sim/model/model_program.hpp"

namespace foretrace::sim {

using machine::Cost;
using machine::SendMode;
using trace::EventKind;
using namespace model_names;

template <class Result>
void ModelCall<Result>::await_suspend(std::coroutine_handle<> caller) const noexcept {
  rank_->suspended(caller);
}

template <class Result>
Result ModelCall<Result>::await_resume() const {
  return rank_->result<Result>();
}

template <class Result>
void ModelWait<Result>::await_suspend(std::coroutine_handle<> caller) const noexcept {
  rank_->suspended(caller);
}

template <class Result>
Result ModelWait<Result>::await_resume() const {
  const auto asked = static_cast<std::size_t>(rank_->block_.capacity);
  const std::span<const Completed> completed = rank_->completed(requests_);
  if constexpr (std::is_same_v<Result, bool>) {
    return completed.size() == asked;
  } else if constexpr (std::is_same_v<Result, std::span<const Completed>>) {
    return completed;
  } else if constexpr (std::is_same_v<Result, Completed> || std::is_same_v<Result, Received>) {
    const Completed none;
    const Completed& first = completed.empty() ? none : completed.front();
    if constexpr (std::is_same_v<Result, Received>)
      return first.message;
    else
      return first;
  } else {
    // A test of nothing succeeds, as in MPI.
    if (completed.empty()) return asked == 0 ? Result(std::in_place) : std::nullopt;
    if constexpr (std::is_same_v<Result, std::optional<Received>>)
      return completed.front().message;
    else
      return completed.front();
  }
}

template class ModelCall<void>;
template class ModelCall<Received>;
template class ModelCall<std::optional<Received>>;
template class ModelCall<ModelRequest>;
template class ModelCall<Time>;
template class ModelWait<Received>;
template class ModelWait<std::optional<Received>>;
template class ModelWait<Completed>;
template class ModelWait<std::optional<Completed>>;
template class ModelWait<std::span<const Completed>>;
template class ModelWait<bool>;

template <class Result>
Result ModelRank::result() const {
  if constexpr (std::is_same_v<Result, Received>) {
    return message_;
  } else if constexpr (std::is_same_v<Result, std::optional<Received>>) {
    return found_ ? Result(message_) : std::nullopt;
  } else if constexpr (std::is_same_v<Result, ModelRequest>) {
    ModelRequest request;
    request.serial_ = last_request_;
    request.comm_ = request_comm_;
    return request;
  } else if constexpr (std::is_same_v<Result, Time>) {
    return clock_;
  }
}

void ModelRank::suspended(std::coroutine_handle<> caller) noexcept {
  innermost_ = caller;
  program_->awaited_ = true;
}

int ModelRank::size() const {
  return program_->ranks();
}

int ModelRank::rank(ModelComm comm) const {
  return program_->local_rank(comm.id, WorldRank(id_));
}

int ModelRank::size(ModelComm comm) const {
  return static_cast<int>(program_->entry(comm).comm.members.size());
}

void ModelRank::compute(Time time) {
  if (program_->running_ != this)
    throw Error("a rank computes while another one runs; use the ModelRank of the coroutine");
  if (time < Time())
    throw Error("compute: expected a time >= 0, found " + std::to_string(time.count_ps()) + " ps");
  program_->operation_->compute += time;
}

void ModelRank::steps(double steps) {
  if (program_->running_ != this)
    throw Error("a rank computes while another one runs; use the ModelRank of the coroutine");
  if (!(steps >= 0) || std::isinf(steps))
    throw Error("steps: expected a number >= 0, found " + std::to_string(steps));
  program_->operation_->steps += steps;
}

// The operation that becomes the rank's next call. The last thing that can
// throw, so that a call that was refused leaves nothing behind.
Operation& ModelRank::begin(EventKind kind, trace::NameId name) {
  ModelProgram& program = *program_;
  if (program.running_ != this)
    throw Error(std::string(program.name(name)) +
                " of a rank while another one runs; use the ModelRank of the coroutine");
  if (program.made_)
    throw Error(std::string(program.name(program.operation_->name)) +
                " was called without co_await, before " + std::string(program.name(name)));
  give_block();
  program.made_ = true;
  program.awaited_ = false;
  Operation& operation = *program.operation_;
  operation.kind = kind;
  operation.name = name;
  return operation;
}

void ModelRank::give_block() {
  if (!has_block_) return;
  if (block_.items) FramePool::give(block_.items, block_.capacity * sizeof(trace::Completion));
  has_block_ = false;
  message_ = Received();
}

void ModelRank::check_member(ModelComm comm) const {
  if (comm.id != kWorld.id && rank(comm) < 0)
    throw Error("it is no member of communicator " + std::to_string(comm.id) + ", which it names");
}

void ModelRank::check_tag(int tag) const {
  if (tag < 0) throw Error("expected a tag >= 0, found " + std::to_string(tag));
}

trace::Endpoint ModelRank::to(int peer, Bytes bytes, int tag, ModelComm comm) const {
  check_member(comm);
  check_tag(tag);
  trace::Endpoint end;
  end.tag = tag;
  end.bytes = bytes;
  if (peer == kProcNull) return end;
  const auto& members = program_->entry(comm).comm.members;
  if (peer < 0 || static_cast<std::size_t>(peer) >= members.size())
    throw Error("expected a peer from 0 to " + std::to_string(members.size() - 1) + ", found " +
                std::to_string(peer));
  end.peer = members[static_cast<std::size_t>(peer)];
  return end;
}

trace::Endpoint ModelRank::from(int peer, Bytes bytes, int tag, ModelComm comm) const {
  const bool any_source = peer == kAnySource;
  const bool any_tag = tag == kAnyTag;
  if (peer != kProcNull && any_source) program_->want_racing("a receive from any source");
  if (peer != kProcNull && any_tag) program_->want_racing("a receive with any tag");
  trace::Endpoint end = to(any_source ? kProcNull : peer, bytes, any_tag ? 0 : tag, comm);
  end.any_source = any_source;
  end.any_tag = any_tag;
  if (any_tag && peer != kProcNull) end.tag = kAnyTag;
  return end;
}

ModelCall<void> ModelRank::send_call(trace::NameId name, SendMode mode, int to, Bytes bytes,
                                     int tag, ModelComm comm) {
  const trace::Endpoint end = this->to(to, bytes, tag, comm);
  Operation& operation = begin(EventKind::send, name);
  operation.mode = mode;
  operation.comm = comm.id;
  operation.send = end;
  return ModelCall<void>(*this);
}

ModelCall<void> ModelRank::send(int to, Bytes bytes, int tag, ModelComm comm) {
  return send_call(kSend, SendMode::standard, to, bytes, tag, comm);
}
ModelCall<void> ModelRank::ssend(int to, Bytes bytes, int tag, ModelComm comm) {
  return send_call(kSsend, SendMode::synchronous, to, bytes, tag, comm);
}
ModelCall<void> ModelRank::bsend(int to, Bytes bytes, int tag, ModelComm comm) {
  return send_call(kBsend, SendMode::buffered, to, bytes, tag, comm);
}
ModelCall<void> ModelRank::rsend(int to, Bytes bytes, int tag, ModelComm comm) {
  return send_call(kRsend, SendMode::ready, to, bytes, tag, comm);
}

ModelCall<Received> ModelRank::recv(int from, int tag, ModelComm comm) {
  const trace::Endpoint end = this->from(from, Bytes(), tag, comm);
  Operation& operation = begin(EventKind::recv, kRecv);
  operation.comm = comm.id;
  operation.recv = end;
  return ModelCall<Received>(*this);
}

ModelCall<Received> ModelRank::sendrecv(int to, Bytes bytes, int send_tag, int from, int recv_tag,
                                        ModelComm comm) {
  const trace::Endpoint send = this->to(to, bytes, send_tag, comm);
  const trace::Endpoint recv = this->from(from, Bytes(), recv_tag, comm);
  Operation& operation = begin(EventKind::sendrecv, kSendrecv);
  operation.comm = comm.id;
  operation.send = send;
  operation.recv = recv;
  return ModelCall<Received>(*this);
}

std::uint64_t ModelRank::new_request(ModelComm comm) {
  if (last_request_ == UINT32_MAX) throw Error("a rank posts more than 4e9 requests");
  request_comm_ = comm.id;
  return ++last_request_;
}

ModelCall<ModelRequest> ModelRank::isend_call(trace::NameId name, SendMode mode, int to,
                                              Bytes bytes, int tag, ModelComm comm) {
  const trace::Endpoint end = this->to(to, bytes, tag, comm);
  Operation& operation = begin(EventKind::isend, name);
  operation.mode = mode;
  operation.comm = comm.id;
  operation.send = end;
  operation.request = new_request(comm);
  return ModelCall<ModelRequest>(*this);
}

ModelCall<ModelRequest> ModelRank::isend(int to, Bytes bytes, int tag, ModelComm comm) {
  return isend_call(kIsend, SendMode::standard, to, bytes, tag, comm);
}
ModelCall<ModelRequest> ModelRank::issend(int to, Bytes bytes, int tag, ModelComm comm) {
  return isend_call(kIssend, SendMode::synchronous, to, bytes, tag, comm);
}
ModelCall<ModelRequest> ModelRank::ibsend(int to, Bytes bytes, int tag, ModelComm comm) {
  return isend_call(kIbsend, SendMode::buffered, to, bytes, tag, comm);
}
ModelCall<ModelRequest> ModelRank::irsend(int to, Bytes bytes, int tag, ModelComm comm) {
  return isend_call(kIrsend, SendMode::ready, to, bytes, tag, comm);
}

ModelCall<ModelRequest> ModelRank::irecv(int from, Bytes bytes, int tag, ModelComm comm) {
  const trace::Endpoint end = this->from(from, bytes, tag, comm);
  Operation& operation = begin(EventKind::irecv, kIrecv);
  operation.comm = comm.id;
  operation.recv = end;
  operation.request = new_request(comm);
  return ModelCall<ModelRequest>(*this);
}

void ModelRank::complete(trace::NameId name, Completing completing,
                         std::span<const ModelRequest> requests) {
  if (completing != Completing::all)
    program_->want_racing("a test, or waiting for any or some of its requests,");
  Operation& operation = begin(EventKind::complete, name);
  operation.completing = completing;
  const auto count = std::ranges::count_if(
      requests, [](const ModelRequest& request) { return static_cast<bool>(request); });
  block_ = Block{nullptr, 0, static_cast<std::uint32_t>(count)};
  has_block_ = true;
  if (count == 0) return;
  block_.items = program_->pool_.take(static_cast<std::size_t>(count) * sizeof(trace::Completion));
  auto* item = static_cast<trace::Completion*>(block_.items);
  for (const ModelRequest& request : requests)
    if (request) std::construct_at(item++)->request = request.serial_;
  operation.completions = {static_cast<const trace::Completion*>(block_.items),
                           static_cast<std::size_t>(count)};
}

// Turns what was completed into what the program sees, in the same place: a
// Completed is not larger than a trace::Completion.
std::span<const Completed> ModelRank::completed(std::span<ModelRequest> requests) {
  static_assert(sizeof(Completed) <= sizeof(trace::Completion) &&
                std::is_trivially_copyable_v<trace::Completion>);
  auto* results = static_cast<Completed*>(block_.items);
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < block_.count; ++i) {
    const trace::Completion completion = static_cast<trace::Completion*>(block_.items)[i];
    while (requests[at].serial_ != completion.request) at = (at + 1) % requests.size();
    Completed result;
    result.index = static_cast<int>(at);
    if (completion.source.valid())
      result.message = {program_->local_rank(requests[at].comm_, completion.source), completion.tag,
                        completion.bytes};
    requests[at] = ModelRequest();
    std::construct_at(results + i, result);
  }
  return {results, block_.count};
}

ModelWait<Received> ModelRank::wait(ModelRequest& request) {
  complete(kWait, Completing::all, {&request, 1});
  return {*this, {&request, 1}};
}
ModelWait<std::span<const Completed>> ModelRank::wait_all(std::span<ModelRequest> requests) {
  complete(kWaitall, Completing::all, requests);
  return {*this, requests};
}
ModelCall<void> ModelRank::wait_all_of(std::span<const ModelRequest> requests) {
  complete(kWaitall, Completing::all, requests);
  return ModelCall<void>(*this);
}
ModelWait<Completed> ModelRank::wait_any(std::span<ModelRequest> requests) {
  complete(kWaitany, Completing::any, requests);
  return {*this, requests};
}
ModelWait<std::span<const Completed>> ModelRank::wait_some(std::span<ModelRequest> requests) {
  complete(kWaitsome, Completing::some, requests);
  return {*this, requests};
}
ModelWait<std::optional<Received>> ModelRank::test(ModelRequest& request) {
  complete(kTest, Completing::test_all, {&request, 1});
  return {*this, {&request, 1}};
}
ModelWait<bool> ModelRank::test_all(std::span<ModelRequest> requests) {
  complete(kTestall, Completing::test_all, requests);
  return {*this, requests};
}
ModelWait<std::optional<Completed>> ModelRank::test_any(std::span<ModelRequest> requests) {
  complete(kTestany, Completing::test_any, requests);
  return {*this, requests};
}
ModelWait<std::span<const Completed>> ModelRank::test_some(std::span<ModelRequest> requests) {
  complete(kTestsome, Completing::test_some, requests);
  return {*this, requests};
}

template <class Result>
ModelCall<Result> ModelRank::probe_call(trace::NameId name, Probing probing, int from, int tag,
                                        ModelComm comm) {
  program_->want_racing("a probe");
  const trace::Endpoint end = this->from(from, Bytes(), tag, comm);
  Operation& operation = begin(EventKind::call, name);
  // A probe of nobody finds nothing at once, and says that it found it.
  if (from == kProcNull) return ModelCall<Result>(*this);
  operation.probing = probing;
  operation.comm = comm.id;
  operation.recv = end;
  return ModelCall<Result>(*this);
}

ModelCall<Received> ModelRank::probe(int from, int tag, ModelComm comm) {
  return probe_call<Received>(kProbe, Probing::wait, from, tag, comm);
}
ModelCall<std::optional<Received>> ModelRank::iprobe(int from, int tag, ModelComm comm) {
  return probe_call<std::optional<Received>>(kIprobe, Probing::look, from, tag, comm);
}

ModelCall<void> ModelRank::collective(Cost what, Bytes bytes, ModelComm comm) {
  check_member(comm);
  Operation& operation =
      begin(EventKind::collective, kCollectives + static_cast<trace::NameId>(what));
  operation.collective = what;
  operation.bytes = bytes;
  operation.comm = comm.id;
  return ModelCall<void>(*this);
}

ModelCall<void> ModelRank::collective(Cost what, Bytes bytes, int root, ModelComm comm) {
  if (root < 0 || root >= size(comm))
    throw Error("expected a root from 0 to " + std::to_string(size(comm) - 1) + ", found " +
                std::to_string(root));
  const ModelCall<void> call = collective(what, bytes, comm);
  program_->operation_->root = LocalRank(root);
  return call;
}

ModelCall<void> ModelRank::barrier(ModelComm comm) {
  return collective(Cost::barrier, Bytes(), comm);
}
ModelCall<void> ModelRank::bcast(Bytes bytes, int root, ModelComm comm) {
  return collective(Cost::bcast, bytes, root, comm);
}
ModelCall<void> ModelRank::scatter(Bytes bytes, int root, ModelComm comm) {
  return collective(Cost::scatter, bytes, root, comm);
}
ModelCall<void> ModelRank::scatterv(Bytes bytes, int root, ModelComm comm) {
  return collective(Cost::scatterv, bytes, root, comm);
}
ModelCall<void> ModelRank::gather(Bytes bytes, int root, ModelComm comm) {
  return collective(Cost::gather, bytes, root, comm);
}
ModelCall<void> ModelRank::gatherv(Bytes bytes, int root, ModelComm comm) {
  return collective(Cost::gatherv, bytes, root, comm);
}
ModelCall<void> ModelRank::reduce(Bytes bytes, int root, ModelComm comm) {
  return collective(Cost::reduce, bytes, root, comm);
}
ModelCall<void> ModelRank::allgather(Bytes bytes, ModelComm comm) {
  return collective(Cost::allgather, bytes, comm);
}
ModelCall<void> ModelRank::allgatherv(Bytes bytes, ModelComm comm) {
  return collective(Cost::allgatherv, bytes, comm);
}
ModelCall<void> ModelRank::alltoall(Bytes bytes, ModelComm comm) {
  return collective(Cost::alltoall, bytes, comm);
}
ModelCall<void> ModelRank::alltoallv(Bytes bytes, ModelComm comm) {
  return collective(Cost::alltoallv, bytes, comm);
}
ModelCall<void> ModelRank::alltoallw(Bytes bytes, ModelComm comm) {
  return collective(Cost::alltoallw, bytes, comm);
}
ModelCall<void> ModelRank::allreduce(Bytes bytes, ModelComm comm) {
  return collective(Cost::allreduce, bytes, comm);
}
ModelCall<void> ModelRank::reduce_scatter(Bytes bytes, ModelComm comm) {
  return collective(Cost::reduce_scatter, bytes, comm);
}
ModelCall<void> ModelRank::reduce_scatter_block(Bytes bytes, ModelComm comm) {
  return collective(Cost::reduce_scatter_block, bytes, comm);
}
ModelCall<void> ModelRank::scan(Bytes bytes, ModelComm comm) {
  return collective(Cost::scan, bytes, comm);
}
ModelCall<void> ModelRank::exscan(Bytes bytes, ModelComm comm) {
  return collective(Cost::exscan, bytes, comm);
}
ModelCall<void> ModelRank::comm_create(ModelComm comm) {
  return collective(Cost::comm_create, Bytes(), comm);
}
ModelCall<void> ModelRank::comm_split(ModelComm comm) {
  return collective(Cost::comm_split, Bytes(), comm);
}
ModelCall<void> ModelRank::comm_dup(ModelComm comm) {
  return collective(Cost::comm_dup, Bytes(), comm);
}

ModelCall<void> ModelRank::phase_begin(std::string_view name) {
  begin(EventKind::phase_begin, program_->name_number(name));
  return ModelCall<void>(*this);
}
ModelCall<void> ModelRank::phase_end(std::string_view name) {
  begin(EventKind::phase_end, program_->name_number(name));
  return ModelCall<void>(*this);
}
ModelCall<void> ModelRank::call(std::string_view mpi_name, std::uint32_t count) {
  begin(EventKind::call, program_->name_number(mpi_name)).count = count;
  return ModelCall<void>(*this);
}
ModelCall<Time> ModelRank::wtime() {
  begin(EventKind::call, kWtime);
  return ModelCall<Time>(*this);
}

}  // namespace foretrace::sim
