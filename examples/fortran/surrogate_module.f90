! SPDX-FileCopyrightText: 2026 The devplace authors
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

!> The functions of surrogate.h for Fortran, with the errors of Fortran's own statements: a procedure sets `stat` and
!> `errmsg` where they are present. Without `stat` an error prints its text and ends the program.
module surrogate_module
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_pointer, c_float, c_int, c_null_char, c_null_ptr, &
                                         c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private
  public :: surrogate

  !> Numbers of features of a sample.
  integer, parameter, public :: surrogate_inputs = 3, surrogate_outputs = 2
  !> The value of `stat` for arrays of wrong shapes; docs/inference.md has the others.
  integer, parameter, public :: surrogate_shape_error = 2

  !> A network. It is not copied: an assignment would share the network, which is freed twice.
  type :: surrogate
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: create          !< makes the network, with random parameters
    procedure :: load            !< makes the network unless it exists, and reads its parameters from a file
    procedure :: save => store   !< writes the parameters to a file
    procedure :: predict         !< outputs(2, n) from inputs(3, n), without copies
    procedure :: predict_fields  !< outputs(n, 2) from inputs(n, 3)
    procedure :: train           !< one training step; returns its loss
    final :: destroy
  end type surrogate

  interface
    function surrogate_create(made) bind(c) result(code)
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: made
      integer(c_int) :: code
    end function surrogate_create
    subroutine surrogate_destroy(net) bind(c)
      import :: c_ptr
      type(c_ptr), value :: net
    end subroutine surrogate_destroy
    function surrogate_load(net, path) bind(c) result(code)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: net
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: code
    end function surrogate_load
    function surrogate_save(net, path) bind(c) result(code)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: net
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: code
    end function surrogate_save
    function surrogate_predict(net, outputs, inputs, n) bind(c) result(code)
      import :: c_float, c_int, c_ptr, c_size_t
      type(c_ptr), value :: net
      real(c_float), intent(out) :: outputs(*)
      real(c_float), intent(in) :: inputs(*)
      integer(c_size_t), value :: n
      integer(c_int) :: code
    end function surrogate_predict
    function surrogate_predict_fields(net, outputs, inputs, n) bind(c) result(code)
      import :: c_float, c_int, c_ptr, c_size_t
      type(c_ptr), value :: net
      real(c_float), intent(out) :: outputs(*)
      real(c_float), intent(in) :: inputs(*)
      integer(c_size_t), value :: n
      integer(c_int) :: code
    end function surrogate_predict_fields
    function surrogate_train(net, inputs, targets, n, loss) bind(c) result(code)
      import :: c_float, c_int, c_ptr, c_size_t
      type(c_ptr), value :: net
      real(c_float), intent(in) :: inputs(*), targets(*)
      integer(c_size_t), value :: n
      real(c_float), intent(out) :: loss
      integer(c_int) :: code
    end function surrogate_train
    function surrogate_error() bind(c) result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function surrogate_error
    pure function strlen(text) bind(c) result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function strlen
  end interface

contains

  subroutine create(self, stat, errmsg)
    class(surrogate), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    if (c_associated(self%handle)) call surrogate_destroy(self%handle)
    self%handle = c_null_ptr
    call report(surrogate_create(self%handle), stat, errmsg)
  end subroutine create

  subroutine load(self, path, stat, errmsg)
    class(surrogate), intent(inout) :: self
    character(*), intent(in) :: path
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: code

    code = 0
    if (.not. c_associated(self%handle)) code = surrogate_create(self%handle)
    if (code == 0) code = surrogate_load(self%handle, trim(path) // c_null_char)
    call report(code, stat, errmsg)
  end subroutine load

  subroutine store(self, path, stat, errmsg)
    class(surrogate), intent(in) :: self
    character(*), intent(in) :: path
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call report(surrogate_save(self%handle, trim(path) // c_null_char), stat, errmsg)
  end subroutine store

  subroutine predict(self, outputs, inputs, stat, errmsg)
    class(surrogate), intent(in) :: self
    real(c_float), intent(inout), contiguous :: outputs(:, :)
    real(c_float), intent(in), contiguous :: inputs(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    if (.not. fit(shape(inputs), shape(outputs), stat, errmsg)) return
    call report(surrogate_predict(self%handle, outputs, inputs, size(inputs, 2, c_size_t)), stat, errmsg)
  end subroutine predict

  subroutine predict_fields(self, outputs, inputs, stat, errmsg)
    class(surrogate), intent(in) :: self
    real(c_float), intent(inout), contiguous :: outputs(:, :)
    real(c_float), intent(in), contiguous :: inputs(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer, parameter :: turned(2) = [2, 1]
    integer :: from(2), to(2)

    from = shape(inputs)
    to = shape(outputs)
    if (.not. fit(from(turned), to(turned), stat, errmsg)) return
    call report(surrogate_predict_fields(self%handle, outputs, inputs, size(inputs, 1, c_size_t)), stat, errmsg)
  end subroutine predict_fields

  subroutine train(self, inputs, targets, loss, stat, errmsg)
    class(surrogate), intent(inout) :: self
    real(c_float), intent(in), contiguous :: inputs(:, :), targets(:, :)
    real(c_float), intent(out) :: loss
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    loss = 0
    if (.not. fit(shape(inputs), shape(targets), stat, errmsg)) return
    call report(surrogate_train(self%handle, inputs, targets, size(inputs, 2, c_size_t), loss), stat, errmsg)
  end subroutine train

  subroutine destroy(self)
    type(surrogate), intent(inout) :: self

    if (c_associated(self%handle)) call surrogate_destroy(self%handle)
    self%handle = c_null_ptr
  end subroutine destroy

  !> Whether arrays have the features of the network and equally many samples; else reports an error.
  logical function fit(inputs, outputs, stat, errmsg)
    integer, intent(in) :: inputs(2), outputs(2)  !< features, samples
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(120) :: text

    fit = inputs(1) == surrogate_inputs .and. outputs(1) == surrogate_outputs .and. inputs(2) == outputs(2)
    if (fit) return
    write (text, '(4(a, i0))') 'surrogate: samples have ', inputs(1), ' inputs and ', outputs(1), &
      ' outputs; numbers of samples: ', inputs(2), ', ', outputs(2)
    call fail(surrogate_shape_error, text, stat, errmsg)
  end function fit

  !> Reports the code of a C function, with its text.
  subroutine report(code, stat, errmsg)
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(kind=c_char), pointer :: letters(:)
    character(:), allocatable :: text
    type(c_ptr) :: message
    integer :: i

    if (present(stat)) stat = 0
    if (code == 0) return
    message = surrogate_error()
    call c_f_pointer(message, letters, [strlen(message)])
    allocate (character(size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
    call fail(int(code), text, stat, errmsg)
  end subroutine report

  subroutine fail(code, text, stat, errmsg)
    integer, intent(in) :: code
    character(*), intent(in) :: text
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    if (present(errmsg)) errmsg = text
    if (present(stat)) then
      stat = code
    else
      write (error_unit, '(a)') trim(text)
      error stop 1
    end if
  end subroutine fail

end module surrogate_module
