! BSPlib for Fortran: explicit interfaces, no code.
!
! A buffer may be of any type and rank. It is handed over by address, so it must be contiguous: pass a whole array, a
! contiguous section, or the first element. Sizes and offsets count bytes, processes and offsets start at zero.
!
! The buffers have the TARGET attribute. It tells the compiler that the library keeps their addresses, so that a
! registered variable is read again after bspsync.
module bsp
  implicit none
  public

  ! Registered in place of memory by a process that has none to offer.
  integer :: bspunregistered(2)
  common /bspunreg/ bspunregistered

  interface
    subroutine bspbegin(maxprocs)
      integer, intent(in) :: maxprocs
    end subroutine bspbegin

    subroutine bspend()
    end subroutine bspend

    subroutine bspinit(spmdproc)
      interface
        subroutine spmdproc()
        end subroutine spmdproc
      end interface
    end subroutine bspinit

    subroutine bspabort(err_string)
      character(*), intent(in) :: err_string
    end subroutine bspabort

    pure integer function bspnprocs()
    end function bspnprocs

    pure integer function bsppid()
    end function bsppid

    double precision function bsptime()
    end function bsptime

    subroutine bspsync()
    end subroutine bspsync
  end interface

  ! Direct remote memory access.
  interface
    subroutine bsppushreg(ident, size)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: ident
      type(*), dimension(*), target :: ident
      integer, intent(in) :: size
    end subroutine bsppushreg

    subroutine bsppopreg(ident)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: ident
      type(*), dimension(*), target :: ident
    end subroutine bsppopreg

    subroutine bspput(pid, src, dst, offset, nbytes)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
      integer, intent(in) :: pid, offset, nbytes
      type(*), dimension(*), target, intent(in) :: src
      type(*), dimension(*), target :: dst
    end subroutine bspput

    subroutine bsphpput(pid, src, dst, offset, nbytes)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
      integer, intent(in) :: pid, offset, nbytes
      type(*), dimension(*), target, intent(in) :: src
      type(*), dimension(*), target :: dst
    end subroutine bsphpput

    subroutine bspget(pid, src, offset, dst, nbytes)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
      integer, intent(in) :: pid, offset, nbytes
      type(*), dimension(*), target, intent(in) :: src
      type(*), dimension(*), target :: dst
    end subroutine bspget

    subroutine bsphpget(pid, src, offset, dst, nbytes)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
      integer, intent(in) :: pid, offset, nbytes
      type(*), dimension(*), target, intent(in) :: src
      type(*), dimension(*), target :: dst
    end subroutine bsphpget
  end interface

  ! Message passing.
  interface
    subroutine bspsettagsize(tag_nbytes)
      integer, intent(inout) :: tag_nbytes
    end subroutine bspsettagsize

    subroutine bspsend(pid, tag, payload, payload_nbytes)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: tag, payload
      integer, intent(in) :: pid, payload_nbytes
      type(*), dimension(*), target, intent(in) :: tag, payload
    end subroutine bspsend

    subroutine bspqsize(nmessages, accum_nbytes)
      integer, intent(out) :: nmessages, accum_nbytes
    end subroutine bspqsize

    subroutine bspgettag(status, tag)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: tag
      integer, intent(out) :: status
      type(*), dimension(*), target :: tag
    end subroutine bspgettag

    subroutine bspmove(payload, reception_nbytes)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: payload
      type(*), dimension(*), target :: payload
      integer, intent(in) :: reception_nbytes
    end subroutine bspmove
  end interface

  ! Collectives. An operation is a subroutine op(result, left, right, nbytes) that does not change left and right.
  interface
    subroutine bspbcast(root, data, nbytes)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: data
      integer, intent(in) :: root, nbytes
      type(*), dimension(*), target :: data
    end subroutine bspbcast

    subroutine bspfold(op, src, dst, nbytes)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
      external :: op
      type(*), dimension(*), target, intent(in) :: src
      type(*), dimension(*), target :: dst
      integer, intent(in) :: nbytes
    end subroutine bspfold

    subroutine bspscan(op, src, dst, nbytes)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
      external :: op
      type(*), dimension(*), target, intent(in) :: src
      type(*), dimension(*), target :: dst
      integer, intent(in) :: nbytes
    end subroutine bspscan

    subroutine bspgather(root, src, dst, nbytes)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
      integer, intent(in) :: root, nbytes
      type(*), dimension(*), target, intent(in) :: src
      type(*), dimension(*), target :: dst
    end subroutine bspgather

    subroutine bspscatter(root, src, dst, nbytes)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
      integer, intent(in) :: root, nbytes
      type(*), dimension(*), target, intent(in) :: src
      type(*), dimension(*), target :: dst
    end subroutine bspscatter

    subroutine bspexchange(src, dst, nbytes)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
      type(*), dimension(*), target, intent(in) :: src
      type(*), dimension(*), target :: dst
      integer, intent(in) :: nbytes
    end subroutine bspexchange
  end interface
end module bsp
