! halotune_f90_test.f90: structs, errors and texts of the module halotune. $HALOTUNE_DB has a winner of star7 on 24x12x10
! for the GPU "NVIDIA H200". A test that is wrong ends the program with error stop.
program halotune_f90_test
  use, intrinsic :: iso_c_binding
  use halotune
  implicit none
  interface
    integer(c_int) function cuInit(flags) bind(c, name='cuInit')
      import
      integer(c_int), value :: flags
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
  end interface
  type(c_ptr) :: primary
  integer(c_int), target :: nowhere(2)
  type(halotune_context) :: context
  type(halotune_problem) :: problem
  type(halotune_config) :: config
  type(halotune_kernel) :: kernel
  type(halotune_field) :: field
  type(c_ptr) :: none(2) = c_null_ptr
  integer :: stat
  character(len=400) :: message

  call context%open()
  problem = halotune_problem('star7', [24, 12, 10], device='h200')
  call context%lookup(problem, config)
  if (config%match /= HALOTUNE_MATCH_EXACT) error stop 'match'
  ! The members at both ends of the struct: their places are those of C.
  if (any(config%grid /= [24, 12, 10])) error stop 'grid'
  if (halotune_text(config%template_name) /= 'small') error stop 'template_name'
  if (halotune_text(config%measured_on) /= 'NVIDIA H200') error stop 'measured_on'
  if (halotune_text(config%measured_stencil) /= 'star7') error stop 'measured_stencil'
  if (config%steps /= 1) error stop 'steps'
  if (.not. (config%expected_error >= 0 .and. config%expected_error < 1)) error stop 'expected_error'
  if (.not. config%time_ms > 0) error stop 'time_ms'

  call context%lookup(halotune_problem('star8', [8, 8, 8]), config, stat, message)
  if (stat /= HALOTUNE_NOT_FOUND .or. index(message, 'star8') == 0) error stop 'no such stencil'
  call context%lookup(halotune_problem('star7', [-1, 8, 8], device='h200'), config, stat)
  if (stat /= HALOTUNE_ARGUMENT) error stop 'a grid that is impossible'
  call context%add_stencil('name: [', stat, message)
  if (stat /= HALOTUNE_PARSE) error stop 'no stencil'
  call context%lookup(problem, config, stat)
  if (stat /= HALOTUNE_OK) error stop 'a call that succeeds sets stat'
  call kernel%create(context, config, [1d0, 2d0], stat=stat, errmsg=message)
  if (stat /= HALOTUNE_ARGUMENT .or. message /= '2 coefficients, and the stencil has 7') error stop 'coefficients'
  call kernel%run(c_null_ptr, none, 1_c_long_long, stat, message)
  if (stat /= HALOTUNE_ARGUMENT .or. message /= 'the kernel was not created') error stop 'a kernel that is not there'
  call context%lookup(halotune_problem('star7   ', [24, 12, 10], device='h200  '), config, stat)
  if (stat /= HALOTUNE_OK) error stop 'trailing blanks'
  call context%lookup(halotune_problem('star7'//achar(0)//'x', [24, 12, 10], device='h200'), config, stat)
  if (stat /= HALOTUNE_NOT_FOUND) error stop 'a text with a NUL'

  ! Sections are told with the bounds of Fortran: 2 to 25 is 1 to 25 for the library, and the grid ends before 24.
  if (cuInit(0_c_int) /= 0 .or. cuDevicePrimaryCtxRetain(primary, 0_c_int) /= 0) error stop 'no GPU'
  if (cuCtxSetCurrent(primary) /= 0) error stop 'no context'
  call kernel%create(context, config)
  call kernel%pack(c_null_ptr, 2, [2, 1, 1], [25, 1, 1], c_loc(nowhere(1)), c_loc(nowhere(2)), stat, message)
  if (stat /= HALOTUNE_ARGUMENT .or. index(message, 'halotune_pack: the box goes from 1 to 25 in x') == 0) error stop 'pack'
  call kernel%unpack(c_null_ptr, 1, [1, 1, 11], [24, 12, 11], c_loc(nowhere(1)), c_loc(nowhere(2)), stat, message)
  if (stat /= HALOTUNE_ARGUMENT .or. index(message, 'halotune_unpack: the box goes from 10 to 11 in z') == 0) error stop 'unpack'
  call kernel%pack(c_null_ptr, 3, [1, 1, 1], [1, 1, 1], c_loc(nowhere(1)), c_loc(nowhere(2)), stat, message)
  if (stat /= HALOTUNE_ARGUMENT .or. index(message, 'no field 2') == 0) error stop 'the number of a field'
  call kernel%field(2, field)
  if (field%elements /= 24*12*10 .or. field%element_bytes /= 4 .or. any(field%strides /= [1, 24, 24*12])) error stop 'field'
  call kernel%field(3, field, stat, message)
  if (stat /= HALOTUNE_ARGUMENT .or. index(message, 'no field 2') == 0) error stop 'the number of a field to describe'
  call kernel%free()
  call context%close()
  call context%open(['none.db ', 'none2.db'], stat, message)
  if (stat /= HALOTUNE_NOT_FOUND .or. index(message, 'none.db') == 0) error stop 'no such file'
  if (halotune_strstatus(HALOTUNE_MEMORY) /= 'out of memory') error stop 'strstatus'
  if (len(halotune_version()) < 5) error stop 'version'
end program
