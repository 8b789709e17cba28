// Executes a schedule of tests/sim/reference.py as it stands.
//
//   run_schedule SCHEDULE.json
//
// Every message carries bytes that depend on sender, receiver, tag, size and
// communicator; receivers check them, and collectives' results are checked
// too. Status 1 and a line on the first difference; else rank 0 prints one
// line.
//
// The communicators are made by MPI_Comm_create_group before the schedule
// begins: the timing rules let it take no time and wait for nobody, so that the
// schedule's times count from 0 as the reference's do.
//
// Besides what reference.py reads, a receive may hold "any": "source", "tag" or
// "both": the program then gives wildcards, and the schedule's author answers
// for it that no other message fits.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "foretrace.h"

namespace {

using nlohmann::json;
using Data = std::vector<unsigned char>;

struct Communicator {
  MPI_Comm handle = MPI_COMM_NULL;
  std::vector<int> members;
  int rank = -1;
  int size() const { return static_cast<int>(members.size()); }
};

// A posted request's buffer, and what has to be in it. Where the request itself
// lies is settled beforehand: in the array of the MPI_Waitall that completes
// it. (MPIs give several sends that are done at once the same handle; nobody
// could tell copies of it apart.)
struct Posted {
  MPI_Request* request = nullptr;
  Data out;  // collectives: what this rank contributes
  Data data;
  Data expected;
};

[[noreturn]] void fail(const std::string& what) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "run_schedule: rank %d: %s\n", rank, what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

// The bytes of the message from local rank `source` to `to`.
Data pattern(int comm, int source, int to, int tag, std::size_t bytes) {
  Data data(bytes);
  unsigned state = static_cast<unsigned>(comm * 7919 + source * 104729 + to * 1299709 + tag * 31) +
                   static_cast<unsigned>(bytes);
  for (unsigned char& byte : data) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<unsigned char>(state >> 24);
  }
  return data;
}

// What member `source` contributes to a collective: the same byte all over, so
// that results are easily said.
unsigned char contribution(int source) {
  return static_cast<unsigned char>(1u << (source % 8));
}

class Runner {
 public:
  Runner(const json& schedule, int rank) : rank_(rank) {
    make_communicators(schedule.at("comms"));
    const json& program = schedule.at("programs").at(static_cast<std::size_t>(rank));
    attach_buffer(program);
    make_request_arrays(program);
  }

  void run(const json& program) {
    for (const json& call : program) {
      ++position_;
      execute(call);
    }
    // No MPI call may stand between the last compute and MPI_Finalize that
    // takes time; freeing takes none.
    if (!posted_.empty()) fail("requests are left over");
  }

 private:
  void make_communicators(const json& comms) {
    comms_.push_back({MPI_COMM_WORLD, comms.at(0).get<std::vector<int>>(), rank_});
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (std::size_t i = 1; i < comms.size(); ++i) {
      Communicator made;
      made.members = comms[i].get<std::vector<int>>();
      MPI_Group group;
      MPI_Group_incl(world, made.size(), made.members.data(), &group);
      MPI_Group_rank(group, &made.rank);
      if (made.rank != MPI_UNDEFINED)
        MPI_Comm_create_group(MPI_COMM_WORLD, group, static_cast<int>(i), &made.handle);
      MPI_Group_free(&group);
      comms_.push_back(std::move(made));
    }
    MPI_Group_free(&world);
  }

  void attach_buffer(const json& program) {
    std::size_t room = 65536;
    for (const json& call : program)
      if (call.value("mode", "") == "buffered")
        room += call.at("bytes").get<std::size_t>() + MPI_BSEND_OVERHEAD + 64;
    buffer_.resize(room);
    MPI_Buffer_attach(buffer_.data(), static_cast<int>(room));
  }

  void make_request_arrays(const json& program) {
    for (const json& call : program) {
      if (call.at("op") != "wait") continue;
      waits_.emplace_back(call.at("requests").size(), MPI_REQUEST_NULL);
      for (std::size_t i = 0; i < waits_.back().size(); ++i)
        posted_[call.at("requests")[i]].request = &waits_.back()[i];
    }
  }

