! A datatype for each member: Open MPI's Fortran library looks up by itself how many members the
! communicator has, and MPI's own number of them differs between both groups of another.
program alltoallw
  use mpi
  implicit none
  integer, parameter :: most = 8
  integer :: rank, ranks, group, half, between, request, i, ierr
  integer :: sent(most), got(most), one(most), places(most), types(most)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  one = 1
  places = [(4 * i, i = 0, most - 1)]
  types = MPI_INTEGER
  sent = [(100 * rank + i, i = 0, most - 1)]

  got = -1
  call MPI_Alltoallw(sent, one, places, types, got, one, places, types, MPI_COMM_WORLD, ierr)
  call check(ranks, [(100 * i + rank, i = 0, most - 1)])
  got = -1
  call MPI_Ialltoallw(sent, one, places, types, got, one, places, types, MPI_COMM_WORLD, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call check(ranks, [(100 * i + rank, i = 0, most - 1)])

  ! Rank 0 alone, and all others: what a member has of the other group, by its rank there.
  if (ranks > 1) then
    group = min(rank, 1)
    call MPI_Comm_split(MPI_COMM_WORLD, group, rank, half, ierr)
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - group, 5, between, ierr)
    got = -1
    call MPI_Alltoallw(sent, one, places, types, got, one, places, types, between, ierr)
    if (rank == 0) then
      call check(ranks - 1, [(100 * i, i = 1, most)])
    else
      call check(1, [(rank - 1, i = 1, most)])
    end if
    call MPI_Comm_free(between, ierr)
    call MPI_Comm_free(half, ierr)
  end if
  if (rank == 0) print '(a)', 'ok'
  call MPI_Finalize(ierr)

contains
  subroutine check(members, expected)
    integer, intent(in) :: members, expected(most)
    if (any(got(1:members) /= expected(1:members)) .or. any(got(members + 1:) /= -1)) stop 1
  end subroutine
end program
