// ModelProgram: ranks written as coroutines, as a source of operations.
//
//     sim::RankTask my_rank(sim::ModelRank& rank) {
//       rank.compute(Time::ns(50'000));
//       if (rank.rank() > 0) co_await rank.send(0, Bytes(8));
//       else for (int i = 1; i < rank.size(); ++i)
//         const sim::Received got = co_await rank.recv(sim::kAnySource);
//     }
//     sim::ModelProgram program(1000, my_rank, sim::Racing::yes);
//
// Every MPI call is awaited where it is made, and knows then what came out of
// it in virtual time. A rank's coroutine begins with its first call and is gone
// after its last. Moves no data and knows no times; docs/model-programs.md
// is the user's guide.
#pragma once

#include <coroutine>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/model/frame_pool.hpp"
#include "sim/model/model_task.hpp"
#include "sim/source.hpp"

namespace foretrace::sim {

// In place of a peer. kAnyTag is in operation.hpp.
inline constexpr int kProcNull = -1;
inline constexpr int kAnySource = -2;

// Whether what a program does may depend on which message comes first: wildcards,
// probes, tests, waiting for any of several requests. It takes more time to
// simulate, so a program says so.
enum class Racing : std::uint8_t { no, yes };

// A communicator; as made, all ranks. Others come from ModelProgram::add_comm.
struct ModelComm {
  trace::CommId id = 0;
};
inline constexpr ModelComm kWorld{};

// The envelope of a message: its source is a rank of the communicator that the
// receive or probe named; kProcNull if there was no message.
struct Received {
  int source = kProcNull;
  int tag = 0;
  Bytes bytes;
};

// A request that a call has completed.
struct Completed {
  int index = -1;    // in the list that the call was given; -1: the list had none
  Received message;  // of a receive
};

// A send or receive that was posted. Empty as made and when it was completed;
// calls that take lists pass over empty ones, as MPI does over MPI_REQUEST_NULL.
class ModelRequest {
 public:
  explicit operator bool() const { return serial_ != 0; }

 private:
  friend class ModelRank;
  std::uint32_t serial_ = 0;
  trace::CommId comm_ = 0;
};

class ModelRank;

// A call that a rank makes. To be awaited at once: rank.send(...) alone is an
// error, which the rank's next call reports.
template <class Result>
class [[nodiscard]] ModelCall {
 public:
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) const noexcept;
  Result await_resume() const;

 private:
  friend class ModelRank;
  explicit ModelCall(ModelRank& rank) : rank_(&rank) {}
  ModelRank* rank_;
};

// One that completes requests; the list must stay where it is.
template <class Result>
class [[nodiscard]] ModelWait {
 public:
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) const noexcept;
  Result await_resume() const;

 private:
  friend class ModelRank;
  ModelWait(ModelRank& rank, std::span<ModelRequest> requests)
      : rank_(&rank), requests_(requests) {}
  ModelRank* rank_;
  std::span<ModelRequest> requests_;
};

// A rank, as its coroutine sees it. Peers and roots are ranks of the call's
// communicator, tags are >= 0. All calls throw Error for arguments that make no
// sense; what a collective's bytes are is in docs/model-programs.md.
class ModelRank {
 public:
  // Only ModelProgram makes ranks.
  class Key {
    friend class ModelProgram;
    Key() = default;
  };
  ModelRank(Key, ModelProgram& program, int id) : program_(&program), id_(id) {}
  ModelRank(const ModelRank&) = delete;
  ModelRank& operator=(const ModelRank&) = delete;

  int rank() const { return id_; }
  int size() const;
  // -1 where the rank is no member.
  int rank(ModelComm comm) const;
  int size(ModelComm comm) const;

  // When the rank's last call left, from MPI_Init on. Computation since then
  // is not in it: see wtime().
  Time now() const { return clock_; }

  // Computation before the next call; adds up. steps: annotated compute steps.
  void compute(Time time);
  void steps(double steps);

  ModelCall<void> send(int to, Bytes bytes, int tag = 0, ModelComm comm = {});
  ModelCall<void> ssend(int to, Bytes bytes, int tag = 0, ModelComm comm = {});
  ModelCall<void> bsend(int to, Bytes bytes, int tag = 0, ModelComm comm = {});
  ModelCall<void> rsend(int to, Bytes bytes, int tag = 0, ModelComm comm = {});
  ModelCall<Received> recv(int from, int tag = 0, ModelComm comm = {});
  ModelCall<Received> sendrecv(int to, Bytes bytes, int send_tag, int from, int recv_tag,
                               ModelComm comm = {});

