C     Fortran 77 with mpif.h: messages, wildcards, statuses, SAVE
C     variables, user-defined reduction.
C     live: compare
      program mpiff
      include 'mpif.h'
      integer ierr, rank, size, next, prev, i, n
      integer status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2)
      integer requests(2), op, total, myfail
      integer out(10), in(10)
      double precision x, y
      logical flag
      external addup
      integer counter
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierr)
      myfail = 0
      next = mod(rank + 1, size)
      prev = mod(rank + size - 1, size)
      do i = 1, 10
        out(i) = rank * 100 + i
        in(i) = -1
      end do
      call MPI_IRECV(in, 10, MPI_INTEGER, prev, 1, MPI_COMM_WORLD,
     +               requests(1), ierr)
      call MPI_ISEND(out, 10, MPI_INTEGER, next, 1, MPI_COMM_WORLD,
     +               requests(2), ierr)
      call MPI_WAITALL(2, requests, statuses, ierr)
      do i = 1, 10
        if (in(i) .ne. prev * 100 + i) myfail = myfail + 1
      end do
      if (statuses(MPI_SOURCE, 1) .ne. prev) myfail = myfail + 1
      if (statuses(MPI_TAG, 1) .ne. 1) myfail = myfail + 1
      if (requests(1) .ne. MPI_REQUEST_NULL) myfail = myfail + 1
      call MPI_GET_COUNT(statuses(1, 1), MPI_INTEGER, n, ierr)
      if (n .ne. 10) myfail = myfail + 1

      call MPI_SENDRECV(out, 5, MPI_INTEGER, next, 2, in, 10,
     +     MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
     +     status, ierr)
      if (status(MPI_SOURCE) .ne. prev) myfail = myfail + 1
      call MPI_GET_COUNT(status, MPI_INTEGER, n, ierr)
      if (n .ne. 5) myfail = myfail + 1

      call MPI_SEND(out, 1, MPI_INTEGER, MPI_PROC_NULL, 0,
     +              MPI_COMM_WORLD, ierr)
      call MPI_IPROBE(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
     +                flag, MPI_STATUS_IGNORE, ierr)
      if (flag) myfail = myfail + 1

      call MPI_OP_CREATE(addup, .true., op, ierr)
      call MPI_ALLREDUCE(rank + 1, total, 1, MPI_INTEGER, op,
     +                   MPI_COMM_WORLD, ierr)
      if (total .ne. size * (size + 1) / 2) myfail = myfail + 1
      call MPI_OP_FREE(op, ierr)

      do i = 1, rank
        n = counter()
      end do
      call MPI_BARRIER(MPI_COMM_WORLD, ierr)
      if (counter() .ne. rank + 1) myfail = myfail + 1

      x = rank + 0.5d0
      call MPI_REDUCE(x, y, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0,
     +                MPI_COMM_WORLD, ierr)
      if (rank .eq. 0) write (*, *) 'largest', y, ' of', size
      if (MPI_WTIME() .lt. 0d0) myfail = myfail + 1
      if (MPI_WTICK() .le. 0d0) myfail = myfail + 1
      call MPI_FINALIZE(ierr)
      if (myfail .ne. 0) then
        write (0, *) 'mpif.f: rank', rank, ':', myfail, ' checks failed'
        stop 1
      end if
      end

      integer function counter()
      integer calls
      save calls
      data calls /0/
      calls = calls + 1
      counter = calls
      end

      subroutine addup(in, inout, n, type)
      integer n, type, i
      integer in(n), inout(n)
      do i = 1, n
        inout(i) = inout(i) + in(i)
      end do
      end
