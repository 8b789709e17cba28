! What Fortran's libraries do with C's beyond passing arguments on: user functions,
! attributes, strings, error handlers, generalized requests. Module mpi.
! live: flags -fallow-argument-mismatch
module functions
  use mpi
  implicit none
  integer :: errors_seen = 0, deleted = 0, queried = 0, freed = 0, cancelled = 0
contains
  subroutine larger(in, inout, count, type)
    integer :: count, type
    integer :: in(count), inout(count)
    integer :: i
    if (type /= MPI_INTEGER) stop 91
    do i = 1, count
      inout(i) = max(in(i), inout(i))
    end do
  end subroutine

  subroutine on_error(comm, code)
    integer :: comm, code, class, ierr
    call MPI_Error_class(code, class, ierr)
    if (comm == MPI_COMM_WORLD .and. class == MPI_ERR_RANK) errors_seen = errors_seen + 1
  end subroutine

  subroutine twice(oldcomm, keyval, extra, in, out, flag, ierr)
    integer :: oldcomm, keyval, ierr
    integer(kind=MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    out = 2 * in + extra
    flag = .true.
    ierr = MPI_SUCCESS
  end subroutine

  subroutine delete(comm, keyval, value, extra, ierr)
    integer :: comm, keyval, ierr
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    deleted = deleted + int(value)
    ierr = MPI_SUCCESS
  end subroutine

  subroutine query(extra, status, ierr)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), ierr
    queried = queried + int(extra)
    call MPI_Status_set_elements(status, MPI_INTEGER, 3, ierr)
    call MPI_Status_set_cancelled(status, .false., ierr)
    status(MPI_SOURCE) = MPI_UNDEFINED
    status(MPI_TAG) = 17
    ierr = MPI_SUCCESS
  end subroutine

  subroutine release(extra, ierr)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: ierr
    freed = freed + int(extra)
    ierr = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra, complete, ierr)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierr
    if (.not. complete) cancelled = cancelled + int(extra)
    ierr = MPI_SUCCESS
  end subroutine

  subroutine check(good, what)
    logical :: good
    character(len=*) :: what
    if (.not. good) then
      write (0, *) 'wrong: ', what
      stop 1
    end if
  end subroutine
end module

