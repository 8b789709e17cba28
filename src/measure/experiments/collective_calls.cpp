#include "measure/experiments/collective_calls.hpp"

#include <memory>

namespace foretrace::measure {
namespace {

constexpr std::uint64_t kDouble = sizeof(double);

// What all calls on one group are made of. The places of the data may move from
// one repetition to the next.
struct Common {
  MPI_Comm comm;
  bool root;
  int size;
  std::uint64_t bytes;
  int n;  // bytes, as a count
  Buffers* buffers;

  char* out() const { return buffers->send(); }
  char* in() const { return buffers->recv(); }
  std::uint64_t parts() const { return bytes * static_cast<std::uint64_t>(size); }
  int doubles() const { return static_cast<int>(bytes / kDouble); }
};

Common common_of(const Group& group, std::uint64_t bytes, Buffers& buffers) {
  return {group.comm, group.rank == 0, group.size, bytes, static_cast<int>(bytes), &buffers};
}

// Counts and displacements of the calls that take one for each rank.
struct Parts {
  std::vector<int> counts;
  std::vector<int> places;
};

std::shared_ptr<const Parts> equal_parts(const Common& c) {
  auto parts = std::make_shared<Parts>();
  for (int i = 0; i < c.size; ++i) {
    parts->counts.push_back(c.n);
    parts->places.push_back(i * c.n);
  }
  return parts;
}

// `doubles` shared out, the first ranks taking one more where it does not divide.
std::shared_ptr<const Parts> shares(const Common& c) {
  auto parts = std::make_shared<Parts>();
  for (int i = 0; i < c.size; ++i)
    parts->counts.push_back(c.doubles() / c.size + (i < c.doubles() % c.size));
  return parts;
}

}  // namespace

std::vector<CollectiveCall> usual_calls(const Group& group, std::uint64_t bytes, Buffers& buffers) {
  const Common c = common_of(group, bytes, buffers);
  std::vector<CollectiveCall> calls{
      {"bcast", true, c.root ? bytes : 0, bytes,
       [=] { MPI_Bcast(c.root ? c.out() : c.in(), c.n, MPI_CHAR, 0, c.comm); },
       [=](MPI_Request* r) { MPI_Ibcast(c.root ? c.out() : c.in(), c.n, MPI_CHAR, 0, c.comm, r); }},
      {"gather", true, bytes, c.root ? c.parts() : 0,
       [=] { MPI_Gather(c.out(), c.n, MPI_CHAR, c.in(), c.n, MPI_CHAR, 0, c.comm); },
       [=](MPI_Request* r) {
         MPI_Igather(c.out(), c.n, MPI_CHAR, c.in(), c.n, MPI_CHAR, 0, c.comm, r);
       }},
      {"scatter", true, c.root ? c.parts() : 0, bytes,
       [=] { MPI_Scatter(c.out(), c.n, MPI_CHAR, c.in(), c.n, MPI_CHAR, 0, c.comm); },
       [=](MPI_Request* r) {
         MPI_Iscatter(c.out(), c.n, MPI_CHAR, c.in(), c.n, MPI_CHAR, 0, c.comm, r);
       }},
      {"allgather", false, bytes, c.parts(),
       [=] { MPI_Allgather(c.out(), c.n, MPI_CHAR, c.in(), c.n, MPI_CHAR, c.comm); },
       [=](MPI_Request* r) {
         MPI_Iallgather(c.out(), c.n, MPI_CHAR, c.in(), c.n, MPI_CHAR, c.comm, r);
       }},
      {"alltoall", false, c.parts(), c.parts(),
       [=] { MPI_Alltoall(c.out(), c.n, MPI_CHAR, c.in(), c.n, MPI_CHAR, c.comm); },
       [=](MPI_Request* r) {
         MPI_Ialltoall(c.out(), c.n, MPI_CHAR, c.in(), c.n, MPI_CHAR, c.comm, r);
       }}};
  if (bytes % kDouble != 0) return calls;
  const int doubles = c.doubles();
  calls.push_back({"reduce", true, bytes, bytes,
                   [=] { MPI_Reduce(c.out(), c.in(), doubles, MPI_DOUBLE, MPI_SUM, 0, c.comm); },
                   [=](MPI_Request* r) {
                     MPI_Ireduce(c.out(), c.in(), doubles, MPI_DOUBLE, MPI_SUM, 0, c.comm, r);
                   }});
  calls.push_back({"allreduce", false, bytes, bytes,
                   [=] { MPI_Allreduce(c.out(), c.in(), doubles, MPI_DOUBLE, MPI_SUM, c.comm); },
                   [=](MPI_Request* r) {
                     MPI_Iallreduce(c.out(), c.in(), doubles, MPI_DOUBLE, MPI_SUM, c.comm, r);
                   }});
  return calls;
}

std::vector<CollectiveCall> other_calls(const Group& group, std::uint64_t bytes, Buffers& buffers) {
  const Common c = common_of(group, bytes, buffers);
  const auto p = equal_parts(c);
  std::vector<CollectiveCall> calls{
      {"gatherv", true, bytes, c.root ? c.parts() : 0,
       [=] {
         MPI_Gatherv(c.out(), c.n, MPI_CHAR, c.in(), p->counts.data(), p->places.data(), MPI_CHAR,
                     0, c.comm);
       },
       [=](MPI_Request* r) {
         MPI_Igatherv(c.out(), c.n, MPI_CHAR, c.in(), p->counts.data(), p->places.data(), MPI_CHAR,
                      0, c.comm, r);
       }},
      {"scatterv", true, c.root ? c.parts() : 0, bytes,
       [=] {
         MPI_Scatterv(c.out(), p->counts.data(), p->places.data(), MPI_CHAR, c.in(), c.n, MPI_CHAR,
                      0, c.comm);
       },
       [=](MPI_Request* r) {
         MPI_Iscatterv(c.out(), p->counts.data(), p->places.data(), MPI_CHAR, c.in(), c.n, MPI_CHAR,
                       0, c.comm, r);
       }},
      {"allgatherv", false, bytes, c.parts(),
       [=] {
         MPI_Allgatherv(c.out(), c.n, MPI_CHAR, c.in(), p->counts.data(), p->places.data(),
                        MPI_CHAR, c.comm);
       },
       [=](MPI_Request* r) {
         MPI_Iallgatherv(c.out(), c.n, MPI_CHAR, c.in(), p->counts.data(), p->places.data(),
                         MPI_CHAR, c.comm, r);
       }},
      {"alltoallv", false, c.parts(), c.parts(),
       [=] {
         MPI_Alltoallv(c.out(), p->counts.data(), p->places.data(), MPI_CHAR, c.in(),
                       p->counts.data(), p->places.data(), MPI_CHAR, c.comm);
       },
       [=](MPI_Request* r) {
         MPI_Ialltoallv(c.out(), p->counts.data(), p->places.data(), MPI_CHAR, c.in(),
                        p->counts.data(), p->places.data(), MPI_CHAR, c.comm, r);
       }}};
  if (bytes % kDouble != 0) return calls;
  const int doubles = c.doubles();
  const auto s = shares(c);
  calls.push_back(
      {"reduce_scatter", false, bytes, bytes,
       [=] { MPI_Reduce_scatter(c.out(), c.in(), s->counts.data(), MPI_DOUBLE, MPI_SUM, c.comm); },
       [=](MPI_Request* r) {
         MPI_Ireduce_scatter(c.out(), c.in(), s->counts.data(), MPI_DOUBLE, MPI_SUM, c.comm, r);
       }});
  calls.push_back({"scan", false, bytes, bytes,
                   [=] { MPI_Scan(c.out(), c.in(), doubles, MPI_DOUBLE, MPI_SUM, c.comm); },
                   [=](MPI_Request* r) {
                     MPI_Iscan(c.out(), c.in(), doubles, MPI_DOUBLE, MPI_SUM, c.comm, r);
                   }});
  calls.push_back({"exscan", false, bytes, bytes,
                   [=] { MPI_Exscan(c.out(), c.in(), doubles, MPI_DOUBLE, MPI_SUM, c.comm); },
                   [=](MPI_Request* r) {
                     MPI_Iexscan(c.out(), c.in(), doubles, MPI_DOUBLE, MPI_SUM, c.comm, r);
                   }});
  return calls;
}

CollectiveCall reduce_scatter_block_call(const Group& group, std::uint64_t bytes,
                                         Buffers& buffers) {
  const Common c = common_of(group, bytes, buffers);
  const int block = c.doubles() / c.size;
  return {"reduce_scatter_block",
          false,
          bytes,
          bytes,
          [=] { MPI_Reduce_scatter_block(c.out(), c.in(), block, MPI_DOUBLE, MPI_SUM, c.comm); },
          [=](MPI_Request* r) {
            MPI_Ireduce_scatter_block(c.out(), c.in(), block, MPI_DOUBLE, MPI_SUM, c.comm, r);
          }};
}

CollectiveCall barrier_call(const Group& group) {
  const MPI_Comm comm = group.comm;
  return {"barrier",
          false,
          0,
          0,
          [=] { MPI_Barrier(comm); },
          [=](MPI_Request* r) { MPI_Ibarrier(comm, r); }};
}

}  // namespace foretrace::measure
