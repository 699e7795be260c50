! SPDX-FileCopyrightText: 2026 The devplace authors
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

! A Fortran program that trains a network, and uses it in place of a parametrisation: the fluxes of heat and moisture
! from a surface. fortran [file]: where the network is saved. Compares predictions with plain loops over the weights.
program fortran
  use, intrinsic :: iso_c_binding, only: c_float
  use surrogate_module, only: surrogate, surrogate_inputs, surrogate_outputs
  implicit none

  integer, parameter :: samples = 2000, batch = 100, hidden = 32
  type(surrogate) :: net, loaded
  real(c_float) :: x(surrogate_inputs, samples), y(surrogate_outputs, samples), fluxes(surrogate_outputs, samples)
  real(c_float) :: fields(samples, surrogate_inputs), by_field(samples, surrogate_outputs)
  real(c_float) :: w1(surrogate_inputs, hidden), b1(hidden), w2(hidden, surrogate_outputs), b2(surrogate_outputs)
  real(c_float) :: loss, first
  real :: difference
  character(200) :: path, text
  integer :: step, from, stat

  path = 'fortran.safetensors'
  if (command_argument_count() > 0) call get_command_argument(1, path)
  call draw_samples(x, y)

  ! Trains: a sample is a column.
  call net%create()
  call net%train(x(:, :batch), y(:, :batch), first)
  do step = 1, 2000
    from = modulo(step * batch, samples)
    call net%train(x(:, from + 1:from + batch), y(:, from + 1:from + batch), loss)
  end do
  call net%save(path)

  ! Loads and predicts.
  call loaded%load(path)
  call loaded%predict(fluxes, x)
  call read_weights(path)
  difference = largest_difference()

  ! The same with a field in each column.
  fields = transpose(x)
  call loaded%predict_fields(by_field, fields)

  print '(a, es9.2, a, es9.2)', 'loss of the first step ', first, ', of the last ', loss
  print '(a, es9.2)', 'error of the fluxes, root mean square ', sqrt(sum((fluxes - y)**2) / size(y))
  print '(a, es9.2)', 'largest difference from plain loops ', difference
  if (.not. (loss < 0.01 * first .and. difference < 1e-5 .and. sum((fluxes - y)**2) < 1e-3 * size(y))) error stop 'fluxes'
  if (.not. equal(transpose(by_field), fluxes)) error stop 'fluxes by fields'

  ! Errors have a code and a text, and the network stays as it was.
  call loaded%load('missing.safetensors', stat, text)
  print '(a, i0, 2a)', 'code ', stat, ': ', trim(text)
  if (stat /= 8 .or. index(text, 'missing.safetensors') == 0) error stop 'no error of a missing file'
  call loaded%predict(fluxes, x(:2, :), stat, text)
  print '(a, i0, 2a)', 'code ', stat, ': ', trim(text)
  if (stat /= 2) error stop 'no error of an array of another shape'
  call loaded%predict(by_field, x, stat)
  if (stat /= 2) error stop 'no error of results of another shape'
  call use_nothing()
  call loaded%predict(fluxes, x, stat)
  if (stat /= 0 .or. .not. equal(transpose(by_field), fluxes)) error stop 'fluxes after errors'

contains

  !> Wind, and differences of temperature and humidity, each from 0 to 1; and the fluxes.
  subroutine draw_samples(x, y)
    real(c_float), intent(out) :: x(:, :), y(:, :)
    integer :: i

    do i = 1, samples
      x(:, i) = modulo(real(i, c_float) * [0.8191725_c_float, 0.6710436_c_float, 0.5497004_c_float], 1.0_c_float)
      y(:, i) = (0.2_c_float + x(1, i)) * x(2:3, i) * (1 + 0.5_c_float * x(2, i))
    end do
  end subroutine draw_samples

  !> Reads the end of the file: the parameters, in the order of the layers. A matrix is [outputs][inputs] in C.
  subroutine read_weights(path)
    character(*), intent(in) :: path
    integer :: unit, bytes

    open (newunit=unit, file=path, access='stream', form='unformatted', status='old', action='read')
    inquire (unit, size=bytes)
    read (unit, pos=bytes - 4 * (size(w1) + size(b1) + size(w2) + size(b2)) + 1) w1, b1, w2, b2
    close (unit)
  end subroutine read_weights

  !> Compares the predictions with the definition of the network.
  real function largest_difference() result(largest)
    real(c_float) :: inner(hidden), flux
    integer :: i, j, k

    largest = 0
    do i = 1, samples
      do j = 1, hidden
        inner(j) = b1(j)
        do k = 1, surrogate_inputs
          inner(j) = inner(j) + w1(k, j) * x(k, i)
        end do
        inner(j) = tanh(inner(j))
      end do
      do k = 1, surrogate_outputs
        flux = b2(k)
        do j = 1, hidden
          flux = flux + w2(j, k) * inner(j)
        end do
        largest = max(largest, abs(flux - fluxes(k, i)))
      end do
    end do
  end function largest_difference

  pure logical function equal(a, b)
    real(c_float), intent(in) :: a(:, :), b(:, :)

    equal = all(abs(a - b) <= 0)
  end function equal

  !> A network that was neither made nor loaded.
  subroutine use_nothing()
    type(surrogate) :: nothing

    call nothing%predict(fluxes, x, stat, text)
    if (stat /= 3) error stop 'no error of a network that does not exist'
  end subroutine use_nothing

end program fortran