program module_mpi
  use mpi
  use functions
  implicit none
  integer :: rank, ranks, ierr, op, comm, handler, key, info, request, type, length, i, win, graph
  integer :: values(3), results(3), status(MPI_STATUS_SIZE), requests(2), index, group, code, made(7), other
  integer :: statuses(MPI_STATUS_SIZE, 2), outcount, indices(2), got(2), file
  integer(kind=MPI_ADDRESS_KIND) :: extra, value, state, bytes
  logical :: flag, commutes
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=20) :: text
  character(len=MPI_MAX_ERROR_STRING) :: message

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)

  ! A reduction of the program's own.
  call MPI_Op_create(larger, .true., op, ierr)
  call MPI_Op_commutative(op, commutes, ierr)
  call check(commutes, 'op commutes')
  values = (/rank, -rank, 5/)
  call MPI_Allreduce(values, results, 3, MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
  call check(all(results == (/ranks - 1, 0, 5/)), 'user function')
  call MPI_Op_free(op, ierr)
  call check(op == MPI_OP_NULL, 'op null')

  ! Attributes: copied by a function of the program, by MPI's, and not at all.
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  extra = 100
  call MPI_Comm_create_keyval(twice, delete, key, extra, ierr)
  value = 21
  call MPI_Comm_set_attr(comm, key, value, ierr)
  value = -1
  call MPI_Comm_get_attr(comm, key, value, flag, ierr)
  call check(flag .and. value == 21, 'attribute')
  call MPI_Comm_dup(comm, i, ierr)
  call MPI_Comm_get_attr(i, key, value, flag, ierr)
  call check(flag .and. value == 142, 'copied attribute')
  call MPI_Comm_free(i, ierr)
  call check(deleted == 142, 'delete function')
  call MPI_Comm_delete_attr(comm, key, ierr)
  call check(deleted == 163, 'deleted attribute')
  call MPI_Comm_get_attr(comm, key, value, flag, ierr)
  call check(.not. flag, 'no attribute')
  call MPI_Comm_free_keyval(key, ierr)
  call check(key == MPI_KEYVAL_INVALID, 'keyval invalid')
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, extra, ierr)
  value = 1234567890123_MPI_ADDRESS_KIND
  call MPI_Comm_set_attr(comm, key, value, ierr)
  call MPI_Comm_dup(comm, i, ierr)
  value = 0
  call MPI_Comm_get_attr(i, key, value, flag, ierr)
  call check(flag .and. value == 1234567890123_MPI_ADDRESS_KIND, 'duplicated attribute')
  call MPI_Comm_free(i, ierr)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
  call check(flag .and. value >= 32767, 'tag_ub')
  call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, i, extra, ierr)
  call MPI_Type_dup(MPI_REAL, type, ierr)
  value = 77
  call MPI_Type_set_attr(type, i, value, ierr)
  value = 0
  call MPI_Type_get_attr(type, i, value, flag, ierr)
  call check(flag .and. value == 77, 'type attribute')
  call MPI_Type_free(type, ierr)

  ! Strings.
  call MPI_Comm_set_name(comm, 'a name  ', ierr)
  name = '?'
  call MPI_Comm_get_name(comm, name, length, ierr)
  call check(name == 'a name' .and. length == 6, 'name')
  call MPI_Info_create(info, ierr)
  call MPI_Info_set(info, 'key  ', 'some value   ', ierr)
  call MPI_Info_get(info, 'key', 20, text, flag, ierr)
  call check(flag .and. text == 'some value', 'info')
  call MPI_Info_get(info, 'other', 20, text, flag, ierr)
  call check(.not. flag, 'no info')
  call MPI_Info_get_nthkey(info, 0, text, ierr)
  call check(text == 'key', 'nth key')
  call MPI_Info_free(info, ierr)
  call MPI_Error_string(MPI_ERR_TRUNCATE, message, length, ierr)
  call check(length > 0 .and. len_trim(message) == length, 'error string')

  ! An error handler of the program.
  call MPI_Comm_create_errhandler(on_error, handler, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler, ierr)
  call MPI_Send(rank, 1, MPI_INTEGER, ranks + 3, 0, MPI_COMM_WORLD, ierr)
  call check(errors_seen == 1 .and. ierr /= MPI_SUCCESS, 'error handler')
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)
  call MPI_Errhandler_free(handler, ierr)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
  call MPI_Send(rank, 1, MPI_INTEGER, 0, -5, comm, ierr)
  call MPI_Error_class(ierr, code, i)
  call check(code == MPI_ERR_TAG, 'error returned')

  ! Generalized requests.
  state = 1
  call MPI_Grequest_start(query, release, cancel, state, request, ierr)
  call MPI_Test(request, flag, status, ierr)
  call check(.not. flag, 'generalized request not complete')
  call MPI_Cancel(request, ierr)
  call MPI_Grequest_complete(request, ierr)
  call MPI_Wait(request, status, ierr)
  call check(request == MPI_REQUEST_NULL, 'generalized request freed')
  call check(queried == 1 .and. freed == 1 .and. cancelled == 1, 'functions called')
  call check(status(MPI_TAG) == 17, 'status of query')
  call MPI_Get_count(status, MPI_INTEGER, i, ierr)
  call check(i == 3, 'count of query')

  ! Several requests, one at a time; persistent ones.
  do i = 1, 2
    call MPI_Recv_init(got(i), 1, MPI_INTEGER, rank, i, comm, requests(i), ierr)
  end do
  call MPI_Startall(2, requests, ierr)
  call MPI_Send(42, 1, MPI_INTEGER, rank, 2, comm, ierr)
  call MPI_Waitany(2, requests, index, status, ierr)
  call check(index == 2 .and. got(2) == 42, 'waitany')
  call check(status(MPI_TAG) == 2, 'status of waitany')
  call MPI_Testany(2, requests, index, flag, MPI_STATUS_IGNORE, ierr)
  call check(.not. flag, 'testany')
  call MPI_Send(41, 1, MPI_INTEGER, rank, 1, comm, ierr)
  call MPI_Waitsome(2, requests, outcount, indices, statuses, ierr)
  call check(outcount == 1 .and. indices(1) == 1 .and. got(1) == 41, 'waitsome')
  call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE, ierr)
  call check(flag, 'testall of inactive ones')
  call MPI_Request_free(requests(1), ierr)
  call MPI_Request_free(requests(2), ierr)
  call check(requests(1) == MPI_REQUEST_NULL, 'request null')

  ! Types by size; a distributed graph without weights; groups.
  call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, type, ierr)
  call MPI_Type_size(type, i, ierr)
  call check(i == 8, 'match size')
  call MPI_Type_create_f90_integer(9, type, ierr)
  call MPI_Type_size(type, i, ierr)
  call check(i == 4, 'f90 integer')
  call MPI_Dist_graph_create_adjacent(comm, 1, (/mod(rank + ranks - 1, ranks)/), MPI_UNWEIGHTED, 1, &
       (/mod(rank + 1, ranks)/), MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierr)
  call MPI_Dist_graph_neighbors_count(graph, i, length, flag, ierr)
  call check(i == 1 .and. length == 1 .and. .not. flag, 'graph')
  call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, graph, ierr)
  call check(got(1) == mod(rank + ranks - 1, ranks), 'neighbours')
  call MPI_Comm_free(graph, ierr)
  call MPI_Comm_group(comm, group, ierr)
  call MPI_Group_size(group, i, ierr)
  call check(i == ranks, 'group')
  ! The Fortran library reads the number of the groups that these make out of the groups.
  call MPI_Group_incl(group, 1, (/0/), made(1), ierr)
  call MPI_Group_excl(group, 1, (/0/), made(2), ierr)
  call MPI_Group_range_incl(group, 1, reshape((/0, ranks - 1, 1/), (/3, 1/)), made(3), ierr)
  call MPI_Group_range_excl(group, 1, reshape((/0, ranks - 1, 1/), (/3, 1/)), made(4), ierr)
  call MPI_Group_union(made(1), made(2), made(5), ierr)
  call MPI_Group_intersection(group, made(1), made(6), ierr)
  call MPI_Group_difference(group, made(1), made(7), ierr)
  do i = 1, 7
    call MPI_Group_size(made(i), length, ierr)
    call check(length == merge(1, merge(ranks, merge(0, ranks - 1, i == 4), i == 3 .or. i == 5), &
         i == 1 .or. i == 6), 'members of a group')
  end do
  call check(made(4) == MPI_GROUP_EMPTY, 'empty group')
  call MPI_Comm_create(comm, made(3), other, ierr)
  call MPI_Comm_size(other, i, ierr)
  call check(i == ranks, 'communicator of a group')
  call MPI_Comm_free(other, ierr)
  do i = 1, 7
    if (made(i) /= MPI_GROUP_EMPTY) call MPI_Group_free(made(i), ierr)
  end do
  call MPI_Group_free(group, ierr)
  call check(group == MPI_GROUP_NULL, 'group null')

  ! A window, and its attributes.
  bytes = 8
  call MPI_Win_create(values, bytes, 4, MPI_INFO_NULL, comm, win, ierr)
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierr)
  call check(flag .and. value == 8, 'window size')
  call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, i, extra, ierr)
  value = 99
  call MPI_Win_set_attr(win, i, value, ierr)
  value = 0
  call MPI_Win_get_attr(win, i, value, flag, ierr)
  call check(flag .and. value == 99, 'window attribute')
  call MPI_Win_free(win, ierr)
  call check(win == MPI_WIN_NULL, 'window null')
  file = MPI_FILE_NULL
  call MPI_File_get_errhandler(file, handler, ierr)
  call check(handler == MPI_ERRORS_RETURN, 'handler of files')

  call MPI_Comm_free(comm, ierr)
  call MPI_Finalize(ierr)
end program
