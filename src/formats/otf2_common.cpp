#include "formats/otf2_common.hpp"

#include <algorithm>
#include <iterator>

namespace foretrace::formats {

using machine::Cost;

namespace {

constexpr AttributeRow kAttributes[] = {
    {"COMPUTE", "computation since the previous event, ps", OTF2_TYPE_UINT64},
    {"WAIT", "time spent waiting for others, ps", OTF2_TYPE_UINT64},
    {"STEPS", "annotated compute steps since the previous event", OTF2_TYPE_DOUBLE},
    {"CALL_OBJECT", "executable or library that calls", OTF2_TYPE_STRING},
    {"CALL_OFFSET", "offset of the instruction after the call", OTF2_TYPE_UINT64},
    {"CALL_PLACE", "source line of the call", OTF2_TYPE_SOURCE_CODE_LOCATION},
    {"KIND", "Foretrace's kind of event", OTF2_TYPE_UINT8},
    {"SEND_MODE", "0 standard, 1 synchronous, 2 buffered, 3 ready", OTF2_TYPE_UINT8},
    {"WILDCARDS", "1 any source, 2 any tag", OTF2_TYPE_UINT8},
    {"POSTED_SOURCE", "sender as posted, rank in MPI_COMM_WORLD", OTF2_TYPE_INT32},
    {"POSTED_TAG", "tag as posted", OTF2_TYPE_INT32},
    {"POSTED_BYTES", "size of the buffer", OTF2_TYPE_UINT64},
    {"TAKEN", "request of the probe that took the message", OTF2_TYPE_UINT64},
    {"REQUEST", "number of the request", OTF2_TYPE_UINT64},
    {"COLLECTIVE", "Foretrace's function for the collective", OTF2_TYPE_UINT8},
    {"BYTES", "size that its equation takes, or that the call moves", OTF2_TYPE_UINT64},
    {"COMM", "communicator", OTF2_TYPE_COMM},
    {"PEER", "rank in MPI_COMM_WORLD", OTF2_TYPE_INT32},
    {"ROOT", "root's rank in the communicator", OTF2_TYPE_INT32},
    {"COUNT", "calls in a row", OTF2_TYPE_UINT32},
    {"CODE", "signal, or -1 - the code of MPI_Abort", OTF2_TYPE_INT32},
    {"ONE_SIDED", "what the call has to do with a window", OTF2_TYPE_UINT8},
    {"REDUCTION", "Foretrace's class of what is combined", OTF2_TYPE_UINT8},
    {"PIECES", "bytes of a piece: of what is sent, and 65536 times of what is received",
     OTF2_TYPE_UINT32},
    {"JOIN",
     "twice how many events before the thread that was waited for began, 1 more if from its "
     "enter",
     OTF2_TYPE_UINT64},
    {"JOIN_AFTER", "ps that it took from there", OTF2_TYPE_UINT64},
    {"JOIN_HELD", "ps of the computation that were the wait", OTF2_TYPE_UINT64},
    {"JOIN_AFTER_STEPS", "the same in steps", OTF2_TYPE_DOUBLE},
    {"JOIN_HELD_STEPS", "the same in steps", OTF2_TYPE_DOUBLE},
    {"SECOND_JOIN", "as JOIN, of another thread", OTF2_TYPE_UINT64},
    {"SECOND_JOIN_AFTER", "as JOIN_AFTER", OTF2_TYPE_UINT64},
    {"SECOND_JOIN_AFTER_STEPS", "the same in steps", OTF2_TYPE_DOUBLE},
};
static_assert(std::size(kAttributes) == static_cast<std::size_t>(Attribute::kCount));

struct OpRow {
  Cost cost;
  OTF2_CollectiveOp op;
};

constexpr OpRow kOps[] = {
    {Cost::barrier, OTF2_COLLECTIVE_OP_BARRIER},
    {Cost::bcast, OTF2_COLLECTIVE_OP_BCAST},
    {Cost::gather, OTF2_COLLECTIVE_OP_GATHER},
    {Cost::gatherv, OTF2_COLLECTIVE_OP_GATHERV},
    {Cost::scatter, OTF2_COLLECTIVE_OP_SCATTER},
    {Cost::scatterv, OTF2_COLLECTIVE_OP_SCATTERV},
    {Cost::allgather, OTF2_COLLECTIVE_OP_ALLGATHER},
    {Cost::allgatherv, OTF2_COLLECTIVE_OP_ALLGATHERV},
    {Cost::alltoall, OTF2_COLLECTIVE_OP_ALLTOALL},
    {Cost::alltoallv, OTF2_COLLECTIVE_OP_ALLTOALLV},
    {Cost::alltoallw, OTF2_COLLECTIVE_OP_ALLTOALLW},
    {Cost::allreduce, OTF2_COLLECTIVE_OP_ALLREDUCE},
    {Cost::reduce, OTF2_COLLECTIVE_OP_REDUCE},
    {Cost::reduce_scatter, OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
    {Cost::reduce_scatter_block, OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
    {Cost::scan, OTF2_COLLECTIVE_OP_SCAN},
    {Cost::exscan, OTF2_COLLECTIVE_OP_EXSCAN},
    {Cost::comm_create, OTF2_COLLECTIVE_OP_CREATE_HANDLE},
    {Cost::comm_split, OTF2_COLLECTIVE_OP_CREATE_HANDLE},
    {Cost::comm_dup, OTF2_COLLECTIVE_OP_CREATE_HANDLE},
};

// A total over all partners: of p, or of p - 1 where the program worked in place.
Bytes of_each(std::uint64_t total, std::uint64_t ranks) {
  const bool in_place = ranks > 2 && total % ranks != 0 && total % (ranks - 1) == 0;
  return Bytes(total / (in_place ? ranks - 1 : ranks));
}

Bytes from_arguments(Cost cost, const CollectivePlace& place, const MovedBytes& moved) {
  switch (cost) {
    case Cost::barrier:
      return Bytes();
    case Cost::scatter:
      return Bytes(place.is_root ? moved.sent : moved.received);
    case Cost::gatherv:
      return Bytes(place.is_root ? moved.received / place.ranks : moved.sent);
    case Cost::scatterv:
      return Bytes(place.is_root ? moved.sent / place.ranks : moved.received);
    case Cost::allgatherv:
      return Bytes(moved.received / place.ranks);
    case Cost::alltoallv:
    case Cost::alltoallw:
      return Bytes(std::max(moved.sent / place.ranks, moved.received / place.ranks));
    default:
      return Bytes(moved.sent);
  }
}

}  // namespace

const AttributeRow& row_of(Attribute attribute) {
  return kAttributes[static_cast<std::size_t>(attribute)];
}

void take_join(trace::Join& join, Attribute attribute, const OTF2_AttributeValue& value) {
  const Time time = Time::ps(static_cast<std::int64_t>(value.uint64));
  if (attribute == Attribute::join_after || attribute == Attribute::second_after) {
    join.after = time;
  } else if (attribute == Attribute::join_held) {
    join.held = time;
  } else if (attribute == Attribute::join_held_steps) {
    join.held_steps = value.float64;
  } else if (row_of(attribute).type == OTF2_TYPE_DOUBLE) {
    join.knows_steps = true;
    join.after_steps = value.float64;
  } else {
    join.back = value.uint64 / 2;
    join.entered = value.uint64 % 2 != 0;
  }
}

std::optional<OTF2_CollectiveOp> op_of(Cost cost) {
  for (const OpRow& row : kOps)
    if (row.cost == cost) return row.op;
  return std::nullopt;
}

std::optional<Cost> cost_of(OTF2_CollectiveOp op, std::string_view name) {
  if (op == OTF2_COLLECTIVE_OP_CREATE_HANDLE) {
    if (name.starts_with("MPI_Comm_split")) return Cost::comm_split;
    if (name.starts_with("MPI_Comm_dup") || name == "MPI_Comm_idup") return Cost::comm_dup;
    if (name.starts_with("MPI_Win") || name.starts_with("MPI_File")) return std::nullopt;
    return Cost::comm_create;
  }
  for (const OpRow& row : kOps)
    if (row.op == op) return row.cost;
  return std::nullopt;
}

MovedBytes moved_bytes(Cost cost, const CollectivePlace& place, Bytes d) {
  const std::uint64_t one = d.count;
  const std::uint64_t all = place.ranks * d.count;
  switch (cost) {
    case Cost::bcast:
      return {place.is_root ? all : 0, one};
    case Cost::scatter:
    case Cost::scatterv:
      return {place.is_root ? all : 0, one};
    case Cost::gather:
    case Cost::gatherv:
    case Cost::reduce:
      return {one, place.is_root ? all : 0};
    case Cost::allgather:
    case Cost::allgatherv:
    case Cost::alltoall:
    case Cost::alltoallv:
    case Cost::alltoallw:
    case Cost::allreduce:
      return {all, all};
    case Cost::reduce_scatter:
    case Cost::reduce_scatter_block:
      return {one, one};
    case Cost::scan:
      return {(place.ranks - place.rank) * one, (place.rank + 1) * one};
    case Cost::exscan:
      return {(place.ranks - place.rank - 1) * one, place.rank * one};
    default:
      return {0, 0};
  }
}

Bytes equation_bytes(Cost cost, const CollectivePlace& place, const MovedBytes& moved,
                     ByteCount count) {
  if (place.ranks == 0) return Bytes();
  if (count == ByteCount::arguments) return from_arguments(cost, place, moved);
  switch (cost) {
    case Cost::bcast:
    case Cost::scatter:
      return Bytes(moved.received);
    case Cost::gather:
    case Cost::reduce:
    case Cost::reduce_scatter:
    case Cost::reduce_scatter_block:
      return Bytes(moved.sent);
    case Cost::gatherv:
    case Cost::scatterv:
    case Cost::allgatherv:
    case Cost::alltoallv:
    case Cost::alltoallw:
      return from_arguments(cost, place, moved);
    case Cost::allgather:
    case Cost::alltoall:
    case Cost::allreduce:
      return of_each(std::max(moved.sent, moved.received), place.ranks);
    case Cost::scan:
      return Bytes((moved.sent + moved.received) / (place.ranks + 1));
    case Cost::exscan:
      return Bytes(place.ranks > 1 ? (moved.sent + moved.received) / (place.ranks - 1) : 0);
    default:
      return Bytes();
  }
}

}  // namespace foretrace::formats
