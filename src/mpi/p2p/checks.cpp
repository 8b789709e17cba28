#include "mpi/p2p/checks.hpp"

#include <string>

#include "mpi/abi/largest_tag.hpp"

namespace foretrace::mpi {
namespace {

int check_buffer(Comm* comm, const void* buf, int count, MPI_Datatype datatype, Datatype*& type) {
  type = get(datatype);
#ifdef MPICH
  if (count == 0 && datatype == MPI_DATATYPE_NULL) type = get(MPI_BYTE);  // it takes no look at it
#endif
  if (count < 0)
    return raise(comm, MPI_ERR_COUNT, "count " + std::to_string(count) + ", expected 0 or more");
  if (!type) return raise(comm, MPI_ERR_TYPE, "the datatype is not valid");
  if (!type->committed) return raise(comm, MPI_ERR_TYPE, "the datatype is not committed");
  // Where displacements are absolute, MPI_BOTTOM is a buffer.
  if (buf == nullptr && count > 0 && type->size > 0 && type->dense)
    return raise(comm, MPI_ERR_BUFFER, "no buffer, but " + std::to_string(count) + " elements");
  return MPI_SUCCESS;
}

std::string range(const Comm& comm) {
  return "expected 0 to " + std::to_string(comm.partners().size() - 1);
}

}  // namespace

Checked check_send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm handle) {
  Checked result;
  Comm* comm = result.comm = get(handle);
  if (!comm) {
    result.error = raise(comm, MPI_ERR_COMM, "the communicator is not valid");
  } else if (dest != MPI_PROC_NULL && (dest < 0 || dest >= comm->partners().size())) {
    result.error =
        raise(comm, MPI_ERR_RANK, "destination " + std::to_string(dest) + ", " + range(*comm));
  } else if (tag < 0 || tag > kLargestTag) {
    result.error =
        raise(comm, MPI_ERR_TAG,
              "tag " + std::to_string(tag) + ", expected 0 to " + std::to_string(kLargestTag));
  } else {
    result.error = check_buffer(comm, buf, count, datatype, result.type);
  }
  return result;
}

Checked check_source(int source, int tag, MPI_Comm handle) {
  Checked result;
  Comm* comm = result.comm = get(handle);
  if (!comm) {
    result.error = raise(comm, MPI_ERR_COMM, "the communicator is not valid");
  } else if (source != MPI_PROC_NULL && source != MPI_ANY_SOURCE &&
             (source < 0 || source >= comm->partners().size())) {
    result.error =
        raise(comm, MPI_ERR_RANK, "source " + std::to_string(source) + ", " + range(*comm));
  } else if (tag < 0 && tag != MPI_ANY_TAG) {
    result.error = raise(comm, MPI_ERR_TAG,
                         "tag " + std::to_string(tag) + ", expected 0 or more, or MPI_ANY_TAG");
  }
  return result;
}

Checked check_recv(const void* buf, int count, MPI_Datatype datatype, int source, int tag,
                   MPI_Comm handle) {
  Checked result = check_source(source, tag, handle);
  if (result) result.error = check_buffer(result.comm, buf, count, datatype, result.type);
  return result;
}

}  // namespace foretrace::mpi
