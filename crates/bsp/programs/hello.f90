! As many processes as there are, each of which says hello, in any order.
!
!     hello [PROCESSES]
program hello
  use bsp
  implicit none
  integer, parameter :: int_bytes = storage_size(0) / 8
  integer :: i
  integer, allocatable :: marks(:)
  character(80) :: text

  call bspbegin(argument(1, bspnprocs()))
  write (*, '(a,i0,a,i0)') 'Hello BSP Worldwide from process ', bsppid(), ' of ', bspnprocs()
  flush (6)

  ! Every process marks its place at process zero, which finds one that is not marked, or wrongly.
  allocate (marks(0:bspnprocs() - 1), source=0)
  call bsppushreg(marks, bspnprocs() * int_bytes)
  call bspsync()
  call bspput(0, bsppid() + 1, marks, bsppid() * int_bytes, int_bytes)
  call bspsync()
  if (bsppid() == 0) then
    do i = 0, bspnprocs() - 1
      if (marks(i) == i + 1) cycle
      write (text, '(a,i0,a,i0)') 'hello: the place of process ', i, ' holds ', marks(i)
      call bspabort(trim(text))
    end do
    write (*, '(a,i0,a)') 'hello: ok, each of ', bspnprocs(), ' processes was there'
    flush (6)
  end if
  call bsppopreg(marks)
  call bspsync()
  deallocate (marks)
  call bspend()

contains
  include 'program.inc'
end program hello
