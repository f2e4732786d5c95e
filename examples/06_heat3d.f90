! 06_heat3d.f90: the heat equation in three dimensions with the module halotune, on memory of the CUDA driver.
!
!   gfortran fortran/halotune.f90 06_heat3d.f90 $(pkg-config --libs halotune) -lcuda -o heat3d
!   ./heat3d [N [STEPS]]
!
! It looks up the best configuration, launches it once, advances it by further steps, and compares with the CPU.
program heat3d
  use, intrinsic :: iso_c_binding
  use halotune
  implicit none

  interface
    integer(c_int) function cuInit(flags) bind(c, name='cuInit')
      import
      integer(c_int), value :: flags
    end function
    integer(c_int) function cuDeviceGet(device, number) bind(c, name='cuDeviceGet')
      import
      integer(c_int), intent(out) :: device
      integer(c_int), value :: number
    end function
    integer(c_int) function cuDevicePrimaryCtxRetain(context, device) bind(c, name='cuDevicePrimaryCtxRetain')
      import
      type(c_ptr), intent(out) :: context
      integer(c_int), value :: device
    end function
    integer(c_int) function cuCtxSetCurrent(context) bind(c, name='cuCtxSetCurrent')
      import
      type(c_ptr), value :: context
    end function
    integer(c_int) function cuCtxSynchronize() bind(c, name='cuCtxSynchronize')
      import
    end function
    integer(c_int) function cuMemAlloc(pointer, bytes) bind(c, name='cuMemAlloc_v2')
      import
      type(c_ptr), intent(out) :: pointer
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function cuMemcpyHtoD(device, host, bytes) bind(c, name='cuMemcpyHtoD_v2')
      import
      type(c_ptr), value :: device, host
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function cuMemcpyDtoH(host, device, bytes) bind(c, name='cuMemcpyDtoH_v2')
      import
      type(c_ptr), value :: device, host
      integer(c_size_t), value :: bytes
    end function
  end interface

  real(c_float), parameter :: k = 0.1
  type(halotune_context) :: context
  type(halotune_config) :: config
  type(halotune_kernel) :: kernel
  type(c_ptr) :: primary, fields(2)
  real(c_float), allocatable, target :: u(:, :, :), v(:, :, :), result(:, :, :)
  real(c_double) :: weights(7)
  integer(c_size_t) :: bytes
  integer(c_int) :: device
  integer :: n, steps, step, first, i
  real :: worst

  n = argument(1, 128)
  steps = argument(2, 20)
  allocate (u(n, n, n), v(n, n, n), result(n, n, n))
  u = reshape([(real(mod(i, 97), c_float)/97, i=1, n**3)], [n, n, n])
  v = u
  bytes = int(n, c_size_t)**3*4

  call cuda(cuInit(0_c_int))
  call cuda(cuDeviceGet(device, 0_c_int))
  call cuda(cuDevicePrimaryCtxRetain(primary, device))
  call cuda(cuCtxSetCurrent(primary))
  do i = 1, 2 ! both fields have the edges, which no step writes
    call cuda(cuMemAlloc(fields(i), bytes))
    call cuda(cuMemcpyHtoD(fields(i), c_loc(u), bytes))
  end do

  call context%open()
  call context%lookup(halotune_problem('star7', [n, n, n], steps=HALOTUNE_STEPS_ANY), config)
  weights = [1 - 6*k, k, k, k, k, k, k]
  call kernel%create(context, config, weights)
  print '(a, a, i0, a)', halotune_text(config%template_name), ', ', config%steps, ' step(s) a launch'
  first = merge(int(config%steps), 0, config%steps <= steps) ! one launch makes config%steps steps
  if (first > 0) then
    call kernel%launch(c_null_ptr, fields(1:1), fields(2:2))
    fields = fields([2, 1])
  end if
  call kernel%run(c_null_ptr, fields, int(steps - first, c_long_long)) ! afterwards fields(1) has the state
  call cuda(cuCtxSynchronize())
  call cuda(cuMemcpyDtoH(c_loc(result), fields(1), bytes))

  do step = 1, steps
    v(2:n - 1, 2:n - 1, 2:n - 1) = (1 - 6*k)*u(2:n - 1, 2:n - 1, 2:n - 1) + k*( &
      u(1:n - 2, 2:n - 1, 2:n - 1) + u(3:n, 2:n - 1, 2:n - 1) + u(2:n - 1, 1:n - 2, 2:n - 1) + &
      u(2:n - 1, 3:n, 2:n - 1) + u(2:n - 1, 2:n - 1, 1:n - 2) + u(2:n - 1, 2:n - 1, 3:n))
    u = v
  end do
  worst = maxval(abs(result - u))
  print '(a, i0, a, es7.1)', 'largest difference to the CPU after ', steps, ' steps: ', worst
  call kernel%free()
  call context%close()
  if (worst >= 1e-5) error stop 'the results differ'

contains

  subroutine cuda(status)
    integer(c_int), intent(in) :: status
    if (status == 0) return
    print '(a, i0)', 'the CUDA driver reported error ', status
    error stop
  end subroutine

  integer function argument(number, default)
    integer, intent(in) :: number, default
    character(len=20) :: text
    argument = default
    if (command_argument_count() < number) return
    call get_command_argument(number, text)
    read (text, *) argument
  end function
end program
