C     Ten different calls of MPI through mpif.h, each once, on two ranks;
C     checks what arrives. ten_calls.c, .f90, and .f08.f90 are the same
C     program.
      PROGRAM TEN_CALLS
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INTEGER IERR, RANK, OTHER, I, BAD, TOTAL
      INTEGER REQUESTS(2), STATUS(MPI_STATUS_SIZE)
      INTEGER STATUSES(MPI_STATUS_SIZE, 2)
      DOUBLE PRECISION OUT(100), IN(100), IN2(100)
      CALL MPI_INIT(IERR)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, RANK, IERR)
      BAD = 0
      OTHER = 1 - RANK
      DO 10 I = 1, 100
        OUT(I) = 1000 * RANK + I
   10 CONTINUE
      IF (RANK .EQ. 0) THEN
        CALL MPI_SEND(OUT, 100, MPI_DOUBLE_PRECISION, 1, 7,
     &                MPI_COMM_WORLD, IERR)
        CALL MPI_RECV(IN, 100, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE,
     &                MPI_ANY_TAG, MPI_COMM_WORLD, STATUS, IERR)
        IF (STATUS(MPI_SOURCE) .NE. 1) BAD = BAD + 1
        IF (STATUS(MPI_TAG) .NE. 8) BAD = BAD + 1
      ELSE
        CALL MPI_RECV(IN, 100, MPI_DOUBLE_PRECISION, 0, 7,
     &                MPI_COMM_WORLD, MPI_STATUS_IGNORE, IERR)
        CALL MPI_SEND(OUT, 100, MPI_DOUBLE_PRECISION, 0, 8,
     &                MPI_COMM_WORLD, IERR)
      END IF
      DO 20 I = 1, 100
        IF (IN(I) .NE. 1000 * OTHER + I) BAD = BAD + 1
   20 CONTINUE
      CALL MPI_IRECV(IN2, 50, MPI_DOUBLE_PRECISION, OTHER, 9,
     &               MPI_COMM_WORLD, REQUESTS(1), IERR)
      CALL MPI_ISEND(OUT, 50, MPI_DOUBLE_PRECISION, OTHER, 9,
     &               MPI_COMM_WORLD, REQUESTS(2), IERR)
      CALL MPI_WAITALL(2, REQUESTS, STATUSES, IERR)
      IF (STATUSES(MPI_TAG, 1) .NE. 9) BAD = BAD + 1
      IF (REQUESTS(1) .NE. MPI_REQUEST_NULL) BAD = BAD + 1
      DO 30 I = 1, 50
        IF (IN2(I) .NE. 1000 * OTHER + I) BAD = BAD + 1
   30 CONTINUE
      TOTAL = RANK + 1
      CALL MPI_ALLREDUCE(MPI_IN_PLACE, TOTAL, 1, MPI_INTEGER, MPI_SUM,
     &                   MPI_COMM_WORLD, IERR)
      IF (TOTAL .NE. 3) BAD = BAD + 1
      TOTAL = 40 + RANK
      CALL MPI_BCAST(TOTAL, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, IERR)
      IF (TOTAL .NE. 41) BAD = BAD + 1
      CALL MPI_FINALIZE(IERR)
      IF (BAD .NE. 0) STOP 3
      IF (RANK .EQ. 0) PRINT '(A)', 'ten_calls: all checks passed'
      END
