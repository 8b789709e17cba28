! Ten different calls of MPI through `use mpi`: see ten_calls.f.
program ten_calls
  use mpi
  implicit none
  integer :: ierr, rank, other, i, bad, total
  integer :: requests(2), status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2)
  double precision :: out(100), in(100), in2(100)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  bad = 0
  other = 1 - rank
  out = [(1000 * rank + i, i = 1, 100)]
  if (rank == 0) then
    call MPI_Send(out, 100, MPI_DOUBLE_PRECISION, 1, 7, MPI_COMM_WORLD, ierr)
    call MPI_Recv(in, 100, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierr)
    if (status(MPI_SOURCE) /= 1 .or. status(MPI_TAG) /= 8) bad = bad + 1
  else
    call MPI_Recv(in, 100, MPI_DOUBLE_PRECISION, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Send(out, 100, MPI_DOUBLE_PRECISION, 0, 8, MPI_COMM_WORLD, ierr)
  end if
  bad = bad + count(in /= [(1000 * other + i, i = 1, 100)])
  call MPI_Irecv(in2, 50, MPI_DOUBLE_PRECISION, other, 9, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Isend(out, 50, MPI_DOUBLE_PRECISION, other, 9, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Waitall(2, requests, statuses, ierr)
  if (statuses(MPI_TAG, 1) /= 9 .or. requests(1) /= MPI_REQUEST_NULL) bad = bad + 1
  bad = bad + count(in2(1:50) /= [(1000 * other + i, i = 1, 50)])
  total = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (total /= 3) bad = bad + 1
  total = 40 + rank
  call MPI_Bcast(total, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, ierr)
  if (total /= 41) bad = bad + 1
  call MPI_Finalize(ierr)
  if (bad /= 0) stop 3
  if (rank == 0) print '(a)', 'ten_calls: all checks passed'
end program
