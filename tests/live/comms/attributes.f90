! Attributes and error handlers from Fortran: address-sized and MPI-1's INTEGERs.
! live: ranks 1 2
module callbacks
  use mpi
  implicit none
  integer :: deleted = 0, handled = 0
contains
  subroutine copy_fn(comm, key, extra, value_in, value_out, flag, ierror)
    integer :: comm, key, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra, value_in, value_out
    logical :: flag
    value_out = value_in + extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete_fn(comm, key, value, extra, ierror)
    integer :: comm, key, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    deleted = deleted + int(value)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine old_copy(comm, key, extra, value_in, value_out, flag, ierror)
    integer :: comm, key, extra, value_in, value_out, ierror
    logical :: flag
    value_out = value_in * 2
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine old_delete(comm, key, value, extra, ierror)
    integer :: comm, key, value, extra, ierror
    deleted = deleted + value
    ierror = MPI_SUCCESS
  end subroutine
  subroutine on_error(comm, code)
    integer :: comm, code
    handled = handled + 1
  end subroutine
  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    integer :: ierror
    if (condition) return
    write (0, *) 'failed: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine
end module

program attributes
  use mpi
  use callbacks
  implicit none
  integer :: ierror, key, old_key, dup_key, comm, twin, old_value, errhandler, size
  integer(kind=MPI_ADDRESS_KIND) :: value, extra, no_extra
  logical :: flag
  call MPI_Init(ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)

  extra = 100
  call MPI_Comm_create_keyval(copy_fn, delete_fn, key, extra, ierror)
  no_extra = 0
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, dup_key, no_extra, ierror)
  value = 7
  call MPI_Comm_set_attr(comm, key, value, ierror)
  value = 1234567890123_MPI_ADDRESS_KIND
  call MPI_Comm_set_attr(comm, dup_key, value, ierror)
  call MPI_Comm_get_attr(comm, key, value, flag, ierror)
  call check(flag .and. value == 7, 'address-sized value')
  call MPI_Comm_dup(comm, twin, ierror)
  call MPI_Comm_get_attr(twin, key, value, flag, ierror)
  call check(flag .and. value == 107, 'copied by a function')
  call MPI_Comm_get_attr(twin, dup_key, value, flag, ierror)
  call check(flag .and. value == 1234567890123_MPI_ADDRESS_KIND, 'copied by MPI_COMM_DUP_FN')
  call MPI_Comm_free(twin, ierror)
  call check(deleted == 107, 'deleted with the communicator')
  call MPI_Comm_delete_attr(comm, key, ierror)
  call check(deleted == 114, 'deleted')
  call MPI_Comm_get_attr(comm, key, value, flag, ierror)
  call check(.not. flag, 'still there')
  call MPI_Comm_free_keyval(key, ierror)
  call check(key == MPI_KEYVAL_INVALID, 'a freed keyval')

  deleted = 0
  call MPI_Keyval_create(old_copy, old_delete, old_key, 0, ierror)
  call MPI_Attr_put(comm, old_key, -5, ierror)
  call MPI_Attr_get(comm, old_key, old_value, flag, ierror)
  call check(flag .and. old_value == -5, 'an INTEGER')
  call MPI_Comm_get_attr(comm, old_key, value, flag, ierror)
  call check(flag .and. value == -5, 'an INTEGER as address-sized one')
  call MPI_Comm_dup(comm, twin, ierror)
  call MPI_Attr_get(twin, old_key, old_value, flag, ierror)
  call check(flag .and. old_value == -10, 'an INTEGER that was copied')
  call MPI_Comm_free(twin, ierror)
  call check(deleted == -10, 'an INTEGER that was deleted')

  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
  call check(flag .and. value >= 32767, 'MPI_TAG_UB')
  call MPI_Attr_get(MPI_COMM_WORLD, MPI_IO, old_value, flag, ierror)
  call check(flag .and. old_value == MPI_ANY_SOURCE, 'MPI_IO')

  call MPI_Comm_create_errhandler(on_error, errhandler, ierror)
  call MPI_Comm_set_errhandler(comm, errhandler, ierror)
  call MPI_Comm_size(comm, size, ierror)
  call MPI_Send(size, 1, MPI_INTEGER, size + 3, 0, comm, ierror)
  call check(ierror /= MPI_SUCCESS .and. handled == 1, 'the error handler')
  call MPI_Errhandler_free(errhandler, ierror)
  call MPI_Comm_free(comm, ierror)
  call MPI_Finalize(ierror)
end program
