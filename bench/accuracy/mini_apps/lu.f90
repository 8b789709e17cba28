! Dense LU with partial pivoting, rows dealt cyclically (rows stored as
! columns of a Fortran array).  Each step: MAXLOC for the pivot, Bcast of the
! pivot row.  The right-hand side is carried along; back substitution follows.
! Several systems are solved in turn.
! usage: lu [n [systems]]
program lu
  use mpi
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer :: ierr, rank, np, n, nl, i, j, k, il, piv, root, best, isys, nsys
  integer, allocatable :: perm(:), step_of(:)
  real(dp), allocatable :: a(:,:), prow(:), x(:)
  real(dp) :: t0, inp(2), outp(2), f, err, gerr, logdet
  character(len=32) :: arg
  logical :: bad

  call MPI_Init(ierr)
  t0 = MPI_Wtime()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  n = 320; nsys = 10
  if (rank == 0 .and. command_argument_count() >= 1) then
     call get_command_argument(1, arg); read(arg,*) n
  end if
  if (rank == 0 .and. command_argument_count() >= 2) then
     call get_command_argument(2, arg); read(arg,*) nsys
  end if
  call MPI_Bcast(n, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(nsys, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  nl = n / np
  if (rank < mod(n, np)) nl = nl + 1

  ! a(1:n, il) is row  (il-1)*np + rank ; a(n+1, il) its right-hand side
  allocate(a(n+1, nl), prow(n+1), x(n), perm(n), step_of(nl))
  err = 0
  systems: do isys = 1, nsys
  do il = 1, nl
     i = (il-1)*np + rank
     do j = 1, n
        a(j,il) = entry(i + isys*n, j-1)
     end do
     a(n+1,il) = 0
     do j = 1, n
        a(n+1,il) = a(n+1,il) + a(j,il) * solution(j)
     end do
  end do
  step_of = 0                       ! 0: row not yet used as pivot
  logdet = 0

  do k = 1, n
     best = 0; inp(1) = -1
     do il = 1, nl
        if (step_of(il) == 0 .and. abs(a(k,il)) > inp(1)) then
           inp(1) = abs(a(k,il)); best = il
        end if
     end do
     inp(2) = merge((best-1)*np + rank, n, best > 0)
     call MPI_Allreduce(inp, outp, 1, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD, ierr)
     piv = nint(outp(2)); root = mod(piv, np)
     perm(k) = piv
     if (outp(1) < 1.0e-12_dp) then
        if (rank == 0) write(*,*) 'lu: singular at step', k
        call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
     end if
     logdet = logdet + log(outp(1))
     if (rank == root) then
        step_of(piv/np + 1) = k
        prow(k:) = a(k:, piv/np + 1)
     end if
     call MPI_Bcast(prow(k), n+2-k, MPI_DOUBLE_PRECISION, root, MPI_COMM_WORLD, ierr)
     do il = 1, nl
        if (step_of(il) /= 0) cycle
        f = a(k,il) / prow(k)
        a(k,il) = f
        do j = k+1, n+1
           a(j,il) = a(j,il) - f * prow(j)
        end do
     end do
  end do

  ! back substitution, one unknown at a time
  do k = n, 1, -1
     root = mod(perm(k), np)
     if (rank == root) then
        il = perm(k)/np + 1
        x(k) = a(n+1,il) / a(k,il)
     end if
     call MPI_Bcast(x(k), 1, MPI_DOUBLE_PRECISION, root, MPI_COMM_WORLD, ierr)
     do il = 1, nl
        if (step_of(il) < k) a(n+1,il) = a(n+1,il) - a(k,il) * x(k)
     end do
  end do

  do j = 1, n
     err = max(err, abs(x(j) - solution(j)))
  end do
  end do systems
  call MPI_Reduce(err, gerr, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
  bad = .false.
  if (rank == 0) then
     bad = .not. (gerr < 1.0e-7_dp)
     write(*,'(a,i0,a,i0,a,f14.6,a,es9.2,a,f8.3,a)') 'lu n=', n, ' systems=', nsys, ' log|det|=', logdet, &
          ' maxerr', gerr, merge(' WRONG', ' ok   ', bad)//'  time ', MPI_Wtime()-t0, ' s'
  end if
  call MPI_Bcast(bad, 1, MPI_LOGICAL, 0, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  if (bad) stop 1

contains

  pure real(dp) function entry(r, c)
    integer, intent(in) :: r, c
    integer(kind=8) :: z
    z = mod(int(r,8)*1664525_8 + int(c,8)*22695477_8 + 1013904223_8, 4294967296_8)
    z = mod(ieor(z, ishft(z,-15)) * 2246822_8, 4294967296_8)
    z = mod(ieor(z, ishft(z,-13)) * 3266489_8 + 7_8, 4294967296_8)
    z = ieor(z, ishft(z,-16))
    entry = real(z, dp) / 4294967296.0_dp - 0.5_dp
  end function entry

  pure real(dp) function solution(j)
    integer, intent(in) :: j
    solution = 1.0_dp + 0.25_dp * mod(j, 4)
  end function solution
end program lu
