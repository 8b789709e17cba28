! The forms of MPI in which Fortran differs from C, on two ranks: logicals,
! indices from 1, constants that are addresses, arrays of handles, callbacks,
! sections of arrays. With -DF08 through `use mpi_f08`, else `use mpi`.
#ifdef F08
#define HANDLE(kind) type(kind)
#define STATUS_OF(name) type(MPI_Status) :: name
#define STATUSES_OF(name, n) type(MPI_Status) :: name(n)
#define SOURCE_OF(name) name%MPI_SOURCE
#define TAG_OF(name) name%MPI_TAG
#define TAG_AT(name, i) name(i)%MPI_TAG
#else
#define HANDLE(kind) integer
#define STATUS_OF(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES_OF(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define SOURCE_OF(name) name(MPI_SOURCE)
#define TAG_OF(name) name(MPI_TAG)
#define TAG_AT(name, i) name(MPI_TAG, i)
#endif
module operation
contains
  subroutine add_twice(in, inout, length, datatype)
#ifdef F08
    use mpi_f08
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: in, inout
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(in, a, [length])
    call c_f_pointer(inout, b, [length])
    b = 2 * (a + b)
#else
    integer :: length, datatype, in(length), inout(length)
    inout = 2 * (in + inout)
#endif
  end subroutine
end module

program forms
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  use operation
  implicit none
  integer :: ierr, rank, other, i, bad, index, count, indices(4), provided
  integer :: numbers(4), all(4), grid(6, 6), ones(2), displs(2)
  logical :: flag
  double precision :: time
  asynchronous :: index, all  ! written while other calls are made
  HANDLE(MPI_Request) :: requests(4), persistent
  HANDLE(MPI_Comm) :: half, copy, cart
  HANDLE(MPI_Op) :: op
  HANDLE(MPI_Datatype) :: types(2)
  STATUS_OF(status)
  STATUSES_OF(statuses, 4)

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  other = 1 - rank
  bad = 0

  ! Requests completed in another order than posted, by index and by flag.
  do i = 1, 4
    numbers(i) = 10 * rank + i
    all(i) = -1
    call MPI_Irecv(all(i), 1, MPI_INTEGER, other, i, MPI_COMM_WORLD, requests(i), ierr)
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Ssend(numbers(3), 1, MPI_INTEGER, merge(other, MPI_PROC_NULL, rank == 0), 3, MPI_COMM_WORLD, ierr)
  if (rank == 1) then
    call MPI_Waitany(4, requests, index, status, ierr)
    if (.not. is_third(index) .or. TAG_OF(status) /= 3 .or. SOURCE_OF(status) /= 0) bad = bad + 1
    call MPI_Send(numbers(3), 1, MPI_INTEGER, 0, 3, MPI_COMM_WORLD, ierr)
  else
    call MPI_Waitsome(4, requests, count, indices, statuses, ierr)
    if (count /= 1 .or. .not. is_third(indices(1)) .or. TAG_AT(statuses, 1) /= 3) bad = bad + 1
  end if
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call send_the_rest()
  call MPI_Wait(requests(4), MPI_STATUS_IGNORE, ierr)
  call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierr)
  if (any(all /= [(10 * other + i, i = 1, 4)])) bad = bad + 2
  call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE, ierr)
  if (.not. flag .or. requests(1) /= MPI_REQUEST_NULL) bad = bad + 4

  ! A persistent request, started twice.
  call MPI_Recv_init(index, 1, MPI_INTEGER, other, 5, MPI_COMM_WORLD, persistent, ierr)
  do i = 1, 2
    call MPI_Start(persistent, ierr)
    call MPI_Send(i, 1, MPI_INTEGER, other, 5, MPI_COMM_WORLD, ierr)
    call MPI_Wait(persistent, status, ierr)
    if (index /= i .or. TAG_OF(status) /= 5) bad = bad + 8
  end do
  call MPI_Request_free(persistent, ierr)

  ! Both directions at once, in place, and from a section of an array.
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, other, 6, index, 1, MPI_INTEGER, other, 6, MPI_COMM_WORLD, status, ierr)
  if (index /= other) bad = bad + 16
  index = rank + 50
  call MPI_Sendrecv_replace(index, 1, MPI_INTEGER, other, 7, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  if (index /= other + 50) bad = bad + 32
  grid = rank
  grid(2, :) = 7 + rank
  call MPI_Bcast(grid(2, 1:6:2), 3, MPI_INTEGER, 1, MPI_COMM_WORLD, ierr)
  if (any(grid(2, 1:6:2) /= 8) .or. any(grid(2, 2:6:2) /= 7 + rank) .or. any(grid(1, :) /= rank)) bad = bad + 64
  numbers = 0
  numbers(rank + 1) = rank + 1
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, numbers, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  if (any(numbers(1:2) /= [1, 2])) bad = bad + 128
  ones = 1
  displs = [0, 4]
  types = MPI_INTEGER
  call MPI_Alltoallw(numbers, ones, displs, types, all, ones, displs, types, MPI_COMM_WORLD, ierr)
  if (any(all(1:2) /= rank + 1)) bad = bad + 256

  ! A callback, communicators, and the clock.
  call MPI_Op_create(add_twice, .true., op, ierr)
  call MPI_Allreduce(rank + 1, index, 1, MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
  call MPI_Op_free(op, ierr)
  if (index /= 6) bad = bad + 512
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, half, ierr)
  call MPI_Comm_dup(half, copy, ierr)
  index = rank
  call MPI_Bcast(index, 1, MPI_INTEGER, 0, copy, ierr)
  if (index /= 1) bad = bad + 1024
  call MPI_Comm_free(copy, ierr)
  call MPI_Comm_free(half, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [2], [.true.], .false., cart, ierr)
  call MPI_Cart_rank(cart, [3], index, ierr)
  if (index /= 1) bad = bad + 2048
  call MPI_Comm_free(cart, ierr)
  time = MPI_Wtime()
  if (MPI_Wtime() < time) bad = bad + 4096
  call MPI_Iprobe(other, 99, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierr)
  if (flag) bad = bad + 8192
  call MPI_Finalize(ierr)
  if (bad /= 0) print *, 'forms: rank', rank, 'faults', bad
  if (bad /= 0) stop 3
  if (rank == 0) print '(a)', 'forms: all checks passed'

contains
  ! MPICH 4.0's mpi_f08 counts these indices from 0.
  logical function is_third(index)
    integer, intent(in) :: index
    is_third = index == 3
#ifdef F08
    is_third = is_third .or. index == 2
#endif
  end function

  ! The rest of the four, latest first, each by its own request of a kind that
  ! MPIs share between messages that left at once.
  subroutine send_the_rest()
    HANDLE(MPI_Request) :: sends(3)
    integer, parameter :: tags(3) = [4, 2, 1]
    integer :: k
    do k = 1, 3
      call MPI_Isend(numbers(tags(k)), 1, MPI_INTEGER, other, tags(k), MPI_COMM_WORLD, sends(k), ierr)
    end do
    do k = 3, 1, -1
      call MPI_Wait(sends(k), MPI_STATUS_IGNORE, ierr)
    end do
  end subroutine
end program
