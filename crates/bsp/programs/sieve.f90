! Counts the primes up to SIZE.
!
!     sieve [PROCESSES [SIZE]]
!
! Process zero finds the primes up to the square root and broadcasts them; each process strikes out their multiples in
! its block. The count is compared with that of one process alone, and with the known one if SIZE is a power of ten.
module sieve_part
  use bsp
  implicit none
  integer, parameter :: int_bytes = storage_size(0) / 8
  integer, parameter :: known(8) = [4, 25, 168, 1229, 9592, 78498, 664579, 5761455]
  integer :: wanted_procs = 0, wanted_size = 0 ! known to process zero alone

contains

  subroutine run()
    integer :: i, n, found, before
    double precision :: time

    call bspbegin(wanted_procs)
    n = wanted_size
    call bspbcast(0, n, int_bytes)
    call bspsync()
    time = bsptime()
    call sieve(n, found, before)
    time = bsptime() - time

    if (found /= count_alone(n)) call bspabort('sieve: one process alone finds another number of primes')
    do i = 1, size(known)
      if (n == 10**i .and. found /= known(i)) call bspabort('sieve: another number of primes is known')
    end do
    if (bsppid() == bspnprocs() - 1 .and. before /= found) call bspabort('sieve: the prefix sums are wrong')

    call bspsync()
    if (bsppid() == 0) then
      write (*, '(a,3(i0,a),f0.6,a)') 'sieve: ok, ', found, ' primes up to ', n, ', on ', bspnprocs(), &
        ' processes, in ', time, ' s'
      flush (6)
    end if
    call bspend()
  end subroutine run

  ! The number of all primes, and of those up to the end of this process's block. Collective.
  subroutine sieve(n, found, before)
    integer, intent(in) :: n
    integer, intent(out) :: found, before
    integer, allocatable :: base(:)
    logical, allocatable :: is_struck(:)
    integer :: root, i, base_count, first, last, mine

    root = 1
    do while (root < n / root)
      root = root + 1
    end do
    allocate (base(root), source=0)
    base_count = 0
    if (bsppid() == 0) call list_primes(root, base, base_count)
    call bspbcast(0, base_count, int_bytes)
    call bspbcast(0, base, base_count * int_bytes)

    ! Blocks of 0 .. n whose lengths differ by one at most.
    first = start_of(bsppid(), n + 1)
    last = start_of(bsppid() + 1, n + 1) - 1
    allocate (is_struck(first:last), source=.false.)
    do i = 0, min(1, last)
      if (first <= i) is_struck(i) = .true.
    end do
    do i = 1, base_count
      is_struck(max(base(i)**2, (first + base(i) - 1) / base(i) * base(i)):last:base(i)) = .true.
    end do
    mine = count(.not. is_struck)
    call bspfold(add, mine, found, int_bytes)
    call bspscan(add, mine, before, int_bytes)
  end subroutine sieve

  ! Where the block of a process begins among `count` numbers.
  integer function start_of(pid, count)
    integer, intent(in) :: pid, count

    start_of = pid * (count / bspnprocs()) + min(pid, mod(count, bspnprocs()))
  end function start_of

  ! Lists the primes up to `limit` by trial division.
  subroutine list_primes(limit, base, base_count)
    integer, intent(in) :: limit
    integer, intent(inout) :: base(:), base_count
    integer :: number

    do number = 2, limit
      if (any(mod(number, base(:base_count)) == 0)) cycle
      base_count = base_count + 1
      base(base_count) = number
    end do
  end subroutine list_primes

  ! One process alone, without any of the above.
  integer function count_alone(n)
    integer, intent(in) :: n
    logical, allocatable :: is_struck(:)
    integer :: i

    allocate (is_struck(n), source=.false.)
    is_struck(1) = .true.
    i = 2
    do while (i <= n / i)
      if (.not. is_struck(i)) is_struck(i * i:n:i) = .true.
      i = i + 1
    end do
    count_alone = count(.not. is_struck)
  end function count_alone

  subroutine add(result, left, right, nbytes)
    integer, intent(out) :: result
    integer, intent(in) :: left, right, nbytes

    if (nbytes /= int_bytes) call bspabort('sieve: bspfold hands over another size')
    result = left + right
  end subroutine add
end module sieve_part

program sieve_program
  use bsp
  use sieve_part
  implicit none

  call bspinit(run)
  wanted_procs = argument(1, bspnprocs())
  wanted_size = argument(2, 1000000)
  call run()

contains
  include 'program.inc'
end program sieve_program
