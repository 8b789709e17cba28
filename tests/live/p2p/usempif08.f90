! Fortran 2008 with the module mpi_f08: typed handles and statuses, sections that are not
! contiguous in non-blocking calls, optional ierror, user-defined reductions, comparison of handles.
! live: compare
module reductions
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
contains
  subroutine longest(in, inout, length, datatype)
    type(c_ptr), value :: in, inout
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(in, a, [length])
    call c_f_pointer(inout, b, [length])
    b = max(a, b)
  end subroutine
end module

program usempif08
  use mpi_f08
  use reductions
  implicit none
  integer :: rank, size, next, prev, i, failures = 0, count, least, ierr
  type(MPI_Request) :: requests(4)
  type(MPI_Status) :: status, statuses(4)
  type(MPI_Comm) :: comm
  type(MPI_Op) :: op
  type(MPI_Datatype) :: pair
  type(MPI_Message) :: message
  integer, asynchronous :: matrix(4, 4), into(4), values(2)
  logical :: flag

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call check(comm /= MPI_COMM_WORLD, 1)

  matrix = reshape([(100 * rank + i, i = 1, 16)], [4, 4])
  do i = 1, 4
    call MPI_Irecv(into(i), 1, MPI_INTEGER, prev, i, comm, requests(i))
  end do
  do i = 4, 1, -1
    call MPI_Send(matrix(2, i), 1, MPI_INTEGER, next, i, comm)
  end do
  call MPI_Waitall(4, requests, statuses)
  do i = 1, 4
    call check(statuses(i)%MPI_TAG == i, 2)
    call check(statuses(i)%MPI_SOURCE == prev, 3)
  end do
  call check(requests(1) == MPI_REQUEST_NULL, 4)
  call check(all(into == [(100 * prev + 4 * (i - 1) + 2, i = 1, 4)]), 5)

  call MPI_Type_contiguous(2, MPI_INTEGER, pair)
  call MPI_Type_commit(pair)
  values = [rank, rank * rank]
  call MPI_Isend(values, 1, pair, next, 7, comm, requests(1))
  call MPI_Mprobe(MPI_ANY_SOURCE, 7, comm, message, status)
  call MPI_Get_count(status, pair, count)
  call check(count == 1, 6)
  call MPI_Mrecv(into, 1, pair, message, status)
  call check(into(1) == prev .and. into(2) == prev * prev, 7)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
  call MPI_Type_free(pair)

  call MPI_Op_create(longest, .true., op)
  call MPI_Allreduce(rank, i, 1, MPI_INTEGER, op, comm)
  call check(i == size - 1, 8)
  call MPI_Op_free(op)
  call MPI_Iallreduce(rank, least, 1, MPI_INTEGER, MPI_MIN, comm, requests(1))
  flag = .false.
  do while (.not. flag)
    call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE)
  end do
  call check(least == 0, 9)
  call MPI_Ibarrier(comm, requests(1))
  call MPI_Waitall(1, requests, statuses)

  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
  call MPI_Send(rank, 1, MPI_INTEGER, size + 3, 0, comm, ierr)
  call check(ierr /= MPI_SUCCESS, 10)
  call MPI_Comm_free(comm)
  call check(comm == MPI_COMM_NULL, 11)
  if (rank == 0) print *, 'ranks', size
  call MPI_Finalize()
  if (failures /= 0) stop 1

contains

  subroutine check(condition, number)
    logical, intent(in) :: condition
    integer, intent(in) :: number
    if (condition) return
    failures = failures + 1
    write (0, *) 'usempif08.f90: rank', rank, ': check', number, 'failed'
  end subroutine
end program