  void execute(const json& call) {
    const std::string op = call.at("op");
    if (op == "compute")
      FORETRACE_COMPUTE(call.at("steps").get<double>());
    else if (op == "send")
      send(call);
    else if (op == "isend")
      isend(call);
    else if (op == "recv")
      recv(call);
    else if (op == "irecv")
      irecv(call);
    else if (op == "probe")
      probe(call);
    else if (op == "sendrecv")
      sendrecv(call);
    else if (op == "wait")
      wait(call);
    else if (call.contains("request"))
      icollective(op, call);
    else
      collective(op, call);
  }

  static int peer(const json& call, const char* key) {
    const int value = call.at(key);
    return value < 0 ? MPI_PROC_NULL : value;
  }
  const Communicator& comm_of(const json& call) const {
    return comms_.at(call.at("comm").get<std::size_t>());
  }
  void check(const Data& found, const Data& expected) const {
    if (found != expected) fail("call " + std::to_string(position_) + ": wrong data");
  }

  Data outgoing(const json& call) const {
    return pattern(call.at("comm"), comm_of(call).rank, call.at("to"), call.at("tag"),
                   call.at("bytes"));
  }
  Data incoming(const json& call, const char* tag, const char* bytes) const {
    if (call.at("from").get<int>() < 0) return Data(call.at(bytes).get<std::size_t>());
    return pattern(call.at("comm"), call.at("from"), comm_of(call).rank, call.at(tag),
                   call.at(bytes));
  }
  static int source_of(const json& call) {
    const std::string any = call.value("any", "");
    return any == "source" || any == "both" ? MPI_ANY_SOURCE : peer(call, "from");
  }
  static int tag_of(const json& call) {
    const std::string any = call.value("any", "");
    return any == "tag" || any == "both" ? MPI_ANY_TAG : call.at("tag").get<int>();
  }

  void send(const json& call) {
    const Data data = outgoing(call);
    const std::string mode = call.value("mode", "standard");
    const auto function = mode == "synchronous" ? MPI_Ssend
                          : mode == "buffered"  ? MPI_Bsend
                          : mode == "ready"     ? MPI_Rsend
                                                : MPI_Send;
    function(data.data(), static_cast<int>(data.size()), MPI_BYTE, peer(call, "to"), call.at("tag"),
             comm_of(call).handle);
  }

  void isend(const json& call) {
    Posted& posted = posted_[call.at("request")];
    posted.data = outgoing(call);
    posted.expected = posted.data;
    const std::string mode = call.value("mode", "standard");
    const auto function = mode == "synchronous" ? MPI_Issend
                          : mode == "buffered"  ? MPI_Ibsend
                          : mode == "ready"     ? MPI_Irsend
                                                : MPI_Isend;
    function(posted.data.data(), static_cast<int>(posted.data.size()), MPI_BYTE, peer(call, "to"),
             call.at("tag"), comm_of(call).handle, posted.request);
  }

