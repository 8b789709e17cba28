#include "mpi/abi/large_count.hpp"

#include <climits>
#include <string>

#include "mpi/comm/comm.hpp"
#include "mpi/core/error.hpp"
#include "mpi/datatype/datatype.hpp"

namespace foretrace::mpi::abi {

void too_large(const char* function, const char* parameter, std::int64_t value) {
  const std::string what = std::string(parameter) + " " + std::to_string(value);
  missing(function, what.c_str());
}

Counted::Counted(MPI_Count large_count, MPI_Datatype element) : count(0), type(element) {
  if (large_count >= INT_MIN && large_count <= INT_MAX) {
    count = static_cast<int>(large_count);
    return;
  }
  Datatype* const datatype = get(element);
  if (large_count < 0) {
    count = -1;
  } else if (datatype) {
    contiguous_ = make_contiguous(large_count, *datatype);
    count = 1;
    type = handle_of(contiguous_);
  }
  // What is no datatype is left for the int form to refuse.
}

Counted::~Counted() {
  release(contiguous_);
}

int members_of(MPI_Comm comm) {
  Comm* const object = get(comm);
  return object ? object->size() : 0;
}

int partners_of(MPI_Comm comm) {
  Comm* const object = get(comm);
  return object ? object->partners().size() : 0;
}

int partners_at_root_of(MPI_Comm comm, int root) {
  Comm* const object = get(comm);
  if (!object || root != (object->is_inter() ? MPI_ROOT : object->rank)) return 0;
  return object->partners().size();
}

namespace {
int graph_neighbours(const Comm& comm) {
  const auto& index = comm.graph->index;
  const auto rank = static_cast<std::size_t>(comm.rank);
  return index[rank] - (rank > 0 ? index[rank - 1] : 0);
}

int neighbours_of(MPI_Comm comm, bool sources) {
  Comm* const object = get(comm);
  if (!object) return 0;
  if (object->cartesian) return 2 * static_cast<int>(object->cartesian->dims.size());
  if (object->graph) return graph_neighbours(*object);
  if (!object->neighbours) return 0;
  const auto& ranks = sources ? object->neighbours->sources : object->neighbours->destinations;
  return static_cast<int>(ranks.size());
}
}  // namespace

int sources_of(MPI_Comm comm) {
  return neighbours_of(comm, true);
}

int destinations_of(MPI_Comm comm) {
  return neighbours_of(comm, false);
}

}  // namespace foretrace::mpi::abi
