! Process i gets the value of process p - 1 - i.
!
!     reverse [PROCESSES]
program reverse_values
  use bsp
  implicit none
  integer, parameter :: int_bytes = storage_size(0) / 8
  integer :: once, twice, mine, theirs

  call bspbegin(argument(1, bspnprocs()))
  mine = 1000 + 7 * bsppid()
  theirs = 1000 + 7 * (bspnprocs() - bsppid() - 1)
  once = reverse(mine)
  if (once /= theirs) call bspabort('reverse: a process has another value than that of its opposite')
  twice = reverse(once)
  if (twice /= mine) call bspabort('reverse: twice did not give the value back')
  call bspsync()
  if (bsppid() == 0) then
    write (*, '(a,i0,a)') 'reverse: ok, ', bspnprocs(), ' values reversed, and back again'
    flush (6)
  end if
  call bspend()

contains
  include 'program.inc'

  ! Collective. The put reads x when it is called and writes x at the end of the step, so one variable is enough.
  integer function reverse(value)
    integer, intent(in) :: value
    integer :: x

    x = value
    call bsppushreg(x, int_bytes)
    call bspsync()

    call bspput(bspnprocs() - bsppid() - 1, x, x, 0, int_bytes)
    call bspsync()
    call bsppopreg(x)
    reverse = x
  end function reverse
end program reverse_values
