! The processes say hello in turn: in step i, process i.
!
!     hello_turns [PROCESSES]
program hello_turns
  use bsp
  implicit none
  integer, parameter :: int_bytes = storage_size(0) / 8
  integer :: i, turn

  call bspbegin(argument(1, bspnprocs()))
  turn = 0
  call bsppushreg(turn, int_bytes)
  call bspsync()
  do i = 0, bspnprocs() - 1
    if (bsppid() == i) then
      write (*, '(a,i0,a,i0)') 'Hello BSP Worldwide from process ', i, ' of ', bspnprocs()
      ! Hand the turn on; the last one hands it back to the first.
      call bspput(mod(i + 1, bspnprocs()), turn + 1, turn, 0, int_bytes)
    end if
    flush (6)
    call bspsync()
  end do
  if (bsppid() == 0) then
    if (turn /= bspnprocs()) call bspabort('hello_turns: somebody has missed the turn')
    write (*, '(a,i0,a)') 'hello_turns: ok, ', turn, ' turns were taken'
    flush (6)
  end if
  call bsppopreg(turn)
  call bspend()

contains
  include 'program.inc'
end program hello_turns
