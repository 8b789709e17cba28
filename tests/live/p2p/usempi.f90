! Fortran 90 with the module mpi: derived types, sections of arrays, communicators,
! allocatable buffers, MPI_BOTTOM, MPI_IN_PLACE, persistent requests, attributes.
! live: compare
program usempi
  use mpi
  implicit none
  integer :: ierr, rank, size, next, prev, i, failures = 0, column, comm, keyval
  integer :: requests(2), indices(2), done, total, half, n
  integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2)
  integer(kind=MPI_ADDRESS_KIND) :: address, value, lb, extent
  double precision :: matrix(6, 5), into(5)
  double precision, allocatable :: big(:), other(:)
  integer :: a, got
  logical :: flag
  character(len=MPI_MAX_PROCESSOR_NAME) :: name

  call MPI_Init_thread(MPI_THREAD_FUNNELED, i, ierr)
  call check(i >= MPI_THREAD_FUNNELED, 1)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)

  ! A row of a matrix that lies by columns.
  do i = 1, 5
    matrix(:, i) = rank * 100 + 10 * i + [1, 2, 3, 4, 5, 6]
  end do
  call MPI_Type_vector(5, 1, 6, MPI_DOUBLE_PRECISION, column, ierr)
  call MPI_Type_commit(column, ierr)
  call MPI_Type_get_extent(column, lb, extent, ierr)
  call check(lb == 0 .and. extent == 8 * 25, 2)
  call MPI_Sendrecv(matrix(3, 1), 1, column, next, 0, into, 5, MPI_DOUBLE_PRECISION, prev, 0, &
                    MPI_COMM_WORLD, status, ierr)
  call check(all(into == [(prev * 100 + 10 * i + 3, i = 1, 5)]), 3)
  call MPI_Type_free(column, ierr)

  allocate (big(200000), other(200000))
  big = rank
  call MPI_Recv_init(other, 200000, MPI_DOUBLE_PRECISION, prev, 4, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Send_init(big, 200000, MPI_DOUBLE_PRECISION, next, 4, MPI_COMM_WORLD, requests(2), ierr)
  do i = 1, 3
    other = -1
    call MPI_Startall(2, requests, ierr)
    n = 0
    do while (n < 2)
      call MPI_Waitsome(2, requests, done, indices, statuses, ierr)
      call check(done >= 1 .and. all(indices(1:done) >= 1) .and. all(indices(1:done) <= 2), 4)
      n = n + done
    end do
    call check(all(other == prev), 5)
  end do
  call MPI_Request_free(requests(1), ierr)
  call MPI_Request_free(requests(2), ierr)

  total = rank
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call check(total == size * (size - 1) / 2, 6)

  a = 1000 + rank
  got = -1
  call MPI_Get_address(a, address, ierr)
  call MPI_Type_create_hindexed(1, [1], [address], MPI_INTEGER, column, ierr)
  call MPI_Type_commit(column, ierr)
  call MPI_Sendrecv(MPI_BOTTOM, 1, column, next, 5, got, 1, MPI_INTEGER, prev, 5, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE, ierr)
  call check(got == 1000 + prev, 7)
  call MPI_Type_free(column, ierr)

  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierr)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND, ierr)
  call MPI_Comm_set_attr(half, keyval, 123456789012_MPI_ADDRESS_KIND, ierr)
  call MPI_Comm_dup(half, comm, ierr)
  value = 0
  call MPI_Comm_get_attr(comm, keyval, value, flag, ierr)
  call check(flag .and. value == 123456789012_MPI_ADDRESS_KIND, 8)
  call MPI_Comm_rank(comm, i, ierr)
  call check(i == rank / 2, 9)
  call MPI_Comm_free(comm, ierr)
  call MPI_Comm_free(half, ierr)
  call MPI_Comm_free_keyval(keyval, ierr)

  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call MPI_Send(a, 1, MPI_INTEGER, size, 0, MPI_COMM_WORLD, ierr)
  call check(ierr /= MPI_SUCCESS, 10)
  call MPI_Error_class(ierr, i, ierr)
  call check(i == MPI_ERR_RANK, 11)
  call MPI_Get_processor_name(name, n, ierr)
  call check(n > 0 .and. name(n + 1:) == ' ', 12)
  if (rank == 0) print *, 'total', total, 'of', size, 'ranks'
  call MPI_Finalize(ierr)
  if (failures /= 0) stop 1

contains

  subroutine check(condition, number)
    logical, intent(in) :: condition
    integer, intent(in) :: number
    if (condition) return
    failures = failures + 1
    write (0, *) 'usempi.f90: rank', rank, ': check', number, 'failed'
  end subroutine
end program
