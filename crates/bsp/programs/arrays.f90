! Concurrent assignment to an array that lies in blocks over the processes: by puts, then by gets.
!
!     arrays [PROCESSES [SIZE]]
!
! The size is rounded up to a multiple of the number of processes. Indices of the whole array start at zero.
program arrays
  use bsp
  implicit none
  integer, parameter :: int_bytes = storage_size(0) / 8
  integer :: i, n, p, first, share
  integer, allocatable :: xs(:)

  call bspbegin(argument(1, bspnprocs()))
  p = bspnprocs()
  share = (argument(2, 1000) + p - 1) / p
  n = share * p
  first = share * bsppid()
  allocate (xs(0:share - 1))

  ! A permutation, so that each element is written once: afterwards xs(i) = i.
  xs = [(place(first + i), i=0, share - 1)]
  call put_array(xs, n)
  if (any(xs /= [(first + i, i=0, share - 1)])) call bspabort('arrays: put_array left a wrong element')

  ! The permutation applied twice.
  xs = [(place(first + i), i=0, share - 1)]
  call get_array(xs, n)
  if (any(xs /= [(place(place(first + i)), i=0, share - 1)])) call bspabort('arrays: get_array left a wrong element')

  call bspsync()
  if (bsppid() == 0) then
    write (*, '(a,i0,a,i0,a)') 'arrays: ok, ', n, ' elements put and ', n, ' got'
    flush (6)
  end if
  deallocate (xs)
  call bspend()

contains
  include 'program.inc'

  ! A permutation of 0 to n - 1: i is moved on by a third of n, and the whole is mirrored.
  integer function place(i)
    integer, intent(in) :: i

    place = n - 1 - mod(i + n / 3, n)
  end function place

  ! For all i: xs(xs(i)) := xs(i). Collective.
  subroutine put_array(xs, n)
    integer, intent(in) :: n
    integer, intent(inout) :: xs(0:n / bspnprocs() - 1)
    integer :: i, n_over_p

    n_over_p = n / bspnprocs()
    if (mod(n, bspnprocs()) /= 0) call bspabort('{put_array} n is not divisible by p')
    call bsppushreg(xs, n_over_p * int_bytes)
    call bspsync()

    do i = 0, n_over_p - 1
      call bspput(xs(i) / n_over_p, xs(i), xs, mod(xs(i), n_over_p) * int_bytes, int_bytes)
    end do
    call bspsync()
    call bsppopreg(xs)
  end subroutine put_array

  ! For all i: xs(i) := xs(xs(i)). Collective.
  subroutine get_array(xs, n)
    integer, intent(in) :: n
    integer, intent(inout) :: xs(0:n / bspnprocs() - 1)
    integer :: i, n_over_p

    n_over_p = n / bspnprocs()
    if (mod(n, bspnprocs()) /= 0) call bspabort('{get_array} n is not divisible by p')
    call bsppushreg(xs, n_over_p * int_bytes)
    call bspsync()

    do i = 0, n_over_p - 1
      call bspget(xs(i) / n_over_p, xs, mod(xs(i), n_over_p) * int_bytes, xs(i), int_bytes)
    end do
    call bspsync()
    call bsppopreg(xs)
  end subroutine get_array
end program arrays
