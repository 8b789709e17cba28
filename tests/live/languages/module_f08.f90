! Module mpi_f08: handles and statuses are derived types.
module functions
  use mpi_f08
  implicit none
  integer :: deleted = 0, errors_seen = 0
contains
  subroutine copy(oldcomm, keyval, extra, in, out, flag, ierr)
    type(MPI_Comm) :: oldcomm
    integer :: keyval, ierr
    integer(kind=MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    out = in + extra
    flag = .true.
    ierr = MPI_SUCCESS
  end subroutine

  subroutine delete(comm, keyval, value, extra, ierr)
    type(MPI_Comm) :: comm
    integer :: keyval, ierr
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    deleted = deleted + int(value)
    ierr = MPI_SUCCESS
  end subroutine

  subroutine on_error(comm, code)
    type(MPI_Comm) :: comm
    integer :: code
    if (code /= MPI_SUCCESS) errors_seen = errors_seen + 1
  end subroutine

  subroutine check(good, what)
    logical :: good
    character(len=*) :: what
    if (.not. good) then
      write (0, *) 'wrong: ', what
      stop 1
    end if
  end subroutine
end module

program module_f08
  use mpi_f08
  use functions
  implicit none
  type(MPI_Comm) :: comm, other
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status, statuses(2)
  type(MPI_Datatype) :: column
  type(MPI_Errhandler) :: handler
  type(MPI_Group) :: group
  type(MPI_Info) :: info
  integer :: rank, ranks, left, right, got, count, key, length
  integer(kind=MPI_ADDRESS_KIND) :: extra, value
  logical :: flag
  real(8) :: matrix(3, 4), row(4)
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=16) :: text

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)

  call MPI_Irecv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(rank, 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, statuses)
  call check(got == left .and. statuses(1)%MPI_SOURCE == left, 'waitall')
  call check(requests(1) == MPI_REQUEST_NULL, 'request null')
  call MPI_Get_count(statuses(1), MPI_INTEGER, count)
  call check(count == 1, 'count')
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, right, 4, got, 1, MPI_INTEGER, left, 4, MPI_COMM_WORLD, &
       MPI_STATUS_IGNORE)
  call check(got == left, 'sendrecv')
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, right, 5, got, 1, MPI_INTEGER, left, 5, MPI_COMM_WORLD, &
       status)
  call check(status%MPI_TAG == 5 .and. status%MPI_SOURCE == left, 'status')

  count = 1
  call MPI_Allreduce(MPI_IN_PLACE, count, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check(count == ranks, 'allreduce in place')

  ! A row of a matrix.
  matrix = 0
  row = (/1, 2, 3, 4/) + rank
  call MPI_Type_vector(4, 1, 3, MPI_REAL8, column)
  call MPI_Type_commit(column)
  call MPI_Sendrecv(row, 4, MPI_REAL8, right, 6, matrix(2, 1), 1, column, left, 6, MPI_COMM_WORLD, &
       MPI_STATUS_IGNORE)
  call check(all(matrix(2, :) == (/1, 2, 3, 4/) + left) .and. all(matrix(1, :) == 0), 'vector')
  call MPI_Type_free(column)
  call check(column == MPI_DATATYPE_NULL, 'type null')

  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  extra = 10
  call MPI_Comm_create_keyval(copy, delete, key, extra)
  value = 5
  call MPI_Comm_set_attr(comm, key, value)
  call MPI_Comm_dup(comm, other)
  call MPI_Comm_get_attr(other, key, value, flag)
  call check(flag .and. value == 15, 'attribute')
  call MPI_Comm_free(other)
  call check(deleted == 15, 'delete function')
  call check(other == MPI_COMM_NULL, 'comm null')
  call MPI_Comm_set_name(comm, 'comm of f08')
  call MPI_Comm_get_name(comm, name, length)
  call check(name == 'comm of f08' .and. length == 11, 'name')

  call MPI_Comm_create_errhandler(on_error, handler)
  call MPI_Comm_set_errhandler(comm, handler)
  call MPI_Send(rank, 1, MPI_INTEGER, ranks + 1, 0, comm, got)
  call check(errors_seen == 1 .and. got /= MPI_SUCCESS, 'error handler')
  call MPI_Errhandler_free(handler)

  call MPI_Info_create(info)
  call MPI_Info_set(info, 'a', 'b c')
  call MPI_Info_get(info, 'a', 16, text, flag)
  call check(flag .and. text == 'b c', 'info')
  call MPI_Info_free(info)
  call MPI_Comm_group(comm, group)
  call MPI_Group_rank(group, got)
  call check(got == rank, 'group')
  call MPI_Group_free(group)
  call MPI_Comm_free(comm)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Finalize()
end program
