! halotune.f90: the module halotune, for Fortran 2008, over halotune.h.
!
!   use halotune
!   type(halotune_context) :: context
!   type(halotune_kernel)  :: kernel
!   type(halotune_config)  :: config
!   call context%open()
!   call context%lookup(halotune_problem('star7', [512, 512, 512], steps=HALOTUNE_STEPS_ANY), config)
!   call kernel%create(context, config)
!   call kernel%run(stream, fields, 1000_c_long_long)
!
! Every procedure that can fail takes the optional arguments stat and errmsg. stat receives a status, HALOTUNE_OK or
! another one; errmsg receives the library's text, as far as it has room. Without stat a failure ends the program with
! that text. halotune.h says what each call does, which threads may use what, and what each member means.
!
! Link with -lhalotune. Fields are device pointers, type(c_ptr): from cudaMalloc, from c_loc or c_devloc of a device
! array, or from the driver.
module halotune
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private

  public :: halotune_context, halotune_kernel, halotune_problem, halotune_config, halotune_layout, halotune_facts, &
    halotune_field
  public :: halotune_strstatus, halotune_version, halotune_text

  ! Statuses.
  integer, parameter, public :: HALOTUNE_OK = 0, HALOTUNE_NOT_FOUND = 1, HALOTUNE_NO_GPU = 2, HALOTUNE_DB = 3, &
    HALOTUNE_PARSE = 4, HALOTUNE_IO = 5, HALOTUNE_MEMORY = 6, HALOTUNE_ARGUMENT = 7, HALOTUNE_NO_NVRTC = 8, &
    HALOTUNE_COMPILE = 9, HALOTUNE_CANCELLED = 10
  ! Element types, modes, matches.
  integer, parameter, public :: HALOTUNE_F32 = 0, HALOTUNE_F64 = 1
  integer, parameter, public :: HALOTUNE_LAUNCH_ANY = 0, HALOTUNE_LAUNCH_STREAM = 1, HALOTUNE_LAUNCH_GRAPH = 2
  integer, parameter, public :: HALOTUNE_CACHE_ANY = 0, HALOTUNE_CACHE_STEADY = 1, HALOTUNE_CACHE_COLD = 2
  integer, parameter, public :: HALOTUNE_MATCH_EXACT = 0, HALOTUNE_MATCH_STALE = 1, HALOTUNE_MATCH_NEAR_GRID = 2, &
    HALOTUNE_MATCH_SAME_ARCH = 3, HALOTUNE_MATCH_DEFAULT = 4, HALOTUNE_MATCH_SIMILAR = 5
  integer, parameter, public :: HALOTUNE_STEPS_ANY = -1

  ! A problem to find a kernel for.
  type :: halotune_problem
    character(len=:), allocatable :: stencil ! name, or the 64 hexadecimal digits of its hash
    integer :: grid(3) = 0                   ! points in x, y, z; x is the first index of an array
    integer :: dtype = HALOTUNE_F32
    character(len=:), allocatable :: device  ! not allocated: that of the current CUDA context
    integer :: steps = 1                     ! the most that a launch may advance, or HALOTUNE_STEPS_ANY
    integer :: launch = HALOTUNE_LAUNCH_ANY
    integer :: cache = HALOTUNE_CACHE_ANY
    logical :: reproducible = .false.
  end type

  ! A configuration, as in halotune.h. halotune_text reads its texts. Valid as long as its context.
  type, bind(c) :: halotune_config
    integer(c_int) :: match, is_stale
    integer(c_long_long) :: grid(3)
    integer(c_int) :: dtype, launch, cache
    type(c_ptr) :: stencil, stencil_hash, template_name, parameters
    integer(c_int) :: parameter_count
    real(c_double) :: time_ms, low_ms, high_ms, bandwidth_gbs, roof_share, expected_ms
    integer(c_long_long) :: measured_grid(3)
    type(c_ptr) :: measured_on, date
    real(c_double) :: age_s
    type(c_ptr) :: driver, nvrtc
    integer(c_int) :: reproducible, steps
    type(c_ptr) :: measured_stencil
    real(c_double) :: expected_error
    type(c_ptr) :: reserved(8)
  end type

  ! How the fields lie in memory, and which box is computed: elements and points, counted from 0, as in halotune.h.
  type, bind(c) :: halotune_layout
    integer(c_long_long) :: row = 0, plane = 0
    integer(c_long_long) :: low(3) = 0, high(3) = 0
  end type

  ! Facts about a kernel, as in halotune.h.
  type, bind(c) :: halotune_facts
    type(c_ptr) :: name, source, template_name, parameters, code
    integer(c_int) :: input_count, output_count, coefficient_count
    integer(c_int) :: grid(3), block(3)
    integer(c_int) :: dynamic_shared_bytes, alignment_bytes, steps
    integer(c_long_long) :: elements
    type(c_ptr) :: coefficients
    type(c_ptr) :: reserved(7)
  end type

  ! How a field of a kernel lies in memory, as in halotune.h.
  type, bind(c) :: halotune_field
    integer(c_long_long) :: elements
    integer(c_int) :: element_bytes
    integer(c_long_long) :: strides(3)
    type(c_ptr) :: reserved(4)
  end type

  ! The contents of tuning databases.
  type :: halotune_context
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: open => context_open
    procedure :: close => context_close
    procedure :: add_stencil => context_add_stencil
    procedure :: lookup => context_lookup
    procedure :: tune => context_tune
  end type

  ! A kernel in the CUDA context that is current when it is created.
  type :: halotune_kernel
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: create => kernel_create
    procedure :: facts => kernel_facts
    procedure :: field => kernel_field
    procedure :: launch => kernel_launch
    procedure :: run => kernel_run
    procedure :: pack => kernel_pack
    procedure :: unpack => kernel_unpack
    procedure :: free => kernel_free
  end type

  ! --- structs and functions of halotune.h

  type, bind(c) :: c_problem
    type(c_ptr) :: stencil, device
    integer(c_long_long) :: grid(3)
    integer(c_int) :: dtype, launch, cache, reproducible, steps
  end type

  type, bind(c) :: c_stencil_facts
    type(c_ptr) :: name, hash, text
    integer(c_int) :: dims, input_count, output_count, coefficient_count
    type(c_ptr) :: inputs, outputs, coefficients
    type(c_ptr) :: reserved(8)
  end type

  type, bind(c) :: c_box
    integer(c_long_long) :: low(3), high(3)
  end type

  type, bind(c) :: c_tune_options
    type(c_ptr) :: program, database, backend
    real(c_double) :: budget_s
    integer(c_int) :: max_variants
    type(c_ptr) :: reserved(6)
  end type

  interface
    function c_strstatus(status) bind(c, name='halotune_strstatus')
      import
      integer(c_int), value :: status
      type(c_ptr) :: c_strstatus
    end function
    function c_version() bind(c, name='halotune_version')
      import
      type(c_ptr) :: c_version
    end function
    function c_error(ctx) bind(c, name='halotune_error')
      import
      type(c_ptr), value :: ctx
      type(c_ptr) :: c_error
    end function
    function c_open(paths, count, ctx) bind(c, name='halotune_open')
      import
      type(c_ptr), value :: paths
      integer(c_int), value :: count
      type(c_ptr), intent(out) :: ctx
      integer(c_int) :: c_open
    end function
    subroutine c_close(ctx) bind(c, name='halotune_close')
      import
      type(c_ptr), value :: ctx
    end subroutine
    function c_stencil_add(ctx, text) bind(c, name='halotune_stencil_add')
      import
      type(c_ptr), value :: ctx
      character(kind=c_char), intent(in) :: text(*)
      integer(c_int) :: c_stencil_add
    end function
    function c_stencil_info(ctx, stencil, facts) bind(c, name='halotune_stencil_info')
      import
      type(c_ptr), value :: ctx, stencil
      type(c_stencil_facts), intent(inout) :: facts
      integer(c_int) :: c_stencil_info
    end function
    function c_lookup(ctx, problem, config) bind(c, name='halotune_lookup')
      import
      type(c_ptr), value :: ctx
      type(c_problem), intent(in) :: problem
      type(halotune_config), intent(inout) :: config
      integer(c_int) :: c_lookup
    end function
    function c_tune(ctx, problem, options, progress, user) bind(c, name='halotune_tune')
      import
      type(c_ptr), value :: ctx, user
      type(c_funptr), value :: progress
      type(c_problem), intent(in) :: problem
      type(c_tune_options), intent(in) :: options
      integer(c_int) :: c_tune
    end function
    function c_kernel_create(ctx, config, coefficients, layout, kernel) bind(c, name='halotune_kernel_create')
      import
      type(c_ptr), value :: ctx, coefficients, layout
      type(halotune_config), intent(in) :: config
      type(c_ptr), intent(out) :: kernel
      integer(c_int) :: c_kernel_create
    end function
    subroutine c_kernel_info(kernel, facts) bind(c, name='halotune_kernel_info')
      import
      type(c_ptr), value :: kernel
      type(halotune_facts), intent(out) :: facts
    end subroutine
    function c_kernel_field(kernel, field, description) bind(c, name='halotune_kernel_field')
      import
      type(c_ptr), value :: kernel
      integer(c_int), value :: field
      type(halotune_field), intent(inout) :: description
      integer(c_int) :: c_kernel_field
    end function
    function c_kernel_launch(kernel, stream, inputs, outputs) bind(c, name='halotune_kernel_launch')
      import
      type(c_ptr), value :: kernel, stream
      type(c_ptr), intent(in) :: inputs(*), outputs(*)
      integer(c_int) :: c_kernel_launch
    end function
    function c_run(kernel, stream, fields, steps) bind(c, name='halotune_run')
      import
      type(c_ptr), value :: kernel, stream
      type(c_ptr), intent(inout) :: fields(*)
      integer(c_long_long), value :: steps
      integer(c_int) :: c_run
    end function
    function c_pack(kernel, stream, field, box, from, to) bind(c, name='halotune_pack')
      import
      type(c_ptr), value :: kernel, stream, from, to
      integer(c_int), value :: field
      type(c_box), intent(in) :: box
      integer(c_int) :: c_pack
    end function
    function c_unpack(kernel, stream, field, box, from, to) bind(c, name='halotune_unpack')
      import
      type(c_ptr), value :: kernel, stream, from, to
      integer(c_int), value :: field
      type(c_box), intent(in) :: box
      integer(c_int) :: c_unpack
    end function
    subroutine c_kernel_free(kernel) bind(c, name='halotune_kernel_free')
      import
      type(c_ptr), value :: kernel
    end subroutine
    function c_strlen(text) bind(c, name='strlen')
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: c_strlen
    end function
  end interface

