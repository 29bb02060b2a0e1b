! One process starts, reads from standard input how many there shall be, and only then are there so many.
!
!     echo 4 | hello_init
!     hello_init PROCESSES
module hello_init_part
  use bsp
  implicit none
  integer :: nprocs = 0 ! known to process zero alone

contains

  subroutine spmd_part()
    integer, parameter :: int_bytes = storage_size(0) / 8
    integer :: wanted

    call bspbegin(nprocs)
    write (*, '(a,i0,a,i0)') 'Hello BSP Worldwide from process ', bsppid(), ' of ', bspnprocs()
    flush (6)

    ! The others learn from process zero what was asked for.
    wanted = merge(nprocs, -1, bsppid() == 0)
    call bsppushreg(wanted, int_bytes)
    call bspsync()
    if (bsppid() /= 0) call bspget(0, wanted, 0, wanted, int_bytes)
    call bspsync()
    if (bspnprocs() < 1 .or. bspnprocs() > wanted) call bspabort('hello_init: more processes than were asked for')
    call bsppopreg(wanted)
    call bspend()
  end subroutine spmd_part
end module hello_init_part

program hello_init
  use bsp
  use hello_init_part
  implicit none
  integer :: status

  call bspinit(spmd_part)
  if (command_argument_count() > 0) then
    nprocs = argument(1, 1)
  else
    read (*, *, iostat=status) nprocs
    if (status /= 0 .or. nprocs < 1) then
      write (*, '(a)') 'hello_init: standard input has no number of processes'
      stop 2
    end if
  end if
  call spmd_part()
  write (*, '(a,i0,a)') 'hello_init: ok, ', nprocs, ' processes asked for, and one goes on alone'

contains
  include 'program.inc'
end program hello_init
