! The inner product of two vectors that lie cyclically over the processes.
!
!     inner_product [PROCESSES [SIZE]]
!
! The partial sums are put to everyone and added in the order of the processes. bspfold must come to the same number,
! and so must the formula for the sum of squares.
module inner_product_part
  use bsp
  implicit none
  integer, parameter :: double = kind(0d0), double_bytes = storage_size(0d0) / 8, int_bytes = storage_size(0) / 8
  integer :: wanted_procs = 0, wanted_size = 0 ! known to process zero alone

contains

  subroutine run()
    integer :: i, n, count
    real(double) :: product, folded, formula, time
    real(double), allocatable :: x(:)

    call bspbegin(wanted_procs)
    n = wanted_size
    call bspbcast(0, n, int_bytes)
    count = (n + bspnprocs() - 1 - bsppid()) / bspnprocs()
    allocate (x(count))
    do i = 1, count
      x(i) = real(i - 1, double) * bspnprocs() + bsppid() + 1
    end do

    call bspsync()
    time = bsptime()
    product = inner_product(x, x)
    time = bsptime() - time

    formula = real(n, double) * (real(n, double) + 1) * (2 * real(n, double) + 1) / 6
    if (abs(product - formula) > 1d-11 * formula) call bspabort('inner_product: the formula gives another number')
    call bspfold(add, dot_product(x, x), folded, double_bytes)
    if (abs(product - folded) > 1d-11 * formula) call bspabort('inner_product: bspfold gives another number')

    call bspsync()
    if (bsppid() == 0) then
      write (*, '(a,i0,a,i0,a,es21.15,a,f0.6,a)') 'inner_product: ok, ', n, ' elements on ', bspnprocs(), &
        ' processes make ', product, ', in ', time, ' s'
      flush (6)
    end if
    deallocate (x)
    call bspend()
  end subroutine run

  ! Collective. `x` and `y` are the elements of this process.
  real(double) function inner_product(x, y)
    real(double), intent(in) :: x(:), y(:)
    real(double) :: sums(0:bspnprocs() - 1), mine
    integer :: s

    call bsppushreg(sums, bspnprocs() * double_bytes)
    call bspsync()

    mine = dot_product(x, y)
    do s = 0, bspnprocs() - 1
      call bspput(s, mine, sums, bsppid() * double_bytes, double_bytes)
    end do
    call bspsync()

    inner_product = 0
    do s = 0, bspnprocs() - 1
      inner_product = inner_product + sums(s)
    end do
    call bsppopreg(sums)
    call bspsync()
  end function inner_product

  subroutine add(result, left, right, nbytes)
    real(double), intent(out) :: result
    real(double), intent(in) :: left, right
    integer, intent(in) :: nbytes

    if (nbytes /= double_bytes) call bspabort('inner_product: bspfold hands over another size')
    result = left + right
  end subroutine add
end module inner_product_part

program inner_product_program
  use bsp
  use inner_product_part
  implicit none

  call bspinit(run)
  wanted_procs = argument(1, bspnprocs())
  wanted_size = argument(2, 100000)
  call run()

contains
  include 'program.inc'
end program inner_product_program
