! Lattice Boltzmann D2Q9 (BGK), periodic Taylor-Green vortex.
! The domain is cut into slabs in y; the three populations that leave through
! each side are packed and exchanged every step.
! usage: lbm [n [steps]]
module d2q9
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer, parameter :: cx(0:8) = [0, 1, 0,-1, 0, 1,-1,-1, 1]
  integer, parameter :: cy(0:8) = [0, 0, 1, 0,-1, 1, 1,-1,-1]
  real(dp), parameter :: w(0:8) = [4.0_dp/9, 1.0_dp/9, 1.0_dp/9, 1.0_dp/9, 1.0_dp/9, &
       1.0_dp/36, 1.0_dp/36, 1.0_dp/36, 1.0_dp/36]
  real(dp), parameter :: tau = 0.8_dp, nu = (tau - 0.5_dp)/3.0_dp
contains
  pure real(dp) function feq(q, rho, ux, uy)
    integer, intent(in) :: q
    real(dp), intent(in) :: rho, ux, uy
    real(dp) :: cu
    cu = 3.0_dp * (cx(q)*ux + cy(q)*uy)
    feq = w(q) * rho * (1.0_dp + cu + 0.5_dp*cu*cu - 1.5_dp*(ux*ux + uy*uy))
  end function feq
end module d2q9

program lbm
  use mpi
  use d2q9
  implicit none
  integer :: ierr, rank, np, n, steps, ny, y0, i, j, q, s, below, above, req(4), m
  integer, parameter :: upq(3) = [2,5,6], dnq(3) = [4,7,8]
  real(dp), allocatable :: f(:,:,:), g(:,:,:), sup(:,:), sdn(:,:), rup(:,:), rdn(:,:)
  real(dp) :: t0, pi, kk, rho, ux, uy, x, y, loc(2), e0(2), e1(2), ratio, expect, cu, drift
  real(dp), parameter :: u0 = 0.02_dp
  character(len=32) :: arg
  logical :: bad

  call MPI_Init(ierr)
  t0 = MPI_Wtime()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  n = 64; steps = 1000
  if (command_argument_count() >= 1) then
     call get_command_argument(1, arg); read(arg,*) n
  end if
  if (command_argument_count() >= 2) then
     call get_command_argument(2, arg); read(arg,*) steps
  end if
  if (np > n) call MPI_Abort(MPI_COMM_WORLD, 2, ierr)
  y0 = int(int(n,8)*rank/np); ny = int(int(n,8)*(rank+1)/np) - y0
  below = modulo(rank-1, np); above = modulo(rank+1, np)
  allocate(f(0:8,0:n+1,0:ny+1), g(0:8,n,ny), sup(3,n), sdn(3,n), rup(3,n), rdn(3,n))

  pi = acos(-1.0_dp); kk = 2*pi/n
  do j = 1, ny
     do i = 1, n
        x = kk*(i-0.5_dp); y = kk*(y0+j-0.5_dp)
        ux = -u0*cos(x)*sin(y); uy = u0*sin(x)*cos(y)
        rho = 1.0_dp - 0.75_dp*u0*u0*(cos(2*x) + cos(2*y))
        do q = 0, 8
           f(q,i,j) = feq(q, rho, ux, uy)
        end do
     end do
  end do
  call measure(e0)
  drift = 0

  do s = 1, steps
     ! collide
     do j = 1, ny
        do i = 1, n
           rho = sum(f(:,i,j))
           ux = (f(1,i,j)-f(3,i,j)+f(5,i,j)-f(6,i,j)-f(7,i,j)+f(8,i,j)) / rho
           uy = (f(2,i,j)-f(4,i,j)+f(5,i,j)+f(6,i,j)-f(7,i,j)-f(8,i,j)) / rho
           do q = 0, 8
              cu = 3.0_dp * (cx(q)*ux + cy(q)*uy)
              f(q,i,j) = f(q,i,j) - (f(q,i,j) - w(q)*rho*(1.0_dp + cu + 0.5_dp*cu*cu &
                   - 1.5_dp*(ux*ux + uy*uy))) / tau
           end do
        end do
     end do
     ! exchange what moves up and what moves down
     call MPI_Irecv(rdn, 3*n, MPI_DOUBLE_PRECISION, above, 2, MPI_COMM_WORLD, req(1), ierr)
     call MPI_Irecv(rup, 3*n, MPI_DOUBLE_PRECISION, below, 1, MPI_COMM_WORLD, req(2), ierr)
     do m = 1, 3
        sup(m,:) = f(upq(m),1:n,ny)
        sdn(m,:) = f(dnq(m),1:n,1)
     end do
     call MPI_Isend(sup, 3*n, MPI_DOUBLE_PRECISION, above, 1, MPI_COMM_WORLD, req(3), ierr)
     call MPI_Isend(sdn, 3*n, MPI_DOUBLE_PRECISION, below, 2, MPI_COMM_WORLD, req(4), ierr)
     call MPI_Waitall(4, req, MPI_STATUSES_IGNORE, ierr)
     do m = 1, 3
        f(upq(m),1:n,0) = rup(m,:)
        f(dnq(m),1:n,ny+1) = rdn(m,:)
     end do
     f(:,0,:) = f(:,n,:); f(:,n+1,:) = f(:,1,:)
     ! stream
     do j = 1, ny
        do i = 1, n
           do q = 0, 8
              g(q,i,j) = f(q, i-cx(q), j-cy(q))
           end do
        end do
     end do
     f(:,1:n,1:ny) = g
     if (mod(s, 20) == 0) then          ! watch the mass
        call measure(e1)
        drift = max(drift, abs(e1(1)-e0(1)) / e0(1))
     end if
  end do

  call measure(e1)
  ratio = e1(2)/e0(2); expect = exp(-4*nu*kk*kk*steps)
  bad = .not. (drift < 1.0e-9_dp .and. abs(ratio/expect - 1) < 0.02_dp)
  if (rank == 0) write(*,'(a,i0,a,i0,a,f14.6,a,2f10.6,a,f8.3,a)') 'lbm n=', n, ' steps=', steps, &
       ' mass', e1(1), ' energy ratio, theory', ratio, expect, &
       merge(' WRONG', ' ok   ', bad)//'  time ', MPI_Wtime()-t0, ' s'
  call MPI_Finalize(ierr)
  if (bad) stop 1

contains
  subroutine measure(e)
    real(dp), intent(out) :: e(2)
    loc = 0
    do j = 1, ny
       do i = 1, n
          rho = sum(f(:,i,j)); ux = sum(cx*f(:,i,j))/rho; uy = sum(cy*f(:,i,j))/rho
          loc = loc + [rho, rho*(ux*ux + uy*uy)]
       end do
    end do
    call MPI_Allreduce(loc, e, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  end subroutine measure
end program lbm
