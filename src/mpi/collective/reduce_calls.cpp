// Reductions: reduce, allreduce, reduce_scatter, scan.
#include <numeric>
#include <utility>

#include "mpi/collective/gathered.hpp"
#include "mpi/collective/names.hpp"
#include "mpi/collective/reduction.hpp"
#include "mpi_api/sizes.hpp"

namespace foretrace::mpi {
namespace {

using machine::Cost;

// Checks what all reductions have in common. The elements that this rank
// contributes are `own`; in place they are where the result goes.
struct Reduced {
  Reduction reduction;
  Piece own;
};
Reduced reduced(Arguments& arguments, const void* sendbuf, const void* recvbuf, MPI_Count count,
                MPI_Datatype datatype, MPI_Op op) {
  Reduced reduced;
  Reduction& reduction = reduced.reduction;
  reduction.count = count;
  arguments.count(count, "count");
  reduction.type = arguments.type(datatype, "datatype");
  reduction.op = arguments.op(op, reduction.type);
  const void* from = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  arguments.buffer(from, count, reduction.type, "the send buffer");
  reduced.own = piece(from, count, reduction.type);
  if (arguments) arguments.plan().call.reduction = class_of(*reduction.op, *reduction.type);
  return reduced;
}

// Checks the buffer of results.
void result_buffer(Arguments& arguments, const void* sendbuf, const void* recvbuf, MPI_Count count,
                   const Reduction& reduction) {
  if (arguments.inter()) arguments.not_in_place(sendbuf, "the send buffer");
  arguments.not_in_place(recvbuf, "the receive buffer");
  arguments.buffer(recvbuf, count, reduction.type, "the receive buffer");
  arguments.distinct(sendbuf, recvbuf, count);
}

// A rank's reduction of the operands of n members into its own buffer.
Outcome reduce_here(const Reduction& reduction, const Reduction::Operand& operand, int n,
                    void* buffer) {
  Outcome outcome = reduction.to_buffer(operand, n, buffer);
  Reduction::take_time_of_tree(Reduction::take_each(), n);
  return outcome;
}

// On an inter-communicator the root reduces what the other group sends it.
Planned plan_reduce_between(const Arguments& arguments, const Reduction& reduction,
                            const Piece& own, void* recvbuf, int root) {
  Plan& plan = arguments.plan();
  plan.by_messages = true;
  if (root != MPI_ROOT) {
    plan.outgoing.push_back({root, kCollectiveTag, [own] { return packed(own); }});
    return arguments.planned();
  }
  const int n = arguments.partners();
  const auto operands =
      std::make_shared<std::vector<std::vector<std::byte>>>(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    plan.incoming.push_back(
        {i, kCollectiveTag, reduction.bytes(), [operands, i](ByteSpan data) {
           (*operands)[static_cast<std::size_t>(i)] = {data.begin(), data.end()};
         }});
  plan.finish_messages = [operands, reduction, n, recvbuf] {
    return reduce_here(
        reduction, [&](int i) { return ByteSpan((*operands)[static_cast<std::size_t>(i)]); }, n,
        recvbuf);
  };
  return arguments.planned();
}

Planned reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               int root, MPI_Comm comm) {
  Arguments arguments(comm);
  arguments.root(root);
  if (arguments && arguments.inter() && root == MPI_PROC_NULL) {
    arguments.plan().by_messages = true;
    return arguments.planned();
  }
  const bool is_root = arguments && arguments.is_root(root);
  const bool is_source = !arguments.inter() || !is_root;
  if (!is_root) arguments.not_in_place(sendbuf, "the send buffer");
  const auto [reduction, own] =
      reduced(arguments, is_source ? sendbuf : recvbuf, recvbuf, count, datatype, op);
  if (is_root) result_buffer(arguments, is_source ? sendbuf : nullptr, recvbuf, count, reduction);
  if (!arguments) return arguments.refuse();
  if (arguments.inter()) return plan_reduce_between(arguments, reduction, own, recvbuf, root);
  Plan& plan = arguments.plan();
  plan.call.cost = Cost::reduce;
  plan.call.root = root;
  plan.call.bytes = mpi_api::size_one(shape_of_members(arguments), count, reduction.type).count;
  plan.contribute = [own = own] { return packed(own); };
  if (is_root) plan.room = piece(recvbuf, count, reduction.type);
  if (is_root)
    plan.finish = [reduction = reduction, n = arguments.members(), recvbuf](Gathered& gathered) {
      return reduce_here(
          reduction, [&](int i) { return gathered.of(i); }, n, recvbuf);
    };
  return arguments.planned();
}

// All members reduce; this one wants `into`, which begins after `skip` elements.
Planned plan_common(const Arguments& arguments, const Reduction& reduction, const Piece& own,
                    const Piece& into, MPI_Count skip) {
  Plan& plan = arguments.plan();
  // Not where members have counts of their own, as in capture.
  if (plan.call.cost != Cost::reduce_scatter) plan.room = into;
  plan.contribute = [own] { return packed(own); };
  plan.finish = [comm = plan.comm, reduction, into, skip](Gathered& gathered) {
    const std::uint64_t bytes = into.bytes();
    // Who gets nothing may leave before all have contributed.
    if (bytes == 0) return Outcome();
    const CommonReduction common(*comm, reduction, gathered);
    Reduction::take_time_of_tree(common.each(),
                                 comm->is_inter() ? comm->places() - comm->size() : comm->places());
    if (common.outcome().error == MPI_SUCCESS)
      unpack(common.result().data() + packed_bytes(skip, *into.type), bytes, into.data, into.count,
             *into.type);
    return common.outcome();
  };
  return arguments.planned();
}

Planned allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm) {
  Arguments arguments(comm);
  const auto [reduction, own] = reduced(arguments, sendbuf, recvbuf, count, datatype, op);
  result_buffer(arguments, sendbuf, recvbuf, count, reduction);
  if (!arguments) return arguments.refuse();
  CollectiveCall& call = arguments.plan().call;
  call.cost = Cost::allreduce;
  call.bytes = mpi_api::size_one(shape_of_members(arguments), count, reduction.type).count;
  return plan_common(arguments, reduction, own, piece(recvbuf, count, reduction.type), 0);
}

Planned reduce_scatter(const void* sendbuf, void* recvbuf, const int* recvcounts,
                       MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  Arguments arguments(comm);
  arguments.counts(recvcounts, arguments.members(), "the receive counts");
  if (!arguments) return arguments.refuse();
  const int rank = arguments.comm()->rank;
  const MPI_Count total =
      std::accumulate(recvcounts, recvcounts + arguments.members(), MPI_Count{0});
  const MPI_Count skip = std::accumulate(recvcounts, recvcounts + rank, MPI_Count{0});
  const auto [reduction, own] = reduced(arguments, sendbuf, recvbuf, total, datatype, op);
  result_buffer(arguments, sendbuf, recvbuf, recvcounts[rank], reduction);
  if (!arguments) return arguments.refuse();
  CollectiveCall& call = arguments.plan().call;
  call.cost = Cost::reduce_scatter;
  call.bytes = mpi_api::size_total(shape_of_members(arguments), recvcounts, reduction.type).count;
  trace::Counts counts;
  mpi_api::counts_all(counts, shape_of_members(arguments), recvcounts, reduction.type);
  tell_counts(arguments, std::move(counts));
  return plan_common(arguments, reduction, own, piece(recvbuf, recvcounts[rank], reduction.type),
                     skip);
}

Planned reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  Arguments arguments(comm);
  arguments.count(recvcount, "the receive count");
  if (!arguments) return arguments.refuse();
  const MPI_Count total = MPI_Count{recvcount} * arguments.members();
  const auto [reduction, own] = reduced(arguments, sendbuf, recvbuf, total, datatype, op);
  result_buffer(arguments, sendbuf, recvbuf, recvcount, reduction);
  if (!arguments) return arguments.refuse();
  CollectiveCall& call = arguments.plan().call;
  call.cost = Cost::reduce_scatter_block;
  call.bytes = mpi_api::size_block(shape_of_members(arguments), recvcount, reduction.type).count;
  return plan_common(arguments, reduction, own, piece(recvbuf, recvcount, reduction.type),
                     MPI_Count{recvcount} * arguments.comm()->rank);
}

