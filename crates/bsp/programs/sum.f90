! The sum of arrays of different lengths, at every process.
!
!     sum [PROCESSES [SIZE]]
!
! Process i has SIZE + i elements.
program sum_of_arrays
  use bsp
  implicit none
  integer, parameter :: int_bytes = storage_size(0) / 8
  integer :: i, p, total, expected, size
  integer, allocatable :: xs(:), copies(:)
  logical :: is_without

  call bspbegin(argument(1, bspnprocs()))
  p = bspnprocs()
  size = argument(2, 100)
  allocate (xs(size + bsppid()), source=bsppid() + 1)
  expected = 0
  do i = 0, p - 1
    expected = expected + (size + i) * (i + 1)
  end do
  total = bsp_sum(xs)
  if (total /= expected) call bspabort('sum: a process has another sum')

  ! All but the last process offer memory; the last one registers nothing, and so cannot put there either.
  allocate (copies(0:p - 1), source=expected)
  is_without = p > 1 .and. bsppid() == p - 1
  if (is_without) then
    call bsppushreg(bspunregistered, 0)
  else
    copies = 0
    call bsppushreg(copies, p * int_bytes)
  end if
  call bspsync()
  if (.not. is_without) call bspput(0, total, copies, bsppid() * int_bytes, int_bytes)
  if (is_without) then
    call bsppopreg(bspunregistered)
  else
    call bsppopreg(copies)
  end if
  call bspsync()
  if (bsppid() == 0) then
    if (any(copies(:max(p - 2, 0)) /= expected)) call bspabort('sum: process zero was put another sum')
  end if

  if (bsppid() == 0) then
    write (*, '(a,i0,a,i0,a)') 'sum: ok, ', total, ' at each of ', p, ' processes'
    flush (6)
  end if
  deallocate (xs)
  call bspend()

contains
  include 'program.inc'

  ! Collective. `partial` stays as it is while the others read it, so the gets need no buffers.
  integer function bsp_sum(xs)
    integer, intent(in) :: xs(:)
    integer :: i, partial
    integer :: local_sums(0:bspnprocs() - 1)

    partial = sum(xs)
    call bsppushreg(partial, int_bytes)
    call bspsync()

    do i = 0, bspnprocs() - 1
      call bsphpget(i, partial, 0, local_sums(i), int_bytes)
    end do
    call bspsync()

    bsp_sum = sum(local_sums)
    call bsppopreg(partial)
  end function bsp_sum
end program sum_of_arrays
