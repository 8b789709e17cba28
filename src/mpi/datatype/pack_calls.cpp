// MPI_Pack and MPI_Unpack; their packed data is the plain bytes of the type map.
#include <climits>
#include <string>

#include "live_impl.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/description.hpp"

namespace foretrace::mpi {
namespace {

struct PackCall {
  PackCall(MPI_Comm handle, MPI_Datatype datatype, MPI_Count count) {
    comm = get(handle);
    if (!comm) {
      error = raise(comm, MPI_ERR_COMM,
                    handle == MPI_COMM_NULL ? "the communicator is MPI_COMM_NULL"
                                            : "the communicator is no valid handle");
      return;
    }
    type = get(datatype);
    if (!type)
      error = raise(comm, MPI_ERR_TYPE, "the datatype is no valid handle");
    else if (!type->committed)
      error = raise(comm, MPI_ERR_TYPE, "the datatype is not committed");
    else if (count < 0)
      error =
          raise(comm, MPI_ERR_COUNT, "count " + std::to_string(count) + ", expected at least 0");
  }

  int check_room(MPI_Count size, MPI_Count position, std::uint64_t bytes) const {
    if (position < 0)
      return raise(comm, MPI_ERR_ARG,
                   "position " + std::to_string(position) + ", expected at least 0");
    const MPI_Count room = size > position ? size - position : 0;
    if (static_cast<std::uint64_t>(room) >= bytes) return MPI_SUCCESS;
    return raise(comm, MPI_ERR_TRUNCATE,
                 std::to_string(bytes) + " bytes from position " + std::to_string(position) +
                     " on do not fit in a buffer of " + std::to_string(size));
  }

  int check_pointers(const void* buffer, const void* packed, const void* position,
                     std::uint64_t bytes) const {
    if (!position) return raise(comm, MPI_ERR_ARG, "position is a null pointer");
    // A null buffer may be MPI_BOTTOM; the packed one cannot.
    if (bytes > 0 && (!packed || (!buffer && type->basic)))
      return raise(comm, MPI_ERR_BUFFER, "a buffer is a null pointer");
    return MPI_SUCCESS;
  }

  Comm* comm = nullptr;
  Datatype* type = nullptr;
  int error = MPI_SUCCESS;
};

template <class Number>
int pack_call(const void* inbuf, Number count, MPI_Datatype datatype, void* outbuf, Number outsize,
              Number* position, MPI_Comm comm) {
  const PackCall call(comm, datatype, count);
  if (call.error) return call.error;
  const std::uint64_t bytes = packed_bytes(count, *call.type);
  if (int error = call.check_pointers(inbuf, outbuf, position, bytes)) return error;
  if (int error = call.check_room(outsize, *position, bytes)) return error;
  pack(inbuf, count, *call.type, static_cast<std::byte*>(outbuf) + *position);
  *position += static_cast<Number>(bytes);
  return MPI_SUCCESS;
}

template <class Number>
int unpack_call(const void* inbuf, Number insize, Number* position, void* outbuf, Number count,
                MPI_Datatype datatype, MPI_Comm comm) {
  const PackCall call(comm, datatype, count);
  if (call.error) return call.error;
  const std::uint64_t bytes = packed_bytes(count, *call.type);
  if (int error = call.check_pointers(outbuf, inbuf, position, bytes)) return error;
  if (int error = call.check_room(insize, *position, bytes)) return error;
  unpack(static_cast<const std::byte*>(inbuf) + *position, bytes, outbuf, count, *call.type);
  *position += static_cast<Number>(bytes);
  return MPI_SUCCESS;
}

int pack_size(MPI_Count count, MPI_Datatype datatype, MPI_Comm comm, MPI_Count limit,
              MPI_Count* size) {
  const PackCall call(comm, datatype, count);
  if (call.error) return call.error;
  const std::uint64_t bytes = packed_bytes(count, *call.type);
  *size = bytes > static_cast<std::uint64_t>(limit) ? MPI_UNDEFINED : static_cast<MPI_Count>(bytes);
  return MPI_SUCCESS;
}

}  // namespace

namespace impl {

int Pack(const void* inbuf, int count, MPI_Datatype datatype, void* outbuf, int outsize,
         int* position, MPI_Comm comm) {
  return pack_call(inbuf, count, datatype, outbuf, outsize, position, comm);
}

int Unpack(const void* inbuf, int insize, int* position, void* outbuf, int count,
           MPI_Datatype datatype, MPI_Comm comm) {
  return unpack_call(inbuf, insize, position, outbuf, count, datatype, comm);
}

int Pack_size(int count, MPI_Datatype datatype, MPI_Comm comm, int* size) {
  if (int error = check_result(size, "size")) return error;
  MPI_Count bytes = 0;
  if (int error = pack_size(count, datatype, comm, INT_MAX, &bytes)) return error;
  *size = static_cast<int>(bytes);
  return MPI_SUCCESS;
}

#if MPI_VERSION >= 4
int Pack_c(const void* inbuf, MPI_Count count, MPI_Datatype datatype, void* outbuf,
           MPI_Count outsize, MPI_Count* position, MPI_Comm comm) {
  return pack_call(inbuf, count, datatype, outbuf, outsize, position, comm);
}

int Unpack_c(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
             MPI_Count count, MPI_Datatype datatype, MPI_Comm comm) {
  return unpack_call(inbuf, insize, position, outbuf, count, datatype, comm);
}

int Pack_size_c(MPI_Count count, MPI_Datatype datatype, MPI_Comm comm, MPI_Count* size) {
  if (int error = check_result(size, "size")) return error;
  return pack_size(count, datatype, comm, LLONG_MAX, size);
}
#endif

}  // namespace impl
}  // namespace foretrace::mpi