// Of the members up to this one, without it in an exscan.
Planned plan_scan(Cost cost, const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                  MPI_Op op, MPI_Comm comm) {
  Arguments arguments(comm);
  arguments.intra_only();
  auto [reduction, own] = reduced(arguments, sendbuf, recvbuf, count, datatype, op);
  reduction.grouping = Grouping::in_row;
  result_buffer(arguments, sendbuf, recvbuf, count, reduction);
  if (!arguments) return arguments.refuse();
  Plan& plan = arguments.plan();
  plan.call.cost = cost;
  plan.call.bytes = mpi_api::size_one(shape_of_members(arguments), count, reduction.type).count;
  plan.room = piece(recvbuf, count, reduction.type);
  plan.contribute = [own = own] { return packed(own); };
  plan.finish = [reduction = reduction, recvbuf,
                 n = plan.comm->rank + (cost == Cost::scan ? 1 : 0)](Gathered& gathered) {
    return reduce_here(
        reduction, [&](int i) { return gathered.of(i); }, n, recvbuf);
  };
  return arguments.planned();
}

Planned scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm) {
  return plan_scan(Cost::scan, sendbuf, recvbuf, count, datatype, op, comm);
}

Planned exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               MPI_Comm comm) {
  return plan_scan(Cost::exscan, sendbuf, recvbuf, count, datatype, op, comm);
}

}  // namespace

