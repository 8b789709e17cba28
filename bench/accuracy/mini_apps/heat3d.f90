! 3-D heat equation, explicit Euler, 3-D Cartesian decomposition,
! faces exchanged with subarray datatypes and Isend/Irecv/Waitall.
! usage: heat3d [n [steps]]
program heat3d
  use mpi
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer :: ierr, rank, nprocs, cart, n, steps, it, i, j, k, d, s, nreq
  integer :: dims(3), coords(3), lo(3), ln(3), nbr(2,3)
  integer :: sizes(3), sub(3), st(3), sndt(2,3), rcvt(2,3), req(12)
  logical :: periods(3)
  character(len=32) :: arg
  real(dp), allocatable :: u(:,:,:), w(:,:,:)
  real(dp) :: h, r, amp, err, gerr, pi, t0, heat, gheat
  logical :: bad

  call MPI_Init(ierr)
  t0 = MPI_Wtime()
  n = 40; steps = 2000
  if (command_argument_count() >= 1) then
     call get_command_argument(1, arg); read(arg,*) n
  end if
  if (command_argument_count() >= 2) then
     call get_command_argument(2, arg); read(arg,*) steps
  end if
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  dims = 0; periods = .false.
  call MPI_Dims_create(nprocs, 3, dims, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, .true., cart, ierr)
  call MPI_Comm_rank(cart, rank, ierr)
  call MPI_Cart_coords(cart, rank, 3, coords, ierr)
  do d = 1, 3
     call MPI_Cart_shift(cart, d-1, 1, nbr(1,d), nbr(2,d), ierr)
     ln(d) = n / dims(d)
     lo(d) = coords(d) * ln(d) + min(coords(d), mod(n, dims(d)))
     if (coords(d) < mod(n, dims(d))) ln(d) = ln(d) + 1
  end do
  if (any(dims > n)) call MPI_Abort(MPI_COMM_WORLD, 2, ierr)

  allocate(u(0:ln(1)+1, 0:ln(2)+1, 0:ln(3)+1), w(0:ln(1)+1, 0:ln(2)+1, 0:ln(3)+1))
  pi = acos(-1.0_dp); h = 1.0_dp / (n + 1); r = 0.15_dp
  u = 0; w = 0
  do k = 1, ln(3)
     do j = 1, ln(2)
        do i = 1, ln(1)
           u(i,j,k) = sin(pi*h*(lo(1)+i)) * sin(2*pi*h*(lo(2)+j)) * sin(pi*h*(lo(3)+k))
        end do
     end do
  end do

  ! face types: side 1 is low, side 2 is high
  sizes = ln + 2
  do d = 1, 3
     do s = 1, 2
        sub = ln; sub(d) = 1
        st = 1
        st(d) = merge(1, ln(d), s == 1)
        call MPI_Type_create_subarray(3, sizes, sub, st, MPI_ORDER_FORTRAN, &
             MPI_DOUBLE_PRECISION, sndt(s,d), ierr)
        call MPI_Type_commit(sndt(s,d), ierr)
        st(d) = merge(0, ln(d)+1, s == 1)
        call MPI_Type_create_subarray(3, sizes, sub, st, MPI_ORDER_FORTRAN, &
             MPI_DOUBLE_PRECISION, rcvt(s,d), ierr)
        call MPI_Type_commit(rcvt(s,d), ierr)
     end do
  end do

  do it = 1, steps
     call exchange(u)
     do k = 1, ln(3)
        do j = 1, ln(2)
           do i = 1, ln(1)
              w(i,j,k) = u(i,j,k) + r * (u(i-1,j,k) + u(i+1,j,k) + u(i,j-1,k) &
                   + u(i,j+1,k) + u(i,j,k-1) + u(i,j,k+1) - 6.0_dp * u(i,j,k))
           end do
        end do
     end do
     u(1:ln(1),1:ln(2),1:ln(3)) = w(1:ln(1),1:ln(2),1:ln(3))
     if (mod(it, 100) == 0) then
        heat = sum(abs(u(1:ln(1),1:ln(2),1:ln(3)))) * h**3
        call MPI_Reduce(heat, gheat, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, cart, ierr)
        if (rank == 0 .and. mod(it, 500) == 0) &
             write(*,'(a,i6,a,es14.6)') ' step', it, '  |heat| ', gheat
     end if
  end do

  ! the start is an eigenvector of the discrete operator
  amp = (1.0_dp - r*(4*(1-cos(pi*h)) + 2*(1-cos(2*pi*h))))**steps
  err = 0
  do k = 1, ln(3)
     do j = 1, ln(2)
        do i = 1, ln(1)
           err = max(err, abs(u(i,j,k) - amp * sin(pi*h*(lo(1)+i)) &
                * sin(2*pi*h*(lo(2)+j)) * sin(pi*h*(lo(3)+k))))
        end do
     end do
  end do
  call MPI_Allreduce(err, gerr, 1, MPI_DOUBLE_PRECISION, MPI_MAX, cart, ierr)
  bad = .not. (gerr < 1.0e-10_dp)
  if (rank == 0) write(*,'(a,i0,a,3i3,a,es10.2,a,f8.3,a)') 'heat3d n=', n, ' dims', dims, &
       ' maxerr', gerr, merge(' WRONG', ' ok   ', bad)//'  time ', MPI_Wtime()-t0, ' s'
  do d = 1, 3
     do s = 1, 2
        call MPI_Type_free(sndt(s,d), ierr)
        call MPI_Type_free(rcvt(s,d), ierr)
     end do
  end do
  call MPI_Finalize(ierr)
  if (bad) stop 1

contains

  subroutine exchange(a)
    real(dp), intent(inout), asynchronous :: a(0:,0:,0:)
    integer :: dd, ss
    nreq = 0
    do dd = 1, 3
       do ss = 1, 2
          if (nbr(ss,dd) == MPI_PROC_NULL) cycle
          nreq = nreq + 1
          call MPI_Irecv(a, 1, rcvt(ss,dd), nbr(ss,dd), 10*dd + ss, cart, req(nreq), ierr)
       end do
    end do
    do dd = 1, 3
       do ss = 1, 2
          if (nbr(ss,dd) == MPI_PROC_NULL) cycle
          nreq = nreq + 1
          call MPI_Isend(a, 1, sndt(ss,dd), nbr(ss,dd), 10*dd + (3-ss), cart, req(nreq), ierr)
       end do
    end do
    call MPI_Waitall(nreq, req, MPI_STATUSES_IGNORE, ierr)
  end subroutine exchange
end program heat3d