  void recv(const json& call) {
    const Data expected = incoming(call, "tag", "bytes");
    Data data(expected.size());
    MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_BYTE, source_of(call), tag_of(call),
             comm_of(call).handle, MPI_STATUS_IGNORE);
    check(data, expected);
  }

  void irecv(const json& call) {
    Posted& posted = posted_[call.at("request")];
    posted.expected = incoming(call, "tag", "bytes");
    posted.data.assign(posted.expected.size(), 0);
    MPI_Irecv(posted.data.data(), static_cast<int>(posted.data.size()), MPI_BYTE, source_of(call),
              tag_of(call), comm_of(call).handle, posted.request);
  }

  void probe(const json& call) {
    MPI_Probe(peer(call, "from"), call.at("tag"), comm_of(call).handle, MPI_STATUS_IGNORE);
  }

  void sendrecv(const json& call) {
    const Data out = outgoing(call);
    const Data expected = incoming(call, "recv_tag", "recv_bytes");
    Data data(expected.size());
    MPI_Sendrecv(out.data(), static_cast<int>(out.size()), MPI_BYTE, peer(call, "to"),
                 call.at("tag"), data.data(), static_cast<int>(data.size()), MPI_BYTE,
                 peer(call, "from"), call.at("recv_tag"), comm_of(call).handle, MPI_STATUS_IGNORE);
    check(data, expected);
  }

  void wait(const json& call) {
    std::vector<MPI_Request>& requests = waits_.at(next_wait_++);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (const json& number : call.at("requests")) {
      check(posted_.at(number).data, posted_.at(number).expected);
      posted_.erase(number);
    }
  }

  // Member i's part of what a gathering collective leaves.
  static Data gathered(const Communicator& comm, std::size_t bytes) {
    Data all;
    for (int i = 0; i < comm.size(); ++i) all.insert(all.end(), bytes, contribution(i));
    return all;
  }
  // The union of the contributions of members 0 to `last`.
  static unsigned char combined(int last) {
    unsigned char value = 0;
    for (int i = 0; i <= last; ++i) value |= contribution(i);
    return value;
  }

  void collective(const std::string& op, const json& call) {
    const Communicator& comm = comm_of(call);
    const auto bytes = call.at("bytes").get<std::size_t>();
    const int n = static_cast<int>(bytes);
    const int root = call.value("root", 0);
    const auto members = static_cast<std::size_t>(comm.size());
    const bool at_root = comm.rank == root;
    const Data mine(bytes, contribution(comm.rank));
    Data all(bytes * members);
    Data one(bytes);
    if (op == "barrier") {
      MPI_Barrier(comm.handle);
    } else if (op == "bcast") {
      one.assign(bytes, at_root ? contribution(root) : 0);
      MPI_Bcast(one.data(), n, MPI_BYTE, root, comm.handle);
      check(one, Data(bytes, contribution(root)));
    } else if (op == "scatter") {
      if (at_root) all = gathered(comm, bytes);
      MPI_Scatter(all.data(), n, MPI_BYTE, one.data(), n, MPI_BYTE, root, comm.handle);
      check(one, mine);
    } else if (op == "gather") {
      MPI_Gather(mine.data(), n, MPI_BYTE, all.data(), n, MPI_BYTE, root, comm.handle);
      if (at_root) check(all, gathered(comm, bytes));
    } else if (op == "allgather") {
      MPI_Allgather(mine.data(), n, MPI_BYTE, all.data(), n, MPI_BYTE, comm.handle);
      check(all, gathered(comm, bytes));
    } else if (op == "alltoall") {
      const Data out(bytes * members, contribution(comm.rank));
      MPI_Alltoall(out.data(), n, MPI_BYTE, all.data(), n, MPI_BYTE, comm.handle);
      check(all, gathered(comm, bytes));
    } else {
      reduction(op, comm, mine, one, root);
    }
  }

  void reduction(const std::string& op, const Communicator& comm, const Data& mine, Data& one,
                 int root) {
    const int n = static_cast<int>(mine.size());
    const Data total(mine.size(), combined(comm.size() - 1));
    if (op == "reduce") {
      MPI_Reduce(mine.data(), one.data(), n, MPI_BYTE, MPI_BOR, root, comm.handle);
      if (comm.rank == root) check(one, total);
    } else if (op == "allreduce") {
      MPI_Allreduce(mine.data(), one.data(), n, MPI_BYTE, MPI_BOR, comm.handle);
      check(one, total);
    } else if (op == "reduce_scatter_block") {
      // d counts the blocks of all members.
      const int block = n / comm.size();
      one.resize(static_cast<std::size_t>(block));
      MPI_Reduce_scatter_block(mine.data(), one.data(), block, MPI_BYTE, MPI_BOR, comm.handle);
      check(one, Data(one.size(), combined(comm.size() - 1)));
    } else if (op == "scan") {
      MPI_Scan(mine.data(), one.data(), n, MPI_BYTE, MPI_BOR, comm.handle);
      check(one, Data(mine.size(), combined(comm.rank)));
    } else if (op == "exscan") {
      MPI_Exscan(mine.data(), one.data(), n, MPI_BYTE, MPI_BOR, comm.handle);
      if (comm.rank > 0) check(one, Data(mine.size(), combined(comm.rank - 1)));
    } else {
      fail("no such operation: " + op);
    }
  }

  void icollective(const std::string& op, const json& call) {
    const Communicator& comm = comm_of(call);
    const auto bytes = call.at("bytes").get<std::size_t>();
    const int n = static_cast<int>(bytes);
    const int root = call.value("root", 0);
    const auto members = static_cast<std::size_t>(comm.size());
    const bool at_root = comm.rank == root;
    Posted& posted = posted_[call.at("request")];
    Data& out = posted.out;
    Data& in = posted.data;
    Data& expected = posted.expected;
    MPI_Request* request = posted.request;
    out.assign(bytes, contribution(comm.rank));
    in.assign(bytes, 0);
    expected.assign(bytes, combined(comm.size() - 1));
    if (op == "barrier") {
      in = expected = {};
      MPI_Ibarrier(comm.handle, request);
    } else if (op == "bcast") {
      expected.assign(bytes, contribution(root));
      if (at_root) in = expected;
      MPI_Ibcast(in.data(), n, MPI_BYTE, root, comm.handle, request);
    } else if (op == "scatter") {
      expected = out;
      out = gathered(comm, bytes);
      MPI_Iscatter(out.data(), n, MPI_BYTE, in.data(), n, MPI_BYTE, root, comm.handle, request);
    } else if (op == "gather" || op == "allgather" || op == "alltoall") {
      in.assign(bytes * members, 0);
      expected = op != "gather" || at_root ? gathered(comm, bytes) : in;
      if (op == "alltoall") out.assign(bytes * members, contribution(comm.rank));
      if (op == "gather")
        MPI_Igather(out.data(), n, MPI_BYTE, in.data(), n, MPI_BYTE, root, comm.handle, request);
      else if (op == "allgather")
        MPI_Iallgather(out.data(), n, MPI_BYTE, in.data(), n, MPI_BYTE, comm.handle, request);
      else
        MPI_Ialltoall(out.data(), n, MPI_BYTE, in.data(), n, MPI_BYTE, comm.handle, request);
    } else if (op == "reduce") {
      if (!at_root) expected = in;
      MPI_Ireduce(out.data(), in.data(), n, MPI_BYTE, MPI_BOR, root, comm.handle, request);
    } else if (op == "allreduce") {
      MPI_Iallreduce(out.data(), in.data(), n, MPI_BYTE, MPI_BOR, comm.handle, request);
    } else if (op == "reduce_scatter_block") {
      const int block = n / comm.size();
      in.resize(static_cast<std::size_t>(block));
      expected.resize(in.size());
      MPI_Ireduce_scatter_block(out.data(), in.data(), block, MPI_BYTE, MPI_BOR, comm.handle,
                                request);
    } else if (op == "scan") {
      expected.assign(bytes, combined(comm.rank));
      MPI_Iscan(out.data(), in.data(), n, MPI_BYTE, MPI_BOR, comm.handle, request);
    } else if (op == "exscan") {
      expected.assign(bytes, comm.rank > 0 ? combined(comm.rank - 1) : 0);
      MPI_Iexscan(out.data(), in.data(), n, MPI_BYTE, MPI_BOR, comm.handle, request);
    } else {
      fail("no such operation: " + op);
    }
  }

  int rank_;
  int position_ = 0;
  std::vector<Communicator> comms_;
  std::map<int, Posted> posted_;
  std::deque<std::vector<MPI_Request>> waits_;  // one array a wait, in their order
  std::size_t next_wait_ = 0;
  Data buffer_;
};

}  // namespace

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, argc == 3 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 2) fail("usage: run_schedule SCHEDULE.json [multiple]");
  std::ifstream file(argv[1]);
  const json schedule = json::parse(file);
  Runner runner(schedule, rank);
  const json& program = schedule.at("programs").at(static_cast<std::size_t>(rank));
  runner.run(program);
  if (rank == 0) std::printf("run_schedule: %zu operations done\n", program.size());
  MPI_Finalize();
}
