! The elements other than zero of a vector that lies in blocks over the processes are sent to all of them.
!
!     sparse_vector [PROCESSES [SIZE]]
program sparse_vector
  use bsp
  implicit none
  integer, parameter :: int_bytes = storage_size(0) / 8, real_bytes = storage_size(0.0) / 8
  integer :: i, n, p, share, status, tag
  integer, allocatable :: indices(:)
  real, allocatable :: values(:)
  logical, allocatable :: seen(:)

  call bspbegin(argument(1, bspnprocs()))
  p = bspnprocs()
  share = (argument(2, 1000) + p - 1) / p
  n = share * p
  call all_gather_sparse_vec([(element(share * bsppid() + i), i=0, share - 1)], values, indices)

  ! The order of the messages is free, so each is looked up by its index.
  if (size(values) /= count([(element(i) > 0, i=0, n - 1)])) call bspabort('sparse_vector: elements are missing')
  allocate (seen(0:n - 1), source=.false.)
  do i = 1, size(values)
    if (indices(i) < 0 .or. indices(i) >= n) call bspabort('sparse_vector: an index is out of bounds')
    if (seen(indices(i))) call bspabort('sparse_vector: an index came twice')
    if (abs(values(i) - element(indices(i))) > 0) call bspabort('sparse_vector: an element is wrong')
    seen(indices(i)) = .true.
  end do
  call bspgettag(status, tag)
  if (status /= -1) call bspabort('sparse_vector: the queue has a message left')

  call bspsync()
  if (bsppid() == 0) then
    write (*, '(a,3(i0,a))') 'sparse_vector: ok, ', size(values), ' of ', n, ' elements at each of ', p, ' processes'
    flush (6)
  end if
  call bspend()

contains
  include 'program.inc'

  ! The vector: each seventh element is other than zero.
  pure real function element(i)
    integer, intent(in) :: i

    element = merge(real(i + 1), 0.0, mod(i, 7) == 3)
  end function element

  ! Collective. The tag of a message is an index, its payload the element.
  subroutine all_gather_sparse_vec(dense, sparse, sparse_ivec)
    real, intent(in) :: dense(0:)
    real, allocatable, intent(out) :: sparse(:)
    integer, allocatable, intent(out) :: sparse_ivec(:)
    integer :: i, j, tag_size, nonzeros, nonzeros_size, status

    tag_size = int_bytes
    call bspsettagsize(tag_size)
    call bspsync()

    do i = 0, size(dense) - 1
      if (.not. abs(dense(i)) > 0) cycle
      do j = 0, bspnprocs() - 1
        call bspsend(j, size(dense) * bsppid() + i, dense(i), real_bytes)
      end do
    end do
    call bspsync()

    call bspqsize(nonzeros, nonzeros_size)
    if (nonzeros_size /= nonzeros * real_bytes) call bspabort('sparse_vector: the queue has another size')
    allocate (sparse(nonzeros), sparse_ivec(nonzeros))
    do i = 1, nonzeros
      call bspgettag(status, sparse_ivec(i))
      if (status /= real_bytes) call bspabort('sparse_vector: a payload has another size')
      call bspmove(sparse(i), real_bytes)
    end do
    call bspsettagsize(tag_size)
  end subroutine all_gather_sparse_vec
end program sparse_vector
