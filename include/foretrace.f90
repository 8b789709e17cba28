! foretrace.f90 - Foretrace's annotations for Fortran programs: module foretrace.
!
! Compile it with the program, by the compiler of the program:
!
!     mpifort foretrace.f90 app.f90 -o app
!
! It finds the capture library at run time, by the C library's dlsym, so there is
! nothing to link with (before glibc 2.34: -ldl); in a plain run its procedures
! do nothing. They mean what the macros of foretrace.h mean.
module foretrace
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_f_procpointer, &
      c_float, c_funptr, c_int, c_long_long, c_null_char, c_null_ptr, c_ptr, c_size_t, c_sizeof
  implicit none
  private
  public :: foretrace_compute, foretrace_phase_begin, foretrace_phase_end, foretrace_mark

  ! struct foretrace_hooks; `bytes` is how far the library's table reaches.
  type, bind(c) :: hook_table
    integer(c_size_t) :: bytes
    type(c_funptr) :: compute
    type(c_funptr) :: phase_begin
    type(c_funptr) :: phase_end
    type(c_funptr) :: mark
  end type hook_table

  abstract interface
    type(c_ptr) function get_table() bind(c)
      import :: c_ptr
    end function get_table
    subroutine steps_hook(steps) bind(c)
      import :: c_double
      real(c_double), value :: steps
    end subroutine steps_hook
    subroutine name_hook(name) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine name_hook
    subroutine mark_hook(name, number) bind(c)
      import :: c_char, c_double
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: number
    end subroutine mark_hook
  end interface

  interface
    type(c_funptr) function dlsym(handle, symbol) bind(c, name="dlsym")
      import :: c_char, c_funptr, c_ptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: symbol(*)
    end function dlsym
  end interface

  ! foretrace_compute(n): n compute steps were done since the last MPI call.
  interface foretrace_compute
    module procedure compute_int, compute_long, compute_float, compute_double
  end interface foretrace_compute

  ! foretrace_mark(name [, value]): marks this moment, and a number with it.
  interface foretrace_mark
    module procedure mark_alone, mark_int, mark_long, mark_float, mark_double
  end interface foretrace_mark

  type(hook_table), pointer :: hooks => null()
  logical :: looked = .false.

contains

  ! Whether there is a library whose table is as long as ours.
  logical function is_there()
    procedure(get_table), pointer :: get
    type(c_funptr) :: symbol
    type(c_ptr) :: table
    if (.not. looked) then
      looked = .true.
      ! The null pointer is RTLD_DEFAULT.
      symbol = dlsym(c_null_ptr, "foretrace_get_hook_table" // c_null_char)
      if (c_associated(symbol)) then
        call c_f_procpointer(symbol, get)
        table = get()
        if (c_associated(table)) call c_f_pointer(table, hooks)
      end if
      if (associated(hooks)) then
        if (hooks%bytes < c_sizeof(hooks)) nullify(hooks)
      end if
    end if
    is_there = associated(hooks)
  end function is_there

  subroutine compute_double(steps)
    real(c_double), intent(in) :: steps
    procedure(steps_hook), pointer :: hook
    if (.not. is_there()) return
    call c_f_procpointer(hooks%compute, hook)
    call hook(steps)
  end subroutine compute_double

  subroutine compute_float(steps)
    real(c_float), intent(in) :: steps
    call compute_double(real(steps, c_double))
  end subroutine compute_float

  subroutine compute_int(steps)
    integer(c_int), intent(in) :: steps
    call compute_double(real(steps, c_double))
  end subroutine compute_int

  subroutine compute_long(steps)
    integer(c_long_long), intent(in) :: steps
    call compute_double(real(steps, c_double))
  end subroutine compute_long

  ! Opens the phase `name`, without the blanks at its end; phases nest.
  subroutine foretrace_phase_begin(name)
    character(len=*), intent(in) :: name
    procedure(name_hook), pointer :: hook
    if (.not. is_there()) return
    call c_f_procpointer(hooks%phase_begin, hook)
    call hook(trim(name) // c_null_char)
  end subroutine foretrace_phase_begin

  ! Closes the phase opened last under this name.
  subroutine foretrace_phase_end(name)
    character(len=*), intent(in) :: name
    procedure(name_hook), pointer :: hook
    if (.not. is_there()) return
    call c_f_procpointer(hooks%phase_end, hook)
    call hook(trim(name) // c_null_char)
  end subroutine foretrace_phase_end

  subroutine mark_double(name, number)
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: number
    procedure(mark_hook), pointer :: hook
    if (.not. is_there()) return
    call c_f_procpointer(hooks%mark, hook)
    call hook(trim(name) // c_null_char, number)
  end subroutine mark_double

  subroutine mark_float(name, number)
    character(len=*), intent(in) :: name
    real(c_float), intent(in) :: number
    call mark_double(name, real(number, c_double))
  end subroutine mark_float

  subroutine mark_int(name, number)
    character(len=*), intent(in) :: name
    integer(c_int), intent(in) :: number
    call mark_double(name, real(number, c_double))
  end subroutine mark_int

  subroutine mark_long(name, number)
    character(len=*), intent(in) :: name
    integer(c_long_long), intent(in) :: number
    call mark_double(name, real(number, c_double))
  end subroutine mark_long

  subroutine mark_alone(name)
    character(len=*), intent(in) :: name
    call mark_double(name, 0.0_c_double)
  end subroutine mark_alone
end module foretrace