  ModelCall<ModelRequest> isend(int to, Bytes bytes, int tag = 0, ModelComm comm = {});
  ModelCall<ModelRequest> issend(int to, Bytes bytes, int tag = 0, ModelComm comm = {});
  ModelCall<ModelRequest> ibsend(int to, Bytes bytes, int tag = 0, ModelComm comm = {});
  ModelCall<ModelRequest> irsend(int to, Bytes bytes, int tag = 0, ModelComm comm = {});
  // bytes: of the buffer.
  ModelCall<ModelRequest> irecv(int from, Bytes bytes, int tag = 0, ModelComm comm = {});

  // Completed requests are emptied. Lists of results are valid until the
  // rank's next call. The tests and `any` and `some` want Racing::yes.
  ModelWait<Received> wait(ModelRequest& request);
  ModelWait<std::span<const Completed>> wait_all(std::span<ModelRequest> requests);
  template <class... Requests>
  ModelCall<void> wait_all(ModelRequest& first, ModelRequest& second, Requests&... others) {
    const ModelRequest requests[] = {first, second, others...};
    const ModelCall<void> call = wait_all_of(requests);
    first = second = ModelRequest();
    ((others = ModelRequest()), ...);
    return call;
  }
  ModelWait<Completed> wait_any(std::span<ModelRequest> requests);
  ModelWait<std::span<const Completed>> wait_some(std::span<ModelRequest> requests);
  ModelWait<std::optional<Received>> test(ModelRequest& request);
  ModelWait<bool> test_all(std::span<ModelRequest> requests);
  ModelWait<std::optional<Completed>> test_any(std::span<ModelRequest> requests);
  ModelWait<std::span<const Completed>> test_some(std::span<ModelRequest> requests);

  ModelCall<Received> probe(int from, int tag = 0, ModelComm comm = {});
  ModelCall<std::optional<Received>> iprobe(int from, int tag = 0, ModelComm comm = {});

  ModelCall<void> barrier(ModelComm comm = {});
  ModelCall<void> bcast(Bytes bytes, int root, ModelComm comm = {});
  ModelCall<void> scatter(Bytes bytes, int root, ModelComm comm = {});
  ModelCall<void> scatterv(Bytes bytes, int root, ModelComm comm = {});
  ModelCall<void> gather(Bytes bytes, int root, ModelComm comm = {});
  ModelCall<void> gatherv(Bytes bytes, int root, ModelComm comm = {});
  ModelCall<void> reduce(Bytes bytes, int root, ModelComm comm = {});
  ModelCall<void> allgather(Bytes bytes, ModelComm comm = {});
  ModelCall<void> allgatherv(Bytes bytes, ModelComm comm = {});
  ModelCall<void> alltoall(Bytes bytes, ModelComm comm = {});
  ModelCall<void> alltoallv(Bytes bytes, ModelComm comm = {});
  ModelCall<void> alltoallw(Bytes bytes, ModelComm comm = {});
  ModelCall<void> allreduce(Bytes bytes, ModelComm comm = {});
  ModelCall<void> reduce_scatter(Bytes bytes, ModelComm comm = {});
  ModelCall<void> reduce_scatter_block(Bytes bytes, ModelComm comm = {});
  ModelCall<void> scan(Bytes bytes, ModelComm comm = {});
  ModelCall<void> exscan(Bytes bytes, ModelComm comm = {});
  // What making a communicator costs; the communicator is declared beforehand.
  ModelCall<void> comm_create(ModelComm comm = {});
  ModelCall<void> comm_split(ModelComm comm = {});
  ModelCall<void> comm_dup(ModelComm comm = {});

  ModelCall<void> phase_begin(std::string_view name);
  ModelCall<void> phase_end(std::string_view name);
  // Any other call, by its MPI name, `count` times in a row.
  ModelCall<void> call(std::string_view mpi_name, std::uint32_t count = 1);
  // MPI_Wtime: the virtual time with the computation up to now.
  ModelCall<Time> wtime();

 private:
  friend class ModelProgram;
  template <class Result>
  friend class ModelCall;
  template <class Result>
  friend class ModelWait;

  enum class Stage : std::uint8_t { fresh, initialized, running, ended };
  // Requests given to a call; then what it completed.
  struct Block {
    void* items;
    std::uint32_t count;
    std::uint32_t capacity;
  };

