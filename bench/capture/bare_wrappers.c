/* The calls of bench_calls, passed on: what a wrapper costs that does nothing. */
#include <mpi.h>

int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  return PMPI_Comm_rank(comm, rank);
}
int MPI_Send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  return PMPI_Send(buf, count, type, dest, tag, comm);
}
int MPI_Recv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status* status) {
  return PMPI_Recv(buf, count, type, source, tag, comm, status);
}
int MPI_Isend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return PMPI_Isend(buf, count, type, dest, tag, comm, request);
}
int MPI_Irecv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return PMPI_Irecv(buf, count, type, source, tag, comm, request);
}
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  return PMPI_Waitall(count, requests, statuses);
}
int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  return PMPI_Allreduce(in, out, count, type, op, comm);
}
