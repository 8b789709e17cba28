! Direct n-body, softened gravity, leapfrog; the particles of the other ranks
! travel round a ring in a buffer (MPI_Sendrecv_replace).
! usage: nbody [particles [steps]]
program nbody
  use mpi_f08
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer :: rank, np, n, nl, steps, i, s, left, right, gid
  integer(kind=8) :: seed
  character(len=32) :: arg
  real(dp), allocatable :: x(:,:), v(:,:), a(:,:), trav(:,:)
  real(dp), parameter :: eps2 = 1.0e-2_dp, dt = 2.0e-3_dp
  real(dp) :: t0, e0, e1, drift, mom(3), gmom(3), pot
  logical :: bad

  call MPI_Init()
  t0 = MPI_Wtime()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, np)
  n = 160; steps = 1500
  if (command_argument_count() >= 1) then
     call get_command_argument(1, arg); read(arg,*) n
  end if
  if (command_argument_count() >= 2) then
     call get_command_argument(2, arg); read(arg,*) steps
  end if
  nl = (n + np - 1) / np            ! the last ranks hold massless padding
  left = modulo(rank - 1, np); right = modulo(rank + 1, np)

  allocate(x(4,nl), v(3,nl), a(3,nl), trav(4,nl))   ! x: position and mass
  do i = 1, nl
     gid = rank * nl + i
     seed = gid * 7919_8 + 12345_8
     x(1,i) = rnd() - 0.5_dp; x(2,i) = rnd() - 0.5_dp; x(3,i) = rnd() - 0.5_dp
     v(1,i) = -0.5_dp * x(2,i); v(2,i) = 0.5_dp * x(1,i); v(3,i) = 0.1_dp*(rnd()-0.5_dp)
     x(4,i) = merge(1.0_dp / n, 0.0_dp, gid <= n)
  end do

  call forces()
  e0 = energy()
  drift = 0
  do s = 1, steps
     v = v + 0.5_dp * dt * a
     x(1:3,:) = x(1:3,:) + dt * v
     call forces()
     v = v + 0.5_dp * dt * a
     if (mod(s, 10) == 0) drift = max(drift, abs(energy() / e0 - 1.0_dp))
  end do
  e1 = energy()
  mom = 0
  do i = 1, nl
     mom = mom + x(4,i) * a(:,i)     ! net force must vanish
  end do
  call MPI_Allreduce(mom, gmom, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  bad = .not. (drift < 2.0e-3_dp .and. maxval(abs(gmom)) < 1.0e-11_dp)
  if (rank == 0) write(*,'(a,i0,a,i0,a,2es17.9,a,es9.2,a,f8.3,a)') 'nbody n=', n, ' steps=', steps, &
       ' energy, drift', e1, drift, ' net force', maxval(abs(gmom)), &
       merge(' WRONG', ' ok   ', bad)//'  time ', MPI_Wtime() - t0, ' s'
  call MPI_Finalize()
  if (bad) stop 1

contains

  real(dp) function rnd()
    seed = iand(seed * 1103515245_8 + 12345_8, 2147483647_8)
    seed = iand(ieor(seed, ishft(seed, -7)) * 69069_8 + 1_8, 2147483647_8)
    rnd = real(seed, dp) / 2147483648.0_dp
  end function rnd

  subroutine forces()
    integer :: hop, ii, jj
    real(dp) :: dx, dy, dz, r2, f, ax, ay, az
    a = 0; pot = 0
    trav = x
    do hop = 1, np
       do ii = 1, nl
          ax = 0; ay = 0; az = 0
          do jj = 1, nl
             dx = trav(1,jj) - x(1,ii); dy = trav(2,jj) - x(2,ii); dz = trav(3,jj) - x(3,ii)
             r2 = dx*dx + dy*dy + dz*dz + eps2
             f = trav(4,jj) / (r2 * sqrt(r2))
             ax = ax + f*dx; ay = ay + f*dy; az = az + f*dz
             pot = pot - 0.5_dp * x(4,ii) * f * r2
          end do
          a(1,ii) = a(1,ii) + ax; a(2,ii) = a(2,ii) + ay; a(3,ii) = a(3,ii) + az
       end do
       if (hop < np) call MPI_Sendrecv_replace(trav, 4*nl, MPI_DOUBLE_PRECISION, right, 5, &
            left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    end do
  end subroutine forces

  real(dp) function energy()
    real(dp) :: loc
    integer :: ii
    loc = pot
    do ii = 1, nl
       loc = loc + 0.5_dp * x(4,ii) * sum(v(:,ii)**2)
    end do
    call MPI_Allreduce(loc, energy, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  end function energy
end program nbody
