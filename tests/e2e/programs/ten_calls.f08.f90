! Ten different calls of MPI through `use mpi_f08`, without ierror: see ten_calls.f.
program ten_calls
  use mpi_f08
  implicit none
  integer :: rank, other, i, bad, total
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status, statuses(2)
  double precision :: out(100), in(100), in2(100)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  bad = 0
  other = 1 - rank
  out = [(1000 * rank + i, i = 1, 100)]
  if (rank == 0) then
    call MPI_Send(out, 100, MPI_DOUBLE_PRECISION, 1, 7, MPI_COMM_WORLD)
    call MPI_Recv(in, 100, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status)
    if (status%MPI_SOURCE /= 1 .or. status%MPI_TAG /= 8) bad = bad + 1
  else
    call MPI_Recv(in, 100, MPI_DOUBLE_PRECISION, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Send(out, 100, MPI_DOUBLE_PRECISION, 0, 8, MPI_COMM_WORLD)
  end if
  bad = bad + count(in /= [(1000 * other + i, i = 1, 100)])
  call MPI_Irecv(in2, 50, MPI_DOUBLE_PRECISION, other, 9, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(out, 50, MPI_DOUBLE_PRECISION, other, 9, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, statuses)
  if (statuses(1)%MPI_TAG /= 9 .or. requests(1) /= MPI_REQUEST_NULL) bad = bad + 1
  bad = bad + count(in2(1:50) /= [(1000 * other + i, i = 1, 50)])
  total = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (total /= 3) bad = bad + 1
  total = 40 + rank
  call MPI_Bcast(total, 1, MPI_INTEGER, 1, MPI_COMM_WORLD)
  if (total /= 41) bad = bad + 1
  call MPI_Finalize()
  if (bad /= 0) stop 3
  if (rank == 0) print '(a)', 'ten_calls: all checks passed'
end program