  Operation& begin(trace::EventKind kind, trace::NameId name);
  ModelCall<void> send_call(trace::NameId name, machine::SendMode mode, int to, Bytes bytes,
                            int tag, ModelComm comm);
  ModelCall<ModelRequest> isend_call(trace::NameId name, machine::SendMode mode, int to,
                                     Bytes bytes, int tag, ModelComm comm);
  template <class Result>
  ModelCall<Result> probe_call(trace::NameId name, Probing probing, int from, int tag,
                               ModelComm comm);
  ModelCall<void> collective(machine::Cost what, Bytes bytes, ModelComm comm);
  ModelCall<void> collective(machine::Cost what, Bytes bytes, int root, ModelComm comm);
  ModelCall<void> wait_all_of(std::span<const ModelRequest> requests);
  void complete(trace::NameId name, Completing completing, std::span<const ModelRequest> requests);
  trace::Endpoint to(int peer, Bytes bytes, int tag, ModelComm comm) const;
  trace::Endpoint from(int peer, Bytes bytes, int tag, ModelComm comm) const;
  void check_member(ModelComm comm) const;
  void check_tag(int tag) const;
  std::uint64_t new_request(ModelComm comm);
  void give_block();

  template <class Result>
  Result result() const;
  std::span<const Completed> completed(std::span<ModelRequest> requests);
  void suspended(std::coroutine_handle<> caller) noexcept;

  ModelProgram* program_;
  std::coroutine_handle<Task<void>::promise_type> task_;
  std::coroutine_handle<> innermost_;  // where it goes on
  Time clock_;
  union {
    Received message_{};  // of the last call that received or probed
    Block block_;         // if has_block_
  };
  std::int32_t id_;
  std::uint32_t last_request_ = 0;
  trace::CommId request_comm_ = 0;
  Stage stage_ = Stage::fresh;
  bool has_block_ = false;
  bool found_ = false;  // the last probe
};
static_assert(sizeof(ModelRank) == 64);

class ModelProgram : public Source {
 public:
  using Body = std::function<RankTask(ModelRank&)>;

  // `body` is called once for each rank and may return the task of a function
  // or be a coroutine itself. Throws Error for less than one rank.
  ModelProgram(int ranks, Body body, Racing racing = Racing::no);
  ~ModelProgram() override;
  ModelProgram(const ModelProgram&) = delete;
  ModelProgram& operator=(const ModelProgram&) = delete;

  // A communicator of these world ranks in this order. Before the simulation.
  // Throws Error for ranks that do not exist or come twice.
  ModelComm add_comm(const std::vector<int>& members);

  // Starts all ranks again, for another simulation.
  void rewind();

  // Bytes held at most so far by the coroutines' frames and their ranks.
  std::size_t memory() const;

  int ranks() const override { return static_cast<int>(ranks_.size()); }
  bool next(WorldRank rank, Operation& operation) override;
  void completed(WorldRank rank, const Operation& operation, const Interval& interval,
                 const Outcome& outcome) override;
  bool reactive() const override { return true; }
  bool races() const override { return racing_ == Racing::yes; }
  bool posts_collectives() const override { return false; }
  std::string_view name(trace::NameId id) const override { return names_.at(id); }
  const trace::Communicator& comm(trace::CommId id) const override { return comms_.at(id).comm; }

 private:
  friend class ModelRank;

  struct CommEntry {
    trace::Communicator comm;
    std::vector<int> by_world;  // local ranks in the order of world ranks; empty: that is theirs
  };

  bool resume(ModelRank& rank);
  void start(ModelRank& rank);
  void end(ModelRank& rank);
  const CommEntry& entry(ModelComm comm) const;
  int local_rank(trace::CommId comm, WorldRank rank) const;
  trace::NameId name_number(std::string_view name);
  void want_racing(const char* what) const;

  Body body_;
  Racing racing_;
  FramePool pool_;
  std::deque<ModelRank> ranks_;
  std::deque<CommEntry> comms_;
  std::deque<std::string> names_;
  std::unordered_map<std::string, trace::NameId> numbers_;
  // While a rank's coroutine runs: its next call goes here.
  ModelRank* running_ = nullptr;
  Operation* operation_ = nullptr;
  bool made_ = false;     // the call is there,
  bool awaited_ = false;  // and awaited
};

}  // namespace foretrace::sim