contains

  ! The text that a C pointer points to. Empty for a null pointer.
  function halotune_text(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i, length
    if (.not. c_associated(pointer)) then
      text = ''
      return
    end if
    length = int(c_strlen(pointer))
    call c_f_pointer(pointer, letters, [length])
    allocate (character(len=length) :: text)
    do i = 1, length
      text(i:i) = letters(i)
    end do
  end function

  ! The English sentence of a status.
  function halotune_strstatus(status) result(text)
    integer, intent(in) :: status
    character(len=:), allocatable :: text
    text = halotune_text(c_strstatus(int(status, c_int)))
  end function

  ! The version of the library: "0.2.0".
  function halotune_version() result(text)
    character(len=:), allocatable :: text
    text = halotune_text(c_version())
  end function

  ! Hand a status to the caller, or end the program.
  subroutine finish(status, detail, stat, errmsg)
    integer(c_int), intent(in) :: status
    character(len=*), intent(in) :: detail ! '': the library's text
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(len=:), allocatable :: text
    if (status == HALOTUNE_OK) then
      if (present(stat)) stat = HALOTUNE_OK
      return
    end if
    text = detail
    if (len(text) == 0) text = halotune_text(c_error(c_null_ptr))
    if (len(text) == 0) text = halotune_strstatus(int(status))
    if (present(errmsg)) errmsg = text
    if (present(stat)) then
      stat = int(status)
    else
      write (error_unit, '(2a)') 'halotune: ', text
      error stop 1
    end if
  end subroutine

  ! A copy of a text, ended by a NUL, which c_loc may point to. A text with a NUL in it would be cut there, so it counts
  ! as empty: no function accepts an empty text.
  function c_copy(text) result(copy)
    character(len=*), intent(in) :: text
    character(kind=c_char), allocatable :: copy(:)
    integer :: i
    allocate (copy(len(text) + 1))
    do i = 1, len(text)
      copy(i) = text(i:i)
    end do
    copy(len(text) + 1) = c_null_char
    if (index(text, c_null_char) > 0) copy(1) = c_null_char
  end function

  ! Read databases: those of `paths`, trailing blanks apart, or the user's and the starter database.
  subroutine context_open(self, paths, stat, errmsg)
    class(halotune_context), intent(inout) :: self
    character(len=*), intent(in), optional :: paths(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char), allocatable, target :: letters(:, :)
    type(c_ptr), allocatable, target :: names(:)
    integer(c_int) :: status
    integer :: i
    call self%close()
    if (present(paths)) then
      allocate (letters(len(paths) + 1, size(paths)), names(size(paths)))
      do i = 1, size(paths)
        letters(:len_trim(paths(i)) + 1, i) = c_copy(trim(paths(i)))
        names(i) = c_loc(letters(1, i))
      end do
      status = c_open(c_loc(names), size(paths, kind=c_int), self%handle)
    else
      status = c_open(c_null_ptr, 0_c_int, self%handle)
    end if
    call finish(status, '', stat, errmsg)
  end subroutine

  ! End the context. Kernels that were created from it stay usable.
  subroutine context_close(self)
    class(halotune_context), intent(inout) :: self
    call c_close(self%handle)
    self%handle = c_null_ptr
  end subroutine

  ! Make a stencil known: the text of its file.
  subroutine context_add_stencil(self, text, stat, errmsg)
    class(halotune_context), intent(in) :: self
    character(len=*), intent(in) :: text
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call finish(c_stencil_add(self%handle, c_copy(text)), '', stat, errmsg)
  end subroutine

  ! Find the best configuration for a problem.
  subroutine context_lookup(self, problem, config, stat, errmsg)
    class(halotune_context), intent(in) :: self
    type(halotune_problem), intent(in) :: problem
    type(halotune_config), intent(inout) :: config
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char), allocatable, target :: stencil(:), device(:)
    if (.not. allocated(problem%stencil)) then
      call finish(int(HALOTUNE_ARGUMENT, c_int), 'the problem names no stencil', stat, errmsg)
      return
    end if
    allocate (stencil, source=c_copy(trim(problem%stencil)))
    if (allocated(problem%device)) allocate (device, source=c_copy(trim(problem%device)))
    call finish(c_lookup(self%handle, to_c(problem, stencil, device), config), '', stat, errmsg)
  end subroutine

  ! Tune a problem now. Lookups then answer with the result. budget_s is 20 seconds unless given.
  subroutine context_tune(self, problem, budget_s, stat, errmsg)
    class(halotune_context), intent(in) :: self
    type(halotune_problem), intent(in) :: problem
    real(c_double), intent(in), optional :: budget_s
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char), allocatable, target :: stencil(:), device(:)
    type(c_tune_options) :: options
    options = c_tune_options(c_null_ptr, c_null_ptr, c_null_ptr, 0, 0, c_null_ptr)
    if (present(budget_s)) options%budget_s = budget_s
    if (.not. allocated(problem%stencil)) then
      call finish(int(HALOTUNE_ARGUMENT, c_int), 'the problem names no stencil', stat, errmsg)
      return
    end if
    allocate (stencil, source=c_copy(trim(problem%stencil)))
    if (allocated(problem%device)) allocate (device, source=c_copy(trim(problem%device)))
    call finish(c_tune(self%handle, to_c(problem, stencil, device), options, c_null_funptr, c_null_ptr), '', stat, errmsg)
  end subroutine

  function to_c(problem, stencil, device) result(out)
    type(halotune_problem), intent(in) :: problem
    character(kind=c_char), intent(in), target :: stencil(:)
    character(kind=c_char), intent(in), allocatable, target :: device(:)
    type(c_problem) :: out
    out%stencil = c_loc(stencil)
    out%device = c_null_ptr
    if (allocated(device)) out%device = c_loc(device)
    out%grid = int(problem%grid, c_long_long)
    out%dtype = int(problem%dtype, c_int)
    out%launch = int(problem%launch, c_int)
    out%cache = int(problem%cache, c_int)
    out%reproducible = merge(1_c_int, 0_c_int, problem%reproducible)
    out%steps = int(problem%steps, c_int)
  end function

  ! Make a kernel. coefficients: one value for each, in the order of the stencil's file; none: the stencil's defaults.
  subroutine kernel_create(self, context, config, coefficients, layout, stat, errmsg)
    class(halotune_kernel), intent(inout) :: self
    type(halotune_context), intent(in) :: context
    type(halotune_config), intent(in) :: config
    real(c_double), intent(in), optional, target, contiguous :: coefficients(:)
    type(halotune_layout), intent(in), optional, target :: layout
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_stencil_facts) :: stencil
    type(c_ptr) :: c_coefficients, c_layout
    integer(c_int) :: status
    character(len=80) :: text
    call self%free()
    c_coefficients = c_null_ptr
    c_layout = c_null_ptr
    if (present(layout)) c_layout = c_loc(layout)
    if (present(coefficients)) then
      status = c_stencil_info(context%handle, config%stencil_hash, stencil)
      if (status /= HALOTUNE_OK) then
        call finish(status, '', stat, errmsg)
        return
      end if
      if (size(coefficients) /= stencil%coefficient_count) then
        write (text, '(i0, a, i0)') size(coefficients), ' coefficients, and the stencil has ', stencil%coefficient_count
        call finish(int(HALOTUNE_ARGUMENT, c_int), trim(text), stat, errmsg)
        return
      end if
      if (size(coefficients) > 0) c_coefficients = c_loc(coefficients)
    end if
    call finish(c_kernel_create(context%handle, config, c_coefficients, c_layout, self%handle), '', stat, errmsg)
  end subroutine

  ! Describe a kernel.
  function kernel_facts(self) result(facts)
    class(halotune_kernel), intent(in) :: self
    type(halotune_facts) :: facts
    call c_kernel_info(self%handle, facts)
  end function

  ! Describe a field: the inputs are numbered from 1, and the outputs behind them. Masks and inputs along some axes differ
  ! from the others.
  subroutine kernel_field(self, number, description, stat, errmsg)
    class(halotune_kernel), intent(in) :: self
    integer, intent(in) :: number
    type(halotune_field), intent(inout) :: description
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call finish(c_kernel_field(self%handle, int(number - 1, c_int), description), '', stat, errmsg)
  end subroutine

  ! Launch a kernel once. stream may be c_null_ptr, the default stream.
  subroutine kernel_launch(self, stream, inputs, outputs, stat, errmsg)
    class(halotune_kernel), intent(in) :: self
    type(c_ptr), intent(in) :: stream, inputs(:), outputs(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(len=:), allocatable :: why
    why = refusal(self, size(inputs) + size(outputs), size(inputs))
    if (len(why) > 0) then
      call finish(int(HALOTUNE_ARGUMENT, c_int), why, stat, errmsg)
      return
    end if
    call finish(c_kernel_launch(self%handle, stream, inputs, outputs), '', stat, errmsg)
  end subroutine

  ! Advance by any number of steps. `fields` has the inputs, then the buffers for outputs, and is sorted anew.
  subroutine kernel_run(self, stream, fields, steps, stat, errmsg)
    class(halotune_kernel), intent(in) :: self
    type(c_ptr), intent(in) :: stream
    type(c_ptr), intent(inout), contiguous :: fields(:)
    integer(c_long_long), intent(in) :: steps
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(len=:), allocatable :: why
    why = refusal(self, size(fields))
    if (len(why) > 0) then
      call finish(int(HALOTUNE_ARGUMENT, c_int), why, stat, errmsg)
      return
    end if
    call finish(c_run(self%handle, stream, fields, steps), '', stat, errmsg)
  end subroutine

  ! Copy a section of a field, field(lower(1):upper(1), lower(2):upper(2), lower(3):upper(3)), to a dense array on the GPU.
  ! The fields are numbered as in `field`.
  subroutine kernel_pack(self, stream, number, lower, upper, from, to, stat, errmsg)
    class(halotune_kernel), intent(in) :: self
    type(c_ptr), intent(in) :: stream, from, to
    integer, intent(in) :: number, lower(3), upper(3)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call finish(c_pack(self%handle, stream, int(number - 1, c_int), box_of(lower, upper), from, to), '', stat, errmsg)
  end subroutine

  ! Copy such a dense array to a section of a field.
  subroutine kernel_unpack(self, stream, number, lower, upper, from, to, stat, errmsg)
    class(halotune_kernel), intent(in) :: self
    type(c_ptr), intent(in) :: stream, from, to
    integer, intent(in) :: number, lower(3), upper(3)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call finish(c_unpack(self%handle, stream, int(number - 1, c_int), box_of(lower, upper), from, to), '', stat, errmsg)
  end subroutine

  ! A section, from 1 to the number of points, as a box of halotune.h, from 0.
  function box_of(lower, upper) result(box)
    integer, intent(in) :: lower(3), upper(3)
    type(c_box) :: box
    box%low = lower - 1
    box%high = upper
  end function

  ! Why a kernel does not take so many fields; empty if it does. The library cannot know how many a caller has.
  function refusal(kernel, field_count, input_count) result(text)
    class(halotune_kernel), intent(in) :: kernel
    integer, intent(in) :: field_count
    integer, intent(in), optional :: input_count ! how many of the fields are given as inputs
    character(len=:), allocatable :: text
    type(halotune_facts) :: facts
    character(len=120) :: line
    logical :: fits
    if (.not. c_associated(kernel%handle)) then
      text = 'the kernel was not created'
      return
    end if
    facts = kernel%facts()
    fits = field_count == facts%input_count + facts%output_count
    if (present(input_count)) fits = fits .and. input_count == facts%input_count
    if (fits) then
      text = ''
    else
      write (line, '(i0, a, i0, a, i0, a)') field_count, ' fields, and the kernel takes ', facts%input_count, &
        ' inputs and ', facts%output_count, ' outputs'
      text = trim(line)
    end if
  end function

  ! End a kernel. Its launches must have finished.
  subroutine kernel_free(self)
    class(halotune_kernel), intent(inout) :: self
    call c_kernel_free(self%handle)
    self%handle = c_null_ptr
  end subroutine
end module
