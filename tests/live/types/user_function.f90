! A user's reduction and derived types from Fortran: the function gets Fortran handles.
! live: ranks 1 2 4
program user_function
  use mpi
  implicit none
  integer :: op, pair, ierror, rank, size, i, wrong
  integer :: numbers(6), sums(6)
  integer :: expected_type
  common /handles/ expected_type, wrong
  external :: add_firsts
  wrong = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierror)
  call MPI_Type_commit(pair, ierror)
  expected_type = pair
  call MPI_Op_create(add_firsts, .true., op, ierror)
  do i = 1, 6
    numbers(i) = i
  end do
  sums = 0
  call MPI_Allreduce(numbers, sums, 3, pair, op, MPI_COMM_WORLD, ierror)
  do i = 1, 5, 2
    if (sums(i) /= size * i) wrong = wrong + 1
    if (sums(i + 1) /= i + 1) wrong = wrong + 1
  end do
  call MPI_Op_free(op, ierror)
  call MPI_Type_free(pair, ierror)
  call MPI_Finalize(ierror)
  if (wrong /= 0) then
    write (0, *) 'rank', rank, ':', wrong, 'wrong, sums are', sums
    stop 1
  end if
end program

subroutine add_firsts(in, inout, length, datatype)
  implicit none
  integer :: length, datatype, in(*), inout(*), i
  integer :: expected_type, wrong
  common /handles/ expected_type, wrong
  if (datatype /= expected_type) wrong = wrong + 1
  do i = 1, 2 * length, 2
    inout(i) = in(i) + inout(i)
  end do
end subroutine