// --- the functions of MPI: MPI_X, MPI_IX, MPI_X_init --------------------------

int impl::Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 int root, MPI_Comm comm) {
  return run(reduce(sendbuf, recvbuf, count, datatype, op, root, comm));
}
int impl::Ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  int root, MPI_Comm comm, MPI_Request* request) {
  return post(reduce(sendbuf, recvbuf, count, datatype, op, root, comm), request);
}
int impl::Reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                      MPI_Op op, int root, MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return prepare(reduce(sendbuf, recvbuf, count, datatype, op, root, comm), request);
}

int impl::Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm) {
  return run(allreduce(sendbuf, recvbuf, count, datatype, op, comm));
}
int impl::Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return post(allreduce(sendbuf, recvbuf, count, datatype, op, comm), request);
}
int impl::Allreduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                         MPI_Op op, MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return prepare(allreduce(sendbuf, recvbuf, count, datatype, op, comm), request);
}

int impl::Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return run(reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm));
}
int impl::Ireduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return post(reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm), request);
}
int impl::Reduce_scatter_init(const void* sendbuf, void* recvbuf, const int recvcounts[],
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info,
                              MPI_Request* request) {
  return prepare(reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm), request);
}

int impl::Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return run(reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm));
}
int impl::Ireduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                MPI_Request* request) {
  return post(reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm), request);
}
int impl::Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, int recvcount,
                                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info,
                                    MPI_Request* request) {
  return prepare(reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm), request);
}

int impl::Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               MPI_Comm comm) {
  return run(scan(sendbuf, recvbuf, count, datatype, op, comm));
}
int impl::Iscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                MPI_Comm comm, MPI_Request* request) {
  return post(scan(sendbuf, recvbuf, count, datatype, op, comm), request);
}
int impl::Scan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return prepare(scan(sendbuf, recvbuf, count, datatype, op, comm), request);
}

int impl::Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 MPI_Comm comm) {
  return run(exscan(sendbuf, recvbuf, count, datatype, op, comm));
}
int impl::Iexscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm, MPI_Request* request) {
  return post(exscan(sendbuf, recvbuf, count, datatype, op, comm), request);
}
int impl::Exscan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return prepare(exscan(sendbuf, recvbuf, count, datatype, op, comm), request);
}

}  // namespace foretrace::mpi
